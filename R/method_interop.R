# Methods that DALEX, marginaleffects, sandwich, emmeans and other packages call for models.

#' Use models with other packages
#'
#' Models from a formula have the methods that many packages need: [formula()], `terms()`,
#' `model.frame()`, `nobs()`, `coef()`, `vcov()`, `predict()`, and the call and the data of the
#' model. `family()` returns the family of a model. The following packages have been tried:
#'
#' * plotmo: `plotmo::plotmo(model)`.
#' * DALEX: `DALEX::explain(model, data = , y = )`. Predictions are the probability of the second of
#'   two classes, or a matrix for more classes.
#' * marginaleffects, for linear models: set `options(marginaleffects_model_classes =
#'   "tf_estimator")`.
#' * pdp: `pdp::partial(model, pred.var = , pred.fun = function(object, newdata)
#'   mean(predict(object, newdata)$.pred), train = data)`.
#' * emmeans and sandwich, for linear models with one response: `emmeans::emmeans(model, "g")`,
#'   `sandwich::vcovHC(model)`, `lmtest::coeftest(model, vcov = sandwich::vcovHC)`.
#' * modelr: `modelr::add_predictions()` adds one column that contains the tibble of
#'   [predict()][predict.tf_estimator]; `augment()` adds the columns of the tibble to the data.
#' * insight, broom, lmtest and car: functions that need only the methods of [model_methods].
#'
#' @param object A model from a formula.
#' @param ... Must be empty.
#' @return `family()`: the [stats::glm()] family that corresponds to the loss: `gaussian()`,
#'   `binomial()` or `poisson()`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: no family corresponds to the model.
#' @name model_packages
#' @family estimator methods
#' @examples
#' model <- linear_classifier(am ~ wt, mtcars)
#' family(model)
NULL

#' @rdname model_packages
#' @importFrom stats family
#' @export
family.tf_estimator <- function(object, ...) {
  abort_extra_arguments("family", list(...))
  if (is.null(object$formula)) abort_no_formula("family")
  family <- model_labels(object)$family
  families <- list(
    gaussian = stats::gaussian, binomial = stats::binomial, poisson = stats::poisson
  )
  classes <- class_names_of(object)
  if (!family %in% names(families) || length(classes) > 2) {
    reason <- if (length(classes) > 2) {
      paste(length(classes), "classes; {.fn glm} has no family for more than two")
    } else {
      "a loss that is not the likelihood of a {.fn glm} family"
    }
    abort_runhooks(paste0("This {describe_model(object)} has ", reason, "."))
  }
  families[[family]]()
}

# --- DALEX

#' @exportS3Method DALEX::yhat
yhat.tf_estimator <- function(X.model, newdata, ...) { # nolint: its names
  plain_predictions(X.model, newdata)
}

plain_predictions <- function(object, newdata) {
  classes <- class_names_of(object)
  if (length(classes) == 0) return(as_plain_predictions(predict(object, newdata = newdata)))
  table <- as.matrix(as.data.frame(predict(object, newdata = newdata, type = "prob")))
  dimnames(table) <- list(NULL, as.character(classes))
  if (length(classes) == 2) table[, 2] else table
}

as_plain_predictions <- function(table) {
  if (length(table) == 1) table[[1]] else as.matrix(as.data.frame(table))
}

# --- marginaleffects: changes the coefficients slightly and predicts again, to get derivatives

#' @exportS3Method marginaleffects::get_coef
get_coef.tf_estimator <- function(model, ...) {
  if (!is.null(model$coefficients)) return(model$coefficients)
  stats::coef(model, complete = FALSE)
}

#' @exportS3Method marginaleffects::set_coef
set_coef.tf_estimator <- function(model, coefs, ...) {
  model$coefficients <- coefs
  model
}

#' @exportS3Method marginaleffects::get_vcov
get_vcov.tf_estimator <- function(model, ...) stats::vcov(model, complete = FALSE)

