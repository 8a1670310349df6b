# fit(), train() and evaluate() of the package generics, registered when it is loaded.

#' Fit a model
#'
#' `fit()` trains a model and returns the model, so that a pipe can continue. [train()] returns the
#' history of the training instead. The generic comes from the package generics; parsnip, workflows
#' and others re-export it.
#'
#' The package generics also has the generics `train()` and `evaluate()`. If it is attached after
#' runhooks, its functions mask [train()] and [evaluate()] and have the same effect on estimators.
#'
#' @param object An estimator, such as [linear_regressor()].
#' @param ... Arguments of [train()], such as data, `steps` or `hooks`. Without data, the model is
#'   trained on the data from which it was created.
#' @return `object`, trained. [last_history()] returns the history of the training.
#' @section Errors: The errors of [train()].
#' @family estimator methods
#' @exportS3Method generics::fit
#' @rawNamespace S3method(generics::train, tf_estimator)
#' @rawNamespace S3method(generics::train, tf_estimator_history)
#' @rawNamespace S3method(generics::evaluate, tf_estimator)
#' @rawNamespace S3method(generics::evaluate, tf_estimator_history)
#' @examples
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   model <- linear_regressor(mpg ~ wt, mtcars) |> generics::fit()
#'   coef(model)
#' }
fit.tf_estimator <- function(object, ...) {
  train(object, ...)
  object
}
