# Converts formulas to feature columns, and later data to the same features (by the blueprint).

# Replaces formulas in the arguments by feature columns. A trained model in `folder` determines
# levels and scales.
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
  if (is.null(formula)) formula <- response_of(formulas, call)
  data <- check_formula_data(args$data, call, response_variables = variables_of(formula_response(formula, call)))
  columns <- data_names(data)
  weight <- args$weight_column
  if (is.null(weight) && is_head(args$head)) weight <- args$head$weight_column
  if (is_column(weight)) weight <- weight$key
  if (!is.null(weight) && !weight %in% columns) abort_missing_features(weight, columns, call)
  blueprint <- new_blueprint(formula, columns, weight, call)
  blueprint$as_words <- mode == "classification"
  blueprint$has_trees <- matched$traits$has_trees
  folder <- source_folder(open_folder(folder), args$warm_start_from)
  blueprint$known <- recorded_formula(folder)
  if (!is.null(response_difference(read_metadata(folder), blueprint$response$name))) {
    blueprint$known["response"] <- list(NULL)
  }
  terms <- lapply(formulas, formula_variables, columns, blueprint, call)
  blueprint <- add_offset(blueprint, terms, parts, columns, environment(formula), call)
  blueprint$columns <- used <- columns_in_formula(formula, terms, columns, weight, call)
  is_scaled <- is_normalized(matched, blueprint$known, folder, call)
  wants <- list(
    is_scaled = is_scaled, is_whitened = is_scaled && is_full_batch_linear(args, matched$traits),
    classes = mode == "classification",
    response = is_scaled && (mode == "regression" || head_scales_labels(args$head))
  )
  if (is_streamed(data)) data <- frame_or_stream(data, used)
  check_has_features(terms, parts, matched$traits, call)
  frame <- evaluate_formula(blueprint, terms, data, used, args$na.action, wants, call)
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
  blueprint <- orthogonalize_terms(blueprint, frame, wants$is_whitened)
  # a penalty refers to the scales, and a row with weight 2 counts as two rows
  if (is_penalized_linear(args, matched$traits)) frame$scale_weight <- frame$weight
  # tree models compare numbers, so they need no scaling
  by_gradients <- length(matched$traits$trained_parts) > 0
  blueprint <- add_scales(blueprint, frame, wants$is_scaled, wants$response, by_gradients)
  for (slot in names(formulas)) {
    deep <- parts[[slot]]$is_deep
    args[[slot]] <- lapply(terms[[slot]], term_column, blueprint, is_deep = deep)
    if (!deep) args[[slot]] <- c(args[[slot]], offset_columns(blueprint))
    if (length(args[[slot]]) == 0) attr(args[[slot]], "is_of_formula") <- TRUE
  }
  if (passes_missing(blueprint)) args$missing_features <- as.list(missing_features(blueprint))
  args <- formula_defaults(args, matched, frame$n)
  args <- response_arguments(args, matched$given, blueprint, frame$response, mode, call)
  check_offset(blueprint, args$n_classes, call)
  spec <- label_scale_arguments(blueprint)
  is_of_head <- !is.null(args$head)
  if (is_of_head && length(spec)) args$head[names(spec)] <- spec
  if (is_of_head) spec <- NULL
  list(
    args = args, spec = c(
      spec, if (!blueprint$has_bias) list(has_bias = FALSE),
      if (length(matched$traits$formula_defaults)) list(of_formula = TRUE)
    ),
    blueprint = blueprint, formula = formula,
    data = data_to_store(data, used, matched$args$data, frame)
  )
}

# A vector of weights, as in lm(), becomes a column of the data.
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

# `name`, with leading dots until it is not taken.
unused_name <- function(name, taken) {
  while (name %in% taken) name <- paste0(".", name)
  name
}

formula_defaults <- function(args, matched, rows) {
  for (default in matched$traits$formula_defaults) {
    if (default$argument %in% matched$given) next
    args[[default$argument]] <- default$value / if (default$is_by_row) rows else 1
  }
  args
}

