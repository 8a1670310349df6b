# Feature columns: specifications that the core makes columns of. A column is plain data.

new_column <- function(type, name, key, ...) {
  rebuild_column(list(type = type, name = name, key = key, ...))
}

rebuild_column <- function(fields) {
  if (!identical(names(fields)[1:2], c("type", "name"))) return(NULL)
  type <- fields$type
  attributes(fields) <- list(
    names = names(fields), class = c(type, "runhooks_feature_column"), owner = paste0(type, "()")
  )
  fields
}

# A column that the core has made once: it names it, refuses what is wrong with it, and chooses what
# was not given. `fields` are its arguments in the order of its registration, `kinds` theirs.
new_checked_column <- function(type, fields, kinds = NULL) {
  spec <- core_value(c(list(type = type), fields))
  attr(spec, "owner") <- paste0(type, "()")
  made <- cpp_column_check(spec)
  for (name in names(made$chosen)) {
    fields[[name]] <- chosen_value(made$chosen[[name]], kinds[[name]])
  }
  first <- list(type = type, name = made$name, key = fields[["key"]])
  rebuild_column(c(first, fields[names(fields) != "key"]))
}

chosen_value <- function(x, kind) {
  switch(kind, type = as_dtype(x), "whole number" = as.integer(x), x)
}

# --- constructors that are nothing but their registration

constructor_factories$column <- function(specs, place) {
  is_feature <- specs$kind == "feature"
  .specs <- column_specs(specs)
  f <- if (any(is_feature)) {
    function(...) make_columns(.specs, environment(), ...)
  } else {
    function() make_column(.specs, environment())
  }
  formals(f) <- c(if (any(is_feature)) alist(... = ), registered_formals(specs[!is_feature, ]))
  f
}

# What constructors look into: the registration, that of all but the feature, and the kinds by what
# the core calls the arguments.
column_specs <- function(specs) {
  is_feature <- specs$kind == "feature"
  list(
    type = specs$type[[1]], all = spec_columns_of(specs), own = spec_columns_of(specs, !is_feature),
    feature = specs$name[is_feature], kinds = setNames(as.list(specs$kind), specs$target)
  )
}

make_column <- function(specs, frame) {
  given <- given_arguments(specs$own$name, frame)
  checked_column(specs, prepared_arguments(given, specs$own, frame))
}

# One for each feature. What stands without a name is the name of one.
make_columns <- function(specs, frame, ...) {
  own <- specs$own
  given <- mget(own$name, envir = frame)
  for (name in own$name) check_named(!is_absent(given[[name]]), name, frame)
  given <- prepared_arguments(given, own, frame)
  columns_for(..., call = frame, make = function(key) {
    given[[specs$feature]] <- key
    checked_column(specs, given[specs$all$name])
  })
}

checked_column <- function(specs, given) {
  names(given) <- specs$all$target
  new_checked_column(specs$type, given, specs$kinds)
}

argument_kinds$column <- function(x, name, call, wanted) {
  check_arg(is_column(x), x, wanted, name, call)
}
# The core refuses the name when the column is used.
argument_kinds$`column or name` <- function(x, name, call, wanted) {
  check_arg(is_column(x) || is_string(x), x, wanted, name, call)
}
argument_kinds$`columns or names` <- function(x, name, call, wanted) {
  if (is_column(x)) return(list(x))
  check_arg(is.list(x) || is_atomic(x), x, wanted, name, call)
  unname(as.list(x))
}
argument_kinds$shape <- function(x, name, call, wanted) as.list(as_shape(x, call))
argument_kinds$words <- function(x, name, call, wanted) {
  if (is.factor(x)) x <- as.character(x)
  is_word <- function(x) is.character(x) || is.numeric(x)
  check_elements(
    x, is_word, wanted, name, call,
    na_advice = "NA in the data is a missing value, which is in no bucket."
  )
}
argument_kinds$features <- function(x, name, call, wanted) {
  as.list(check_elements(x, is.character, wanted, name, call, empty = TRUE))
}
argument_kinds$columns <- function(x, name, call, wanted) {
  if (length(x) == 0) {
    # a formula may be the same for all rows
    if (isTRUE(attr(x, "is_of_formula"))) return(x)
    abort_runhooks("{.arg {name}} must have at least one column.", call = call)
  }
  as_column_list(x, name, call)
}

#' A column of numbers
#'
#' @eval column_params("NumericColumn")
#' @return For one name the column, for several an unnamed list of columns.
#' @section Errors: `runhooks_error_invalid_argument` for a name that is no string or a shape that
#'   is not positive whole numbers.
#' @seealso `tf.feature_column.numeric_column` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' column_numeric("drat")
#' column_numeric("age", normalizer_fn = function(x) (x - 40) / 10)
#' column_numeric("drat", "cyl")
column_numeric <- builtin_column("NumericColumn")

as_shape <- function(shape, call = parent.frame()) {
  flat <- unlist(shape)
  good <- is.numeric(flat) && length(flat) > 0 && all(is.finite(flat)) && all(
    flat == trunc(flat)
  ) && all(flat > 0)
  if (!good) {
    abort_runhooks(
      "{.arg shape} must be positive whole numbers, not {describe(shape)}.", call = call
    )
  }
  as.integer(flat)
}

