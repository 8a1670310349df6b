# Converts the formulas of a model to feature columns. The result also contains a blueprint: the
# variables, levels and scales that convert later data to the same features.

# Replaces formulas in the arguments by feature columns. If `folder` contains a trained model, its
# levels and scales are used; they are in `blueprint$known`.
formula_arguments <- function(matched, folder, call) {
  matched <- add_weight_vector(matched, call)
  args <- matched$args
  mode <- matched$traits$mode
  parts <- matched$traits$parts_of_columns
  formula <- args$formula
  for (slot in if (!is.null(formula)) names(parts)) {
    if (!is.null(args[[slot]])) next
    # a deep part learns interactions without product terms
    args[[slot]] <- structure(formula, main_effects = parts[[slot]]$is_deep)
  }
  formulas <- Filter(is_formula, args[names(parts)])
  if (length(formulas) == 0 && is.null(formula)) {
    abort_formula_arguments(matched, call)
    return(list(args = optimizer_arguments(matched, FALSE, call)))
  }
  check_flag(args$normalize, "normalize", call)
  optimizers <- vapply(matched$traits$trained_parts, `[[`, "", "optimizer")
  args[optimizers] <- optimizer_arguments(matched, TRUE, call)[optimizers]
  if (is.null(formula)) formula <- formula_with_response(formulas, call)
  response_variables <- variables_of(formula_response(formula, call))
  data <- check_formula_data(args$data, call, response_variables)
  columns <- data_names(data)
  weight <- args$weight_column
  if (is.null(weight) && is_head(args$head)) weight <- args$head$weight_column
  if (is_column(weight)) weight <- weight$key
  if (!is.null(weight) && !weight %in% columns) abort_missing_features(weight, columns, call)
  blueprint <- new_blueprint(formula, columns, weight, call)
  blueprint$response_as_strings <- mode == "classification"
  blueprint$has_trees <- matched$traits$has_trees
  folder <- recorded_model_folder(read_model_dir(folder), args$warm_start_from)
  blueprint$known <- recorded_formula(folder)
  if (!is.null(response_difference(read_metadata(folder), blueprint$response$name))) {
    blueprint$known["response"] <- list(NULL)
  }
  terms <- lapply(formulas, formula_variables, columns, blueprint, call)
  blueprint <- add_offset(blueprint, terms, parts, columns, environment(formula), call)
  blueprint$columns <- used <- columns_in_formula(formula, terms, columns, weight, call)
  is_scaled <- resolve_normalize(matched, blueprint$known, folder, call)
  requested <- list(
    is_scaled = is_scaled, is_whitened = is_scaled && is_full_batch_linear(args, matched$traits),
    classes = mode == "classification",
    response = is_scaled && (mode == "regression" || head_scales_labels(args$head))
  )
  if (is_streamed(data)) data <- frame_or_stream(data, used)
  check_has_features(terms, parts, matched$traits, call)
  frame <- evaluate_formula(blueprint, terms, data, used, args$na.action, requested, call)
  blueprint <- frame$blueprint
  if (length(terms) == 1) {
    blueprint$labels <- attr(terms[[1]], "labels")
    blueprint$summands <- lapply(terms[[1]], product_call)
    blueprint$leading_term <- leading_term(terms[[1]])
    blueprint$has_intercept <- attr(terms[[1]], "intercept") == 1
  }
  check_bias(blueprint, formulas, parts, matched$traits, call)
  check_recorded_bias(blueprint, folder, call)
  for (slot in names(terms)) terms[[slot]] <- split_matrix_terms(terms[[slot]], blueprint)
  blueprint <- orthogonalize_terms(blueprint, frame, requested$is_whitened)
  # a penalty depends on the scales, so these use the weights: a row with weight 2 counts as two
  # rows
  if (is_penalized_linear(args, matched$traits)) frame$scale_weight <- frame$weight
  # tree models compare numbers, so they need no scaling
  by_gradients <- length(matched$traits$trained_parts) > 0
  blueprint <- add_scales(blueprint, frame, requested$is_scaled, requested$response, by_gradients)
  for (slot in names(formulas)) {
    deep <- parts[[slot]]$is_deep
    args[[slot]] <- lapply(terms[[slot]], term_column, blueprint, is_deep = deep)
    if (!deep) args[[slot]] <- c(args[[slot]], offset_columns(blueprint))
    if (length(args[[slot]]) == 0) attr(args[[slot]], "is_of_formula") <- TRUE
  }
  if (passes_na(blueprint)) args$missing_features <- as.list(missing_features(blueprint))
  args <- formula_defaults(args, matched, frame$n)
  args <- response_arguments(args, matched$given, blueprint, frame$response, mode, call)
  check_offset(blueprint, args$n_classes, call)
  label_scale <- label_scale_arguments(blueprint)
  is_of_head <- !is.null(args$head)
  if (is_of_head && length(label_scale)) args$head[names(label_scale)] <- label_scale
  if (is_of_head) label_scale <- NULL
  list(
    args = args, spec = c(
      label_scale, if (!blueprint$has_bias) list(has_bias = FALSE),
      if (length(matched$traits$formula_defaults)) list(of_formula = TRUE)
    ),
    blueprint = blueprint, formula = formula,
    data = data_to_store(data, used, matched$args$data, frame)
  )
}

