# fit(), and the methods of train() and evaluate() for the generics of the package generics.

#' Fit a model
#'
#' `fit()` trains a model and returns the model, so that a pipe can continue. [train()] returns the
#' history of the training instead. For a [feature_spec()], `fit()` learns vocabularies and scales.
#'
#' The package generics also has `fit()`, which parsnip, workflows and others re-export, `train()`
#' and `evaluate()`. If it is attached after runhooks, its functions mask these and have the same
#' effect on estimators. `fit()` of runhooks passes other objects to the package generics.
#'
#' @param object An estimator, such as [linear_regressor()].
#' @param ... Arguments of [train()], such as data, `steps` or `hooks`. Without data, the model is
#'   trained on the data from which it was created.
#' @return `object`, trained. [last_history()] returns the history of the training.
#' @section Errors: The errors of [train()].
#' @family estimator methods
#' @export
#' @rawNamespace S3method(fit, tf_estimator)
#' @rawNamespace S3method(fit, default, fit_with_generics)
#' @rawNamespace S3method(generics::fit, tf_estimator)
#' @rawNamespace S3method(generics::train, tf_estimator)
#' @rawNamespace S3method(generics::train, tf_estimator_history)
#' @rawNamespace S3method(generics::evaluate, tf_estimator)
#' @rawNamespace S3method(generics::evaluate, tf_estimator_history)
#' @examples
#' model <- linear_regressor(mpg ~ wt, mtcars) |> fit()
#' coef(model)
fit <- function(object, ...) UseMethod("fit")

# Registered as fit.default. A function of that name would also be a method of generics::fit(), and
# would call itself without end. lint: allow caller
fit_with_generics <- function(object, ...) {
  if (isNamespaceLoaded("generics")) return(generics::fit(object, ...))
  abort_runhooks("{.fn fit} has no method for {describe_type(object)}.")
}

fit.tf_estimator <- function(object, ...) {
  train(object, ...)
  object
}
