# Models made from a formula: the columns that its terms become, and the blueprint by which later
# data become the same features.

# The arguments of a constructor with columns in the place of formulas. `call` is its frame.
formula_arguments <- function(args, type, kind, call) {
  data <- args$data
  args["data"] <- NULL
  slots <- grep("feature_columns$", names(args), value = TRUE)
  if (grepl("^(baseline|dnn_linear_combined)_", type) && is_formula(args$model_dir)) {
    # the first argument of these is no column
    formula <- args$model_dir
    args["model_dir"] <- list(NULL)
    for (slot in slots) {
      if (!is.null(args[[slot]])) next
      # the deep part finds interactions by itself
      args[[slot]] <- structure(formula, main_effects = slot == "dnn_feature_columns")
    }
  } else {
    formula <- NULL
  }
  formulas <- Filter(is_formula, args[slots])
  if (length(formulas) == 0 && is.null(formula)) {
    if (!is.null(data)) stop_runhooks("{.arg data} goes with a formula.", call = call)
    return(list(args = args))
  }
  data <- check_formula_data(data, call)
  weight <- args$weight_column
  blueprint <- new_blueprint(
    if (is.null(formula)) response_of(formulas, call) else formula, data,
    if (is_column(weight)) weight$key else weight, call
  )
  for (slot in names(formulas)) {
    terms <- formula_variables(formulas[[slot]], data, blueprint, call)
    blueprint <- add_terms(blueprint, terms, data, call)
    is_deep <- startsWith(type, "dnn") && slot != "linear_feature_columns"
    args[[slot]] <- lapply(terms, term_column, blueprint, is_deep = is_deep)
  }
  args <- response_arguments(args, blueprint, data, kind, call)
  blueprint$as_words <- kind == "classifier"
  list(args = args, blueprint = blueprint)
}

is_formula <- function(x) inherits(x, "formula")

check_formula_data <- function(data, call) {
  if (is.null(data)) {
    stop_runhooks("{.arg data} is missing: a formula needs a data frame.", call = call)
  }
  if (is_matrix_package(data)) data <- Matrix::as.matrix(data)
  if (is.matrix(data)) data <- as.data.frame(data, optional = TRUE)
  good <- is.list(data) && !is.null(names(data)) && length(data) > 0
  check_arg(good, data, "a data frame", "data", call)
  check_unique_names(names(data), call)
  as.list(data)
}

# The formula that has the response.
response_of <- function(formulas, call) {
  sided <- Filter(function(formula) length(formula) == 3, formulas)
  lefts <- unique(lapply(sided, `[[`, 2))
  if (length(lefts) == 1) return(sided[[1]])
  stop_runhooks(
    if (length(lefts)) {
      "The formulas of a model must have the same response."
    } else {
      "A formula of a model needs a response on its left side."
    },
    call = call
  )
}

# --- the blueprint: plain data

new_blueprint <- function(formula, data, weight, call) {
  if (length(formula) != 3) {
    stop_runhooks("A formula of a model needs a response on its left side.", call = call)
  }
  left <- formula[[2]]
  list(
    response = list(name = term_name(left), expr = if (is.call(left)) left),
    response_variables = all.vars(left), weight = weight,
    variables = list(), features = list(),
    constants = formula_constants(left, names(data), environment(formula))
  )
}

term_name <- function(expr) {
  if (is.symbol(expr)) as.character(expr) else paste(deparse(expr, 500), collapse = "")
}

# What a formula's expressions need beside the data and what packages have.
formula_constants <- function(expr, columns, frame) {
  constants <- list()
  for (name in setdiff(all.names(expr, unique = TRUE), columns)) {
    env <- frame
    while (!identical(env, emptyenv()) && !identical(env, baseenv())) {
      is_base <- identical(env, .BaseNamespaceEnv)
      if (!is_base && exists(name, envir = env, inherits = FALSE)) {
        constants[[name]] <- get(name, envir = env, inherits = FALSE)
        break
      }
      if (identical(env, globalenv())) break
      env <- parent.env(env)
    }
  }
  constants
}

