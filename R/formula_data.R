# Converts data to the features of a formula model, and selects how training reads them by default.

# Values and missing rows of the variables and the response. Unseen levels count as missing.
blueprint_frame <- function(blueprint, data, with_response, call) {
  data <- fill_missing(data, blueprint$na$constants)
  names <- names(blueprint$variables)
  check_variables(blueprint, data, call)
  values <- lapply(setNames(nm = names), function(name) {
    value <- formula_value(name, data, blueprint, call)
    levels <- blueprint$variables[[name]]$levels
    # a logical column with only NA can be of any type
    if (is.logical(value) && all(is.na(value))) {
      storage.mode(value) <- if (is.null(levels)) "double" else "character"
    }
    check_kind(value, name, if (is.null(levels)) "double" else "factor")
    value
  })
  if (with_response) check_has_response(blueprint, names(data), call)
  response <- if (with_response) response_value(data, blueprint, call)
  finite <- all_finite(c(values, if (with_response) list(response)))
  for (i in seq_along(names)) {
    check_column(values[[i]], names[[i]], FALSE, call, missing = TRUE, finite = finite[[i]])
  }
  missing <- lapply(values, is_missing_row)
  passed <- if (passes_missing(blueprint)) names(missing)[vapply(missing, any, NA)]
  if (passes_missing(blueprint)) missing <- list()
  offset <- offset_value(data, blueprint, call)
  if (!is.null(offset)) {
    check_column(offset, blueprint$offset$name, FALSE, call, missing = TRUE)
    missing[[blueprint$offset$name]] <- is.na(offset)
  }
  frame <- list(
    values = values, n = if (length(data)) n_rows(data[[1]]) else 0L, passed = passed
  )
  frame$offset <- offset
  if (with_response) {
    frame$response <- response
    check_column(
      response, blueprint$response$name, TRUE, call, missing = TRUE, finite = last_or_na(finite)
    )
    missing[[blueprint$response$name]] <- is_missing_row(frame$response)
    if (!is.null(blueprint$weight)) {
      frame$weight <- unclassed_column(required_column(data, blueprint$weight, call))
      missing[[blueprint$weight]] <- is_missing_row(frame$weight)
    }
  }
  frame$missing <- missing
  frame
}

check_variables <- function(blueprint, data, call) {
  read <- unlist(lapply(names(blueprint$variables), function(name) {
    expr <- blueprint$variables[[name]]$expr
    if (name %in% names(data)) return(name)
    # a variable of the formula's environment, not a column, in training
    if (is.null(expr)) name else intersect(variables_of(expr), blueprint$columns)
  }))
  read <- c(read, intersect(variables_of(blueprint$offset$expr), blueprint$columns))
  missing <- setdiff(unique(read), c(names(data), names(blueprint$constants)))
  if (length(missing)) abort_missing_features(missing, names(data), call)
}

check_has_response <- function(blueprint, existing, call) {
  response <- blueprint$response$name
  missing <- setdiff(blueprint$response_variables, c(existing, names(blueprint$constants)))
  if (response %in% existing || length(missing) == 0) return(invisible())
  abort_runhooks(
    c(
      "The data lack the response of the model: {.val {missing}}.",
      did_you_mean(missing[[1]], existing),
      i = "Training and evaluation need it; {.fn predict} does not."
    ),
    kind = "not_found", call = call
  )
}

drop_incomplete_rows <- function(blueprint, frame, call, note = FALSE) {
  frame$rows <- !Reduce(`|`, frame$missing, logical(frame$n))
  if (all(frame$rows)) return(frame)
  if (!blueprint$na$kind %in% c("omit", "exclude")) {
    abort_missing_rows(missing_counts(frame$missing), blueprint, call)
  }
  if (!any(frame$rows)) abort_runhooks("All rows have NA.", call = call)
  if (note) inform_omitted(frame$missing)
  select_frame_rows(frame, frame$rows)
}

select_frame_rows <- function(frame, rows) {
  frame$values <- lapply(frame$values, select_rows, rows)
  for (name in intersect(c("response", "weight", "offset"), names(frame))) {
    frame[[name]] <- select_rows(frame[[name]], rows)
  }
  frame
}

