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
#'   30 largest, or the importances of the features of trees, 4 is a tree: yes is to the left.
#' @param tree Which tree plot 4 draws.
#' @param type Of `residuals()`, as [residuals.glm()] has them: `"response"` is what is observed minus
#'   what is fitted.
#' @param complete FALSE leaves out coefficients that are NA.
#' @param ... For `update()` arguments of the constructor that change; else what no method
#'   reads is refused.
#' @return * `coef()`: the coefficients of a linear model in the units of the data, named as those of
#'   [lm()] are, with its contrasts. With several responses a matrix with a column for each; with
#'   three classes or more a matrix with a row for each class but the first, with which they are
#'   compared. NA where the data do not tell a term from others.
#' * `formula()`, `nobs()`: the formula, and how many rows are trained on.
#' * `weights()`: those of the rows, `NULL` where no column has any; `na.action()`: which rows are left
#'   out, `NULL` for none.
#' * `fitted()`, `residuals()`: of each row that is trained on (with `na.exclude` of each row).
#'   Classes have probabilities: of the second of two, or a matrix; residuals are what is observed
#'   (0 or 1) minus these.
#' * `update()`: a new model by the changed call. A linear model that was trained, and comes to the
#'   least loss by itself, is trained again, in a folder of its own unless `model_dir` is given, so that
#'   [step()] and its like work; others are not trained yet.
#' * `summary()`: an object to print, with `coefficients` (a table with standard errors where
#'   [vcov()][model_inference] has any, `NULL` of models that are not linear) and `measures`, in which
#'   rows count as their weights say.
#' * `plot()`: the model, invisibly.
#' @section Errors: `runhooks_error_invalid_argument` for models of columns, and for `coef()` of
#'   models that are not linear; `runhooks_error_not_found` where nothing is trained yet;
#'   `runhooks_error_failed_precondition` where another model is in the folder by now.
#' @section Warnings: `runhooks_warning_not_converged` where coefficients are further than a
#'   thousandth from those of the least loss, with how far, and the norm of the gradient: after few
#'   steps, with an optimizer of one's own, or of classes that a line separates.
#'   `runhooks_warning_perfect_fit` from `summary()` and whatever has standard errors, where so little
#'   of the response is left over that single precision, which a model computes in, has a part in it.
#' @param data Of `model.frame()`: other rows than those of training.
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
  # as.formula() names a place, which it sets itself
  extras <- list(...)
  abort_more("formula", if (!identical(names(extras), "env")) extras)
  if (is.null(x$formula)) abort_no_formula("formula")
  x$formula
}

#' @rdname model_methods
#' @importFrom stats terms
#' @export
terms.tf_estimator <- function(x, ...) {
  if (is.null(x$formula)) abort_no_formula("terms")
  known <- setdiff(names(formals(stats::terms.formula)), c("x", "data", "..."))
  abort_more("terms", list(...)[setdiff(...names(), known)], known)
  stats::terms(x$formula, data = kept_data(x), ...)
}

#' @rdname model_methods
#' @importFrom stats model.frame
#' @export
model.frame.tf_estimator <- function(formula, data = NULL, ...) {
  if (is.null(formula$formula)) abort_no_formula("model.frame")
  data <- if (is.null(data)) kept_data(formula) else baked_data(formula, data)
  stats::model.frame(terms(formula), data = data, ...)
}

#' @rdname model_methods
#' @importFrom stats nobs
#' @export
nobs.tf_estimator <- function(object, ...) {
  abort_more("nobs", list(...)[setdiff(...names(), "use.fallback")])
  kept <- if (!is.null(object$blueprint)) kept_data(object)
  if (!is.null(kept$total)) return(kept$total)
  counted_rows(training_frame(object, "nobs"))
}

# Those of weight 0 are none, as lm() and glm() count.
counted_rows <- function(frame) {
  if (is.null(frame$weight)) sum(frame$rows) else sum(frame$weight != 0)
}

#' @rdname model_methods
#' @importFrom stats weights
#' @export
weights.tf_estimator <- function(object, ...) {
  abort_more("weights", list(...))
  frame <- training_frame(object, "weights")
  if (!is.null(frame$weight)) as_fitted(object, frame, cbind(as.numeric(frame$weight)))
}

#' @rdname model_methods
#' @importFrom stats na.action
#' @export
na.action.tf_estimator <- function(object, ...) {
  abort_more("na.action", list(...))
  frame <- training_frame(object, "na.action")
  left_out <- which(!frame$rows)
  if (length(left_out) == 0) return(NULL)
  structure(setNames(left_out, rownames_of(frame)[left_out]), class = object$blueprint$na$kind)
}

#' @rdname model_methods
#' @export
fitted.tf_estimator <- function(object, ...) {
  abort_more("fitted", list(...))
  check_trained(object, "fitted")
  frame <- training_frame(object, "fitted")
  as_fitted(object, frame, model_fit(object, frame))
}

