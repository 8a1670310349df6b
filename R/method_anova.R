# Compares linear models: anova(), drop1() and add1(), and extractAIC() for step().

#' Compare linear models
#'
#' `anova()` of one model returns a table of the contribution of each term, given the terms before
#' it. `anova()` of several nested models returns a table of their differences. `extractAIC()`
#' returns the criterion that [drop1()], [add1()] and [step()] use; [AIC()] and [BIC()] accept
#' several models.
#'
#' @param object,fit A trained linear model from a formula.
#' @param ... For `anova()`: more models with the same response and rows.
#' @param test `"F"`, `"Chisq"`, `"Cp"` or `"none"`, as in [stats::stat.anova()]. The default is
#'   `"F"` for regressors and `"Chisq"` for other models.
#' @param scale For [extractAIC()]: the variance of the errors if it is known, or 0 (the default).
#' @param k The penalty for each coefficient; 2 (the default) for AIC.
#' @return `anova()`: a table like that of [stats::anova.lm()] or [stats::anova.glm()].
#'   `extractAIC()`: the number of coefficients and the criterion, as for [lm()] and [glm()].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a model is not linear, has several responses or a loss
#'     that is not a likelihood, or the models have different rows or responses.
#' @name model_comparison
#' @family estimator methods
#' @examples
#' small <- linear_regressor(mpg ~ wt, mtcars)
#' train(small)
#' wider <- update(small, . ~ . + hp)
#' anova(small, wider)
#' AIC(small, wider)
#' drop1(wider)
NULL

#' @rdname model_comparison
#' @importFrom stats extractAIC
#' @export
extractAIC.tf_estimator <- function(fit, scale = 0, k = 2, ...) { # nolint: its name
  abort_extra_arguments("extractAIC", list(...), c("scale", "k"))
  model_fit <- fit_of_one_response(fit, "extractAIC")
  check_arg(is_number(scale) && scale >= 0, scale, "a number, 0 or more", "scale", environment())
  check_arg(is_number(k), k, "a number", "k", environment())
  n <- fit_nobs(model_fit)
  edf <- fit_num_coefficients(model_fit)
  if (model_fit$family != "gaussian") {
    return(c(edf, -2 * fit_log_likelihood(model_fit) + k * edf))
  }
  squares <- fit_deviance(model_fit)
  c(edf, (if (scale > 0) squares / scale - n else n * log(squares / n)) + k * edf)
}

# Returns the fit of a model with one response. Several responses are an error, because glm()
# defines no criterion for them.
fit_of_one_response <- function(object, fun, call = parent.frame()) {
  fit <- inference_fit(object, fun, call, needs_design = TRUE)
  if (fit$family == "multinomial" || ncol(fit$errors) == 1) return(fit)
  abort_runhooks(
    "{.fn {fun}} needs a model with one response; this one has {ncol(fit$errors)}.", call = call
  )
}

#' @rdname model_comparison
#' @importFrom stats anova
#' @export
anova.tf_estimator <- function(object, ..., test = NULL) {
  extra_args <- list(...)
  is_model <- vapply(extra_args, inherits, NA, "tf_estimator")
  is_foreign <- !is_model & vapply(extra_args, function(x) is.list(x) && is.object(x), NA)
  if (any(is_foreign)) {
    abort_runhooks(
      "{.fn anova} compares models of runhooks, not a
       {.cls {class(extra_args[is_foreign][[1]])[[1]]}} object.",
      call = environment()
    )
  }
  abort_extra_arguments("anova", extra_args[!is_model], "test")
  models <- c(list(object), unname(extra_args))
  fits <- lapply(models, fit_of_one_response, "anova", environment())
  if (is.null(test)) test <- if (fits[[1]]$family == "gaussian") "F" else "Chisq"
  good <- is_string(test) && test %in% c("F", "Chisq", "Cp", "none")
  check_arg(good, test, '"F", "Chisq", "Cp" or "none"', "test", environment())
  if (length(models) > 1) return(anova_of_models(models, fits, test))
  if (fits[[1]]$family == "gaussian") {
    good <- test %in% c("F", "none")
    check_arg(good, test, '"F" or "none" for one regressor', "test", environment())
    return(anova_of_terms(object, fits[[1]], test))
  }
  anova_by_refitting(object, test)
}

anova_of_models <- function(models, fits, test, call = parent.frame()) {
  first <- fits[[1]]
  for (i in seq_along(fits)[-1]) {
    is_same <- identical(fits[[i]]$family, first$family) &&
      identical(unname(fits[[i]]$response), unname(first$response)) &&
      identical(fits[[i]]$weights, first$weights)
    if (!is_same) {
      abort_runhooks(
        "{.fn anova} needs models with the same response and rows; model {i} differs.",
        call = call
      )
    }
  }
  residual_df <- vapply(fits, function(fit) fit_nobs(fit) - fit_num_coefficients(fit), 0)
  deviance <- vapply(fits, fit_deviance, 0)
  is_gaussian <- first$family == "gaussian"
  table <- data.frame(residual_df, deviance, c(NA, -diff(residual_df)), c(NA, -diff(deviance)))
  names(table) <- if (is_gaussian) {
    c("Res.Df", "RSS", "Df", "Sum of Sq")
  } else {
    c("Resid. Df", "Resid. Dev", "Df", "Deviance")
  }
  formulas <- vapply(models, function(model) term_name(stats::formula(model)), "")
  heading <- c(
    if (is_gaussian) "Analysis of Variance Table\n" else "Analysis of Deviance Table\n",
    paste0("Model ", format(seq_along(models)), ": ", formulas, collapse = "\n")
  )
  as_anova(table, heading, test, fits[[which.min(residual_df)]])
}

