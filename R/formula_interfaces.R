# Converts the arguments of interfaces without a formula (a recipe and data, or x and y) to a
# formula and data.

is_recipe <- function(x) inherits(x, "recipe")

# A cheap pre-check: whether `x` may be a recipe or a table.
maybe_xy_or_recipe <- function(x) is.object(x) || is.matrix(x)

is_tabular <- function(x) is.data.frame(x) || is.matrix(x) || is_matrix_package(x)

# Replaces a recipe, or `x` and `y`, by a formula and data. `extras` are arguments named `x` and
# `y`. A recipe is stored in `matched`, because later data need the same preparation.
resolve_interface <- function(matched, extras, defaults, call) {
  if (is.null(extras) && !any(vapply(matched$args[matched$given], maybe_xy_or_recipe, NA))) {
    return(matched)
  }
  columns <- vapply(matched$traits$parts, function(part) part$columns, "")
  slots <- union(names(matched$slots), columns[nzchar(columns)])
  # named arguments shift the positional arguments after them
  unnamed <- setdiff(matched$given, c(slots, matched$written))
  candidates <- c(intersect(slots, matched$given), unnamed)
  values <- c(matched$args[candidates], extras)
  is_recipe_or_table <- vapply(values, function(x) is_recipe(x) || is_tabular(x), NA)
  has_formula <- any(vapply(values, is_formula, NA)) || !is.null(matched$args$formula)
  if (!any(is_recipe_or_table) || has_formula) {
    return(abort_incomplete_xy(matched, extras, call))
  }
  converted <- if (any(vapply(values, is_recipe, NA))) {
    recipe_to_formula(values, matched$args$data, call)
  } else {
    xy_to_formula(values, names(values)[is_recipe_or_table][[1]], call)
  }
  if (is.null(converted)) return(abort_incomplete_xy(matched, extras, call))
  consumed <- intersect(converted$consumed, candidates)
  matched$args[consumed] <- defaults[consumed]
  matched$args$formula <- converted$formula
  matched$args$data <- converted$data
  matched$given <- union(setdiff(matched$given, consumed), c("formula", "data"))
  if (!is.null(converted$weight) && is.null(matched$args$weight_column)) {
    matched$args$weight_column <- converted$weight
    matched$given <- union(matched$given, "weight_column")
  }
  matched$recipe <- converted$recipe
  matched
}

# Aborts if `x` or `y` was named but is not usable. Otherwise returns `matched` unchanged.
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
        "{.arg {names(rows)[[1]]}} has {rows[[1]]} row{?s}, {.arg {names(rows)[[2]]}} has
         {rows[[2]]}."
      },
      i = if (!has_formula) "Or give a formula and {.arg data}."
    ),
    call = call
  )
}

# Converts a recipe and data to a formula and data. In the result, `consumed` are the names of the
# arguments that these replace.
recipe_to_formula <- function(args, data, call) {
  rlang::check_installed("recipes", "to make a model of a recipe.")
  recipe <- Find(is_recipe, args)
  data_arg <- Find(is.data.frame, args)
  if (is.null(data)) data <- data_arg
  if (!recipes::fully_trained(recipe)) {
    recipe <- recipes::prep(recipe, training = data, verbose = FALSE)
  }
  baked <- bake_by_role(recipe, data)
  outcome <- baked$outcome
  if (length(outcome) != 1) {
    abort_runhooks(
      c(
        "The recipe must have exactly one outcome, not {length(outcome)}.",
        i = "Example: {.code recipe(mpg ~ ., mtcars)}."
      ),
      call = call
    )
  }
  columns <- c(outcome, baked$predictors, baked$weights)
  list(
    formula = formula_of_all_columns(outcome),
    data = mark_as_baked(as.data.frame(baked$data[columns], optional = TRUE)), recipe = recipe,
    weight = if (length(baked$weights)) baked$weights[[1]],
    consumed = names(args)[vapply(args, function(x) is_recipe(x) || is.data.frame(x), NA)]
  )
}

# Converts `x` and a response to a formula and data. Returns NULL if no argument is a response with
# the right number of rows.
xy_to_formula <- function(args, x_name, call) {
  x <- args[[x_name]]
  is_response <- function(y) {
    is_value <- is_atomic(y) || is.factor(y) || (is.data.frame(y) && length(y) == 1)
    is_value && !is.null(y) && n_rows(y) == n_rows(x) && !(is_string(y) && n_rows(x) > 1)
  }
  candidates <- args[setdiff(names(args), x_name)]
  y_name <- names(Filter(is_response, candidates))
  if (length(y_name) == 0) return(NULL)
  y_name <- y_name[[1]]
  y <- candidates[[y_name]]
  if (is_matrix_package(x)) x <- Matrix::as.matrix(x)
  if (is.matrix(x) && is.null(colnames(x))) colnames(x) <- paste0("x", seq_len(ncol(x)))
  check_unique_names(colnames(x), call)
  data <- as.data.frame(x, optional = TRUE)
  response <- if (is.data.frame(y)) names(y) else if (length(colnames(y)) == 1) colnames(y) else "y"
  response <- unused_name(response, names(data))
  if (is.data.frame(y)) y <- y[[1]] else if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  data[[response]] <- y
  list(formula = formula_of_all_columns(response), data = data, consumed = c(x_name, y_name))
}

formula_of_all_columns <- function(response) {
  stats::as.formula(call("~", as.name(response), quote(.)), globalenv())
}

# Marks data that the recipe has already prepared.
mark_as_baked <- function(data) structure(data, is_baked = TRUE)

is_baked <- function(data) isTRUE(attr(data, "is_baked", exact = TRUE))

bake_new_data <- function(object, data, call = parent.frame()) {
  if (is.null(object$recipe) || !is.data.frame(data) || is_baked(data)) return(data)
  rlang::check_installed("recipes", "to prepare data by the recipe of the model.")
  baked <- tryCatch(
    recipes::bake(object$recipe, new_data = data),
    error = function(error) abort_unbaked(error, call)
  )
  weight <- object$blueprint$weight
  if (!is.null(weight)) baked[[weight]] <- as.numeric(baked[[weight]])
  mark_as_baked(as.data.frame(baked, optional = TRUE))
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
