# Inference for linear models: vcov(), confint(), sigma(), deviance(), logLik() and df.residual().

#' Covariances, confidence intervals and likelihoods of linear models
#'
#' These methods return standard errors and likelihoods of linear models from a formula, as for
#' [lm()] and [glm()]. They are valid at the minimum of the loss, where training ends by default. If
#' a model is far from it, they give the warning `runhooks_warning_not_converged`.
#'
#' @param object A trained linear model from a formula: a regressor, a classifier, or a model with a
#'   head whose loss is a likelihood, such as `poisson_regression_head()`.
#' @param parm Numbers or names of coefficients; by default all.
#' @param level Level of the intervals; 0.95 by default.
#' @param complete If `FALSE`, omit coefficients that are `NA`.
#' @param ... Must be empty.
#' @return Depends on the function:
#'   * `vcov()`: the covariance matrix of the coefficients. With several responses or classes, the
#'     names are `"response:term"` or `"class:term"`.
#'   * `confint()`: a matrix of intervals, from the t distribution for regressors and from the
#'     normal distribution for other models.
#'   * `sigma()`, `deviance()`, `df.residual()`, `logLik()`: as for [lm()] and [glm()], so [AIC()]
#'     and [BIC()] work. [sigma()] and [deviance()] have one value for each response. For classes and
#'     counts [sigma()] follows [glm()]: 1 since R 4.6, the root of the mean deviance in earlier
#'     versions.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model is not linear, its loss is not a likelihood, or
#'     its optimizer penalizes weights.
#' @name model_inference
#' @family estimator methods
#' @examples
#' model <- linear_regressor(mpg ~ wt + hp, mtcars)
#' train(model)
#' confint(model)
#' predict(model, mtcars[1:3, ], interval = "confidence")
#' AIC(model)
NULL

coefficient_names <- function(fit) {
  terms <- rownames(fit$coefficients)
  outputs <- colnames(fit$coefficients)
  if (is.null(outputs)) terms else paste0(rep(outputs, each = length(terms)), ":", terms)
}

#' @rdname model_inference
#' @importFrom stats vcov
#' @export
vcov.tf_estimator <- function(object, complete = TRUE, ...) {
  check_flag(complete)
  abort_extra_arguments("vcov", list(...), "complete")
  fit <- inference_fit(object, "vcov")
  covariance <- covariance_matrix(fit)
  if (complete) return(covariance)
  is_kept <- rep(fit$kept, ncol(fit$coefficients))
  covariance[is_kept, is_kept, drop = FALSE]
}

covariance_matrix <- function(fit) {
  if (!is.null(fit$factor)) return(absorbed_covariance(fit))
  names <- coefficient_names(fit)
  covariance <- matrix(NA_real_, length(names), length(names), dimnames = list(names, names))
  is_kept <- rep(fit$kept, ncol(fit$coefficients))
  covariance[is_kept, is_kept] <- fit_covariance(fit)
  covariance
}

# Returns the coefficient table of summary.lm() and summary.glm(). It has no standard errors if the
# loss is not a likelihood.
coefficient_table <- function(fit) {
  estimate <- as.vector(fit$coefficients)
  table <- cbind(Estimate = estimate)
  rownames(table) <- coefficient_names(fit)
  if (!nzchar(fit$family) || fit$is_penalized) return(table)
  std_error <- if (is.null(fit$factor)) {
    sqrt(diag(covariance_matrix(fit)))
  } else {
    absorbed_standard_errors(fit)
  }
  statistic <- estimate / std_error
  if (fit$family == "gaussian") {
    p <- 2 * stats::pt(-abs(statistic), fit_residual_df(fit))
    return(cbind(table, `Std. Error` = std_error, `t value` = statistic, `Pr(>|t|)` = p))
  }
  p <- 2 * stats::pnorm(-abs(statistic))
  cbind(table, `Std. Error` = std_error, `z value` = statistic, `Pr(>|z|)` = p)
}