frame_features <- function(blueprint, frame) {
  known <- lapply(Filter(function(v) !is.null(v$levels), blueprint$variables), function(variable) {
    list(kind = "character", levels = variable$levels)
  })
  has_trees <- isTRUE(blueprint$has_trees)
  values <- coerce_to_schema(frame$values, known, has_trees = has_trees, missing = NA)
  values <- with_missing_level(values, blueprint)
  crosses <- Filter(function(parts) product_name(parts) %in% names(blueprint$crosses),
    blueprint$features
  )
  words <- lapply(crosses, function(parts) crossed_strings(values[parts]))
  crossed <- lapply(names(words), function(name) {
    list(kind = "character", levels = blueprint$crosses[[name]])
  })
  values[names(words)] <- coerce_to_schema(
    words, setNames(crossed, names(words)), has_trees = has_trees, missing = NA
  )
  features <- lapply(names(blueprint$features), function(name) {
    parts <- if (name %in% names(words)) name else blueprint$features[[name]]
    value <- feature_value(parts, values)
    if (is.factor(value)) strings_for_graph(value) else value
  })
  features <- setNames(features, unname(blueprint$keys[names(blueprint$features)]))
  if (!is.null(blueprint$offset)) features[[blueprint$offset$name]] <- frame$offset
  features
}

# `is_limited`: NULL unless training, TRUE if `steps` or `max_steps` is given.
# Dots, because users may give arguments `data` or `model`.
blueprint_input_fn <- function(
  .model, .data, batch_size = NULL, shuffle = "auto", num_epochs = NULL, ..., is_limited = NULL,
  given = character(), resume = TRUE, call = parent.frame()
) {
  model <- .model
  data <- .data
  blueprint <- model$blueprint
  read_arguments <- c("batch_size", "shuffle", "num_epochs", "resume")
  check_abbreviations(given, read_arguments, "input_fn", call)
  if (is.null(blueprint)) {
    abort_runhooks(
      c(
        "input_fn must be a function, not {describe_type(data)}.",
        i = "Create one with {.fn input_fn}. Only models from a formula accept a data frame
             directly."
      ),
      call = call
    )
  }
  abort_reading(list(...), call)
  data <- as_formula_data(data, model, call)
  is_training <- !is.null(is_limited)
  reading <- list(
    batch_size = batch_size, shuffle = shuffle, num_epochs = num_epochs, resume = resume, given = given
  )
  if (is_streamed(data)) return(stream_input(model, data, reading, is_limited, call))
  data <- check_formula_data(data, call)
  check_some_rows(data, call)
  frame <- blueprint_frame(blueprint, data, TRUE, call)
  frame <- drop_incomplete_rows(blueprint, frame, call, note = TRUE)
  if (is_training) check_some_weight(blueprint, frame, call)
  columns <- frame_features(blueprint, frame)
  if (length(columns) == 0) columns <- row_feature(list(frame$response))
  if (!is.null(blueprint$weight)) {
    is_fit <- is_training && is_iterative_fit(model)
    columns[[blueprint$weight]] <- if (is_fit) rescaled_weights(model, frame$weight) else frame$weight
  }
  features <- names(columns)
  name <- blueprint$response$name
  columns[[name]] <- if (blueprint$as_words) as.character(frame$response) else frame$response
  n <- n_rows(frame$response)
  if (is.null(batch_size)) batch_size <- if (is_training) default_batch(model, n) else 128
  check_positive_whole(batch_size, call = call)
  if (is_training && uses_full_batch(model, n, batch_size)) {
    # with all rows in each step, order and position are irrelevant
    if (identical(shuffle, "auto")) shuffle <- FALSE
    resume <- FALSE
  }
  if (!"num_epochs" %in% given) {
    num_epochs <- if (!is_training) 1 else if (!is_limited) default_epochs(model, n, batch_size)
  }
  new_input_fn(columns, features, name, batch_size, shuffle, num_epochs, resume = resume, call = call)
}

check_some_rows <- function(data, call) {
  if (n_rows(data[[1]]) == 0) abort_runhooks("The data have no rows.", call = call)
}

check_some_weight <- function(blueprint, frame, call) {
  if (is.null(frame$weight) || !is.numeric(frame$weight) || any(frame$weight != 0)) return(invisible())
  abort_runhooks(
    "All weights in {.val {blueprint$weight}} are 0, so no row contributes to the loss.",
    call = call
  )
}

# The optimum does not depend on the scale of the weights, but with tiny weights the gradient is too
# small for single precision. A penalty refers to the weights as they are.
rescaled_weights <- function(model, weight) {
  has_penalty <- !is.character(model$spec[[model_traits(model$spec$type)$parts[[1]]$optimizer]])
  if (has_penalty || !is.numeric(weight) || is.object(weight)) return(weight)
  size <- mean(weight)
  if (is.finite(size) && size > 0 && size < 1e-5) weight / size else weight
}

