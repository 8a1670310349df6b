# The linear predictor of a linear model, in double precision and in the units of the response, and
# the checks that it needs.

abort_no_formula <- function(function_name, call = parent.frame()) {
  abort_runhooks(
    c(
      "{.fn {function_name}} needs a model that was created from a formula.",
      i = "For example: {.code linear_regressor(mpg ~ wt, data = mtcars)}."
    ),
    call = call
  )
}

training_frame <- function(object, function_name, call = parent.frame()) {
  blueprint <- object$blueprint
  if (is.null(blueprint)) abort_no_formula(function_name, call)
  data <- training_data(object, call)
  if (is_streamed(data)) {
    stream <- data
    data <- frame_if_small(stream, stream$names)
    if (is.null(data)) abort_stream(function_name, stream, call)
  }
  frame <- evaluate_blueprint(blueprint, as.list(data), TRUE, call)
  frame <- drop_incomplete_rows(blueprint, frame, call)
  frame$data <- data
  frame
}

# Aborts unless the model directory contains a checkpoint of this model.
check_trained <- function(object, function_name, call = parent.frame()) {
  folder <- local_model_dir(object)
  if (folder$has_checkpoint) return(check_own_weights(object, folder, call))
  abort_runhooks(
    c(
      "{.fn {function_name}} needs a trained model.",
      x = "There is no checkpoint in {.path {model_dir(object)}}.",
      i = "Train it with {.code train(model)}."
    ),
    kind = "not_found", call = call
  )
}

# Checks the model for a function that reads the newest checkpoint but no data.
check_own_weights <- function(object, folder, call) {
  check_model_compatible(object, "infer", call)
  check_scales(object, call)
  inform_other_training(object, folder)
}

# Returns the response as a numeric matrix. Two classes give one column: 1 for the second class.
observed_response <- function(object, response) {
  classes <- class_names_of(object)
  if (is.null(classes)) return(as.matrix(response))
  indicators <- outer(as.character(response), classes, "==") + 0
  if (ncol(indicators) == 2) indicators[, 2, drop = FALSE] else indicators
}

class_names_of <- function(object) {
  labels <- model_labels(object)
  if (isTRUE(labels$has_one_class)) tidy_classes(object, labels)
}

output_names <- function(object, response) {
  head_names <- unlist(lapply(model_labels(object)$predictions, `[[`, "names"))
  if (length(head_names)) return(head_names)
  if (is.null(colnames(response))) seq_len(ncol(response)) else colnames(response)
}

has_coefficients <- function(object) model_traits(object$spec$type)$has_coefficients

# Returns the design matrix of the training rows, or of `newdata` with the contrasts of the training
# rows.
design_matrix <- function(object, frame, newdata = NULL) {
  blueprint <- object$blueprint
  training_data <- as.data.frame(frame$data, optional = TRUE)
  data <- training_data
  data <- plain_columns(fill_missing(data, blueprint$na$constants), blueprint)
  rows <- frame$rows
  frame <- list2env(blueprint$constants, parent = globalenv())
  terms_sum <- sum_of_terms(blueprint)
  if (isFALSE(blueprint$has_intercept)) terms_sum <- call("-", terms_sum, 1)
  terms <- stats::terms(stats::as.formula(call("~", terms_sum), frame))
  terms <- with_predvars(terms, blueprint, data)
  # compute the variables from all rows and select rows afterwards, as lm() does
  model <- do.call(stats::model.frame, list(
    terms, data, subset = rows, na.action = stats::na.pass, drop.unused.levels = TRUE
  ))
  model <- with_single_level_contrasts(model)
  if (is.null(newdata)) return(stats::model.matrix(terms, model))
  terms <- attr(model, "terms")
  newdata <- fill_missing(newdata, blueprint$na$constants)
  for (name in intersect(names(newdata), names(training_data))) {
    newdata[[name]] <- convert_unit(newdata[[name]], measurement_unit(training_data[[name]]), name, user_frame())
  }
  newdata <- plain_columns(newdata, blueprint)
  newdata <- as.data.frame(newdata, optional = TRUE)
  # contrasts need all levels of the training, but the new rows may have only some of them
  for (name in intersect(names(newdata), names(data))) {
    if (inherits(data[[name]], "difftime") && inherits(newdata[[name]], "difftime")) {
      units(newdata[[name]]) <- units(data[[name]])
    }
    if (!is.factor(data[[name]]) && !is.character(data[[name]])) next
    training_levels <- levels(droplevels(as.factor(data[[name]][rows])))
    newdata[[name]] <- factor(as.character(newdata[[name]]), levels = training_levels)
  }
  levels <- stats::.getXlevels(terms, model)
  new_frame <- stats::model.frame(terms, newdata, xlev = levels, na.action = stats::na.pass)
  new_frame <- with_single_level_contrasts(new_frame)
  contrasts <- attr(stats::model.matrix(terms, model), "contrasts")
  has_contrasts <- function(x) !is.null(attr(x, "contrasts"))
  has_own <- vapply(new_frame[names(contrasts)], has_contrasts, NA)
  stats::model.matrix(terms, new_frame, contrasts.arg = contrasts[!has_own])
}

