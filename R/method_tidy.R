# tidy(), glance() and augment() of models and histories. The generics are in the package generics.

#' Tidy a model or a history
#'
#' `tidy()` returns a tibble with one row for each coefficient of a linear model. `glance()` returns
#' one row of measures of the model, and `augment()` returns the data with predictions. The package
#' generics defines these functions; broom and other packages re-export them.
#'
#' @param x A trained model from a formula, or for `tidy()` and `glance()` a history.
#' @param data,newdata The data frame to extend: either `data`, which is by default the training
#'   data, or `newdata` with other rows.
#' @param conf.int,conf.level Whether to add the intervals of [confint()][model_inference] (`FALSE`
#'   by default), and their level (0.95 by default).
#' @param ... Must be empty.
#' @return A tibble.
#'   * `tidy()` of a model: `term` and `estimate`. If the loss is a likelihood, also `std.error`,
#'     `statistic` and `p.value`. With several responses or classes, first `response` or `y.level`.
#'   * `tidy()` of a history: `step`, `metric` and `value`.
#'   * `glance()` of a model: `nobs`, `steps`, and the weighted `rmse` and `r.squared`, or
#'     `accuracy` and `average_loss`, on the training rows. For linear models also `logLik`, `AIC`,
#'     `BIC`, `deviance` and `df.residual`, and for one numeric response `adj.r.squared`, `sigma`,
#'     `statistic`, `p.value` and `df`, as in [summary.lm()].
#'   * `glance()` of a history: `steps` and the last losses.
#'   * `augment()`: the row names in `.rownames` if the data have any, the data, `.fitted`, and
#'     `.resid` if they contain a numeric response. For classes: `.pred_class` and a probability
#'     `.pred_<class>` for each class.
#' @section Errors:
#'   * `runhooks_error_not_found`: the model has not been trained.
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
  abort_extra_arguments("tidy", list(...), c("conf.int", "conf.level"))
  if (!conf.int && !missing(conf.level)) {
    abort_runhooks("{.arg conf.level} needs {.code conf.int = TRUE}.")
  }
  fit <- if (conf.int) inference_fit(x, "tidy") else coefficient_fit(x, "tidy")
  if (!conf.int) warn_unreliable_inference(fit)
  table <- coefficient_table(fit)
  terms <- rownames(fit$coefficients)
  outputs <- colnames(fit$coefficients)
  columns <- list()
  if (!is.null(outputs)) {
    output_column <- if (is.null(class_names_of(x))) "response" else "y.level"
    columns[[output_column]] <- rep(outputs, each = length(terms))
  }
  columns$term <- rep(terms, ncol(fit$coefficients))
  names <- c("estimate", "std.error", "statistic", "p.value")
  for (i in seq_len(ncol(table))) columns[[names[[i]]]] <- unname(table[, i])
  if (conf.int) {
    half_width <- interval_quantile(fit, conf.level) * columns$std.error
    columns$conf.low <- columns$estimate - half_width
    columns$conf.high <- columns$estimate + half_width
  }
  tibble::as_tibble(columns)
}

#' @rdname tidy_models
#' @exportS3Method generics::glance
glance.tf_estimator <- function(x, ...) {
  abort_extra_arguments("glance", list(...))
  check_trained(x, "glance")
  frame <- training_frame(x, "glance")
  measures <- as.list(fit_measures(x, frame))
  steps <- cpp_saved_global_step(model_dir(x))
  values <- c(list(nobs = num_weighted_rows(frame), steps = steps), measures)
  if (has_coefficients(x)) values <- c(values, likelihood_measures(
    coefficient_fit(x, "glance", frame = frame), values$r.squared
  ))
  tibble::as_tibble(values)
}

# Returns the F statistic and other measures of summary.lm().
regression_measures <- function(fit, r_squared) {
  has_intercept <- "(Intercept)" %in% rownames(fit$coefficients)
  residual_df <- fit_residual_df(fit)
  model_df <- sum(fit$kept) - has_intercept
  statistic <- if (model_df > 0) r_squared / (1 - r_squared) * residual_df / model_df else NA_real_
  list(
    adj.r.squared = 1 - (1 - r_squared) * (fit_nobs(fit) - has_intercept) / residual_df,
    sigma = fit_sigma(fit), statistic = statistic,
    p.value = stats::pf(statistic, model_df, residual_df, lower.tail = FALSE),
    df = if (model_df > 0) model_df else NA_real_
  )
}

likelihood_measures <- function(fit, r_squared) {
  if (!nzchar(fit$family) || fit$is_penalized) return(list())
  warn_unreliable_inference(fit)
  log_likelihood <- as_log_likelihood(fit)
  c(
    if (fit$family == "gaussian" && ncol(fit$errors) == 1) regression_measures(fit, r_squared),
    list(
      logLik = as.numeric(log_likelihood), AIC = stats::AIC(log_likelihood),
      BIC = stats::BIC(log_likelihood), deviance = fit_deviance(fit), df.residual = fit_residual_df(fit)
    )
  )
}

#' @rdname tidy_models
#' @exportS3Method generics::augment
augment.tf_estimator <- function(x, data = NULL, newdata = NULL, ...) {
  abort_extra_arguments("augment", list(...), c("data", "newdata"))
  check_trained(x, "augment")
  if (is.null(x$blueprint)) abort_no_formula("augment")
  extended <- if (!is.null(newdata)) newdata else data
  rows <- TRUE
  if (is.null(extended)) {
    frame <- training_frame(x, "augment")
    if (x$blueprint$na$kind != "exclude") rows <- frame$rows
    extended <- frame$data
  }
  predictions <- predict(x, newdata = extended)
  names(predictions) <- sub("^[.]pred$", ".fitted", names(predictions))
  extended <- as.data.frame(extended, optional = TRUE)
  names <- if (is.character(attr(extended, "row.names"))) rownames(extended)
  extended <- tibble::as_tibble(extended)
  response <- available_response(x, as.list(extended))
  has_residuals <- is.numeric(response) && ".fitted" %in% names(predictions)
  if (has_residuals) predictions$.resid <- response - predictions$.fitted
  extended[names(predictions)] <- predictions
  if (!is.null(names)) extended <- tibble::add_column(extended, .rownames = names, .before = 1)
  extended[rows, ]
}

available_response <- function(object, data) {
  blueprint <- object$blueprint
  if (!all(blueprint$response_variables %in% names(data))) return(NULL)
  response_value(data, blueprint, parent.frame())
}

#' @rdname tidy_models
#' @exportS3Method generics::tidy
tidy.tf_estimator_history <- function(x, ...) {
  abort_extra_arguments("tidy", list(...))
  tibble::as_tibble(as.data.frame(x))
}

#' @rdname tidy_models
#' @exportS3Method generics::glance
glance.tf_estimator_history <- function(x, ...) {
  abort_extra_arguments("glance", list(...))
  tibble::as_tibble(c(list(steps = x$params$steps), lapply(x$losses[x$params$metrics], last_or_na)))
}
