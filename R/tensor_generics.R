# Methods of R's generics for tensors. They add operations to the graph, or raise an error that
# names the function of tf to use. Without a method, base R would compute with the external pointer.

is_float_tensor <- function(x) grepl("^float", cpp_element_info(x)$dtype)
is_string_tensor <- function(x) identical(cpp_element_info(x)$dtype, "string")

#' @rdname tensors
#' @export
is.na.tensorflow.tensor <- function(x) {
  if (is_float_tensor(x)) return(tf$is_nan(x))
  if (is_string_tensor(x)) return(tf$equal(x, ""))
  caller <- calling_function("is.na")
  if (caller %in% c("pmin", "pmax")) abort_unsupported_generic(caller, environment())
  abort_runhooks(
    c(
      "{.fn is.na} is not defined for tensors of type {x$dtype$name}, which have no missing values.",
      i = "Factors code NA as -1: use {.code x == -1L}."
    ),
    call = environment()
  )
}

#' @rdname tensors
#' @param recursive Not used.
#' @export
anyNA.tensorflow.tensor <- function(x, recursive = FALSE) tf$reduce_any(is.na(x))

# Applies `test` to a float tensor. For integers and logicals, returns `otherwise` for each element.
float_test <- function(x, test, otherwise, generic, call = parent.frame()) {
  if (is_float_tensor(x)) return(test(x))
  if (!is_string_tensor(x)) return(tf$fill(tf$shape(x), otherwise))
  abort_runhooks("{.fn {generic}} needs numbers, not strings.", call = call)
}

#' @rdname tensors
#' @export
is.nan.tensorflow.tensor <- function(x) float_test(x, tf$is_nan, FALSE, "is.nan")

#' @rdname tensors
#' @export
is.finite.tensorflow.tensor <- function(x) float_test(x, tf$is_finite, TRUE, "is.finite")

#' @rdname tensors
#' @export
is.infinite.tensorflow.tensor <- function(x) float_test(x, tf$is_inf, FALSE, "is.infinite")

#' @rdname tensors
#' @export
rev.tensorflow.tensor <- function(x) {
  x <- as_tensor(x)
  # R reverses the elements of a matrix as one vector
  if (length(cpp_element_info(x)$dims) > 1) {
    abort_runhooks(
      c(
        "{.fn rev} is for vectors; this tensor has {length(cpp_element_info(x)$dims)} dimensions.",
        i = "{.code tf$reverse(x, 0L)} reverses the rows."
      ),
      call = environment()
    )
  }
  tf$reverse(x, list(0L))
}

# Replaces NaN by the value that a reduction ignores.
ignore_nan <- function(x, generic) {
  if (!is_float_tensor(x)) return(x)
  neutral <- switch(generic, sum = 0, prod = 1, min = Inf, max = -Inf)
  tf$where(tf$is_nan(x), tf$ones_like(x) * neutral, x)
}

#' @export
is.na.tensorflow.variable <- function(x) is.na(cpp_variable_snapshot(x))
#' @export
anyNA.tensorflow.variable <- function(x, recursive = FALSE) anyNA(cpp_variable_snapshot(x))
#' @export
is.nan.tensorflow.variable <- function(x) is.nan(cpp_variable_snapshot(x))
#' @export
is.finite.tensorflow.variable <- function(x) is.finite(cpp_variable_snapshot(x))
#' @export
is.infinite.tensorflow.variable <- function(x) is.infinite(cpp_variable_snapshot(x))
#' @export
rev.tensorflow.variable <- rev.tensorflow.tensor

abort_generic <- function(generic, advice, call) {
  abort_runhooks(
    c(
      "{.fn {generic}} does not work on tensors, which have no values until the graph runs.",
      i = advice
    ),
    kind = "unimplemented", call = call
  )
}

