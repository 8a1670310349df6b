# Methods of R's model generics, such as coef(), formula(), fitted(), residuals() and update().

#' Coefficients, fitted values, residuals and summary of a model
#'
#' These methods work for models from a formula as they do for [lm()] and [glm()]. They use the data
#' of the last `train()` with a data frame, or else the data of the constructor.
#'
#' @param object,x,formula A model from a formula.
#' @param formula. The new formula. As in [update.formula()], `.` stands for the old left or right
#'   side.
#' @param evaluate If `FALSE`, `update()` returns the call instead of the new model.
#' @param which Numbers of the plots:
#'   * 1: observed against fitted values. For classes: the probability of the observed class.
#'   * 2: residuals against fitted values. For classes: the observed frequency of each class in each
#'     decile of its predicted probability.
#'   * 3: the 30 largest standardized coefficients of a linear model, or the importance of the
#'     features of trees. A standardized coefficient is the coefficient times the standard deviation
#'     of the term and, for numbers, divided by that of the response.
#'   * 4: a tree, in which "yes" is the left branch.
#' @param tree Number of the tree in plot 4.
#' @param levels Number of levels of the tree to show, 4 by default. Nodes below are only counted.
#' @param type The type of `residuals()`, as in [residuals.glm()]. `"response"` (the default) is the
#'   observed minus the fitted value.
#' @param complete If `FALSE`, `coef()` omits coefficients that are `NA`.
#' @param ... For `update()`, arguments of the constructor to change. Other methods reject unknown
#'   arguments.
#' @return * `coef()`: the coefficients of a linear model in the units of the data, with the names
#'   and contrasts of [lm()]. With several responses it is a matrix with one column for each. With
#'   three or more classes it is a matrix with one row for each class except the first, which is the
#'   reference. Coefficients that the data do not determine are `NA`.
#' * `formula()`: the formula.
#' * `nobs()`: the number of training rows with nonzero weight.
#' * `weights()`: the weights of the rows, or `NULL` if the model has no weight column.
#' * `na.action()`: the omitted rows, or `NULL` if all rows are used.
#' * `fitted()`, `residuals()`: one value for each training row, or for each row of the data with
#'   `na.exclude`. For two classes, the fitted value is the probability of the second class. For
#'   more classes, `fitted()` is a matrix of probabilities. Residuals of classes are the indicator
#'   (0 or 1) minus the probability.
#' * `update()`: a new model from the changed call. Linear models that were trained to convergence
#'   are trained again, so [step()] works. They use a new model directory unless you give
#'   `model_dir`. Other models are returned untrained.
#' * `summary()`: an object to print with two parts. `coefficients` is a table, with standard errors
#'   if [vcov()][model_inference] can compute them, or `NULL` for models that are not linear.
#'   `measures` are weighted measures of the fit. Its members also include the measures of
#'   [glance()][tidy_models], such as `r.squared` and `sigma`.
#' * `plot()`: the model, invisibly.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model was created from feature columns, or it is not
#'     linear and `coef()` was called.
#'   * `runhooks_error_not_found`: the model has not been trained.
#'   * `runhooks_error_failed_precondition`: `model_dir` contains a different model.
#' @section Warnings:
#'   * `runhooks_warning_not_converged`: one more Newton step would change a coefficient by more
#'     than a thousandth of its size or standard error. The message has the change and the norm of
#'     the gradient. Possible causes are too few steps, a different optimizer, or separable classes.
#'   * `runhooks_warning_perfect_fit`: the residuals are so small that the rounding of single
#'     precision, in which a model computes, is part of them. Functions that return standard errors
#'     signal it.
#' @param data Data for `model.frame()`; by default the training data.
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
  # as.formula() passes its argument `env` to this method
  extras <- list(...)
  abort_extra_arguments("formula", if (!identical(names(extras), "env")) extras)
  if (is.null(x$formula)) abort_no_formula("formula")
  x$formula
}

#' @rdname model_methods
#' @importFrom stats terms
#' @export
terms.tf_estimator <- function(x, ...) {
  if (is.null(x$formula)) abort_no_formula("terms")
  arg_names <- setdiff(names(formals(stats::terms.formula)), c("x", "data", "..."))
  abort_extra_arguments("terms", list(...)[setdiff(...names(), arg_names)], arg_names)
  stats::terms(x$formula, data = training_data(x), ...)
}

#' @rdname model_methods
#' @importFrom stats model.frame
#' @export
model.frame.tf_estimator <- function(formula, data = NULL, ...) {
  if (is.null(formula$formula)) abort_no_formula("model.frame")
  data <- if (is.null(data)) training_data(formula) else bake_new_data(formula, data)
  stats::model.frame(terms(formula), data = data, ...)
}

