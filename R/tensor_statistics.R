# Statistics of R on tensors. A normalizer_fn such as function(x) (x - mean(x)) / sd(x) would take
# those of a batch, if it could: other ones in each batch, and in prediction. What to write is said.

stop_statistic <- function(what, other, call) {
  of_batch <- if (!is.null(other)) "Of the values of each batch it is {.code {other}}."
  stop_runhooks(
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

#' @export
mean.tensorflow.tensor <- function(x, ...) stop_statistic("mean", "tf$reduce_mean(x)", environment())

# sd() and var() ask for it
#' @export
as.double.tensorflow.tensor <- function(x, ...) {
  stop_statistic("sd", "tf$sqrt(tf$nn$moments(x, 0L)[[2]])", environment())
}

#' @importFrom stats median
#' @export
median.tensorflow.tensor <- function(x, na.rm = FALSE, ...) { # nolint: object_name_linter.
  stop_statistic("median", NULL, environment())
}

#' @export
scale.tensorflow.tensor <- function(x, center = TRUE, scale = TRUE) {
  stop_statistic("scale", NULL, environment())
}

#' @export
Summary.tensorflow.tensor <- function(..., na.rm = FALSE) { # nolint: object_name_linter.
  other <- switch(.Generic,
    sum = "tf$reduce_sum(x)", prod = "tf$reduce_prod(x)", max = , range = "tf$reduce_max(x)",
    min = "tf$reduce_min(x)", any = "tf$reduce_any(x)", all = "tf$reduce_all(x)"
  )
  stop_statistic(.Generic, other, environment())
}