as_anova <- function(table, heading, test, largest) {
  if (test != "none") {
    df <- if (largest$family == "gaussian") fit_residual_df(largest) else Inf
    scale <- if (largest$family == "gaussian") fit_deviance(largest) / df else 1
    table <- stats::stat.anova(table, test, scale, df, fit_nobs(largest))
  }
  structure(table, heading = heading, class = c("anova", "data.frame"))
}

# Returns the table of sequential sums of squares. They are squared projections on the
# orthogonalized columns of each term.
anova_of_terms <- function(object, fit, test) {
  root <- sqrt(fit$weights)
  fitted <- fit$logits[, 1] - fit$offset
  effects <- qr.qty(qr(root * fit$design[, fit$kept, drop = FALSE], tol = 0), root * fitted)
  term <- attr(fit$design, "assign")[fit$kept]
  squares <- effects[seq_along(term)]^2
  term_indices <- sort(unique(term[term > 0]))
  df <- c(vapply(term_indices, function(i) sum(term == i), 0L), fit_residual_df(fit))
  sums <- c(vapply(term_indices, function(i) sum(squares[term == i]), 0), fit_deviance(fit))
  table <- data.frame(df, sums, sums / df)
  names(table) <- c("Df", "Sum Sq", "Mean Sq")
  rownames(table) <- c(object$blueprint$labels[term_indices], "Residuals")
  if (test == "F") {
    ratio <- table[["Mean Sq"]] / (fit_deviance(fit) / fit_residual_df(fit))
    ratio[length(ratio)] <- NA
    table[["F value"]] <- ratio
    table[["Pr(>F)"]] <- stats::pf(ratio, df, fit_residual_df(fit), lower.tail = FALSE)
  }
  heading <- c("Analysis of Variance Table\n", paste("Response:", object$blueprint$response$name))
  structure(table, heading = heading, class = c("anova", "data.frame"))
}

# Returns the analysis of deviance for families other than gaussian. Fits a model for each number of
# terms.
anova_by_refitting <- function(object, test) {
  labels <- object$blueprint$labels
  smaller_models <- lapply(seq_along(labels) - 1, function(n) {
    right <- sum_of_terms(object$blueprint, n)
    offset <- object$blueprint$offset
    if (!is.null(offset)) right <- call("+", right, str2lang(offset$name))
    formula <- stats::formula(object)
    refit(object, stats::as.formula(call("~", formula[[2]], right), environment(formula)))
  })
  fits <- lapply(c(smaller_models, list(object)), fit_of_one_response, "anova")
  residual_df <- vapply(fits, function(fit) fit_nobs(fit) - fit_num_coefficients(fit), 0)
  deviance <- vapply(fits, fit_deviance, 0)
  table <- data.frame(c(NA, -diff(residual_df)), c(NA, -diff(deviance)), residual_df, deviance)
  dimnames(table) <- list(c("NULL", labels), c("Df", "Deviance", "Resid. Df", "Resid. Dev"))
  heading <- paste0(
    "Analysis of Deviance Table\n\nResponse: ", object$blueprint$response$name,
    "\n\nTerms added sequentially (first to last)\n"
  )
  as_anova(table, heading, test, fits[[length(fits)]])
}

# TRUE if update() trains the new model: the old model has been trained and is one that iterates to
# convergence.
is_fitted_to_convergence <- function(object) {
  has_coefficients(object) && is_iterative_fit(object) && !is_streamed(object$data) &&
    !is.null(cpp_latest_checkpoint(model_dir(object)))
}

# Returns a call that creates and trains the model in a new directory. `env`: the environment in
# which it will be evaluated, or NULL.
refitting_call <- function(call, object, changes, env) {
  if (!"model_dir" %in% changes) call$model_dir <- NULL
  # include the data and the constructor if `env` does not have them
  if (!is.null(env)) {
    if (!"data" %in% changes && !has_same_data(call$data, object$data, env)) {
      call$data <- data_of_call(object)
    }
    if (is.name(call[[1]]) && !exists(as.character(call[[1]]), envir = env, mode = "function")) {
      call[[1]] <- base::call("::", quote(runhooks), as.name(object$spec$type))
    }
  }
  as.call(list(
    quote((function(model) {
      suppressMessages(runhooks::train(model))
      model
    })),
    call
  ))
}