#' @rdname model_methods
#' @importFrom stats nobs
#' @export
nobs.tf_estimator <- function(object, ...) {
  abort_extra_arguments("nobs", list(...)[setdiff(...names(), "use.fallback")])
  stored <- if (!is.null(object$blueprint)) training_data(object)
  if (!is.null(stored$total)) return(stored$total)
  num_weighted_rows(training_frame(object, "nobs"))
}

# Returns the number of rows, without those of weight 0, as lm() and glm() count them.
num_weighted_rows <- function(frame) {
  if (is.null(frame$weight)) sum(frame$rows) else sum(frame$weight != 0)
}

#' @rdname model_methods
#' @importFrom stats weights
#' @export
weights.tf_estimator <- function(object, ...) {
  abort_extra_arguments("weights", list(...))
  frame <- training_frame(object, "weights")
  if (!is.null(frame$weight)) as_fitted(object, frame, cbind(as.numeric(frame$weight)))
}

#' @rdname model_methods
#' @importFrom stats na.action
#' @export
na.action.tf_estimator <- function(object, ...) {
  abort_extra_arguments("na.action", list(...))
  frame <- training_frame(object, "na.action")
  omitted <- which(!frame$rows)
  if (length(omitted) == 0) return(NULL)
  structure(setNames(omitted, rownames_of(frame)[omitted]), class = object$blueprint$na$kind)
}

#' @rdname model_methods
#' @export
fitted.tf_estimator <- function(object, ...) {
  abort_extra_arguments("fitted", list(...))
  check_trained(object, "fitted")
  frame <- training_frame(object, "fitted")
  as_fitted(object, frame, model_fit(object, frame))
}

#' @rdname model_methods
#' @export
residuals.tf_estimator <- function(object, type = c("response", "pearson", "deviance", "working"),
                                   ...) {
  type <- check_one_of(type, c("response", "pearson", "deviance", "working"))
  abort_extra_arguments("residuals", list(...), "type")
  check_trained(object, "residuals")
  frame <- training_frame(object, "residuals")
  fit <- model_fit(object, frame)
  observed <- observed_response(object, frame$response)
  if (ncol(fit) != ncol(observed)) abort_no_residuals(ncol(fit), ncol(observed))
  if (type != "response") fit <- unrounded_means(object, frame, fit)
  as_fitted(object, frame, residuals_of_type(observed, fit, type, frame$weight, object))
}

# Returns fitted probabilities in double precision, because single precision rounds some of them to
# 1.
unrounded_means <- function(object, frame, fit) {
  if (model_labels(object)$family != "binomial" || ncol(fit) != 1) return(fit)
  link <- predict(object, newdata = frame$data, type = "link")[frame$rows, , drop = FALSE]
  fit[] <- stats::binomial()$linkinv(link[[ncol(link)]])
  fit
}

# Returns residuals of a type of glm(), for observed values and their fitted means. For lm(),
# "working" residuals are "response" residuals.
residuals_of_type <- function(observed, mean, type, weight, object) {
  error <- observed - mean
  family <- model_labels(object)$family
  if (type == "response" || (type == "working" && family == "gaussian")) return(error)
  glm_family <- list(
    gaussian = stats::gaussian, binomial = stats::binomial, poisson = stats::poisson
  )[[family]]
  if (is.null(glm_family)) {
    abort_runhooks(
      "A {describe_model(object)} of this kind has only {.code residuals(type = \"response\")}.",
      call = user_frame()
    )
  }
  glm_family <- glm_family()
  weight <- if (is.null(weight)) 1 else as.numeric(weight)
  switch(type,
    pearson = error * sqrt(weight / glm_family$variance(mean)),
    deviance = {
      squares <- glm_family$dev.resids(observed, mean, weight + 0 * mean)
      sign(error) * sqrt(pmax(squares, 0))
    },
    working = error / glm_family$mu.eta(glm_family$linkfun(mean))
  )
}

abort_no_residuals <- function(fitted, observed, call = parent.frame()) {
  abort_runhooks(
    c(
      "{.fn residuals} needs one prediction for each observed value.",
      x = "The model predicts {fitted} number{?s} for {observed} in each row.",
      i = "Use {.fn fitted} for the predictions."
    ),
    call = call
  )
}

# Returns the fitted values as a matrix of numbers or probabilities. Two classes have one column,
# for the second class.
model_fit <- function(object, frame) {
  predicted <- frame_predictions(object, frame)
  fit <- as.matrix(predicted[vapply(predicted, is.numeric, NA)])
  colnames(fit) <- sub("^[.]pred_?", "", colnames(fit))
  if (".pred_class" %in% names(predicted) && ncol(fit) == 2) fit[, 2, drop = FALSE] else fit
}

# Predicts the rows that the fit used. All rows are predicted first, because terms such as scale(x)
# were computed from all rows.
frame_predictions <- function(object, frame) {
  predict(object, newdata = frame$data)[frame$rows, , drop = FALSE]
}