default_batch <- function(model, n) {
  if (uses_full_batch(model)) n else min(n, model_traits(model$spec$type)$batch_size)
}

uses_full_batch <- function(model, n = 1, batch_size = n) {
  batch_size == n && (model_traits(model$spec$type)$wants_all_rows || is_iterative_fit(model, n, batch_size))
}

is_iterative_fit <- function(model, n = 1, batch_size = n) {
  parts <- model_traits(model$spec$type)$parts
  length(parts) == 1 && batch_size == n && wants_all_rows(model$spec[[parts[[1]]$optimizer]])
}

max_iterations <- 200

default_epochs <- function(model, n, batch_size) {
  if (is_iterative_fit(model, n, batch_size)) return(max_iterations)
  # such a model stops its own training
  if (model_traits(model$spec$type)$wants_all_rows) return(NULL)
  default_passes(model, n, batch_size)
}

default_passes <- function(model, n, batch_size) {
  max(1, ceiling(model_traits(model$spec$type)$steps * batch_size / n))
}

reads_all_rows <- function(model, input) {
  about <- attr(input, "about")
  !is.null(about$rows) && !isTRUE(about$is_stream) && is_iterative_fit(model, about$rows, about$batch_size)
}

abort_reading <- function(extras, call) {
  if (length(extras) == 0) return(invisible())
  known <- c("batch_size", "shuffle", "num_epochs", "resume")
  name <- if (is.null(names(extras))) "" else names(extras)[[1]]
  advice <- if (name %in% c("epochs", "n_epochs")) {
    "Did you mean {.arg num_epochs}?"
  } else if (name %in% c("data", "newdata", "new_data", "x", "model")) {
    "The data are the second argument: {.code train(model, data)}, {.code evaluate(model, data)}."
  } else if (name %in% c("validation_split", "validation_data")) {
    "Hold out rows yourself: {.code train(model, data[-test, ], validation = data[test, ])}."
  } else if (name %in% c("callbacks", "callback")) {
    "Use {.arg hooks}, a list of run hooks."
  } else if (name %in% c("learning_rate", "lr", "optimizer", "na.action", "normalize")) {
    "Pass it to the constructor of the model."
  } else {
    near <- near_name(name, c(known, "steps", "max_steps", "hooks"))
    if (length(near)) "Did you mean {.arg {near}}?" else "With a data frame, use {.arg {known}}."
  }
  what <- if (nzchar(name)) "argument {.arg {name}}" else "argument for {describe(extras[[1]])}"
  abort_runhooks(
    c(paste0("There is no ", what, "."), i = advice), call = call, env = environment()
  )
}

required_column <- function(data, name, call) {
  if (name %in% names(data)) return(data[[name]])
  abort_missing_features(name, names(data), call)
}

abort_missing_features <- function(missing, existing, call) {
  abort_runhooks(
    c(
      "The data lack {cli::qty(length(missing))}{?a feature/features} of the model:
       {.val {missing}}.",
      did_you_mean(missing[[1]], existing),
      i = abbreviated_names(existing)
    ),
    kind = "not_found", call = call
  )
}

training_data <- function(object, call = parent.frame(), arg = "input_fn") {
  data <- unclass(object$estimator)$shared_state$data
  if (is.null(data)) data <- object$data
  if (!is.null(data)) return(data)
  abort_runhooks(
    c(
      "{.arg {arg}} is missing.",
      i = if (is.null(object$blueprint)) {
        "Only a model from a formula stores its data. Give a data frame or an {.fn input_fn}."
      } else {
        "The data were removed from this model. Give a data frame."
      }
    ),
    call = call
  )
}

abort_extra_prediction_args <- function(extras, call) {
  if (length(extras) == 0) return(invisible())
  name <- if (is.null(names(extras))) "" else names(extras)[[1]]
  known <- c(
    "newdata", "type", "interval", "level", "hooks", "checkpoint_path", "predict_keys", "simplify",
    "input_fn"
  )
  advice <- if (name %in% c("new_data", "data", "new.data", "newx", "x")) {
    "Use {.arg newdata}: {.code predict(model, data)}."
  } else if (name %in% c("se.fit", "se", "std_error")) {
    "For intervals of a linear model, use {.code interval = \"confidence\"}."
  } else {
    near <- near_name(name, known)
    if (length(near)) "Did you mean {.arg {near}}?" else "Its arguments are {.arg {known}}."
  }
  what <- if (nzchar(name)) "argument {.arg {name}}" else "argument for {describe(extras[[1]])}"
  abort_runhooks(
    c(paste0("{.fn predict} has no ", what, "."), i = advice), call = call, env = environment()
  )
}