# Moves a vector of weights, as lm() accepts, into a column of the data.
add_weight_vector <- function(matched, call) {
  weight <- unclassed_column(matched$args$weight_column)
  data <- matched$args$data
  if (is.null(weight) || is_string(weight) || is_column(weight) || !is.data.frame(data)) {
    return(matched)
  }
  check_arg(
    is.numeric(weight) && length(weight) == nrow(data), weight,
    sprintf("the name of a column, or %d numbers, one for each row of the data", nrow(data)),
    "weight_column", call
  )
  name <- unused_name("weights", names(data))
  matched$args$data[[name]] <- as.numeric(weight)
  matched$args$weight_column <- name
  matched
}

# Prepends dots to `name` until it differs from all existing names.
unused_name <- function(name, existing) {
  while (name %in% existing) name <- paste0(".", name)
  name
}

# Sets the defaults of arguments that differ between formula models and other models.
formula_defaults <- function(args, matched, rows) {
  for (default in matched$traits$formula_defaults) {
    if (default$argument %in% matched$given) next
    args[[default$argument]] <- default$value / if (default$is_by_row) rows else 1
  }
  args
}

# Adds variables, levels and terms to the blueprint. Returns a frame (see evaluate_blueprint()) with
# the values of all rows, from which scales and classes are computed. For a stream it contains the
# statistics that `requested` selects instead.
evaluate_formula <- function(blueprint, terms, data, columns, na_action, requested, call) {
  is_stream <- is_streamed(data)
  if (!is_stream) check_has_rows(data, call)
  sample <- if (is_stream) first_chunk(data, columns, call) else data[columns]
  blueprint$na <- as_na_action(na_action, sample, blueprint, call, if (is_stream) data)
  blueprint$is_stream <- is_stream
  filled <- fill_missing(sample, blueprint$na$constants)
  if (any(vapply(filled, inherits, NA, "units"))) {
    blueprint <- add_response_unit(blueprint, filled, call)
  }
  for (slot in names(terms)) blueprint <- add_variables(blueprint, terms[[slot]], filled, call)
  blueprint <- logicals_as_factors(blueprint, terms)
  for (slot in names(terms)) blueprint <- add_terms(blueprint, terms[[slot]], filled, call)
  blueprint$has_bias <- all(vapply(terms, has_bias, NA, blueprint))
  if (is_stream) {
    check_row_wise(blueprint, filled, call)
    requested$basis <- if (requested$is_whitened) number_terms(blueprint)
    requested$features <- if (requested$is_scaled) {
      unique(unlist(lapply(unname(blueprint$terms), function(term) {
        if (length(term$numbers)) product_name(term$numbers)
      })))
    }
    frame <- scan_stream(blueprint, data, columns, requested, call)
    blueprint <- record_variables_with_na(frame$blueprint, frame$passed)
    inform_scan_result(frame, columns)
  } else {
    frame <- drop_incomplete_rows(blueprint, evaluate_blueprint(blueprint, data, TRUE, call), call)
    blueprint <- record_variables_with_na(blueprint, frame$passed)
  }
  blueprint$is_stream <- NULL
  blueprint$response$width <- if (length(dim(frame$response)) == 2) ncol(frame$response) else 1L
  frame$blueprint <- blueprint
  frame
}

