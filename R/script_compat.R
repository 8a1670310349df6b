# Functions of the packages tensorflow and reticulate that scripts for tfestimators use.

#' Shapes, tuples and arrays for TensorFlow scripts
#'
#' Replacements for functions of the packages tensorflow and reticulate. `shape()` returns the
#' dimensions of a tensor, `tuple()` a list, `array_reshape()` an array with new dimensions, and
#' `np_array()` an array with a data type.
#'
#' @param ... For `shape()`: whole numbers, `NULL` or `NA` for an unknown dimension, or -1 for a
#'   dimension that `tf$reshape()` computes. For `tuple()`: values.
#' @param x,data A vector or an array.
#' @param dim The new dimensions. One of them may be -1; it is computed from the others.
#' @param order `"C"` (the default): the last index changes fastest, as in NumPy. `"F"`: the first
#'   index changes fastest, as in R.
#' @param dtype The name of a data type, such as `"float32"`. `NULL` (the default): the type of the
#'   R values.
#' @return `shape()`: a list of integers and `NULL`. `tuple()`: a list. `array_reshape()` and
#'   `np_array()`: an array.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a dimension is invalid, or the number of values does not
#'     match the dimensions.
#' @name shapes
#' @examples
#' shape(NULL, 784L)
#' tuple(28L, 28L)
#' array_reshape(1:6, c(2, 3))
#' input <- input_fn(list(x = np_array(1:3, "float32")), features = "x")
NULL

#' @rdname shapes
#' @export
shape <- function(...) {
  lapply(list(...), function(n) {
    if (identical(n, NA)) return(NULL)
    # TensorFlow's functions take -1 for a dimension that follows from the others
    is_valid <- is.null(n) || (is_whole(n) && n >= -1)
    check_arg(is_valid, n, "a whole number of -1 or more, or NULL", "...", rlang::caller_env(2))
    if (!is.null(n)) as.integer(n)
  })
}

#' @rdname shapes
#' @export
tuple <- function(...) list(...)

#' @rdname shapes
#' @export
array_reshape <- function(x, dim, order = c("C", "F")) {
  order <- check_one_of(order, c("C", "F"))
  check_arg(is_atomic(x) || is.list(x), x, "a vector or an array", "x", environment())
  dim <- unlist(dim)
  is_valid <- is.numeric(dim) && all(is.finite(dim) & dim == trunc(dim) & dim >= -1) &&
    sum(dim == -1) < 2
  check_arg(is_valid, dim, "whole numbers, at most one of them -1", "dim", environment())
  dim[dim == -1] <- length(x) / prod(dim[dim != -1])
  if (prod(dim) != length(x) || any(dim != trunc(dim))) {
    abort_runhooks("{.arg x} has {length(x)} value{?s}, which {.arg dim} cannot hold.")
  }
  if (order == "F") return(array(x, dim))
  values_by_row <- if (length(base::dim(x)) > 1) aperm(x) else x
  reversed <- array(values_by_row, rev(dim))
  if (length(dim) > 1) aperm(reversed) else reversed
}