#' @exportS3Method marginaleffects::get_predict
get_predict.tf_estimator <- function(model, newdata, type = "response", ...) {
  frame <- training_frame(model, "get_predict")
  design <- design_matrix(model, frame, newdata)
  coefficients <- get_coef.tf_estimator(model)
  if (!setequal(names(coefficients), intersect(colnames(design), names(coefficients)))) {
    abort_runhooks("Marginal effects need a model with one linear predictor.")
  }
  logits <- drop(design[, names(coefficients), drop = FALSE] %*% coefficients)
  inverse_link <- if (identical(type, "link")) identity else family(model)$linkinv
  data.frame(rowid = seq_along(logits), estimate = unname(inverse_link(logits)))
}

# --- sandwich: the score of each row, and the inverse of the information matrix

#' @exportS3Method sandwich::estfun
estfun.tf_estimator <- function(x, ...) {
  fit <- single_predictor_fit(x, "estfun")
  scores <- fit$weights * fit$errors[, 1] * fit$design[, fit$kept, drop = FALSE]
  dimnames(scores) <- dimnames(fit$design[, fit$kept, drop = FALSE])
  scores
}

#' @exportS3Method sandwich::bread
bread.tf_estimator <- function(x, ...) {
  fit <- single_predictor_fit(x, "bread")
  names <- colnames(fit$design)[fit$kept]
  inverse <- fit$basis %*% chol2inv(fit$root) %*% t(fit$basis)
  matrix(fit_nobs(fit) * inverse, length(names), dimnames = list(names, names))
}

single_predictor_fit <- function(object, function_name, call = parent.frame()) {
  fit <- inference_fit(object, function_name, call, needs_design = TRUE)
  if (ncol(fit$errors) == 1) return(fit)
  abort_runhooks("{.fn {function_name}} needs a model with one linear predictor.", call = call)
}

#' @importFrom stats model.matrix
#' @export
model.matrix.tf_estimator <- function(object, ...) {
  abort_extra_arguments("model.matrix", list(...))
  if (is.null(object$formula)) abort_no_formula("model.matrix")
  if (is.null(object$blueprint$has_intercept)) {
    abort_runhooks(
      c(
        "{.fn model.matrix} needs a model of one part; this is a {describe_model(object)}.",
        i = "Use {.code model.matrix(formula(model), data)}."
      )
    )
  }
  design_matrix(object, training_frame(object, "model.matrix"))
}

# --- emmeans: the reference grid and the linear predictor on it

#' @exportS3Method emmeans::recover_data
recover_data.tf_estimator <- function(object, data = NULL, ...) {
  recover <- getExportedValue("emmeans", "recover_data")
  if (is.null(data)) data <- training_data(object)
  recover(object$call, prediction_terms(object), NULL, data = data, ...)
}

# Returns the terms with the parameters that poly() and similar functions computed from the training
# data.
prediction_terms <- function(object) {
  stats::delete.response(attr(stats::model.frame(object), "terms"))
}

#' @exportS3Method emmeans::emm_basis
emm_basis.tf_estimator <- function(object, trms, xlev, grid, ...) {
  fit <- single_predictor_fit(object, "emmeans")
  frame <- stats::model.frame(trms, grid, na.action = stats::na.pass, xlev = xlev)
  x <- stats::model.matrix(trms, frame, contrasts.arg = attr(fit$design, "contrasts"))
  exported <- function(package, name) getExportedValue(package, name)
  is_full_rank <- all(fit$kept)
  list(
    X = x, bhat = as.vector(fit$coefficients[, 1]),
    nbasis = if (is_full_rank) {
      exported("estimability", "all.estble")
    } else {
      exported("estimability", "nonest.basis")(qr(fit$design))
    },
    V = vcov(object, complete = FALSE),
    dffun = function(k, dfargs) dfargs$df,
    dfargs = list(df = if (fit$family == "gaussian") fit_residual_df(fit) else Inf),
    misc = if (fit$family == "gaussian") list() else {
      exported("emmeans", ".std.link.labels")(family(object), list())
    }
  )
}
