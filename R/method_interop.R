# What packages that look into models of any kind ask of one.

#' Models of a formula in other packages
#'
#' Packages that look into models ask for [formula()], `terms()`, `model.frame()`, `nobs()`, the call
#' and the data behind it, coefficients and their covariance, and for predictions. All of these there
#' are; packages that want predictions in a form of their own get them by methods of theirs:
#'
#' * plotmo: `plotmo::plotmo(model)`.
#' * DALEX: `DALEX::explain(model, data = , y = )`; of two classes the probability of the second one, of
#'   more a matrix.
#' * marginaleffects: after `options(marginaleffects_model_classes = "tf_estimator")`, for linear models.
#' * pdp: `pdp::partial(model, pred.var = , pred.fun = function(object, newdata)
#'   mean(predict(object, newdata)$.pred), train = data)`.
#' * emmeans and sandwich, for linear models of one response: `emmeans::emmeans(model, "g")`,
#'   `sandwich::vcovHC(model)`, `lmtest::coeftest(model, vcov = sandwich::vcovHC)`.
#' * modelr: [predict()][predict.tf_estimator] gives a table, which `modelr::add_predictions()` keeps as
#'   one column; `augment()` adds its columns to the data.
#' * insight, broom, lmtest, car: what goes by the methods of [model_methods].
#'
#' @param object A model that was made from a formula.
#' @param ... Nothing more.
#' @return `family()`: the family of [stats::glm()] whose likelihood the loss of the model is:
#'   `gaussian()`, `binomial()`, `poisson()`.
#' @section Errors: `runhooks_error_invalid_argument` for models of which `family()` has no name.
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
  abort_more("family", list(...))
  if (is.null(object$formula)) abort_no_formula("family")
  name <- model_labels(object)$family
  known <- list(
    gaussian = stats::gaussian, binomial = stats::binomial, poisson = stats::poisson
  )
  classes <- tidy_classes_of(object)
  if (!name %in% names(known) || length(classes) > 2) {
    what <- if (length(classes) > 2) {
      paste(length(classes), "classes, which {.fn glm} has no family for")
    } else {
      "another loss than the likelihood of one of {.fn glm}'s families"
    }
    abort_runhooks(paste0("This {model_words(object)} has ", what, "."))
  }
  known[[name]]()
}

# --- DALEX

#' @exportS3Method DALEX::yhat
yhat.tf_estimator <- function(X.model, newdata, ...) { # nolint: its names
  plain_predictions(X.model, newdata)
}

# A number for each row, or of more than two classes a matrix of probabilities.
plain_predictions <- function(object, newdata) {
  classes <- tidy_classes_of(object)
  if (length(classes) == 0) return(as_plain(predict(object, newdata = newdata)))
  table <- as.matrix(as.data.frame(predict(object, newdata = newdata, type = "prob")))
  dimnames(table) <- list(NULL, as.character(classes))
  if (length(classes) == 2) table[, 2] else table
}

# One column as a vector, several as a matrix.
as_plain <- function(table) {
  if (length(table) == 1) table[[1]] else as.matrix(as.data.frame(table))
}

# --- marginaleffects: derivatives by the coefficients are differences of predictions at others

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
    abort_runhooks("Marginal effects are for models with one linear function.")
  }
  logits <- drop(design[, names(coefficients), drop = FALSE] %*% coefficients)
  link <- if (identical(type, "link")) identity else family(model)$linkinv
  data.frame(rowid = seq_along(logits), estimate = unname(link(logits)))
}

# --- sandwich: what each row adds to the gradient, and the curvature

#' @exportS3Method sandwich::estfun
estfun.tf_estimator <- function(x, ...) {
  fit <- one_function_fit(x, "estfun")
  rows <- fit$weights * fit$errors[, 1] * fit$design[, fit$kept, drop = FALSE]
  dimnames(rows) <- dimnames(fit$design[, fit$kept, drop = FALSE])
  rows
}

#' @exportS3Method sandwich::bread
bread.tf_estimator <- function(x, ...) {
  fit <- one_function_fit(x, "bread")
  names <- colnames(fit$design)[fit$kept]
  inverse <- fit$basis %*% chol2inv(fit$root) %*% t(fit$basis)
  matrix(fit_nobs(fit) * inverse, length(names), dimnames = list(names, names))
}

