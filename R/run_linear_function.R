# The linear predictor of the training rows, in double precision and the units of the response.
abort_no_formula <- function(what, call = parent.frame()) {
  abort_runhooks(
    c(
      "{.fn {what}} needs a model that was created from a formula.",
      i = "For example: {.code linear_regressor(mpg ~ wt, data = mtcars)}."
    ),
    call = call
  )
}

training_frame <- function(object, what, call = parent.frame()) {
  blueprint <- object$blueprint
  if (is.null(blueprint)) abort_no_formula(what, call)
  data <- training_data(object, call)
  if (is_streamed(data)) {
    stream <- data
    data <- frame_if_small(stream, stream$names)
    if (is.null(data)) abort_stream(what, stream, call)
  }
  frame <- blueprint_frame(blueprint, as.list(data), TRUE, call)
  frame <- drop_incomplete_rows(blueprint, frame, call)
  frame$data <- data
  frame
}

# Aborts unless the model directory contains a checkpoint of this model.
check_trained <- function(object, what, call = parent.frame()) {
  folder <- local_model_dir(object)
  if (folder$has_checkpoint) return(check_own_weights(object, folder, call))
  abort_runhooks(
    c(
      "{.fn {what}} needs a trained model.",
      x = "There is no checkpoint in {.path {model_dir(object)}}.",
      i = "Train it with {.code train(model)}."
    ),
    kind = "not_found", call = call
  )
}

# For functions that read the newest checkpoint but no data.
check_own_weights <- function(object, folder, call) {
  check_model_compatible(object, "infer", call)
  check_scales(object, call)
  inform_other_training(object, folder)
}

observed_response <- function(object, response) {
  words <- tidy_classes_of(object)
  if (is.null(words)) return(as.matrix(response))
  shown <- outer(as.character(response), words, "==") + 0
  if (ncol(shown) == 2) shown[, 2, drop = FALSE] else shown
}

tidy_classes_of <- function(object) {
  labels <- model_labels(object)
  if (isTRUE(labels$has_one_class)) tidy_classes(object, labels)
}

output_names <- function(object, response) {
  own <- unlist(lapply(model_labels(object)$predictions, `[[`, "names"))
  if (length(own)) return(own)
  if (is.null(colnames(response))) seq_len(ncol(response)) else colnames(response)
}

has_coefficients <- function(object) model_traits(object$spec$type)$has_coefficients

design_matrix <- function(object, frame, newdata = NULL) {
  blueprint <- object$blueprint
  given <- as.data.frame(frame$data, optional = TRUE)
  data <- given
  data <- plain_columns(fill_missing(data, blueprint$na$constants), blueprint)
  rows <- frame$rows
  frame <- list2env(blueprint$constants, parent = globalenv())
  sum <- sum_of_terms(blueprint)
  if (isFALSE(blueprint$has_intercept)) sum <- call("-", sum, 1)
  terms <- with_predvars(stats::terms(stats::as.formula(call("~", sum), frame)), blueprint, data)
  # as in lm(), the variables are computed from all rows
  model <- do.call(stats::model.frame, list(
    terms, data, subset = rows, na.action = stats::na.pass, drop.unused.levels = TRUE
  ))
  model <- with_single_level_contrasts(model)
  if (is.null(newdata)) return(stats::model.matrix(terms, model))
  terms <- attr(model, "terms")
  newdata <- fill_missing(newdata, blueprint$na$constants)
  for (name in intersect(names(newdata), names(given))) {
    newdata[[name]] <- in_unit(newdata[[name]], unit_of(given[[name]]), name, user_frame())
  }
  newdata <- plain_columns(newdata, blueprint)
  newdata <- as.data.frame(newdata, optional = TRUE)
  # contrasts need all levels, which few rows may not have
  for (name in intersect(names(newdata), names(data))) {
    if (inherits(data[[name]], "difftime") && inherits(newdata[[name]], "difftime")) {
      units(newdata[[name]]) <- units(data[[name]])
    }
    if (!is.factor(data[[name]]) && !is.character(data[[name]])) next
    known <- levels(droplevels(as.factor(data[[name]][rows])))
    newdata[[name]] <- factor(as.character(newdata[[name]]), levels = known)
  }
  levels <- stats::.getXlevels(terms, model)
  new <- stats::model.frame(terms, newdata, xlev = levels, na.action = stats::na.pass)
  new <- with_single_level_contrasts(new)
  contrasts <- attr(stats::model.matrix(terms, model), "contrasts")
  is_open <- vapply(new[names(contrasts)], function(x) is.null(attr(x, "contrasts")), NA)
  stats::model.matrix(terms, new, contrasts.arg = contrasts[is_open])
}

