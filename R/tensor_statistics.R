# Statistics of R on tensors. A normalizer_fn such as function(x) (x - mean(x)) / sd(x) would take
# those of a batch, if it could: other ones in each batch, and in prediction. What to write is said.

abort_statistic <- function(what, other, call) {
  of_batch <- if (!is.null(other)) "Of the values of each batch it is {.code {other}}."
  abort_runhooks(
    c(
      "{.fn {what}} is of numbers; this is a tensor, whose values are there when the graph runs.",
      i = "In a {.arg normalizer_fn} take it of the data before: {.code m <- mean(data$x); s <-
           sd(data$x); function(x) (x - m) / s}.",
      i = "Models of formulas standardize by themselves: {.code linear_regressor(y ~ x, data)}.",
      i = of_batch
    ),
    call = call
  )
}

# mean(), sum() and their like are functions of tensors, but not in a normalizer.
check_not_normalizing <- function(what, other, call = parent.frame()) {
  if (cpp_is_normalizing()) abort_statistic(what, other, call)
}

# sd() and var() ask for it
#' @export
as.double.tensorflow.tensor <- function(x, ...) {
  abort_statistic("sd", "tf$sqrt(tf$nn$moments(x, 0L)[[2]])", environment())
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