#' @export
diff.tensorflow.tensor <- function(x, ...) {
  abort_generic("diff", "Subtract slices, for example {.code x[-1] - x[-n]} for n elements.", environment())
}
#' @export
sort.tensorflow.tensor <- function(x, decreasing = FALSE, ...) {
  abort_generic("sort", "Use {.fn tf$sort}.", environment())
}
#' @export
unique.tensorflow.tensor <- function(x, incomparables = FALSE, ...) {
  abort_generic("unique", "Use {.fn tf$unique}.", environment())
}
#' @export
duplicated.tensorflow.tensor <- function(x, incomparables = FALSE, ...) {
  abort_generic("duplicated", "Use {.fn tf$unique}.", environment())
}
#' @export
anyDuplicated.tensorflow.tensor <- function(x, incomparables = FALSE, ...) {
  abort_generic("anyDuplicated", "Use {.fn tf$unique}.", environment())
}
#' @importFrom stats quantile
#' @export
quantile.tensorflow.tensor <- function(x, ...) {
  abort_generic("quantile", "Compute quantiles from the data before the graph is built.", environment())
}
#' @importFrom stats na.omit
#' @export
na.omit.tensorflow.tensor <- function(object, ...) {
  abort_generic(
    "na.omit", "Use {.code tf$boolean_mask(x, !is.na(x))} for a vector, or {.fn dataset_filter} for the
    elements of a dataset.", environment()
  )
}
#' @importFrom stats weighted.mean
#' @export
weighted.mean.tensorflow.tensor <- function(x, w, ...) {
  abort_generic("weighted.mean", "Use {.code tf$reduce_sum(x * w) / tf$reduce_sum(w)}.", environment())
}
#' @export
split.tensorflow.tensor <- function(x, f, drop = FALSE, ...) {
  abort_generic("split", "Use {.fn tf$dynamic_partition} or {.fn tf$split}.", environment())
}
#' @export
solve.tensorflow.tensor <- function(a, b, ...) {
  abort_generic("solve", "Use {.fn tf$matrix_solve} or {.fn tf$matrix_inverse}.", environment())
}
#' @export
determinant.tensorflow.tensor <- function(x, logarithm = TRUE, ...) {
  abort_generic("det", "Use {.fn tf$matrix_determinant}.", environment())
}
#' @export
summary.tensorflow.tensor <- function(object, ...) {
  abort_generic("summary", "Use {.fn tf$summary$histogram}, or summarize values of a run.", environment())
}
#' @export
as.integer.tensorflow.tensor <- function(x, ...) {
  abort_generic("as.integer", "Use {.code tf$cast(x, tf$int32)} to change the type.", environment())
}
#' @export
as.data.frame.tensorflow.tensor <- function(x, row.names = NULL, optional = FALSE, ...) {
  abort_generic("as.data.frame", "{.code as.data.frame(session$run(x))} converts its value.", environment())
}

# Functions that call as.vector(), and the function of tf to use instead.
vector_function_advice <- c(
  matrix = "Use {.code tf$reshape(x, shape(...))}.", array = "Use {.code tf$reshape(x, shape(...))}.",
  outer = "Use {.code tf$expand_dims(x, 1L) * tf$expand_dims(y, 0L)}.",
  apply = "Use {.fn tf$map_fn}, or a reduction such as {.code tf$reduce_sum(x, axis)}.",
  as.vector = "{.code session$run(x)} returns its value."
)
# Raises an error that names the calling function: matrix(), outer() and others call as.vector().
#' @export
as.vector.tensorflow.tensor <- function(x, mode = "any") {
  calls <- vapply(sys.calls(), function(call) as.character(call[[1]])[[1]], "")
  caller <- intersect(names(vector_function_advice), calls)[[1]]
  abort_generic(caller, vector_function_advice[[caller]], environment())
}
#' @export
aperm.tensorflow.tensor <- function(a, perm = NULL, ...) {
  tf$transpose(a, if (!is.null(perm)) as.integer(perm) - 1L)
}
#' @export
xtfrm.tensorflow.tensor <- function(x) abort_generic("order", "Use {.fn tf$argsort}.", environment())
