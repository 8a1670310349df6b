# Methods for butcher's generics, which remove data from model objects.

#' Remove data from a model object
#'
#' Methods for the package butcher that return a smaller copy of a model. `axe_data()` removes the
#' training data, `axe_call()` removes data and functions that `do.call()` has put into the call,
#' and `butcher()` removes both. The original model does not change; both share the model directory.
#'
#' A model from a formula contains its latest training data for [train()], [predict()], [fitted()],
#' [residuals()], [coef()][coef.tf_estimator] and `summary()`. Without the data, these functions
#' need data as an argument or raise an error. `axe_env()` has no effect: a model contains only
#' those variables of the formula's environment that the formula and its functions use.
#'
#' @param x A model.
#' @param verbose Ignored.
#' @param ... Ignored.
#' @return A copy of the model.
#' @section Errors: The methods raise no errors. Functions that need the removed data raise
#'   `runhooks_error_invalid_argument`, and the message says that the data were removed. [train()],
#'   [evaluate()] and [predict()] still accept a data frame.
#' @family inspecting
#' @name axe_model
#' @examplesIf requireNamespace("butcher", quietly = TRUE)
#' model <- linear_regressor(mpg ~ wt, mtcars)
#' train(model)
#' small <- butcher::butcher(model)
#' c(object.size(serialize(model, NULL)), object.size(serialize(small, NULL)))
#' predict(small, mtcars[1:3, ])
NULL

#' @rawNamespace S3method(butcher::axe_data, tf_estimator)
axe_data.tf_estimator <- function(x, verbose = FALSE, ...) {
  x["data"] <- list(NULL)
  x$args["data"] <- NULL
  handle <- handle_fields(x)
  # copies of a model share `shared_state`, and the original must keep its data
  state <- mget(names(formals(new_shared_state)), handle$shared_state, ifnotfound = list(NULL))
  state$data <- NULL
  handle$shared_state <- do.call(new_shared_state, state)
  x$estimator <- structure(handle, class = "runhooks_engine")
  x
}

#' @rawNamespace S3method(butcher::axe_call, tf_estimator)
axe_call.tf_estimator <- function(x, verbose = FALSE, ...) {
  if (is.null(x$call)) return(x)
  is_code <- function(x) is.language(x) || is_atomic(x) && length(x) == 1
  is_data <- !vapply(as.list(x$call), is_code, NA)
  x$call[is_data] <- list(quote(...))
  x
}

#' @rawNamespace S3method(butcher::axe_env, tf_estimator)
axe_env.tf_estimator <- function(x, verbose = FALSE, ...) x
