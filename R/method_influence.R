# Case influence and simulated responses of linear models.

#' Measure the influence of rows and simulate responses
#'
#' These methods return leverages, standardized residuals, the changes in the coefficients if a row
#' is dropped, and simulated responses. They accept linear models from a formula with one linear
#' predictor and return the same values as for [lm()] and [glm()].
#'
#' @param model,object A trained linear model from a formula.
#' @param do.coef Whether to compute the change in each coefficient if a row is dropped; `TRUE` by
#'   default.
#' @param nsim Number of simulated responses; 1 by default.
#' @param seed A seed for [set.seed()], or `NULL` (the default). With a seed, the state of the
#'   random number generator is restored afterwards.
#' @param type The type of residuals for `rstandard()`: `"pearson"` (the default since R 4.6, as for
#'   [glm()]) or `"deviance"` (the default in earlier versions of R).
#' @param ... Must be empty.
#' @return * `influence()`: a list with `hat`, `coefficients`, `sigma` and the residuals, like
#'   [stats::influence()].
#' * `dfbeta()`: the `coefficients` of `influence()`.
#' * `hatvalues()`, `rstandard()`, `rstudent()`, `cooks.distance()`: one number for each row.
#' * `simulate()`: a data frame with a column for each simulated response.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model is not linear, has several linear predictors
#'     (several responses or more than two classes), or its loss is not a log-likelihood.
#' @name model_influence
#' @family estimator methods
#' @examples
#' model <- linear_regressor(mpg ~ wt + hp, mtcars)
#' train(model)
#' head(rstudent(model))
#' simulate(model, nsim = 2, seed = 1)[1:3, ]
NULL

#' @rdname model_influence
#' @importFrom stats influence
#' @export
influence.tf_estimator <- function(model, do.coef = TRUE, ...) { # nolint: its name
  check_flag(do.coef)
  abort_extra_arguments("influence", list(...), "do.coef")
  fit <- single_predictor_fit(model, "influence")
  result <- list(hat = row_leverage(fit))
  pearson <- scaled_residuals(fit, "pearson")
  deviance <- scaled_residuals(fit, "deviance")
  residuals <- if (uses_pearson_residuals()) pearson else deviance
  one_minus_hat <- 1 - result$hat
  if (do.coef) result$coefficients <- coefficient_changes(fit, residuals / one_minus_hat)
  result$sigma <- sqrt(
    pmax(sum(residuals^2) - residuals^2 / one_minus_hat, 0) / (fit_residual_df(fit) - 1)
  )
  result <- c(result, if (fit$family == "gaussian") {
    list(wt.res = residuals)
  } else if (uses_pearson_residuals()) {
    list(wt.res = residuals, pear.res = pearson, dev.res = deviance)
  } else {
    list(dev.res = deviance, pear.res = pearson)
  })
  result <- lapply(result, with_excluded_rows, model, fit)
  # lm() has these values for omitted rows
  result$hat[is.na(result$hat)] <- 0
  if (do.coef) result$coefficients[is.na(result$coefficients)] <- 0
  result$sigma[is.na(result$sigma)] <- sqrt(fit_deviance(fit) / fit_residual_df(fit))
  result
}

# As for lm(), rows of weight 0 are left out, and with na.exclude omitted rows are NA.
with_excluded_rows <- function(values, object, fit) {
  frame <- fit$frame
  if (object$blueprint$na$kind != "exclude" || all(frame$rows)) return(values)
  shown <- !frame$rows
  shown[frame$rows] <- row_weights(object, frame, sum(frame$rows)) != 0
  padded <- scatter_rows_to_na(values, frame$rows[shown])
  names <- rownames_of(frame)[shown]
  if (is.null(dim(padded))) return(setNames(padded, names))
  rownames(padded) <- names
  padded
}

# Since R 4.6, the methods for glm() use Pearson residuals.
uses_pearson_residuals <- function(r_version = getRversion()) r_version >= "4.6"

#' @rdname model_influence
#' @importFrom stats dfbeta
#' @export
dfbeta.tf_estimator <- function(model, ...) {
  abort_extra_arguments("dfbeta", list(...))
  stats::influence(model)$coefficients
}

#' @rdname model_influence
#' @importFrom stats rstudent
#' @export
rstudent.tf_estimator <- function(model, ...) {
  abort_extra_arguments("rstudent", list(...))
  fit <- single_predictor_fit(model, "rstudent")
  if (fit$family != "gaussian" && uses_pearson_residuals()) return(rstandard(model, "pearson"))
  infl <- stats::influence(model, do.coef = FALSE)
  one_minus_hat <- 1 - infl$hat
  residuals <- if (fit$family == "gaussian") {
    infl$wt.res / (infl$sigma * sqrt(one_minus_hat))
  } else {
    sign(infl$dev.res) * sqrt(infl$dev.res^2 + infl$hat * infl$pear.res^2 / one_minus_hat)
  }
  infinite_to_nan(residuals)
}