# Adds variables, levels and terms to the blueprint. Returns the values from which scales and
# classes are computed: all rows of a frame, or statistics of a stream.
evaluate_formula <- function(blueprint, terms, data, used, na_action, wants, call) {
  is_stream <- is_streamed(data)
  if (!is_stream) check_some_rows(data, call)
  seen <- if (is_stream) first_chunk(data, used, call) else data[used]
  blueprint$na <- as_na_action(na_action, seen, blueprint, call, if (is_stream) data)
  blueprint$is_stream <- is_stream
  filled <- fill_missing(seen, blueprint$na$constants)
  if (any(vapply(filled, inherits, NA, "units"))) blueprint <- add_response_unit(blueprint, filled, call)
  for (slot in names(terms)) blueprint <- add_variables(blueprint, terms[[slot]], filled, call)
  blueprint <- logicals_as_factors(blueprint, terms)
  for (slot in names(terms)) blueprint <- add_terms(blueprint, terms[[slot]], filled, call)
  blueprint$has_bias <- all(vapply(terms, has_bias, NA, blueprint))
  if (is_stream) {
    check_by_row(blueprint, filled, call)
    wants$basis <- if (wants$is_whitened) number_terms(blueprint)
    wants$features <- if (wants$is_scaled) {
      unique(unlist(lapply(unname(blueprint$terms), function(term) {
        if (length(term$numbers)) product_name(term$numbers)
      })))
    }
    frame <- scan_stream(blueprint, data, used, wants, call)
    blueprint <- record_missing(frame$blueprint, frame$passed)
    inform_scan_result(frame, used)
  } else {
    frame <- drop_incomplete_rows(blueprint, blueprint_frame(blueprint, data, TRUE, call), call)
    blueprint <- record_missing(blueprint, frame$passed)
  }
  blueprint$is_stream <- NULL
  blueprint$response$width <- if (length(dim(frame$response)) == 2) ncol(frame$response) else 1L
  frame$blueprint <- blueprint
  frame
}

add_response_unit <- function(blueprint, data, call) {
  response <- blueprint$response
  blueprint$response$unit <- if (is.null(blueprint$known)) {
    unit_of(evaluate_variable(response$name, response$expr, data, blueprint, call))
  } else {
    blueprint$known$response$unit
  }
  blueprint
}

