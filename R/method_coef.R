# R's language about a model: coef(), formula(), nobs(), fitted(), residuals(), update(), summary().

#' Coefficients, fitted values and what else R asks of a model
#'
#' For models that were made from a formula, as for those of [lm()] and [glm()]. The data are those
#' of the last `train()` with a data frame, or of the constructor.
#'
#' @param object,x,formula A model that was made from a formula.
#' @param formula. The new formula, where `.` is what stood there, as in [update.formula()].
#' @param evaluate FALSE gives the call instead of the new model.
#' @param which Which plots: 1 is observed and fitted values (of classes: probabilities by the
#'   observed class), 2 is residuals over fitted values.
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
#' * `summary()`: an object to print, with `coefficients` (`NULL` of models that are not linear) and
#'   `measures`.
#' * `plot()`: the model, invisibly.
#' @section Errors: `runhooks_error_invalid_argument` for models of columns, and for `coef()` of
#'   models that are not linear; `runhooks_error_not_found` where nothing is trained yet.
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

stop_no_formula <- function(what, call = parent.frame()) {
  stop_runhooks(
    c(
      "{.fn {what}} is for models that were made from a formula.",
      i = "Such as {.code linear_regressor(mpg ~ wt, data = mtcars)}."
    ),
    call = call
  )
}

#' @rdname model_methods
#' @export
formula.tf_estimator <- function(x, ...) {
  if (is.null(x$formula)) stop_no_formula("formula")
  x$formula
}

# What is trained on: the data, those rows that are used, and the response of these.
training_frame <- function(object, what, call = parent.frame()) {
  blueprint <- object$blueprint
  if (is.null(blueprint)) stop_no_formula(what, call)
  data <- kept_data(object, call)
  frame <- blueprint_frame(blueprint, as.list(data), TRUE, call)
  frame <- complete_frame(blueprint, frame, call)
  frame$data <- data
  frame
}