# Replaces infinite values by NaN, as lm() does: rows with leverage 1 have no standardized residual.
infinite_to_nan <- function(x) {
  x[is.infinite(x)] <- NaN
  x
}

#' @rdname model_influence
#' @importFrom stats hatvalues
#' @export
hatvalues.tf_estimator <- function(model, ...) {
  abort_extra_arguments("hatvalues", list(...))
  fit <- single_predictor_fit(model, "hatvalues")
  leverage <- with_excluded_rows(row_leverage(fit), model, fit)
  leverage[is.na(leverage)] <- 0 # as for lm()
  leverage
}

#' @rdname model_influence
#' @importFrom stats rstandard
#' @export
rstandard.tf_estimator <- function(model, type = rstandard_types(), ...) {
  type <- check_one_of(type, rstandard_types())
  abort_extra_arguments("rstandard", list(...), "type")
  fit <- single_predictor_fit(model, "rstandard")
  variance <- residual_variance(fit) * (1 - row_leverage(fit))
  residuals <- scaled_residuals(fit, type) / sqrt(variance)
  with_excluded_rows(infinite_to_nan(residuals), model, fit)
}

# Returns the choices of `type` for rstandard(). The first is the default, which depends on R's
# version.
rstandard_types <- function(...) {
  types <- c("pearson", "deviance")
  if (uses_pearson_residuals(...)) types else rev(types)
}

#' @rdname model_influence
#' @importFrom stats cooks.distance
#' @export
cooks.distance.tf_estimator <- function(model, ...) {
  abort_extra_arguments("cooks.distance", list(...))
  fit <- single_predictor_fit(model, "cooks.distance")
  leverage <- row_leverage(fit)
  squares <- (scaled_residuals(fit, "pearson") / (1 - leverage))^2 * leverage
  distances <- squares / (residual_variance(fit) * sum(fit$kept))
  with_excluded_rows(infinite_to_nan(distances), model, fit)
}

residual_variance <- function(fit) if (fit$family == "gaussian") fit_sigma(fit)^2 else 1

row_leverage <- function(fit) {
  scaled <- backsolve(fit$root, t(orthonormal_columns(fit)), transpose = TRUE)
  setNames(colSums(scaled^2) * fit$weights * row_variance(fit), rownames(fit$design))
}

scaled_residuals <- function(fit, type) {
  errors <- fit$errors[, 1]
  residuals <- if (fit$family == "gaussian") {
    sqrt(fit$weights) * errors
  } else if (type == "pearson") {
    errors * sqrt(fit$weights / row_variance(fit))
  } else {
    family <- list(binomial = stats::binomial, poisson = stats::poisson)[[fit$family]]()
    sign(errors) * sqrt(pmax(family$dev.resids(fit$response[, 1], fit$means[, 1], fit$weights), 0))
  }
  setNames(residuals, rownames(fit$design))
}

# Returns the matrix of dfbeta(): one row for each row of the data and one column for each
# coefficient.
coefficient_changes <- function(fit, residuals) {
  scores <- sqrt(fit$weights * row_variance(fit)) * residuals * orthonormal_columns(fit)
  changes <- scores %*% chol2inv(fit$root) %*% t(fit$basis)
  dimnames(changes) <- list(rownames(fit$design), colnames(fit$design)[fit$kept])
  changes
}

#' @rdname model_influence
#' @importFrom stats simulate
#' @export
simulate.tf_estimator <- function(object, nsim = 1, seed = NULL, ...) {
  check_positive_whole(nsim)
  abort_extra_arguments("simulate", list(...), c("nsim", "seed"))
  fit <- single_predictor_fit(object, "simulate")
  restore_random_state <- save_random_state()
  if (!is.null(seed)) {
    on.exit(restore_random_state(), add = TRUE)
    set.seed(seed)
  } else if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) {
    stats::runif(1) # creates .Random.seed
  }
  seed_attribute <- if (is.null(seed)) get(".Random.seed", envir = globalenv()) else {
    structure(seed, kind = as.list(RNGkind()))
  }
  mean <- fit$means[, 1]
  n <- length(mean) * nsim
  responses <- switch(fit$family,
    gaussian = mean + stats::rnorm(n, sd = sqrt(fit_deviance(fit) / fit_residual_df(fit) / fit$weights)),
    binomial = stats::rbinom(n, 1, mean),
    poisson = stats::rpois(n, mean)
  )
  classes <- class_names_of(object)
  responses <- with_excluded_rows(
    matrix(responses, ncol = nsim, dimnames = list(rownames(fit$design), NULL)), object, fit
  )
  columns <- lapply(seq_len(nsim), function(i) unname(responses[, i]))
  if (length(classes)) columns <- lapply(columns, function(x) factor(classes[x + 1], classes))
  names(columns) <- paste0("sim_", seq_len(nsim))
  structure(data.frame(columns, row.names = rownames(responses)), seed = seed_attribute)
}
