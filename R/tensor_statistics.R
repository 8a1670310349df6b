# Errors for mean(), sd() and other statistics of tensors. In a `normalizer_fn`, mean(x) would be
# the mean of a batch instead of the mean of the data.

abort_statistic <- function(function_name, batch_code, call) {
  batch_advice <- if (!is.null(batch_code)) "For the values of each batch use {.code {batch_code}}."
  abort_runhooks(
    c(
      "{.fn {function_name}} needs numbers; a tensor has no values before the graph runs.",
      i = "In a {.arg normalizer_fn} use the statistics of the data: {.code m <- mean(data$x); s <-
           sd(data$x); function(x) (x - m) / s}.",
      i = "Models from a formula standardize numbers: {.code linear_regressor(y ~ x, data)}.",
      i = batch_advice
    ),
    call = call
  )
}

# Raises an error in a `normalizer_fn` for mean(), sum() and other reductions, which are defined for
# tensors elsewhere. `batch_code`: code that reduces a batch, for the message.
check_not_normalizing <- function(function_name, batch_code, call = parent.frame()) {
  if (cpp_is_normalizing()) abort_statistic(function_name, batch_code, call)
}

# Raises an error. Treats sd() and var() separately, because they call as.double().
#' @export
as.double.tensorflow.tensor <- function(x, ...) {
  caller <- calling_function("as.double")
  if (caller %in% c("sd", "var", "is.data.frame")) {
    abort_statistic("sd", "tf$sqrt(tf$nn$moments(x, 0L)[[2]])", environment())
  }
  abort_generic(
    "as.numeric",
    "{.code tf$cast(x, tf$float64)} changes its type; {.code session$run(x)} returns its value.",
    environment()
  )
}

#' @importFrom stats median
#' @export
median.tensorflow.tensor <- function(x, na.rm = FALSE, ...) { # nolint: object_name_linter.
  abort_statistic("median", NULL, environment())
}

#' @export
scale.tensorflow.tensor <- function(x, center = TRUE, scale = TRUE) {
  abort_statistic("scale", NULL, environment())
}
