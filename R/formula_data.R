# Converts data to the features of a formula model, and sets the defaults for reading them.

# Evaluates the variables and the response of a formula. Returns a "frame", a list with:
# * `values`, `offset`, `response`, `weight`: the evaluated columns;
# * `missing`: for each column, which rows are missing. Unseen levels are missing, too;
# * `passed`: with na.pass, the names of the variables with missing values.
evaluate_blueprint <- function(blueprint, data, with_response, call) {
  data <- fill_missing(data, blueprint$na$constants)
  names <- names(blueprint$variables)
  check_variables_present(blueprint, data, call)
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
  passed <- if (passes_na(blueprint)) names(missing)[vapply(missing, any, NA)]
  if (passes_na(blueprint)) missing <- list()
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

check_variables_present <- function(blueprint, data, call) {
  required <- unlist(lapply(names(blueprint$variables), function(name) {
    expr <- blueprint$variables[[name]]$expr
    if (name %in% names(data)) return(name)
    # a variable that is not a column of the training data is in the formula's environment
    if (is.null(expr)) name else intersect(variables_of(expr), blueprint$columns)
  }))
  required <- c(required, intersect(variables_of(blueprint$offset$expr), blueprint$columns))
  missing <- setdiff(unique(required), c(names(data), names(blueprint$constants)))
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

# Drops rows with missing values, or aborts, according to `na.action`. `inform()` is called with the
# missing rows if some are dropped. `may_be_empty`: do not abort if no row remains, as in a chunk of
# a stream.
drop_incomplete_rows <- function(blueprint, frame, call, inform = NULL, may_be_empty = FALSE) {
  frame$rows <- !Reduce(`|`, frame$missing, logical(frame$n))
  if (all(frame$rows)) return(frame)
  if (!blueprint$na$kind %in% c("omit", "exclude")) {
    abort_missing_rows(missing_counts(frame$missing), blueprint, call)
  }
  if (!may_be_empty && !any(frame$rows)) abort_runhooks("All rows have NA.", call = call)
  if (!is.null(inform)) inform(frame$missing)
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
  schema <- lapply(Filter(function(v) !is.null(v$levels), blueprint$variables), function(variable) {
    list(kind = "character", levels = variable$levels)
  })
  has_trees <- isTRUE(blueprint$has_trees)
  values <- coerce_to_schema(frame$values, schema, has_trees = has_trees, missing = NA)
  values <- replace_na_by_level(values, blueprint)
  crosses <- Filter(function(parts) product_name(parts) %in% names(blueprint$crosses),
    blueprint$features
  )
  crossed_values <- lapply(crosses, function(parts) crossed_strings(values[parts]))
  crossed_schema <- lapply(names(crossed_values), function(name) {
    list(kind = "character", levels = blueprint$crosses[[name]])
  })
  crossed_schema <- setNames(crossed_schema, names(crossed_values))
  values[names(crossed_values)] <- coerce_to_schema(
    crossed_values, crossed_schema, has_trees = has_trees, missing = NA
  )
  features <- lapply(names(blueprint$features), function(name) {
    parts <- if (name %in% names(crossed_values)) name else blueprint$features[[name]]
    value <- feature_value(parts, values)
    if (is.factor(value)) strings_for_graph(value) else value
  })
  features <- setNames(features, unname(blueprint$keys[names(blueprint$features)]))
  if (!is.null(blueprint$offset)) features[[blueprint$offset$name]] <- frame$offset
  features
}

# Creates an input function for data of a formula model. `is_limited`: NULL unless training. In
# training, TRUE if `steps` or `max_steps` is given. `supplied`: the names of the arguments that the
# user supplied.
# The names of the first two begin with a dot, because users may supply arguments `data` or `model`.
blueprint_input_fn <- function(
  .model, .data, batch_size = NULL, shuffle = "auto", num_epochs = NULL, ..., is_limited = NULL,
  supplied = character(), resume = TRUE, call = parent.frame()
) {
  model <- .model
  data <- .data
  blueprint <- model$blueprint
  read_arguments <- c("batch_size", "shuffle", "num_epochs", "resume")
  check_abbreviations(supplied, read_arguments, "input_fn", call)
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
  abort_unknown_reading_args(list(...), call)
  data <- as_formula_data(data, model, call)
  is_training <- !is.null(is_limited)
  reading <- list(
    batch_size = batch_size, shuffle = shuffle, num_epochs = num_epochs, resume = resume,
    supplied = supplied
  )
  if (is_streamed(data)) return(stream_input(model, data, reading, is_limited, call))
  data <- check_formula_data(data, call)
  check_has_rows(data, call)
  frame <- evaluate_blueprint(blueprint, data, TRUE, call)
  frame <- drop_incomplete_rows(blueprint, frame, call, inform_omitted)
  if (is_training) check_nonzero_weight(blueprint, frame, call)
  columns <- frame_features(blueprint, frame)
  if (length(columns) == 0) columns <- row_feature(list(frame$response))
  if (!is.null(blueprint$weight)) {
    weight <- frame$weight
    if (is_training && is_iterative_fit(model)) weight <- rescaled_weights(model, weight)
    columns[[blueprint$weight]] <- weight
  }
  features <- names(columns)
  name <- blueprint$response$name
  columns[[name]] <- frame$response
  if (blueprint$response_as_strings) columns[[name]] <- as.character(frame$response)
  n <- n_rows(frame$response)
  if (is.null(batch_size)) batch_size <- if (is_training) default_batch(model, n) else 128
  check_positive_whole(batch_size, call = call)
  if (is_training && uses_full_batch(model, n, batch_size)) {
    # with all rows in each step, order and position are irrelevant
    if (identical(shuffle, "auto")) shuffle <- FALSE
    resume <- FALSE
  }
  if (!"num_epochs" %in% supplied) {
    num_epochs <- if (!is_training) 1 else if (!is_limited) default_epochs(model, n, batch_size)
  }
  new_input_fn(
    columns, features, name, batch_size, shuffle, num_epochs, resume = resume, call = call
  )
}

check_has_rows <- function(data, call) {
  if (n_rows(data[[1]]) == 0) abort_runhooks("The data have no rows.", call = call)
}

check_nonzero_weight <- function(blueprint, frame, call) {
  if (!is.numeric(frame$weight) || any(frame$weight != 0)) return(invisible())
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

# Whether training by default reads all rows in each step.
uses_full_batch <- function(model, n = 1, batch_size = n) {
  batch_size == n &&
    (model_traits(model$spec$type)$needs_all_rows || is_iterative_fit(model, n, batch_size))
}

# Whether a full-batch optimizer, such as L-BFGS, iterates to the minimum of the loss.
is_iterative_fit <- function(model, n = 1, batch_size = n) {
  parts <- model_traits(model$spec$type)$parts
  length(parts) == 1 && batch_size == n && needs_all_rows(model$spec[[parts[[1]]$optimizer]])
}

max_iterations <- 200

default_epochs <- function(model, n, batch_size) {
  if (is_iterative_fit(model, n, batch_size)) return(max_iterations)
  # a model that needs all rows, such as trees, ends its own training
  if (model_traits(model$spec$type)$needs_all_rows) return(NULL)
  default_passes(model, n, batch_size)
}

default_passes <- function(model, n, batch_size) {
  max(1, ceiling(model_traits(model$spec$type)$steps * batch_size / n))
}

is_full_batch_input <- function(model, input) {
  info <- attr(input, "about")
  !is.null(info$rows) && !isTRUE(info$is_stream) &&
    is_iterative_fit(model, info$rows, info$batch_size)
}

abort_unknown_reading_args <- function(extras, call) {
  if (length(extras) == 0) return(invisible())
  arg_names <- c("batch_size", "shuffle", "num_epochs", "resume")
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
    suggestion <- closest_name(name, c(arg_names, "steps", "max_steps", "hooks"))
    if (length(suggestion)) {
      "Did you mean {.arg {suggestion}}?"
    } else {
      "With a data frame, use {.arg {arg_names}}."
    }
  }
  problem <- if (nzchar(name)) "argument {.arg {name}}" else "argument for {describe(extras[[1]])}"
  abort_runhooks(
    c(paste0("There is no ", problem, "."), i = advice), call = call, env = environment()
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
  data <- handle_fields(object)$shared_state$data
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
  is_newdata <- names(extras)[1] %in% c("new_data", "data", "new.data", "newx", "x")
  arg_names <- c(
    "newdata", "type", "interval", "level", "hooks", "checkpoint_path", "predict_keys", "simplify",
    "input_fn"
  )
  advice <- if (isTRUE(is_newdata)) {
    "Use {.arg newdata}: {.code predict(model, data)}."
  } else if (isTRUE(names(extras)[1] %in% c("se.fit", "se", "std_error"))) {
    "For intervals of a linear model, use {.code interval = \"confidence\"}."
  }
  abort_extra_arguments("predict", extras, arg_names, call, advice)
}