#' A list of feature columns
#'
#' @param ... Columns, lists of columns, or formulas `selection ~ column_numeric(...)`: the selected
#'   names become the first argument of the right side. Duplicates are dropped.
#' @param names What selections look through: a character vector, or an object with column names or
#'   names, such as a data frame. `NULL`: the names of [set_columns()].
#' @return A list of columns. It has names where arguments have, as `c(recursive = TRUE)` makes them:
#'   `feature_columns(a = x, b = list(y, z))` gives `a`, `b1`, `b2`.
#' @section Errors: `runhooks_error_invalid_argument` for what is no column, with its place.
#' @family feature columns
#' @export
#' @examples
#' feature_columns(column_numeric("drat"), column_numeric("cyl"))
#' feature_columns(names = mtcars, starts_with("d") ~ column_numeric())
feature_columns <- function(..., names = NULL) {
  # rlang takes longer to load than the package itself; `!!!` and a trailing comma need it
  if (!is.null(names)) {
    before <- set_columns(names)
    on.exit(the$column_names <- before)
  }
  given <- as.list(substitute(list(...)))
  ends_with_comma <- identical(given[[...length() + 1]], quote(expr = ))
  needs_rlang <- ends_with_comma || "!" %in% all.names(as.call(given))
  columns <- if (needs_rlang) rlang::list2(...) else list(...)
  call <- environment()
  is_formula <- vapply(columns, inherits, NA, "formula")
  columns[is_formula] <- lapply(columns[is_formula], formula_columns, call = call)
  as_column_list(columns, named = !is.null(names(columns)))
}

# Flat, without duplicates; one bare column is a list of one. `named`: by the names of `columns`.
as_column_list <- function(columns, arg = "feature_columns", call = parent.frame(), named = FALSE) {
  parts <- if (named) lapply(columns, flatten_columns)
  flat <- if (named) unlist(unname(parts), recursive = FALSE) else flatten_columns(columns)
  names(flat) <- if (named) names(unlist(lapply(parts, seq_along)))
  good <- vapply(flat, is_column, logical(1))
  if (!all(good)) {
    place <- which(!good)[[1]]
    abort_runhooks(
      c(
        "{.arg {arg}} must be feature columns.",
        x = "Element {place} is {describe(flat[[place]])}.",
        i = "Make columns with {.fn column_numeric} and its like."
      ),
      call = call
    )
  }
  flat[!duplicated(flat)]
}

flatten_columns <- function(x, depth = 1L) {
  if (is_column(x) || !is.list(x)) return(list(x))
  check_nesting(depth)
  parts <- unsplice(x, "type", rebuild_column)
  unname(unlist(lapply(parts, flatten_columns, depth + 1L), recursive = FALSE))
}

#' @export
c.runhooks_feature_column <- function(...) {
  unlist(
    lapply(list(...), function(x) if (is_column(x) || !is.list(x)) list(x) else x),
    recursive = FALSE
  )
}

#' @export
format.runhooks_feature_column <- function(x, ...) {
  fields <- unclass(x)
  fields <- fields[setdiff(names(fields), c("type", "name", if (is.null(fields[["key"]])) "key"))]
  shown <- vapply(
    names(fields), function(name) paste0(name, "=", python_text(fields[[name]], name)), ""
  )
  paste0(x$type, "(", paste(shown, collapse = ", "), ")")
}

# Values as Python writes them.
python_text <- function(x, field = "") {
  if (is.null(x)) return("None")
  if (field == "dtype") return(paste0("tf.", dtype_name(x)))
  if (is.function(x)) return("<function>")
  if (is_column(x)) return(format(x))
  if (is.logical(x)) return(if (x) "True" else "False")
  if (is.list(x)) {
    parts <- vapply(x, python_text, "", field = if (field == "boundaries") field else "")
    return(paste0("(", paste(parts, collapse = ", "), if (length(parts) == 1) ",", ")"))
  }
  if (is.character(x)) return(paste0("'", x, "'"))
  shown <- number_text(x)
  # boundaries are floats in TensorFlow
  if (field == "boundaries" && x == trunc(x)) paste0(shown, ".0") else shown
}

#' @export
print.runhooks_feature_column <- function(x, ...) {
  cat(format(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

# The name of a feature, or a numeric column of one.
check_weight_column <- function(
  x,
  name = "weight_column",
  call = parent.frame(),
  wanted = "the name of a feature or a numeric column"
) {
  check_arg(is.null(x) || inherits(x, "NumericColumn") || is_string(x), x, wanted, name, call)
}

# All columns in a specification, at whatever depth.
spec_columns <- function(spec) {
  if (is_column(spec)) return(list(spec))
  is_nest <- is.list(spec) && (!is.object(spec) || inherits(spec, "list"))
  if (is_nest) unlist(lapply(unname(spec), spec_columns), recursive = FALSE)
}

# What columns read, a list for each feature that one of them reads: the core tells.
columns_read <- function(columns) cpp_columns_read(lapply(columns, core_value))