# The terms of a formula: for each the expressions of its variables, by name.
formula_variables <- function(formula, data, blueprint, call) {
  check_formula_operators(formula[[length(formula)]])
  left_out <- c(blueprint$response_variables, blueprint$weight)
  names <- setdiff(names(data), left_out)
  # only the names count
  stub <- structure(
    rep(list(0), length(names)), names = names, class = "data.frame", row.names = 1L
  )
  right <- stats::as.formula(call("~", formula[[length(formula)]]), environment(formula))
  terms <- stats::terms(right, data = stub)
  if (attr(terms, "intercept") == 0) {
    stop_runhooks(
      c(
        "A formula of a model cannot leave out the intercept.",
        x = "{.code {term_name(formula)}} does, by {.code - 1} or {.code 0 +}.",
        i = "The models have a variable of that name always, as TensorFlow's do."
      ),
      call = call
    )
  }
  variables <- as.list(attr(terms, "variables"))[-1]
  if (length(variables) == 0) stop_runhooks("The formula has no features.", call = call)
  names(variables) <- vapply(variables, term_name, "")
  uses <- attr(terms, "factors") > 0
  all_terms <- lapply(seq_len(ncol(uses)), function(i) {
    structure(variables[uses[, i]], frame = environment(formula))
  })
  if (isTRUE(attr(formula, "main_effects"))) all_terms <- all_terms[lengths(all_terms) == 1]
  all_terms
}

# The blueprint with the variables and features of terms.
add_terms <- function(blueprint, terms, data, call) {
  for (term in terms) {
    for (name in setdiff(names(term), names(blueprint$variables))) {
      expr <- term[[name]]
      new <- formula_constants(expr, names(data), attr(term, "frame"))
      blueprint$constants[names(new)] <- new
      blueprint$variables[[name]] <- new_variable(name, expr, data, blueprint$constants, call)
    }
    is_word <- vapply(blueprint$variables[names(term)], function(v) !is.null(v$levels), NA)
    for (name in names(term)[is_word]) blueprint$features[[name]] <- name
    numbers <- names(term)[!is_word]
    if (length(numbers)) {
      check_product(numbers, is_word, blueprint, call)
      blueprint$features[[product_name(numbers)]] <- numbers
    }
  }
  blueprint
}

product_name <- function(names) paste(names, collapse = ":")

check_product <- function(numbers, is_word, blueprint, call) {
  widths <- vapply(blueprint$variables[numbers], `[[`, 1L, "width")
  if (length(is_word) == 1 || all(widths == 1L)) return(invisible())
  wide <- numbers[widths > 1][[1]] # nolint: used by cli
  stop_runhooks(
    "{.val {wide}} has several columns and cannot be part of an interaction.", call = call
  )
}

new_variable <- function(name, expr, data, constants, call) {
  raw <- raw_value(name, expr, data, constants, call)
  value <- plain_value(raw)
  check_column(value, name, FALSE, call)
  words <- if (is.factor(value)) levels(value) else if (is.character(value)) {
    sort(setdiff(value, c(NA, "")), method = "radix")
  }
  if (!is.null(words) && length(words) == 0) {
    stop_runhooks("The feature {.val {name}} has no level: all values are missing.", call = call)
  }
  list(
    # scale() and its like as they were for these data
    expr = if (is.call(expr)) stats::makepredictcall(raw, expr),
    levels = words, width = if (length(dim(value)) > 1) as.integer(prod(dim(value)[-1])) else 1L
  )
}

# The value of a variable: a column of the data, or computed from them.
raw_value <- function(name, expr, data, constants, call) {
  if (name %in% names(data)) return(data[[name]])
  if (is.null(expr)) expr <- as.name(name)
  computed_column(expr, data, list2env(constants, parent = globalenv()), names(data), call)
}

# Numbers with a class, such as poly() gives, are numbers.
plain_value <- function(value) {
  value <- flat_column(value)
  if (is_sparse_matrix(value)) value <- unname(Matrix::as.matrix(value))
  if (!inherits(value, c("poly", "bs", "ns"))) return(value)
  array(as.vector(value), dim(value))
}

formula_value <- function(name, expr, data, constants, call) {
  plain_value(raw_value(name, expr, data, constants, call))
}

# The column of a term: numbers as they are, words by their vocabulary, several words crossed; words
# and numbers together have a weight for each word.
term_column <- function(term, blueprint, is_deep) {
  variables <- blueprint$variables[names(term)]
  is_word <- vapply(variables, function(variable) !is.null(variable$levels), NA)
  numbers <- names(term)[!is_word]
  if (!any(is_word)) {
    width <- max(vapply(variables, `[[`, 1L, "width"))
    return(column_numeric(product_name(numbers), shape = width))
  }
  words <- lapply(names(term)[is_word], function(name) {
    column_categorical_with_vocabulary_list(name, vocabulary_list = variables[[name]]$levels)
  })
  column <- words[[1]]
  if (length(words) > 1) {
    cells <- prod(lengths(lapply(variables[is_word], `[[`, "levels")))
    column <- column_crossed(words, hash_bucket_size = max(2, min(10 * cells, 1e5)))
  }
  if (length(numbers)) column <- column_categorical_weighted(column, product_name(numbers))
  if (is_deep) column_indicator(column) else column
}

# --- responses