add_response_unit <- function(blueprint, data, call) {
  response <- blueprint$response
  blueprint$response$unit <- if (is.null(blueprint$known)) {
    measurement_unit(evaluate_variable(response$name, response$expr, data, blueprint, call))
  } else {
    blueprint$known$response$unit
  }
  blueprint
}

inform_scan_result <- function(scan, columns) {
  rows <- format(scan$read, big.mark = ",", scientific = FALSE) # nolint: used by cli
  cli::cli_inform(
    c(
      "Read {rows} rows once to compute levels and scales of {length(columns)} column{?s}, without
       loading them into memory."
    ),
    class = "runhooks_message_learned"
  )
}

frame_or_stream <- function(stream, columns) {
  frame <- frame_if_small(stream, columns)
  if (!is.null(frame)) return(frame)
  stream$names <- columns
  stream
}

abort_formula_arguments <- function(matched, call) {
  if (!is.null(matched$args$data)) abort_runhooks("{.arg data} requires a formula.", call = call)
  unsupported <- intersect(c("normalize", "na.action"), matched$given)
  if (length(unsupported) == 0) return(invisible())
  abort_runhooks(
    c(
      "{.arg {unsupported[[1]]}} requires a formula.",
      i = if (unsupported[[1]] == "normalize") {
        "For columns, use {.code column_numeric(normalizer_fn = )}."
      } else {
        "For columns, use {.code column_numeric(default_value = )}."
      }
    ),
    call = call
  )
}

columns_in_formula <- function(formula, terms, columns, weight, call) {
  read <- unlist(lapply(unlist(unname(terms), recursive = FALSE), function(term) {
    c(names(term), unlist(lapply(term, variables_of)))
  }))
  check_variables_exist(formula, terms, columns, call)
  offsets <- lapply(unname(terms), attr, "offsets")
  read <- c(read, unlist(lapply(unlist(offsets), variables_of)))
  used <- intersect(columns, c(variables_of(formula[[2]]), term_name(formula[[2]]), read, weight))
  if (length(used) > 0) return(used)
  abort_runhooks(
    c(
      "The formula {.code {term_name(formula)}} reads no column of {.arg data}.",
      i = abbreviated_names(columns)
    ),
    kind = "not_found", call = call
  )
}

# Aborts if a variable is neither a column nor defined in the environment of the formula.
check_variables_exist <- function(formula, terms, columns, call) {
  variables <- unlist(unlist(unname(terms), recursive = FALSE), recursive = FALSE)
  names <- c(variables_of(formula[[2]]), unlist(lapply(variables, variables_of)))
  env <- environment(formula)
  if (is.null(env)) env <- globalenv()
  is_defined <- function(name) name %in% columns || exists(name, envir = env)
  undefined <- Filter(Negate(is_defined), unique(names))
  if (length(undefined)) abort_no_column(undefined[[1]], columns, call)
}

# Returns the data that the model stores for fitted(), residuals() and train() without data. Columns
# are shared, not copied.
data_to_store <- function(data, columns, original, frame) {
  if (is_streamed(data)) {
    data$total <- frame$n
    return(data)
  }
  data <- as.list(data)[columns]
  n <- n_rows(data[[1]])
  rows <- if (is.data.frame(original)) attr(original, "row.names") else .set_row_names(n)
  structure(data, class = "data.frame", row.names = rows)
}

check_formula_data <- function(data, call, response_variables = NULL) {
  if (is.null(data)) {
    abort_runhooks("{.arg data} is missing: a formula needs a data frame.", call = call)
  }
  if (is_streamed(data)) return(as_stream(data, response_variables, call))
  if (inherits(data, "DBIConnection")) abort_connection(call)
  if (is_matrix_package(data)) data <- Matrix::as.matrix(data)
  if (is.matrix(data)) data <- as.data.frame(data, optional = TRUE)
  good <- is.list(data) && !is.null(names(data)) && length(data) > 0
  check_arg(good, data, "a data frame or a dataset", "data", call)
  check_unique_names(names(data), call)
  as.list(data)
}