# Adds the attribute `predvars` to `terms`. It contains the variables as calls, such as poly(x, 2),
# with the parameters that were computed from the training data.
with_predvars <- function(terms, blueprint, data) {
  variables <- as.list(attr(terms, "variables"))[-1]
  calls <- lapply(variables, function(variable) {
    if (term_name(variable) %in% names(data)) return(as.name(term_name(variable)))
    expr <- blueprint$variables[[term_name(variable)]]$expr
    if (is.call(expr) && identical(strip_contrasts(variable), variable)) expr else variable
  })
  attr(terms, "predvars") <- as.call(c(quote(list), calls))
  terms
}

# Converts columns that model.frame() rejects: POSIXlt, because it is a list, and columns of classes
# whose package is not loaded.
plain_columns <- function(data, blueprint) {
  for (name in names(data)) {
    if (inherits(data[[name]], "POSIXlt")) data[[name]] <- as.POSIXct(data[[name]])
    if (name %in% names(blueprint$variables)) data[[name]] <- unclassed_column(data[[name]])
  }
  data
}

# Converts strings to factors whose levels do not depend on the locale. A factor of one level gets a
# contrast, because R has none for it.
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

# Returns the logits of the rows of `frame` in the units of the response.
linear_logits <- function(object, frame) {
  blueprint <- object$blueprint
  names <- cpp_estimator_coefficients(core_spec(object))
  path <- latest_checkpoint_or_abort(model_dir(object))
  bias <- cpp_checkpoint_values(path, names$bias)[[1]]
  weights <- cpp_checkpoint_values(path, names$weights)
  n <- sum(frame$rows)
  logits <- matrix(as.vector(bias), n, length(bias), byrow = TRUE)
  basis <- blueprint$basis
  if (!is.null(basis)) {
    numbers <- basis_numbers(basis, blueprint, frame$values)
    term_weights <- lapply(weights[match(basis$terms, names(blueprint$terms))], as.matrix)
    logits <- logits + numbers %*% (basis$shares %*% do.call(rbind, unname(term_weights)))
  }
  for (i in which(!names(blueprint$terms) %in% basis$terms)) {
    name <- names(blueprint$terms)[[i]]
    logits <- logits + term_logits(name, as.matrix(weights[[i]]), frame$values, blueprint)
  }
  response <- blueprint$response
  if (!is.null(blueprint$offset)) {
    scale <- if (is.null(response$scale)) 1 else response$scale
    offset <- frame$offset - blueprint$offset$center
    logits <- logits + outer(offset, 1 / rep_len(scale, ncol(logits)))
  }
  if (is.null(response$scale)) return(logits)
  sweep(sweep(logits, 2, response$scale, `*`), 2, response$center, `+`)
}

# Returns the contribution of the term `name` to the logits.
term_logits <- function(name, weights, values, blueprint) {
  n <- n_rows(values[[1]])
  term <- blueprint$terms[[name]]
  slopes <- slopes_of(blueprint, name)
  x <- if (is.null(slopes) && length(term$numbers)) {
    x <- matrix(as.numeric(feature_value(term$numbers, values)), n)
    if (is.null(term$scale)) x else sweep(sweep(x, 2, term$center), 2, term$scale, `/`)
  }
  if (length(term$words) == 0) return(x %*% weights)
  codes <- factor_codes_of(blueprint, values, product_name(term$words))[[1]]
  contributions <- weights[codes, , drop = FALSE]
  contributions <- if (!is.null(slopes)) {
    contributions * slope_numbers(slopes, blueprint, values, codes)
  } else if (is.null(x)) {
    contributions
  } else {
    contributions * x[, 1]
  }
  contributions[is.na(contributions)] <- 0
  contributions
}
