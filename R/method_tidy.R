# Models and histories as tidy tables: methods of the generics of the package generics, which is
# loaded by whoever calls them.

#' Tidy tables of models
#'
#' Methods of the generics of the package generics (and of broom and others, which have them from
#' there): `tidy()` gives a row for each coefficient of a linear model, `glance()` one row about the
#' model, `augment()` the data with what the model says of each row.
#'
#' @param x A trained model that was made from a formula; for `tidy()` and `glance()` also a history.
#' @param data,newdata The data to add columns to: `data` are those trained on, by default;
#'   `newdata` others.
#' @param ... Not used.
#' @return A tibble.
#'   * `tidy()`: `term` and `estimate`, for several responses or classes with `response` or
#'     `y.level` in front. Of a history `step`, `metric` and `value`.
#'   * `glance()`: `nobs`, `steps`, and `rmse` and `r.squared` or `accuracy` and `average_loss` on
#'     the rows trained on. Of a history `steps` and its last losses.
#'   * `augment()`: the data with `.fitted` and, where the response is there, `.resid`; of classes
#'     with `.pred_class` and a probability `.pred_<class>` for each.
#' @name tidy_models
#' @family estimator methods
#' @examples
#' model <- linear_classifier(am ~ wt + hp, mtcars)
#' train(model)
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   print(generics::tidy(model))
#'   generics::augment(model)
#' }
NULL

#' @rdname tidy_models
#' @exportS3Method generics::tidy
tidy.tf_estimator <- function(x, ...) {
  coefficients <- stats::coef(x)
  if (is.null(dim(coefficients))) {
    return(tibble::tibble(term = names(coefficients), estimate = unname(coefficients)))
  }
  if (!is.null(tidy_classes_of(x))) {
    terms <- colnames(coefficients)
    return(tibble::tibble(
      y.level = rep(rownames(coefficients), each = length(terms)),
      term = rep(terms, nrow(coefficients)), estimate = as.vector(t(coefficients))
    ))
  }
  tibble::tibble(
    response = rep(colnames(coefficients), each = nrow(coefficients)),
    term = rep(rownames(coefficients), ncol(coefficients)), estimate = as.vector(coefficients)
  )
}

#' @rdname tidy_models
#' @exportS3Method generics::glance
glance.tf_estimator <- function(x, ...) {
  check_trained(x, "glance")
  frame <- training_frame(x, "glance")
  measures <- as.list(fit_measures(x, frame))
  steps <- cpp_saved_global_step(model_dir(x))
  tibble::as_tibble(c(list(nobs = sum(frame$rows), steps = steps), measures))
}

#' @rdname tidy_models
#' @exportS3Method generics::augment
augment.tf_estimator <- function(x, data = NULL, newdata = NULL, ...) {
  check_trained(x, "augment")
  if (is.null(x$blueprint)) stop_no_formula("augment")
  shown <- if (!is.null(newdata)) newdata else data
  if (is.null(shown)) {
    frame <- training_frame(x, "augment")
    keep <- if (x$blueprint$na$kind == "exclude") rep(TRUE, length(frame$rows)) else frame$rows
    shown <- rows_of(frame$data, keep)
  }
  added <- predict(x, newdata = shown)
  names(added) <- sub("^[.]pred$", ".fitted", names(added))
  shown <- tibble::as_tibble(as.data.frame(shown, optional = TRUE))
  response <- known_response(x, as.list(shown))
  if (is.numeric(response) && ".fitted" %in% names(added)) added$.resid <- response - added$.fitted
  shown[names(added)] <- added
  shown
}

# NULL where the data do not have it.
known_response <- function(object, data) {
  blueprint <- object$blueprint
  if (!all(blueprint$response_variables %in% names(data))) return(NULL)
  response_value(data, blueprint, parent.frame())
}

#' @rdname tidy_models
#' @exportS3Method generics::tidy
tidy.tf_estimator_history <- function(x, ...) tibble::as_tibble(as.data.frame(x))

#' @rdname tidy_models
#' @exportS3Method generics::glance
glance.tf_estimator_history <- function(x, ...) {
  tibble::as_tibble(c(list(steps = x$params$steps), lapply(x$losses, last_of)))
}
