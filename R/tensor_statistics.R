# Errors for R's statistics of tensors. In a normalizer_fn, mean(x) would be the mean of a batch.

abort_statistic <- function(what, other, call) {
  of_batch <- if (!is.null(other)) "For the values of each batch use {.code {other}}."
  abort_runhooks(
    c(
      "{.fn {what}} needs numbers; a tensor has no values before the graph runs.",
      i = "In a {.arg normalizer_fn} use the statistics of the data: {.code m <- mean(data$x); s <-
           sd(data$x); function(x) (x - m) / s}.",
      i = "Models from a formula standardize numbers: {.code linear_regressor(y ~ x, data)}.",
      i = of_batch
    ),
    call = call
  )
}

# mean(), sum() and the like are defined for tensors, but an error in a normalizer.
check_not_normalizing <- function(what, other, call = parent.frame()) {
  if (cpp_is_normalizing()) abort_statistic(what, other, call)
}

# sd() and var() call it.
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
