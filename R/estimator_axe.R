# The generics of butcher for models: what is only carried along is taken out of an object.

#' Taking out of a model what it only carries along
#'
#' A model of a formula holds the data that it was made of, or trained on last, for [train()],
#' [predict()], [fitted()] and [residuals()] without data. With the package butcher
#' `axe_data(model)` gives the model without them, `axe_call(model)` without the data and functions
#' that `do.call()` has put into its call, and `butcher(model)` without both. The model that was given
#' stays as it is; both have the same folder. [coef()][coef.tf_estimator] and `summary()` are computed
#' from the data, and need them.
#'
#' Of the environment in which a formula was written a model keeps what the formula and its
#' functions read, and nothing else: `axe_env()` has nothing to do.
#'
#' @param x A model.
#' @param verbose Not used.
#' @param ... Not used.
#' @return The model.
#' @section Errors: none of their own. What needs the data afterwards ([train()], [evaluate()],
#'   [predict()], [fitted()], `summary()` and their like without data) stops with
#'   `runhooks_error_invalid_argument`, which says that they were taken out; with a data frame as
#'   argument [train()], [evaluate()] and [predict()] go on as before.
#' @family inspecting
#' @name axe_model
NULL

#' @rawNamespace S3method(butcher::axe_data, tf_estimator)
axe_data.tf_estimator <- function(x, verbose = FALSE, ...) {
  x["data"] <- list(NULL)
  x$args["data"] <- NULL
  engine <- unclass(x$estimator)
  # copies share what is kept, and this one is to be without
  kept <- list2env(as.list(engine$kept, all.names = TRUE), parent = emptyenv())
  if (exists("made", kept)) rm("made", envir = kept)
  kept$data <- NULL
  engine$kept <- kept
  x$estimator <- structure(engine, class = "runhooks_engine")
  x
}

#' @rawNamespace S3method(butcher::axe_call, tf_estimator)
axe_call.tf_estimator <- function(x, verbose = FALSE, ...) {
  if (is.null(x$call)) return(x)
  parts <- as.list(x$call)
  is_value <- !vapply(parts, function(part) is.language(part) || is_atomic(part) && length(part) == 1, NA)
  x$call[is_value] <- list(quote(...))
  x
}

#' @rawNamespace S3method(butcher::axe_env, tf_estimator)
axe_env.tf_estimator <- function(x, verbose = FALSE, ...) x