inform_scan_result <- function(learned, columns) {
  rows <- format(learned$read, big.mark = ",", scientific = FALSE) # nolint: used by cli
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
  odd <- intersect(c("normalize", "na.action"), matched$given)
  if (length(odd) == 0) return(invisible())
  abort_runhooks(
    c(
      "{.arg {odd[[1]]}} requires a formula.",
      i = if (odd[[1]] == "normalize") {
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

# Other variables may be constants in the environment of the formula.
check_variables_exist <- function(formula, terms, columns, call) {
  parts <- unlist(unlist(unname(terms), recursive = FALSE), recursive = FALSE)
  needed <- c(variables_of(formula[[2]]), unlist(lapply(parts, variables_of)))
  where <- environment(formula)
  if (is.null(where)) where <- globalenv()
  is_there <- function(name) name %in% columns || exists(name, envir = where)
  absent <- Filter(Negate(is_there), unique(needed))
  if (length(absent)) abort_no_column(absent[[1]], columns, call)
}

# The data for fitted(), residuals() and train() without data. Columns are shared, not copied.
data_to_store <- function(data, used, given, frame) {
  if (is_streamed(data)) {
    data$total <- frame$n
    return(data)
  }
  data <- as.list(data)[used]
  n <- n_rows(data[[1]])
  rows <- if (is.data.frame(given)) attr(given, "row.names") else .set_row_names(n)
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

response_of <- function(formulas, call) {
  sided <- Filter(function(formula) length(formula) == 3, formulas)
  lefts <- unique(lapply(sided, `[[`, 2))
  if (length(lefts) == 1) return(sided[[1]])
  abort_runhooks(
    if (length(lefts)) {
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

# Variables of the script that the expressions use besides columns, without functions of packages.
formula_constants <- function(expr, columns, frame) {
  constants <- list()
  for (name in setdiff(all.names(expr, unique = TRUE), columns)) {
    env <- frame
    is_users <- TRUE
    while (!identical(env, emptyenv())) {
      if (exists(name, envir = env, inherits = FALSE)) {
        value <- get(name, envir = env, inherits = FALSE)
        if (is_users || !is.function(value)) constants[[name]] <- value
        break
      }
      if (identical(env, globalenv()) || isNamespace(env)) is_users <- FALSE
      env <- parent.env(env)
    }
  }
  constants
}

formula_variables <- function(formula, columns, blueprint, call) {
  left_out <- c(blueprint$response_variables, blueprint$weight)
  names <- setdiff(columns, left_out)
  # terms() uses only the names
  stub <- structure(
    rep(list(0), length(names)), names = names, class = "data.frame", row.names = 1L
  )
  right <- stats::as.formula(call("~", formula[[length(formula)]]), environment(formula))
  terms <- tryCatch(stats::terms(right, data = stub), error = function(error) {
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
  is_left <- !isTRUE(attr(formula, "main_effects")) | lengths(all_terms) == 1
  is_response <- vapply(all_terms, function(term) blueprint$response$name %in% names(term), NA)
  if (any(is_response)) {
    warn_response_dropped(blueprint$response$name)
    is_left <- is_left & !is_response
    if (!any(is_left)) abort_runhooks("The formula has no features but its response.", call = call)
  }
  own <- vapply(seq_along(variables), function(i) any(uses[i, is_left]), NA)
  # 2 marks a variable that terms() codes by all of its levels
  has_all <- vapply(seq_along(variables), function(i) {
    is_main <- lengths(all_terms) == 1
    any(codes[i, is_left] == 2) || (attr(terms, "intercept") == 0 && any(uses[i, is_left & is_main]))
  }, NA)
  structure(
    all_terms[is_left], labels = attr(terms, "term.labels")[is_left], order = variables[own],
    offsets = variables[attr(terms, "offset")], intercept = attr(terms, "intercept"),
    both_values = names(variables)[has_all]
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

# lm() also drops the response from the features.
warn_response_dropped <- function(name) {
  rlang::warn(
    c(
      paste0("The response `", name, "` is on the right side of the formula, too; it is dropped."),
      i = "lm() drops it, too: the response would be predicted from itself."
    ),
    class = c("runhooks_warning_response", "runhooks_warning")
  )
}

add_terms <- function(blueprint, terms, data, call) {
  for (term in split_matrix_terms(terms, blueprint)) {
    is_word <- vapply(blueprint$variables[names(term)], function(v) !is.null(v$levels), NA)
    words <- names(term)[is_word]
    numbers <- names(term)[!is_word]
    blueprint <- add_feature(blueprint, words)
    if (length(words) > 1) {
      values <- lapply(setNames(nm = words), formula_value, data, blueprint, call)
      blueprint$crosses[[product_name(words)]] <- crossed_levels(values, blueprint, words)
    }
    if (length(numbers)) blueprint <- add_feature(blueprint, numbers)
    blueprint$terms[[product_name(names(term))]] <- list(words = words, numbers = numbers)
  }
  blueprint
}

# A key also names variables in the graph, where invalid characters are replaced, so that
# `I(a + b)` and `I(a - b)` would get the same name.
add_feature <- function(blueprint, parts) {
  name <- product_name(parts)
  if (length(parts) == 0 || name %in% names(blueprint$features)) return(blueprint)
  key <- name
  while (variable_scope_name(key) %in% variable_scope_name(blueprint$keys)) key <- paste0(key, "_1")
  blueprint$features[[name]] <- parts
  blueprint$keys[[name]] <- key
  blueprint
}

# The core's rule for names of variables.
variable_scope_name <- function(name) gsub("[^A-Za-z0-9_.-]", "_", name, useBytes = TRUE)

new_variable <- function(name, expr, data, blueprint, call) {
  check_no_random_effect(expr, data, call)
  raw <- evaluate_variable(name, expr, data, blueprint, call)
  known <- blueprint$known$variables[[name]]
  time_class <- time_class(raw)
  if (!is.null(known)) check_time(raw, name, known$time, call)
  unit <- if (is.null(known)) unit_of(raw) else known$unit
  raw <- in_unit(raw, unit, name, call)
  value <- numeric_or_factor(if (is.null(time_class)) raw else time_numbers(raw))
  na_level <- known$na_level
  if (is.null(known) && is.factor(value) && anyNA(levels(value))) {
    na_level <- new_level("(NA)", setdiff(levels(value), NA))
  }
  value <- with_named_na(value, na_level)
  check_column(value, name, FALSE, call, missing = TRUE)
  words <- if (is.factor(value)) levels(value) else if (is.character(value)) plain_strings(value)
  if (!is.null(words) && !blueprint$is_stream) check_has_levels(words, name, call)
  if (!is.null(words) && !is.null(known$levels)) words <- known$levels
  # in a stream, check_by_row() rejects such calls
  fixed <- if (is.call(expr)) {
    if (blueprint$is_stream) expr else fixed_call(raw, expr, data, blueprint, known)
  }
  fixed <- without_contrasts(fixed)
  check_recorded_basis(name, fixed, known, call)
  if (is.null(known)) inform_na_like_level(value, name)
  list(
    expr = fixed, levels = words, na_level = na_level, unit = unit,
    width = if (length(dim(value)) > 1) as.integer(prod(dim(value)[-1])) else 1L,
    time = time_class, origin = number_origin(value, name, time_class, blueprint),
    is_logical = is.logical(value)
  )
}

# `(1 | g)` of lme4 would be a logical. Logicals and numbers that are 0 or 1 are accepted.
check_no_random_effect <- function(expr, data, call) {
  bare <- expr
  while (is.call(bare) && identical(bare[[1]], quote(`(`))) bare <- bare[[2]]
  is_or <- is.call(bare) && (identical(bare[[1]], quote(`|`)) || identical(bare[[1]], quote(`||`)))
  if (!is_or) return(invisible())
  is_flag_like <- vapply(as.list(bare)[-1], function(side) {
    value <- if (!is.numeric(side)) tryCatch(eval(side, data, globalenv()), error = function(e) NULL)
    is.logical(value) || is.numeric(value) && all(value %in% c(0, 1, NA))
  }, NA)
  if (all(is_flag_like)) return(invisible())
  abort_runhooks(
    c(
      "Random effects such as {.code {term_name(expr)}} are not supported.",
      i = "Use the group as a factor: {.code factor({term_name(bare[[3]])})}."
    ),
    call = call
  )
}

plain_strings <- function(x) sort_bytewise(setdiff(x, NA))

check_has_levels <- function(words, name, call) {
  if (length(words)) return(invisible())
  abort_runhooks("The feature {.val {name}} has no level: all values are missing.", call = call)
}

# If functions such as poly() fail on rows with NA, computes the value from the other rows.
evaluate_variable <- function(name, expr, data, blueprint, call) {
  if (name %in% names(data)) return(check_no_list(data[[name]], name, call))
  if (is.null(expr)) expr <- as.name(name)
  frame <- list2env(blueprint$constants, parent = globalenv())
  computed <- function(data) computed_column(expr, data, frame, names(data), call)
  read <- intersect(variables_of(expr), names(data))
  missing <- Reduce(`|`, lapply(data[read], is_missing_row))
  if (!any(missing)) return(check_no_list(computed(data), name, call))
  tryCatch(computed(data), runhooks_error = function(error) {
    few <- computed(lapply(data, select_rows, !missing))
    scatter_rows_to_na(few, !missing)
  })
}

check_no_list <- function(x, name, call) {
  if (inherits(x, "Surv")) {
    abort_runhooks(
      "{.code {name}} in the formula is a survival time; survival models are not supported.",
      kind = "unimplemented", call = call
    )
  }
  if (inherits(x, "Period")) {
    abort_runhooks(
      c(
        "{.val {name}} in the formula is a Period, whose length is not a fixed number.",
        i = "Convert it first, for example with {.code as.numeric({name}, \"hours\")}."
      ),
      kind = "invalid_argument", call = call
    )
  }
  if (!is.list(x) || is.data.frame(x) || inherits(x, "POSIXlt")) return(x)
  abort_runhooks(
    c(
      "{.val {name}} in the formula must be a vector, a factor or a matrix, not
       {describe_type(x)}.",
      i = "Use {.fn unlist} for single values, or {.code do.call(rbind, x)} for rows of a matrix."
    ),
    call = call
  )
}

numeric_or_factor <- function(value) {
  value <- flat_column(value)
  if (is_sparse_matrix(value)) value <- unname(Matrix::as.matrix(value))
  if (!inherits(value, c("poly", "bs", "ns"))) return(value)
  array(as.vector(value), dim(value))
}

formula_value <- function(name, data, blueprint, call) {
  variable <- blueprint$variables[[name]]
  raw <- in_unit(
    evaluate_variable(name, variable$expr, data, blueprint, call), variable$unit, name, call
  )
  if (is.null(variable$time)) {
    value <- with_named_na(numeric_or_factor(raw), variable$na_level)
    check_width(value, variable, name, call)
    if (is_logical_variable(variable)) return(logical_value(value, variable, name, call))
    return(as_recorded_words(value, variable))
  }
  check_time(raw, name, variable$time, call)
  time_numbers(raw)
}

response_value <- function(data, blueprint, call) {
  response <- blueprint$response
  raw <- evaluate_variable(response$name, response$expr, data, blueprint, call)
  value <- numeric_or_factor(in_unit(raw, response$unit, response$name, call))
  value <- with_named_na(value, NULL)
  if (isTRUE(blueprint$as_words) && isTRUE(ncol(value) > 1)) {
    abort_class_counts(response$name, ncol(value), call)
  }
  value
}

# glm() accepts a matrix of counts for two classes; this package does not.
abort_class_counts <- function(name, n, call) {
  abort_runhooks(
    c(
      "The response {.code {name}} of a classifier must be one class in each row, not {n} columns.",
      i = "Use one row per class, and put the counts into a column that {.arg weight_column} names."
    ),
    call = call
  )
}

# A product of levels and numbers has one weight per level.
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
  words <- product_name(parts$words)
  column <- factor_column(words, blueprint)
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