one_function_fit <- function(object, what, call = parent.frame()) {
  fit <- inference_fit(object, what, call)
  if (ncol(fit$errors) == 1) return(fit)
  abort_runhooks("{.fn {what}} is for models with one linear function.", call = call)
}

#' @importFrom stats model.matrix
#' @export
model.matrix.tf_estimator <- function(object, ...) {
  abort_more("model.matrix", list(...))
  if (is.null(object$formula)) abort_no_formula("model.matrix")
  design_matrix(object, training_frame(object, "model.matrix"))
}

#' @importFrom stats hatvalues
#' @export
hatvalues.tf_estimator <- function(model, ...) {
  abort_more("hatvalues", list(...))
  fit <- one_function_fit(model, "hatvalues")
  along <- backsolve(fit$root, t(orthonormal_columns(fit)), transpose = TRUE)
  mean <- fit$means[, 1]
  variance <- switch(fit$family, gaussian = 1, binomial = mean * (1 - mean), poisson = mean)
  setNames(colSums(along^2) * fit$weights * variance, rownames(fit$design))
}

# Residuals as far as they go where each row has a part in its own fitted value.

#' @importFrom stats rstandard
#' @export
rstandard.tf_estimator <- function(model, type = rstandard_types(), ...) {
  type <- check_one_of(type, rstandard_types())
  abort_more("rstandard", list(...), "type")
  leverage <- hatvalues(model)
  shown <- stats::residuals(model, type = type)
  rows <- !is.na(shown)
  shown[rows] <- shown[rows] / sqrt(residual_variance(model) * (1 - leverage))
  shown[is.infinite(shown)] <- NaN
  shown
}

# The first is the default for a glm: Pearson residuals from R 4.6 on.
rstandard_types <- function(r_version = getRversion()) {
  types <- c("pearson", "deviance")
  if (r_version >= "4.6") types else rev(types)
}

#' @importFrom stats cooks.distance
#' @export
cooks.distance.tf_estimator <- function(model, ...) {
  abort_more("cooks.distance", list(...))
  leverage <- hatvalues(model)
  shown <- stats::residuals(model, type = "pearson")
  rows <- !is.na(shown)
  n_coefficients <- length(stats::coef(model, complete = FALSE))
  far <- (shown[rows] / (1 - leverage))^2 * leverage
  shown[rows] <- far / (residual_variance(model) * n_coefficients)
  shown[is.infinite(shown)] <- NaN
  shown
}

residual_variance <- function(object) {
  if (identical(model_labels(object)$family, "gaussian")) stats::sigma(object)^2 else 1
}

# --- emmeans: a grid of predictors, and the linear function there

#' @exportS3Method emmeans::recover_data
recover_data.tf_estimator <- function(object, data = NULL, ...) {
  recover <- getExportedValue("emmeans", "recover_data")
  if (is.null(data)) data <- kept_data(object)
  recover(object$call, grid_terms(object), NULL, data = data, ...)
}

# With what poly() and its like have learned of the data.
grid_terms <- function(object) stats::delete.response(attr(stats::model.frame(object), "terms"))

#' @exportS3Method emmeans::emm_basis
emm_basis.tf_estimator <- function(object, trms, xlev, grid, ...) {
  fit <- one_function_fit(object, "emmeans")
  model <- stats::model.frame(trms, grid, na.action = stats::na.pass, xlev = xlev)
  x <- stats::model.matrix(trms, model, contrasts.arg = attr(fit$design, "contrasts"))
  from <- function(package, name) getExportedValue(package, name)
  is_whole <- all(fit$kept)
  list(
    X = x, bhat = as.vector(fit$coefficients[, 1]),
    nbasis = if (is_whole) {
      from("estimability", "all.estble")
    } else {
      from("estimability", "nonest.basis")(qr(fit$design))
    },
    V = vcov(object, complete = FALSE),
    dffun = function(k, dfargs) dfargs$df,
    dfargs = list(df = if (fit$family == "gaussian") fit_df(fit) else Inf),
    misc = if (fit$family == "gaussian") list() else {
      from("emmeans", ".std.link.labels")(family(object), list())
    }
  )
}
