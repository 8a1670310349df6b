# R's language about a model: coef(), formula(), nobs(), fitted(), residuals(), update(), summary().

#' Coefficients, fitted values and what else R asks of a model
#'
#' For models that were made from a formula, as for those of [lm()] and [glm()]. The data are those
#' of the last `train()` with a data frame, or of the constructor.
#'
#' @param object,x,formula A model that was made from a formula.
#' @param formula. The new formula, where `.` is what stood there, as in [update.formula()].
#' @param evaluate FALSE gives the call instead of the new model.
#' @param which Which plots: 1 is observed over fitted values (of classes: the probability of the
#'   observed one), 2 is residuals over fitted values (of classes: how often each was there among
#'   rows with some probability of it, by tenths of the rows), 3 is the weights of a linear model, the
#'   30 largest.
#' @param ... For `update()` arguments of the constructor that change, else not used.
#' @return * `coef()`: the coefficients of a linear model in the units of the data, named as those of
#'   [lm()] are, with its contrasts. With several responses a matrix with a column for each; with
#'   three classes or more a matrix with a row for each class but the first, with which they are
#'   compared. NA where the data do not tell a term from others.
#' * `formula()`, `nobs()`: the formula, and how many rows are trained on.
#' * `fitted()`, `residuals()`: of each row that is trained on (with `na.exclude` of each row).
#'   Classes have probabilities: of the second of two, or a matrix; residuals are what is observed
#'   (0 or 1) minus these.
#' * `update()`: a new model, not trained yet, by the changed call.
#' * `summary()`: an object to print, with `coefficients` (a table with standard errors where
#'   [vcov()][model_inference] has any, `NULL` of models that are not linear) and `measures`, in which
#'   rows count as their weights say.
#' * `plot()`: the model, invisibly.
#' @section Errors: `runhooks_error_invalid_argument` for models of columns, and for `coef()` of
#'   models that are not linear; `runhooks_error_not_found` where nothing is trained yet.
#' @section Warnings: `runhooks_warning_not_converged` where coefficients are further than a
#'   thousandth from those of the least loss, with how far, and the norm of the gradient: after few
#'   steps, with an optimizer of one's own, or of classes that a line separates.
#' @name model_methods
#' @family estimator methods
#' @examples
#' model <- linear_regressor(mpg ~ wt + hp, mtcars)
#' train(model)
#' coef(model)
#' summary(model)
#' head(residuals(model))
#' wider <- update(model, . ~ . + qsec)
NULL

#' @rdname model_methods
#' @export
formula.tf_estimator <- function(x, ...) {
  if (is.null(x$formula)) stop_no_formula("formula")
  x$formula
}

#' @rdname model_methods
#' @importFrom stats nobs
#' @export
nobs.tf_estimator <- function(object, ...) sum(training_frame(object, "nobs")$rows)

#' @rdname model_methods
#' @export
fitted.tf_estimator <- function(object, ...) {
  check_trained(object, "fitted")
  frame <- training_frame(object, "fitted")
  as_fitted(object, frame, model_fit(object, frame))
}

#' @rdname model_methods
#' @export
residuals.tf_estimator <- function(object, ...) {
  check_trained(object, "residuals")
  frame <- training_frame(object, "residuals")
  fit <- model_fit(object, frame)
  seen <- observed(object, frame$response)
  if (ncol(fit) != ncol(seen)) stop_no_residuals(ncol(fit), ncol(seen))
  as_fitted(object, frame, seen - fit)
}

# Such as several quantiles of one response.
stop_no_residuals <- function(fitted, observed, call = parent.frame()) {
  stop_runhooks(
    c(
      "{.fn residuals} needs one prediction for each observed value.",
      x = "The model predicts {fitted} number{?s} for {observed} in each row.",
      i = "{.fn fitted} gives the predictions."
    ),
    call = call
  )
}

# Numbers, or probabilities of classes: a matrix, without the first of two classes.
model_fit <- function(object, frame) {
  predicted <- predict(object, newdata = rows_of(frame$data, frame$rows))
  fit <- as.matrix(predicted[vapply(predicted, is.numeric, NA)])
  colnames(fit) <- sub("^[.]pred_?", "", colnames(fit))
  if (".pred_class" %in% names(predicted) && ncol(fit) == 2) fit[, 2, drop = FALSE] else fit
}