abort_connection <- function(call) {
  abort_runhooks(
    c(
      "{.arg data} must be a table of the database, not the connection.",
      i = "Use {.code sql_dataset(connection, \"SELECT y, a, b FROM ... ORDER BY ...\")}."
    ),
    call = call
  )
}

formula_with_response <- function(formulas, call) {
  with_response <- Filter(function(formula) length(formula) == 3, formulas)
  responses <- unique(lapply(with_response, `[[`, 2))
  if (length(responses) == 1) return(with_response[[1]])
  abort_runhooks(
    if (length(responses)) {
      "The formulas of a model must have the same response."
    } else {
      "A formula of a model needs a response on its left side."
    },
    call = call
  )
}

formula_response <- function(formula, call) {
  if (length(formula) == 3) return(formula[[2]])
  abort_runhooks("A formula of a model needs a response on its left side.", call = call)
}

new_blueprint <- function(formula, columns, weight, call) {
  left <- formula_response(formula, call)
  list(
    response = list(name = term_name(left), expr = if (is.call(left)) left),
    response_variables = variables_of(left), weight = weight,
    variables = list(), features = list(), keys = character(), crosses = list(), terms = list(),
    constants = formula_constants(left, columns, environment(formula))
  )
}

# Returns the values of variables that an expression uses and that are not columns. They are looked
# up from the environment `start`. Functions of packages are left out.
formula_constants <- function(expr, columns, start) {
  constants <- list()
  for (name in setdiff(all.names(expr, unique = TRUE), columns)) {
    env <- start
    is_user_env <- TRUE
    while (!identical(env, emptyenv())) {
      if (exists(name, envir = env, inherits = FALSE)) {
        value <- get(name, envir = env, inherits = FALSE)
        if (is_user_env || !is.function(value)) constants[[name]] <- value
        break
      }
      if (identical(env, globalenv()) || isNamespace(env)) is_user_env <- FALSE
      env <- parent.env(env)
    }
  }
  constants
}

# Returns the terms of the right side of a formula. Each term is a named list of the expressions of
# its variables.
formula_variables <- function(formula, columns, blueprint, call) {
  excluded <- c(blueprint$response_variables, blueprint$weight)
  names <- setdiff(columns, excluded)
  # terms() uses only the names of the columns, so one row of zeros suffices
  columns_stub <- structure(
    rep(list(0), length(names)), names = names, class = "data.frame", row.names = 1L
  )
  right <- stats::as.formula(call("~", formula[[length(formula)]]), environment(formula))
  terms <- tryCatch(stats::terms(right, data = columns_stub), error = function(error) {
    abort_runhooks(
      c("The formula {.code {term_name(formula)}} is invalid.", x = conditionMessage(error)),
      call = call
    )
  })
  variables <- as.list(attr(terms, "variables"))[-1]
  names(variables) <- vapply(variables, term_name, "")
  codes <- matrix(attr(terms, "factors"), length(variables))
  uses <- codes > 0
  all_terms <- lapply(seq_along(attr(terms, "term.labels")), function(i) {
    structure(variables[uses[, i]], frame = environment(formula))
  })
  is_used <- !isTRUE(attr(formula, "main_effects")) | lengths(all_terms) == 1
  is_response <- vapply(all_terms, function(term) blueprint$response$name %in% names(term), NA)
  if (any(is_response)) {
    warn_response_dropped(blueprint$response$name)
    is_used <- is_used & !is_response
    if (!any(is_used)) abort_runhooks("The formula has no features but its response.", call = call)
  }
  is_needed <- vapply(seq_along(variables), function(i) any(uses[i, is_used]), NA)
  # 2 marks a variable that terms() codes by all of its levels
  has_all_levels <- vapply(seq_along(variables), function(i) {
    is_main <- lengths(all_terms) == 1
    any(codes[i, is_used] == 2) ||
      (attr(terms, "intercept") == 0 && any(uses[i, is_used & is_main]))
  }, NA)
  structure(
    all_terms[is_used], labels = attr(terms, "term.labels")[is_used], order = variables[is_needed],
    offsets = variables[attr(terms, "offset")], intercept = attr(terms, "intercept"),
    both_values = names(variables)[has_all_levels]
  )
}