check_trained <- function(object, what, call = parent.frame()) {
  if (!is.null(cpp_latest_checkpoint(model_dir(object)))) return(invisible())
  stop_runhooks(
    c(
      "{.fn {what}} needs a trained model.",
      x = "There is no checkpoint in {.path {model_dir(object)}}.",
      i = "{.code train(model)} trains it."
    ),
    kind = "not_found", call = call
  )
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

observed <- function(object, response) {
  words <- tidy_classes_of(object)
  if (is.null(words)) return(as.matrix(response))
  shown <- outer(as.character(response), words, "==") + 0
  if (ncol(shown) == 2) shown[, 2, drop = FALSE] else shown
}

# The classes of a classifier, NULL of other models.
tidy_classes_of <- function(object) {
  labels <- model_labels(object)
  if (isTRUE(labels$has_one_class)) tidy_classes(object, labels)
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

rows_of <- function(data, rows) {
  if (is.data.frame(data)) data[rows, , drop = FALSE] else lapply(data, keep_rows, rows)
}

# --- coefficients

#' @rdname model_methods
#' @export
coef.tf_estimator <- function(object, ...) {
  frame <- training_frame(object, "coef")
  if (!has_coefficients(object)) {
    stop_runhooks(
      c(
        "{.fn coef} is for linear models; this is a {model_words(object)}.",
        i = "{.code variable_value(model)} gives all weights."
      )
    )
  }
  check_trained(object, "coef")
  logits <- linear_logits(object, frame)
  classes <- tidy_classes_of(object)
  if (length(classes) > 2) logits <- logits[, -1, drop = FALSE] - logits[, 1]
  # the weights in the contrasts of lm(): both say the same linear function
  design <- design_matrix(object, frame)
  coefficients <- as.matrix(stats::lm.fit(design, logits)$coefficients)
  rownames(coefficients) <- colnames(design)
  if (length(classes) > 2) {
    colnames(coefficients) <- classes[-1]
    return(t(coefficients))
  }
  if (ncol(coefficients) == 1) return(coefficients[, 1])
  colnames(coefficients) <- output_names(object, frame$response)
  coefficients
}

has_coefficients <- function(object) model_traits(object$spec$type)$has_coefficients

# Several numbers of an example have the names that the head gives them, or those of the response.
output_names <- function(object, response) {
  own <- unlist(lapply(model_labels(object)$predictions, `[[`, "names"))
  if (length(own)) return(own)
  if (is.null(colnames(response))) seq_len(ncol(response)) else colnames(response)
}

design_matrix <- function(object, frame) {
  blueprint <- object$blueprint
  data <- as.data.frame(rows_of(frame$data, frame$rows), optional = TRUE)
  data <- fill_missing(data, blueprint$na$constants)
  frame <- list2env(blueprint$constants, parent = globalenv())
  # as one term each: `am == 1` is none beside others
  labels <- paste0("(", blueprint$labels, ")")
  terms <- stats::terms(stats::reformulate(labels, env = frame))
  stats::model.matrix(terms, stats::model.frame(terms, data, drop.unused.levels = TRUE))
}

# The linear function of each row in the units of the response, in double precision.
linear_logits <- function(object, frame) {
  blueprint <- object$blueprint
  names <- cpp_estimator_coefficients(core_spec(object))
  path <- required_checkpoint(model_dir(object))
  bias <- cpp_checkpoint_values(path, names$bias)[[1]]
  weights <- cpp_checkpoint_values(path, names$weights)
  n <- sum(frame$rows)
  logits <- matrix(as.vector(bias), n, length(bias), byrow = TRUE)
  for (i in seq_along(blueprint$terms)) {
    own <- as.matrix(weights[[i]])
    logits <- logits + term_logits(blueprint$terms[[i]], own, frame$values, blueprint)
  }
  response <- blueprint$response
  if (is.null(response$scale)) return(logits)
  sweep(sweep(logits, 2, response$scale, `*`), 2, response$center, `+`)
}

term_logits <- function(term, weights, values, blueprint) {
  n <- n_rows(values[[1]])
  x <- if (length(term$numbers)) {
    x <- matrix(as.numeric(feature_value(term$numbers, values)), n)
    if (is.null(term$scale)) x else sweep(sweep(x, 2, term$center), 2, term$scale, `/`)
  }
  if (length(term$words) == 0) return(x %*% weights)
  name <- product_name(term$words)
  is_cross <- length(term$words) > 1
  words <- if (is_cross) crossed_words(values[term$words]) else as.character(values[[name]])
  levels <- if (is_cross) blueprint$crosses[[name]] else blueprint$variables[[name]]$levels
  own <- weights[match(words, levels), , drop = FALSE]
  own[is.na(own)] <- 0
  if (is.null(x)) own else own * x[, 1]
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
  structure(
    list(
      lines = describe_formula_model(object), call = object$call, formula = object$formula,
      coefficients = if (has_coefficients(object)) stats::coef(object),
      measures = fit_measures(object, frame)
    ),
    class = "summary.tf_estimator"
  )
}

# How well the rows that are trained on are met.
fit_measures <- function(object, frame) {
  classes <- tidy_classes_of(object)
  if (!is.null(classes)) {
    predicted <- predict(object, newdata = rows_of(frame$data, frame$rows))
    truth <- as.character(frame$response)
    at <- cbind(seq_along(truth), match(truth, classes))
    chances <- as.matrix(predicted[-1])[at]
    return(c(
      accuracy = mean(predicted$.pred_class == truth),
      average_loss = -mean(log(pmax(chances, .Machine$double.xmin)))
    ))
  }
  truth <- as.matrix(frame$response)
  fit <- model_fit(object, frame)
  if (ncol(fit) != ncol(truth)) {
    return(unlist(evaluate(object, rows_of(frame$data, frame$rows))["average_loss"]))
  }
  errors <- sum((truth - fit)^2)
  total <- sum(sweep(truth, 2, colMeans(truth))^2)
  c(rmse = sqrt(errors / length(truth)), r.squared = 1 - errors / total)
}

#' @export
print.summary.tf_estimator <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat(x$lines, "", sep = "\n") # lint: allow stdout
  if (!is.null(x$coefficients)) {
    cat("Coefficients:\n") # lint: allow stdout
    # lint: allow stdout
    print.default(format(x$coefficients, digits = digits), print.gap = 2, quote = FALSE)
    cat("\n") # lint: allow stdout
  }
  shown <- paste(names(x$measures), vapply(x$measures, format, "", digits = digits), collapse = ", ")
  cat("On the rows trained on: ", shown, "\n", sep = "") # lint: allow stdout
  invisible(x)
}
