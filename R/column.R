# Feature columns: specifications that the core makes columns of. A column is plain data.

new_column <- function(type, name, key, ...) {
  rebuild_column(list(type = type, name = name, key = key, ...))
}

rebuild_column <- function(fields) {
  if (!identical(names(fields)[1:2], c("type", "name"))) return(NULL)
  type <- fields$type
  structure(
    fields, class = c(type, "runhooks_feature_column"), owner = paste0(type, "()")
  )
}

# A column that the core has made once: it names it and refuses what is wrong with it.
new_checked_column <- function(type, ...) {
  fields <- list(...)
  spec <- structure(core_value(c(list(type = type), fields)), owner = paste0(type, "()"))
  name <- cpp_column_name(spec)
  others <- fields[names(fields) != "key"]
  do.call(new_column, c(list(type, name, fields[["key"]]), others))
}

check_is_column <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg(is_column(x), x, "a feature column", arg, call)
}

is_column <- function(x) inherits(x, "runhooks_feature_column")

#' A column of numbers
#'
#' @param ... Names of features: strings or character vectors, or selections, see [set_columns()].
#' @param shape The shape of one row: whole numbers; `c(2, 3)` for a matrix in each row.
#' @param default_value The value where a feature is missing: in parsed examples, and where data have
#'   NA. A number, or one for each of `shape`.
#' @param dtype `tf$float32`; the type is float32 in the model whatever the data's.
#' @param normalizer_fn A function of a tensor that returns a tensor, run while the graph is built,
#'   or `NULL`. It sees the tensor as fed (float64 for R's doubles); the result is cast to float32.
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
column_numeric <- function(
  ...,
  shape = c(1L),
  default_value = NULL,
  dtype = tf$float32,
  normalizer_fn = NULL
) {
  shape <- as_shape(shape)
  check_function(normalizer_fn, null = TRUE)
  dtype <- as_dtype(dtype)
  columns_for(..., make = function(key) {
    new_column("NumericColumn",
      name = key, key = key, shape = as.list(shape), default_value = unname(default_value),
      dtype = dtype, normalizer_fn = normalizer_fn
    )
  })
}

as_shape <- function(shape, call = parent.frame()) {
  flat <- unlist(shape)
  good <- is.numeric(flat) && length(flat) > 0 && all(is.finite(flat)) && all(
    flat == trunc(flat)
  ) && all(flat > 0)
  if (!good) {
    stop_runhooks(
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
#' @return An unnamed list of columns.
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
  as_column_list(columns)
}

# Flat, without duplicates; one bare column is a list of one.
as_column_list <- function(columns, arg = "feature_columns", call = parent.frame()) {
  flat <- flatten_columns(columns)
  good <- vapply(flat, is_column, logical(1))
  if (!all(good)) {
    place <- which(!good)[[1]]
    stop_runhooks(
      c(
        "{.arg {arg}} must be feature columns.",
        x = "Element {place} is {describe(flat[[place]])}.",
        i = "Make columns with {.fn column_numeric} and its like."
      ),
      call = call
    )
  }
  unname(flat[!duplicated(flat)])
}

flatten_columns <- function(x) {
  if (is_column(x) || !is.list(x)) return(list(x))
  unlist(lapply(regroup(x, "type", rebuild_column), flatten_columns), recursive = FALSE)
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
  shown <- format(x, digits = 15)
  # boundaries are floats in TensorFlow
  if (field == "boundaries" && x == trunc(x)) paste0(shown, ".0") else shown
}

#' @export
print.runhooks_feature_column <- function(x, ...) {
  cat(format(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}