# A vector where it is one column, with NA where na.exclude left rows out.
as_fitted <- function(object, frame, values) {
  names <- rownames_of(frame)
  if (object$blueprint$na$kind == "exclude") {
    values <- spread_rows(values, frame$rows)
  } else {
    names <- names[frame$rows]
  }
  rownames(values) <- names
  if (ncol(values) == 1) values[, 1] else values
}

rownames_of <- function(frame) {
  if (is.data.frame(frame$data)) rownames(frame$data) else as.character(seq_along(frame$rows))
}

# --- coefficients

#' @rdname model_methods
#' @export
coef.tf_estimator <- function(object, ...) {
  fit <- linear_fit(object, "coef")
  note_convergence(fit)
  coefficients <- fit$coefficients
  if (fit$family == "multinomial") return(t(coefficients))
  if (ncol(coefficients) == 1) coefficients[, 1] else coefficients
}

# --- update() and summary()

#' @rdname model_methods
#' @export
update.tf_estimator <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  if (is.null(object$formula) || is.null(call)) stop_no_formula("update")
  if (!missing(formula.)) call$formula <- stats::update.formula(object$formula, formula.)
  changes <- as.list(substitute(list(...)))[-1]
  for (name in names(changes)) call[name] <- list(changes[[name]])
  if (evaluate) eval(call, parent.frame()) else call
}

#' @rdname model_methods
#' @export
summary.tf_estimator <- function(object, ...) {
  check_trained(object, "summary")
  frame <- training_frame(object, "summary")
  coefficients <- if (has_coefficients(object)) {
    fit <- linear_fit(object, "summary", frame)
    note_convergence(fit)
    coefficient_table(fit)
  }
  structure(
    list(
      lines = describe_formula_model(object), call = object$call, formula = object$formula,
      coefficients = coefficients, measures = fit_measures(object, frame)
    ),
    class = "summary.tf_estimator"
  )
}

# How well the rows that are trained on are met, each as its weight says.
fit_measures <- function(object, frame) {
  classes <- tidy_classes_of(object)
  weights <- if (is.null(frame$weight)) rep(1, sum(frame$rows)) else as.numeric(frame$weight)
  mean_of <- function(x) sum(weights * x) / sum(weights)
  if (!is.null(classes)) {
    predicted <- predict(object, newdata = rows_of(frame$data, frame$rows))
    truth <- as.character(frame$response)
    at <- cbind(seq_along(truth), match(truth, classes))
    chances <- as.matrix(predicted[-1])[at]
    return(c(
      accuracy = mean_of(predicted$.pred_class == truth),
      average_loss = -mean_of(log(pmax(chances, .Machine$double.xmin)))
    ))
  }
  truth <- as.matrix(frame$response)
  fit <- model_fit(object, frame)
  if (ncol(fit) != ncol(truth)) {
    return(unlist(evaluate(object, rows_of(frame$data, frame$rows))["average_loss"]))
  }
  errors <- mean_of(rowMeans((truth - fit)^2))
  total <- mean_of(rowMeans(sweep(truth, 2, apply(truth, 2, mean_of))^2))
  c(rmse = sqrt(errors), r.squared = 1 - errors / total)
}

#' @export
print.summary.tf_estimator <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat(x$lines, "", sep = "\n") # lint: allow stdout
  if (!is.null(x$coefficients)) {
    cat("Coefficients:\n") # lint: allow stdout
    if ("Std. Error" %in% colnames(x$coefficients)) {
      stats::printCoefmat(x$coefficients, digits = digits) # lint: allow stdout
    } else {
      # lint: allow stdout
      print.default(format(x$coefficients, digits = digits), print.gap = 2, quote = FALSE)
    }
    cat("\n") # lint: allow stdout
  }
  shown <- paste(names(x$measures), vapply(x$measures, format, "", digits = digits), collapse = ", ")
  cat("On the rows trained on: ", shown, "\n", sep = "") # lint: allow stdout
  invisible(x)
}