# Terms in which calls such as poly(x, 2) have the parameters of the training data.
with_predvars <- function(terms, blueprint, data) {
  variables <- as.list(attr(terms, "variables"))[-1]
  known <- lapply(variables, function(variable) {
    if (term_name(variable) %in% names(data)) return(as.name(term_name(variable)))
    expr <- blueprint$variables[[term_name(variable)]]$expr
    if (is.call(expr) && identical(without_contrasts(variable), variable)) expr else variable
  })
  attr(terms, "predvars") <- as.call(c(quote(list), known))
  terms
}

# model.frame() rejects POSIXlt, because it is a list, and classes whose package is not loaded.
plain_columns <- function(data, blueprint) {
  for (name in names(data)) {
    if (inherits(data[[name]], "POSIXlt")) data[[name]] <- as.POSIXct(data[[name]])
    if (name %in% names(blueprint$variables)) data[[name]] <- unclassed_column(data[[name]])
  }
  data
}

# Orders levels without the locale. A factor of one level gets a contrast, which R lacks.
with_single_level_contrasts <- function(model) {
  for (name in names(model)) {
    x <- model[[name]]
    if (is.character(x)) x <- factor(x, sort_bytewise(unique(x)))
    if (!is.factor(x)) next
    if (nlevels(x) == 1) {
      attr(x, "contrasts") <- matrix(1, 1, 1, dimnames = list(levels(x), levels(x)))
    }
    model[[name]] <- x
  }
  model
}

linear_logits <- function(object, frame) {
  blueprint <- object$blueprint
  names <- cpp_estimator_coefficients(core_spec(object))
  path <- required_checkpoint(model_dir(object))
  bias <- cpp_checkpoint_values(path, names$bias)[[1]]
  weights <- cpp_checkpoint_values(path, names$weights)
  n <- sum(frame$rows)
  logits <- matrix(as.vector(bias), n, length(bias), byrow = TRUE)
  basis <- blueprint$basis
  if (!is.null(basis)) {
    numbers <- basis_numbers(basis, blueprint, frame$values)
    own <- lapply(weights[match(basis$terms, names(blueprint$terms))], as.matrix)
    logits <- logits + numbers %*% (basis$shares %*% do.call(rbind, unname(own)))
  }
  for (i in which(!names(blueprint$terms) %in% basis$terms)) {
    own <- as.matrix(weights[[i]])
    logits <- logits + term_logits(names(blueprint$terms)[[i]], own, frame$values, blueprint)
  }
  response <- blueprint$response
  if (!is.null(blueprint$offset)) {
    scale <- if (is.null(response$scale)) 1 else response$scale
    logits <- logits + outer(frame$offset - blueprint$offset$center, 1 / rep_len(scale, ncol(logits)))
  }
  if (is.null(response$scale)) return(logits)
  sweep(sweep(logits, 2, response$scale, `*`), 2, response$center, `+`)
}

term_logits <- function(name, weights, values, blueprint) {
  n <- n_rows(values[[1]])
  term <- blueprint$terms[[name]]
  slopes <- slopes_of(blueprint, name)
  x <- if (is.null(slopes) && length(term$numbers)) {
    x <- matrix(as.numeric(feature_value(term$numbers, values)), n)
    if (is.null(term$scale)) x else sweep(sweep(x, 2, term$center), 2, term$scale, `/`)
  }
  if (length(term$words) == 0) return(x %*% weights)
  code <- factor_codes_of(blueprint, values, product_name(term$words))[[1]]
  own <- weights[code, , drop = FALSE]
  own <- if (!is.null(slopes)) {
    own * slope_numbers(slopes, blueprint, values, code)
  } else if (is.null(x)) own else own * x[, 1]
  own[is.na(own)] <- 0
  own
}