#' @rdname model_inference
#' @importFrom stats confint
#' @export
confint.tf_estimator <- function(object, parm, level = 0.95, ...) {
  abort_extra_arguments("confint", list(...), c("parm", "level"))
  fit <- inference_fit(object, "confint")
  table <- coefficient_table(fit)
  half_width <- interval_quantile(fit, level) * table[, "Std. Error"]
  limits <- cbind(table[, "Estimate"] - half_width, table[, "Estimate"] + half_width)
  probs <- c(1 - level, 1 + level) / 2
  dimnames(limits) <- list(
    rownames(table), paste(format(100 * probs, trim = TRUE, digits = 3), "%")
  )
  if (missing(parm)) return(limits)
  choices <- if (is.character(parm)) rownames(table) else seq_len(nrow(table))
  names <- paste0("\"", rownames(table), "\"", collapse = ", ")
  # negative numbers leave coefficients out
  is_left_out <- is.numeric(parm) && all(parm < 0)
  is_valid <- length(parm) > 0 && all((if (is_left_out) -parm else parm) %in% choices)
  check_arg(is_valid, parm, paste("among", names, "or their numbers"), "parm", environment())
  limits[parm, , drop = FALSE]
}

#' @rdname model_inference
#' @importFrom stats sigma
#' @export
sigma.tf_estimator <- function(object, ...) {
  abort_extra_arguments("sigma", list(...))
  fit_sigma(inference_fit(object, "sigma"))
}

# Computes sigma() as R does: since R 4.6, that of a glm is the root of its dispersion.
fit_sigma <- function(fit, r_version = getRversion()) {
  if (fit$family == "gaussian") return(unname(sqrt(diag(fit_dispersion(fit)))))
  if (fit$family %in% c("binomial", "poisson") && r_version >= "4.6") return(1)
  sqrt(fit_deviance(fit) / fit_residual_df(fit))
}

#' @rdname model_inference
#' @importFrom stats deviance
#' @export
deviance.tf_estimator <- function(object, ...) {
  abort_extra_arguments("deviance", list(...))
  fit <- inference_fit(object, "deviance")
  # one for each response, as for lm()
  if (fit$family == "gaussian" && ncol(fit$errors) > 1) return(colSums(fit$weights * fit$errors^2))
  fit_deviance(fit)
}

fit_deviance <- function(fit) {
  y <- fit$response
  mu <- fit$means
  w <- fit$weights
  switch(fit$family,
    gaussian = sum(w * fit$errors^2),
    binomial = sum(stats::binomial()$dev.resids(y[, 1], mu[, 1], w)),
    poisson = sum(stats::poisson()$dev.resids(y, mu, rep(w, ncol(y)))),
    multinomial = -2 * fit_log_likelihood(fit)
  )
}

#' @rdname model_inference
#' @importFrom stats df.residual
#' @export
df.residual.tf_estimator <- function(object, ...) {
  abort_extra_arguments("df.residual", list(...))
  fit_residual_df(inference_fit(object, "df.residual"))
}

#' @rdname model_inference
#' @importFrom stats logLik
#' @export
logLik.tf_estimator <- function(object, ...) {
  abort_extra_arguments("logLik", list(...))
  as_log_likelihood(inference_fit(object, "logLik"))
}

as_log_likelihood <- function(fit) {
  n <- fit_nobs(fit)
  num_variances <- if (fit$family == "gaussian") ncol(fit$errors) else 0
  df <- fit_num_coefficients(fit) + num_variances
  structure(fit_log_likelihood(fit), df = df, nobs = n, nall = n, class = "logLik")
}

fit_log_likelihood <- function(fit) {
  w <- fit$weights
  y <- fit$response
  mu <- fit$means
  is_used <- w > 0
  n <- sum(is_used)
  switch(fit$family,
    gaussian = sum(vapply(seq_len(ncol(y)), function(i) {
      0.5 * (sum(log(w[is_used])) - n * (log(2 * pi) + 1 - log(n) + log(sum(w * fit$errors[, i]^2))))
    }, 0)),
    binomial = sum(w * (xlogy(y, mu) + xlogy(1 - y, 1 - mu))),
    poisson = sum(w * stats::dpois(y, mu, log = TRUE)),
    multinomial = sum(w * (rowSums(xlogy(y, mu)) + xlogy(1 - rowSums(y), 1 - rowSums(mu))))
  )
}

# Computes x * log(y), with the limit 0 for x = 0.
xlogy <- function(x, y) {
  product <- x * log(y)
  product[x == 0] <- 0
  product
}
