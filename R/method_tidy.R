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
#' @param conf.int,conf.level Whether the intervals of [confint()][model_inference] are there, and
#'   their level.
#' @param ... Refused.
#' @return A tibble.
#'   * `tidy()`: `term` and `estimate`, with `std.error`, `statistic` and `p.value` where the loss is
#'     a likelihood, for several responses or classes with `response` or `y.level` in front. Of a
#'     history `step`, `metric` and `value`.
#'   * `glance()`: `nobs`, `steps`, and `rmse` and `r.squared` or `accuracy` and `average_loss` on
#'     the rows trained on, weighted as the training is; of linear models `sigma`, `logLik`, `AIC`,
#'     `BIC`, `deviance` and `df.residual`, too. Of a history `steps` and its last losses.
#'   * `augment()`: the data with `.fitted` and, where the response is there, `.resid`; of classes
#'     with `.pred_class` and a probability `.pred_<class>` for each.
#' @section Errors: `runhooks_error_not_found` where nothing is trained yet.
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
tidy.tf_estimator <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  check_flag(conf.int)
  abort_more("tidy", list(...), c("conf.int", "conf.level"))
  if (!conf.int && !missing(conf.level)) {
    abort_runhooks("{.arg conf.level} goes with {.code conf.int = TRUE}.")
  }
  fit <- if (conf.int) inference_fit(x, "tidy") else linear_fit(x, "tidy")
  if (!conf.int) record_inference(fit)
  table <- coefficient_table(fit)
  terms <- rownames(fit$coefficients)
  outputs <- colnames(fit$coefficients)
  columns <- list()
  if (!is.null(outputs)) {
    output <- if (is.null(tidy_classes_of(x))) "response" else "y.level"
    columns[[output]] <- rep(outputs, each = length(terms))
  }
  columns$term <- rep(terms, ncol(fit$coefficients))
  names <- c("estimate", "std.error", "statistic", "p.value")
  for (i in seq_len(ncol(table))) columns[[names[[i]]]] <- unname(table[, i])
  if (conf.int) {
    half <- interval_factor(fit, conf.level) * columns$std.error
    columns$conf.low <- columns$estimate - half
    columns$conf.high <- columns$estimate + half
  }
  tibble::as_tibble(columns)
}

#' @rdname tidy_models
#' @exportS3Method generics::glance
glance.tf_estimator <- function(x, ...) {
  abort_more("glance", list(...))
  check_trained(x, "glance")
  frame <- training_frame(x, "glance")
  measures <- as.list(fit_measures(x, frame))
  steps <- cpp_saved_global_step(model_dir(x))
  known <- c(list(nobs = counted_rows(frame), steps = steps), measures)
  if (has_coefficients(x)) known <- c(known, likelihood_measures(linear_fit(x, "glance", frame)))
  tibble::as_tibble(known)
}

# Of a model whose loss is a likelihood, by the names that broom has for them.
likelihood_measures <- function(fit) {
  if (!nzchar(fit$family) || fit$is_penalized) return(list())
  record_inference(fit)
  log_likelihood <- as_log_likelihood(fit)
  c(
    if (fit$family == "gaussian" && ncol(fit$errors) == 1) list(sigma = fit_sigma(fit)),
    list(
      logLik = as.numeric(log_likelihood), AIC = stats::AIC(log_likelihood),
      BIC = stats::BIC(log_likelihood), deviance = fit_deviance(fit), df.residual = fit_df(fit)
    )
  )
}

#' @rdname tidy_models
#' @exportS3Method generics::augment
augment.tf_estimator <- function(x, data = NULL, newdata = NULL, ...) {
  abort_more("augment", list(...), c("data", "newdata"))
  check_trained(x, "augment")
  if (is.null(x$blueprint)) abort_no_formula("augment")
  shown <- if (!is.null(newdata)) newdata else data
  keep <- TRUE
  if (is.null(shown)) {
    frame <- training_frame(x, "augment")
    if (x$blueprint$na$kind != "exclude") keep <- frame$rows
    shown <- frame$data
  }
  added <- predict(x, newdata = shown)
  names(added) <- sub("^[.]pred$", ".fitted", names(added))
  shown <- tibble::as_tibble(as.data.frame(shown, optional = TRUE))
  response <- known_response(x, as.list(shown))
  if (is.numeric(response) && ".fitted" %in% names(added)) added$.resid <- response - added$.fitted
  shown[names(added)] <- added
  shown[keep, ]
}

# NULL where the data do not have it.
known_response <- function(object, data) {
  blueprint <- object$blueprint
  if (!all(blueprint$response_variables %in% names(data))) return(NULL)
  response_value(data, blueprint, parent.frame())
}

#' @rdname tidy_models
#' @exportS3Method generics::tidy
tidy.tf_estimator_history <- function(x, ...) {
  abort_more("tidy", list(...))
  tibble::as_tibble(as.data.frame(x))
}

#' @rdname tidy_models
#' @exportS3Method generics::glance
glance.tf_estimator_history <- function(x, ...) {
  abort_more("glance", list(...))
  tibble::as_tibble(c(list(steps = x$params$steps), lapply(x$losses, last_of)))
}