# The data of the model with all columns, because added terms may read columns that the model does
# not. The formula's environment has only the variables of the formula, so the data are looked up
# in the functions that are running, too.
data_of_call <- function(object) {
  expr <- object$call$data
  envs <- c(environment(stats::formula(object)), if (is.name(expr)) c(globalenv(), sys.frames()))
  env <- Find(function(env) has_same_data(expr, object$data, env), envs)
  if (is.null(env)) object$data else eval(expr, env)
}

has_same_data <- function(expr, data, env) {
  value <- tryCatch(eval(expr, env), error = function(error) NULL)
  is.data.frame(value) && nrow(value) == nrow(data) && all(names(data) %in% names(value)) &&
    identical(as.list(value)[names(data)], as.list(data))
}

refit <- function(object, formula) {
  has_call <- !is.null(object$call[["data"]]) && is.null(object$recipe)
  if (!has_call) return(stats::update(object, formula))
  # update.formula() would deparse the formula, which changes terms such as `(x > 3):z`
  object$call$formula <- formula
  eval(stats::update(object, evaluate = FALSE), environment(stats::formula(object)))
}

#' @rdname model_comparison
#' @param scope Terms to drop, or the larger model; see [drop1()] and [add1()].
#' @importFrom stats drop1 add1
#' @export
drop1.tf_estimator <- function(object, scope, scale = 0, test = c("none", "Chisq", "F"), k = 2,
                               ...) {
  compare_terms("drop1", object, scope, scale, match.arg(test), k, ...)
}

#' @rdname model_comparison
#' @export
add1.tf_estimator <- function(object, scope, scale = 0, test = c("none", "Chisq", "F"), k = 2,
                              ...) {
  compare_terms("add1", object, scope, scale, match.arg(test), k, ...)
}

compare_terms <- function(generic, object, scope, scale, test, k, ..., call = parent.frame()) {
  is_regressor <- fit_of_one_response(object, generic, call)$family == "gaussian"
  if (test == "F" && (!is_regressor || scale != 0)) {
    abort_runhooks(
      c(
        "{.code test = \"F\"} is for regressors with an unknown {.arg scale}; this is a
         {describe_model(object)} with {.code scale = {scale}}.",
        i = "Use {.code test = \"Chisq\"}."
      ),
      call = call
    )
  }
  if (is.null(object$call[["data"]]) || !is.null(object$recipe)) {
    abort_runhooks("{.fn {generic}} needs a model from a formula and {.arg data}.", call = call)
  }
  object <- with_call_data(object)
  default <- utils::getS3method(generic, "default")
  table <- default(object, scope, scale, if (test == "F") "none" else test, k, ...)
  if (!is_regressor) return(add_deviances(table, object, generic == "add1", k))
  if (scale != 0) return(table)
  add_sums_of_squares(table, object, generic == "add1", test, k)
}

# Adds the deviances of drop1.glm() and add1.glm(). The criterion is the sum of the deviance, k edf
# and a constant.
add_deviances <- function(table, object, is_added, k) {
  direction <- if (is_added) 1 else -1 # `Df` is positive in both tables
  deviance <- table$AIC - k * direction * ifelse(is.na(table$Df), 0, table$Df)
  deviance <- deviance - deviance[[1]] + stats::deviance(object)
  columns <- c(list(Df = table$Df, Deviance = deviance), as.list(table)[-1])
  structure(
    columns, row.names = rownames(table), heading = attr(table, "heading"),
    class = c("anova", "data.frame")
  )
}

# The object with the data of its call, without omitted rows, so that smaller and larger models use
# the same rows.
with_call_data <- function(object) {
  if (!is.data.frame(object$data) || is.null(object$call$data)) return(object)
  rows <- training_frame(object, "drop1")$rows
  data <- data_of_call(object)
  if (!all(rows)) {
    object$data <- object$data[rows, , drop = FALSE]
    data <- as.data.frame(data)[rows, , drop = FALSE]
  }
  object$call$data <- data
  object
}

# Adds the columns of drop1.lm() and add1.lm() to `table`. They follow from its AIC, which is n
# log(RSS / n) + k edf.
add_sums_of_squares <- function(table, object, is_added, test, k) {
  n <- stats::nobs(object)
  edf <- stats::extractAIC(object)[[1]]
  direction <- if (is_added) 1 else -1 # `Df` is positive in both tables
  model_edf <- edf + direction * ifelse(is.na(table$Df), 0, table$Df)
  rss <- n * exp((table$AIC - k * model_edf) / n)
  squares <- direction * (rss[[1]] - rss)
  squares[[1]] <- NA
  columns <- list(Df = table$Df, "Sum of Sq" = squares, RSS = rss, AIC = table$AIC)
  if (test == "F") {
    # the larger model of each comparison estimates the variance
    residual <- if (is_added) n - model_edf else n - edf
    errors <- if (is_added) rss else rss[[1]]
    columns[["F value"]] <- squares / table$Df / (errors / residual)
    columns[["Pr(>F)"]] <- stats::pf(columns[["F value"]], table$Df, residual, lower.tail = FALSE)
  }
  if (test == "Chisq") columns[["Pr(>Chi)"]] <- table[["Pr(>Chi)"]]
  structure(
    columns, row.names = rownames(table), heading = attr(table, "heading"),
    class = c("anova", "data.frame")
  )
}