check_has_features <- function(terms, parts, traits, call) {
  if (is_only_linear_part(parts, traits) || all(lengths(terms) > 0)) return(invisible())
  abort_runhooks(
    c(
      "The formula has no features.",
      i = "Only linear models, such as {.fn linear_regressor}, accept this."
    ),
    call = call
  )
}

# Warns that the response is dropped from the features, which lm() does, too.
warn_response_dropped <- function(name) {
  rlang::warn(
    c(
      paste0("The response `", name, "` is on the right side of the formula, too; it is dropped."),
      i = "lm() drops it, too: the response would be predicted from itself."
    ),
    class = c("runhooks_warning_response", "runhooks_warning")
  )
}

# Adds terms to the blueprint. `words` of a term are its variables with levels (factors and
# strings), `numbers` its other variables.
add_terms <- function(blueprint, terms, data, call) {
  for (term in split_matrix_terms(terms, blueprint)) {
    has_levels <- vapply(blueprint$variables[names(term)], function(v) !is.null(v$levels), NA)
    factors <- names(term)[has_levels]
    numbers <- names(term)[!has_levels]
    blueprint <- add_feature(blueprint, factors)
    if (length(factors) > 1) {
      values <- lapply(setNames(nm = factors), formula_value, data, blueprint, call)
      blueprint$crosses[[product_name(factors)]] <- crossed_levels(values, blueprint, factors)
    }
    if (length(numbers)) blueprint <- add_feature(blueprint, numbers)
    blueprint$terms[[product_name(names(term))]] <- list(words = factors, numbers = numbers)
  }
  blueprint
}

# Adds a feature with a unique key. Keys name variables in the graph. There, invalid characters are
# replaced, so `I(a + b)` and `I(a - b)` would otherwise get the same name.
add_feature <- function(blueprint, parts) {
  name <- product_name(parts)
  if (length(parts) == 0 || name %in% names(blueprint$features)) return(blueprint)
  key <- name
  while (variable_scope_name(key) %in% variable_scope_name(blueprint$keys)) key <- paste0(key, "_1")
  blueprint$features[[name]] <- parts
  blueprint$keys[[name]] <- key
  blueprint
}

# Replaces invalid characters in a variable's name as the core does.
variable_scope_name <- function(name) gsub("[^A-Za-z0-9_.-]", "_", name, useBytes = TRUE)

# Creates the feature column of a term. A product of factors and numbers has one weight per level.
term_column <- function(term, blueprint, is_deep) {
  name <- product_name(names(term))
  parts <- blueprint$terms[[name]]
  feature <- if (length(parts$numbers)) blueprint$keys[[product_name(parts$numbers)]]
  scale <- lapply(parts[c("center", "scale")], as.list)
  if (length(parts$words) == 0) {
    width <- max(vapply(blueprint$variables[parts$numbers], `[[`, 1L, "width"))
    fields <- list(
      "NumericColumn", name = feature, key = feature, shape = list(width), default_value = NULL,
      dtype = tf$float32, normalizer_fn = NULL
    )
    scale <- c(scale[lengths(scale) > 0], basis_fields(blueprint, name))
    return(do.call(new_column, c(fields, scale)))
  }
  factor_name <- product_name(parts$words)
  column <- factor_column(factor_name, blueprint)
  if (length(parts$numbers)) {
    fields <- list(
      "WeightedCategoricalColumn", categorical_column = column, weight_feature_key = feature,
      dtype = tf$float32
    )
    fields <- c(fields, scale[lengths(scale) > 0], slope_fields(blueprint, name))
    column <- new_checked_column(fields[[1]], fields[-1])
  }
  if (is_deep) column_indicator(column) else column
}