# Converts values of the rows that the fit used to the result of fitted(): a vector if there is one
# column. With na.exclude, omitted rows are NA.
as_fitted <- function(object, frame, values) {
  names <- rownames_of(frame)
  if (object$blueprint$na$kind == "exclude") {
    values <- scatter_rows_to_na(values, frame$rows)
  } else {
    names <- names[frame$rows]
  }
  rownames(values) <- names
  if (ncol(values) == 1) values[, 1] else values
}

rownames_of <- function(frame) {
  if (is.data.frame(frame$data)) rownames(frame$data) else as.character(seq_along(frame$rows))
}

#' @rdname model_methods
#' @export
coef.tf_estimator <- function(object, complete = TRUE, ...) {
  check_flag(complete)
  abort_extra_arguments("coef", list(...), "complete")
  fit <- coefficient_fit(object, "coef")
  warn_not_converged(fit)
  coefficients <- fit$coefficients
  if (!complete) coefficients <- coefficients[fit$kept, , drop = FALSE]
  if (fit$family == "multinomial") return(t(coefficients))
  if (ncol(coefficients) == 1) coefficients[, 1] else coefficients
}

#' @rdname model_methods
#' @export
update.tf_estimator <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  if (is.null(object$formula) || is.null(call)) abort_no_formula("update")
  if (!missing(formula.) && (is.null(call[["data"]]) || !is.null(object$recipe))) {
    abort_runhooks(
      c(
        "{.fn update} cannot change the formula of a model from
         {if (is.null(object$recipe)) 'x and y' else 'a recipe'}.",
        i = "Create a new model with other columns, or with a formula and data."
      )
    )
  }
  if (!missing(formula.)) call$formula <- stats::update.formula(object$formula, formula.)
  changes <- as.list(substitute(list(...)))[-1]
  for (name in names(changes)) call[name] <- list(changes[[name]])
  if (is_fitted_to_convergence(object) && !"optimizer" %in% names(changes)) {
    call <- refitting_call(
      call, object, names(changes), if (!evaluate) environment(object$formula)
    )
  }
  if (evaluate) eval(call, parent.frame()) else call
}

#' @rdname model_methods
#' @export
summary.tf_estimator <- function(object, ...) {
  abort_extra_arguments("summary", list(...))
  check_trained(object, "summary")
  frame <- training_frame(object, "summary")
  measures <- fit_measures(object, frame)
  members <- as.list(measures)
  coefficients <- if (has_coefficients(object)) {
    fit <- coefficient_fit(object, "summary", frame = frame)
    members <- c(members, likelihood_measures(fit, members$r.squared))
    coefficient_table(fit)
  }
  structure(
    c(
      list(
        lines = describe_formula_model(object), call = object$call, formula = object$formula,
        coefficients = coefficients, measures = measures
      ),
      members
    ),
    class = c("summary.tf_estimator", "runhooks_checked_members")
  )
}

fit_measures <- function(object, frame, r_version = getRversion()) {
  classes <- class_names_of(object)
  weights <- row_weights(object, frame, sum(frame$rows))
  mean_of <- function(x) sum(weights * x) / sum(weights)
  if (!is.null(classes)) {
    predicted <- frame_predictions(object, frame)
    truth <- as.character(frame$response)
    cells <- cbind(seq_along(truth), match(truth, classes))
    probabilities <- as.matrix(predicted[-1])[cells]
    return(c(
      accuracy = mean_of(predicted$.pred_class == truth),
      average_loss = -mean_of(log(pmax(probabilities, .Machine$double.xmin)))
    ))
  }
  truth <- as.matrix(frame$response)
  fit <- model_fit(object, frame)
  if (ncol(fit) != ncol(truth)) {
    # training has already signalled the message about omitted rows
    measured <- suppressMessages(
      evaluate(object, frame$data), classes = "runhooks_message_omitted"
    )
    return(unlist(measured["average_loss"]))
  }
  errors <- mean_of(rowMeans((truth - fit)^2))
  # R squared compares with the intercept, or with 0 if there is no intercept, as in lm()
  has_no_intercept <- has_coefficients(object) && isFALSE(object$blueprint$has_intercept)
  # With an offset, summary.lm() adds up the sums of squares of the fitted values (since R 4.3
  # without the offset) and of the residuals.
  has_offset <- !is.null(frame$offset)
  explained <- if (!has_offset) truth else if (r_version >= "4.3") fit - frame$offset else fit
  means <- if (has_no_intercept) 0 * truth[1, ] else apply(explained, 2, mean_of)
  total <- mean_of(rowMeans(sweep(explained, 2, means)^2))
  if (has_offset) total <- total + errors
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
  values <- vapply(x$measures, format, "", digits = digits)
  text <- paste(names(x$measures), values, collapse = ", ")
  cat("On the rows trained on: ", text, "\n", sep = "") # lint: allow stdout
  invisible(x)
}
