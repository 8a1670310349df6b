# Interfaces without a formula: a recipe and data, or x and y, become a formula and data.

is_recipe <- function(x) inherits(x, "recipe")

# Cheap pre-check.
maybe_xy_or_recipe <- function(x) is.object(x) || is.matrix(x)

is_tabular <- function(x) is.data.frame(x) || is.matrix(x) || is_matrix_package(x)

# `extras` are named arguments `x` and `y`. The recipe is stored for the preparation of later data.
resolve_interface <- function(matched, extras, defaults, call) {
  if (is.null(extras) && !any(vapply(matched$args[matched$given], maybe_xy_or_recipe, NA))) {
    return(matched)
  }
  columns <- vapply(matched$traits$parts, function(part) part$columns, "")
  slots <- union(names(matched$slots), columns[nzchar(columns)])
  # named arguments shift the positional arguments after them
  places <- c(intersect(slots, matched$given), setdiff(matched$given, c(slots, matched$written)))
  given <- c(matched$args[places], extras)
  is_open <- vapply(given, function(x) is_recipe(x) || is_tabular(x), NA)
  if (!any(is_open) || any(vapply(given, is_formula, NA)) || !is.null(matched$args$formula)) {
    return(abort_incomplete_xy(matched, extras, call))
  }
  is_of_recipe <- any(vapply(given, is_recipe, NA))
  opened <- if (is_of_recipe) {
    recipe_to_formula(given, matched$args$data, call)
  } else {
    xy_to_formula(given, names(given)[is_open][[1]], call)
  }
  if (is.null(opened)) return(abort_incomplete_xy(matched, extras, call))
  taken <- intersect(opened$taken, places)
  matched$args[taken] <- defaults[taken]
  matched$args$formula <- opened$formula
  matched$args$data <- opened$data
  matched$given <- union(setdiff(matched$given, taken), c("formula", "data"))
  if (!is.null(opened$weight) && is.null(matched$args$weight_column)) {
    matched$args$weight_column <- opened$weight
    matched$given <- union(matched$given, "weight_column")
  }
  matched$recipe <- opened$recipe
  matched
}

abort_incomplete_xy <- function(matched, extras, call) {
  if (length(extras) == 0) return(matched)
  has_formula <- !is.null(matched$args$formula) || any(vapply(matched$args, is_formula, NA))
  rows <- vapply(extras, n_rows, 0)
  abort_runhooks(
    c(
      "{.fn {matched$type}} needs both {.arg x} and {.arg y}, with the same number of rows.",
      x = if (has_formula) {
        "There is also a formula. Give either a formula and {.arg data}, or {.arg x} and {.arg y}."
      } else if (length(extras) == 1) {
        "{.arg {setdiff(c('x', 'y'), names(extras))}} is missing."
      } else if (!is_tabular(extras$x)) {
        "{.arg x} must be a data frame or a matrix, not {describe_type(extras$x)}."
      } else if (rows[[1]] != rows[[2]]) {
        "{.arg {names(rows)[[1]]}} has {rows[[1]]} row{?s}, {.arg {names(rows)[[2]]}} has {rows[[2]]}."
      },
      i = if (!has_formula) "Or give a formula and {.arg data}."
    ),
    call = call
  )
}

recipe_to_formula <- function(given, data, call) {
  rlang::check_installed("recipes", "to make a model of a recipe.")
  recipe <- Find(is_recipe, given)
  in_place <- Find(is.data.frame, given)
  if (is.null(data)) data <- in_place
  if (!recipes::fully_trained(recipe)) {
    recipe <- recipes::prep(recipe, training = data, verbose = FALSE)
  }
  baked <- recipes::bake(recipe, new_data = data)
  variables <- summary(recipe)
  named <- function(role) intersect(variables$variable[variables$role %in% role], names(baked))
  outcome <- named("outcome")
  if (length(outcome) != 1) {
    abort_runhooks(
      c(
        "The recipe must have exactly one outcome, not {length(outcome)}.",
        i = "Example: {.code recipe(mpg ~ ., mtcars)}."
      ),
      call = call
    )
  }
  weight <- named("case_weights")
  baked[weight] <- lapply(baked[weight], as.numeric)
  baked <- as.data.frame(baked[c(outcome, named("predictor"), weight)], optional = TRUE)
  list(
    formula = formula_of_all_columns(outcome), data = as_baked(baked), recipe = recipe,
    weight = if (length(weight)) weight[[1]],
    taken = names(given)[vapply(given, function(x) is_recipe(x) || is.data.frame(x), NA)]
  )
}

# NULL if no argument is a response with the right number of rows.
xy_to_formula <- function(given, x_name, call) {
  x <- given[[x_name]]
  is_response <- function(y) {
    is_value <- is_atomic(y) || is.factor(y) || (is.data.frame(y) && length(y) == 1)
    is_value && !is.null(y) && n_rows(y) == n_rows(x) && !(is_string(y) && n_rows(x) > 1)
  }
  others <- given[setdiff(names(given), x_name)]
  y_name <- names(Filter(is_response, others))
  if (length(y_name) == 0) return(NULL)
  y_name <- y_name[[1]]
  y <- others[[y_name]]
  if (is_matrix_package(x)) x <- Matrix::as.matrix(x)
  if (is.matrix(x) && is.null(colnames(x))) colnames(x) <- paste0("x", seq_len(ncol(x)))
  check_unique_names(colnames(x), call)
  data <- as.data.frame(x, optional = TRUE)
  response <- if (is.data.frame(y)) names(y) else if (length(colnames(y)) == 1) colnames(y) else "y"
  while (response %in% names(data)) response <- paste0(".", response)
  data[[response]] <- if (is.data.frame(y)) y[[1]] else if (is.matrix(y) && ncol(y) == 1) y[, 1] else y
  list(formula = formula_of_all_columns(response), data = data, taken = c(x_name, y_name))
}

formula_of_all_columns <- function(response) {
  stats::as.formula(call("~", as.name(response), quote(.)), globalenv())
}

as_baked <- function(data) structure(data, is_baked = TRUE)

is_baked <- function(data) isTRUE(attr(data, "is_baked", exact = TRUE))

baked_data <- function(object, data, call = parent.frame()) {
  if (is.null(object$recipe) || !is.data.frame(data) || is_baked(data)) return(data)
  rlang::check_installed("recipes", "to prepare data by the recipe of the model.")
  baked <- tryCatch(
    recipes::bake(object$recipe, new_data = data), error = function(error) abort_unbaked(error, call)
  )
  weight <- object$blueprint$weight
  if (!is.null(weight)) baked[[weight]] <- as.numeric(baked[[weight]])
  as_baked(as.data.frame(baked, optional = TRUE))
}

abort_unbaked <- function(error, call) {
  cli::cli_abort(
    c(
      "The recipe of the model cannot prepare the data.",
      i = "Give unprepared data with all columns that the recipe reads."
    ),
    parent = error, class = error_classes("invalid_argument"), call = call
  )
}