#' @rdname model_methods
#' @export
residuals.tf_estimator <- function(object, type = c("response", "pearson", "deviance", "working"),
                                   ...) {
  type <- check_one_of(type, c("response", "pearson", "deviance", "working"))
  abort_more("residuals", list(...), "type")
  check_trained(object, "residuals")
  frame <- training_frame(object, "residuals")
  fit <- model_fit(object, frame)
  seen <- observed(object, frame$response)
  if (ncol(fit) != ncol(seen)) abort_no_residuals(ncol(fit), ncol(seen))
  as_fitted(object, frame, residuals_of_type(seen, fit, type, frame$weight, object))
}

# By the words of glm(), of what is observed and its mean; those of lm() are weighted alike.
residuals_of_type <- function(seen, mean, type, weight, object) {
  error <- seen - mean
  family <- model_labels(object)$family
  if (type == "response" || (type == "working" && family == "gaussian")) return(error)
  known <- list(
    gaussian = stats::gaussian, binomial = stats::binomial, poisson = stats::poisson
  )[[family]]
  if (is.null(known)) {
    abort_runhooks(
      "{.fn residuals} of a {model_words(object)} of this kind has {.code type = \"response\"} only.",
      call = user_frame()
    )
  }
  known <- known()
  weight <- if (is.null(weight)) 1 else as.numeric(weight)
  switch(type,
    pearson = error * sqrt(weight / known$variance(mean)),
    deviance = sign(error) * sqrt(pmax(known$dev.resids(seen, mean, weight + 0 * mean), 0)),
    working = error / known$mu.eta(known$linkfun(mean))
  )
}

# Such as several quantiles of one response.
abort_no_residuals <- function(fitted, observed, call = parent.frame()) {
  abort_runhooks(
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
  predicted <- frame_predictions(object, frame)
  fit <- as.matrix(predicted[vapply(predicted, is.numeric, NA)])
  colnames(fit) <- sub("^[.]pred_?", "", colnames(fit))
  if (".pred_class" %in% names(predicted) && ncol(fit) == 2) fit[, 2, drop = FALSE] else fit
}

# Of the rows that are trained on. All rows are predicted, as they were all there when scale(x) and its like
# were computed.
frame_predictions <- function(object, frame) {
  predict(object, newdata = frame$data)[frame$rows, , drop = FALSE]
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
coef.tf_estimator <- function(object, complete = TRUE, ...) {
  check_flag(complete)
  abort_more("coef", list(...), "complete")
  fit <- linear_fit(object, "coef")
  warn_convergence(fit)
  coefficients <- fit$coefficients
  if (!complete) coefficients <- coefficients[fit$kept, , drop = FALSE]
  if (fit$family == "multinomial") return(t(coefficients))
  if (ncol(coefficients) == 1) coefficients[, 1] else coefficients
}

# --- update() and summary()

#' @rdname model_methods
#' @export
update.tf_estimator <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  if (is.null(object$formula) || is.null(call)) abort_no_formula("update")
  if (!missing(formula.) && (is.null(call[["data"]]) || !is.null(object$recipe))) {
    abort_runhooks(
      c(
        "{.fn update} has no formula to change: the model was made from
         {if (is.null(object$recipe)) 'x and y' else 'a recipe'}.",
        i = "Make it again of other columns, or from a formula and data."
      )
    )
  }
  if (!missing(formula.)) call$formula <- stats::update.formula(object$formula, formula.)
  changes <- as.list(substitute(list(...)))[-1]
  for (name in names(changes)) call[name] <- list(changes[[name]])
  if (is_refit(object) && !"optimizer" %in% names(changes)) {
    call <- refitting_call(
      call, object, names(changes), if (!evaluate) environment(object$formula)
    )
  }
  if (evaluate) eval(call, parent.frame()) else call
}

#' @rdname model_methods
#' @export
summary.tf_estimator <- function(object, ...) {
  abort_more("summary", list(...))
  check_trained(object, "summary")
  frame <- training_frame(object, "summary")
  coefficients <- if (has_coefficients(object)) {
    fit <- linear_fit(object, "summary", frame)
    record_inference(fit)
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
  weights <- row_weights(object, frame, sum(frame$rows))
  mean_of <- function(x) sum(weights * x) / sum(weights)
  if (!is.null(classes)) {
    predicted <- frame_predictions(object, frame)
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
    # training has said what is left out
    measured <- suppressMessages(
      evaluate(object, frame$data), classes = "runhooks_message_omitted"
    )
    return(unlist(measured["average_loss"]))
  }
  errors <- mean_of(rowMeans((truth - fit)^2))
  # as lm() has it, what is compared with is the intercept, or nothing
  has_none <- has_coefficients(object) && isFALSE(object$blueprint$has_intercept)
  means <- if (has_none) 0 * truth[1, ] else apply(truth, 2, mean_of)
  total <- mean_of(rowMeans(sweep(truth, 2, means)^2))
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