# What the response says of classes and dimensions, unless the arguments say it.
response_arguments <- function(args, blueprint, data, kind, call) {
  name <- blueprint$response$name
  value <- formula_value(name, blueprint$response$expr, data, blueprint$constants, call)
  is_given <- function(arg) !eval(base::call("missing", as.name(arg)), call)
  if (kind == "regressor") {
    if (is.character(value) || is.factor(value)) {
      stop_runhooks(
        c(
          "The response {.val {name}} of a regressor must be numbers, not
           {kind_words[[column_kind(value)]]}.",
          x = "The value in row 1 is {.val {first_value(value[1])}}."
        ),
        call = call
      )
    }
    check_column(value, name, TRUE, call)
    if (length(dim(value)) == 2 && !is_given("label_dimension")) args$label_dimension <- ncol(value)
  }
  if (kind == "classifier") {
    if (!is_given("label_vocabulary") || is.null(args$label_vocabulary)) {
      args$label_vocabulary <- response_classes(value, name, call)
    }
    if (!is_given("n_classes")) args$n_classes <- length(args$label_vocabulary)
  }
  args
}

response_classes <- function(x, name, call) {
  classes <- if (is.factor(x)) {
    levels(x)
  } else if (is.logical(x)) {
    c("FALSE", "TRUE")
  } else {
    as.character(sort(unique(as.vector(x)), method = "radix"))
  }
  is_fraction <- is.numeric(x) && any(x != trunc(x), na.rm = TRUE)
  if (length(classes) > 1 && !is_fraction) return(classes)
  stop_runhooks(
    c(
      "The response {.val {name}} of a classifier must have two classes or more.",
      x = if (is_fraction) "It has fractions." else "It has {length(classes)}: {.val {classes}}."
    ),
    call = call
  )
}

# --- later data

# The features of data, and the response where it is wanted, as an input function.
blueprint_input_fn <- function(
  model, data, batch_size = 128, shuffle = "auto", num_epochs = 1, ..., resume = TRUE,
  call = parent.frame()
) {
  blueprint <- model$blueprint
  if (is.null(blueprint)) {
    stop_runhooks(
      c(
        "input_fn must be a function, not {.obj_type_friendly {data}}.",
        i = "Make one with {.fn input_fn}. A data frame will do for models that were made from a
             formula."
      ),
      call = call
    )
  }
  note_unused(...)
  data <- check_formula_data(data, call)
  columns <- blueprint_features(blueprint, data, call = call)
  if (length(columns) == 0) columns <- row_feature(data)
  response <- blueprint$response
  if (!is.null(blueprint$weight)) {
    columns[[blueprint$weight]] <- required_column(data, blueprint$weight, call)
  }
  features <- names(columns)
  value <- formula_value(response$name, response$expr, data, blueprint$constants, call)
  columns[[response$name]] <- if (blueprint$as_words) as.character(value) else value
  new_input_fn(
    columns, features, response$name, batch_size, shuffle, num_epochs, resume, call = call
  )
}

required_column <- function(data, name, call) {
  if (name %in% names(data)) return(data[[name]])
  stop_missing_features(name, names(data), call)
}

stop_missing_features <- function(missing, existing, call) {
  stop_runhooks(
    c(
      "The data lack {cli::qty(length(missing))}{?a feature/features} of the model:
       {.val {missing}}.",
      i = existing_names(existing)
    ),
    kind = "not_found", call = call
  )
}

# A named list of the features that the model's columns read. Words that are new are missing.
blueprint_features <- function(blueprint, data, call = parent.frame()) {
  names <- names(blueprint$variables)
  read <- unique(unlist(lapply(names, function(name) {
    expr <- blueprint$variables[[name]]$expr
    if (is.null(expr) || name %in% names(data)) return(name)
    setdiff(all.vars(expr), names(blueprint$constants))
  })))
  missing <- setdiff(read, c(names(data), names(blueprint$constants)))
  if (length(missing)) stop_missing_features(missing, names(data), call)
  values <- lapply(setNames(nm = names), function(name) {
    variable <- blueprint$variables[[name]]
    value <- formula_value(name, variable$expr, data, blueprint$constants, call)
    check_kind(value, name, if (is.null(variable$levels)) "double" else "factor")
    check_column(value, name, FALSE, call)
    value
  })
  known <- lapply(Filter(function(v) !is.null(v$levels), blueprint$variables), function(variable) {
    list(kind = "character", levels = variable$levels)
  })
  values <- match_features(values, known)
  lapply(blueprint$features, function(parts) {
    value <- values[[parts[[1]]]]
    if (is.factor(value)) return(array_like(as.character(value), value))
    if (length(parts) == 1) return(value)
    Reduce(`*`, lapply(values[parts], as.numeric))
  })
}
