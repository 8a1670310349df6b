# Predictions of networks, and of models from feature columns, as R expressions for tidypredict and
# orbital.

# Returns `units`, the named expressions of the hidden units in the order of the layers, and
# `values`, an expression for each logit. Expressions refer to the units of earlier layers by name.
network_expressions <- function(model, call) {
  spec <- model$spec
  slots <- names(model_traits(spec$type)$parts_of_columns)
  # the parts of the model that the functions below need
  context <- list(
    blueprint = model$blueprint, path = latest_checkpoint_or_abort(model_dir(model)), call = call,
    defaults = feature_defaults(unlist(unname(spec[slots]), recursive = FALSE))
  )
  units <- list()
  values <- list()
  for (slot in slots[lengths(spec[slots]) > 0]) {
    is_deep <- model_traits(spec$type)$parts_of_columns[[slot]]$is_deep
    logits <- if (is_deep) {
      layers <- layer_expressions(spec, sub("feature_columns", "", slot), spec[[slot]], context)
      units <- layers$units
      layers$logits
    } else {
      linear_part_logits(spec, spec[[slot]], context)
    }
    values <- if (length(values)) Map(add_expressions, values, logits) else logits
  }
  list(units = units, values = to_response_units(values, spec))
}

# Converts logits of a standardized response to the units of the response.
to_response_units <- function(values, spec) {
  head <- if (is.null(spec$head)) spec else spec$head
  if (is.null(head$label_scale)) return(values)
  Map(function(value, scale, center) {
    base::call("+", base::call("*", base::call("(", value), scale), center)
  }, values, head$label_scale, head$label_center)
}

# --- Layers

layer_expressions <- function(spec, prefix, columns, context) {
  activation <- activation_expression(spec[[paste0(prefix, "activation_fn")]], context$call)
  n_layers <- length(spec[[paste0(prefix, "hidden_units")]])
  columns <- columns[order(vapply(columns, `[[`, "", "name"), method = "radix")]
  units <- list()
  inputs <- NULL
  # the next layer's kernel and bias include the scale and shift of the batch normalization
  scale <- shift <- NULL
  for (i in seq_len(n_layers + 1)) {
    layer <- if (i > n_layers) "dnn/logits" else paste0("dnn/hiddenlayer_", i - 1)
    kernel <- checkpoint_value(context, paste0(layer, "/kernel"))
    bias <- as.vector(checkpoint_value(context, paste0(layer, "/bias")))
    if (!is.null(scale)) {
      bias <- bias + as.vector(shift %*% kernel)
      kernel <- kernel * scale
    }
    sums <- if (i == 1) {
      column_terms(columns, kernel, "dnn/input_from_feature_columns/input_layer/", context)
    } else {
      lapply(seq_len(ncol(kernel)), function(j) {
        Map(function(input, weight) base::call("*", input, weight), inputs, kernel[, j])
      })
    }
    sums <- Map(function(terms, bias) sum_expressions(c(bias, unname(terms))), sums, bias)
    if (i > n_layers) break
    names(sums) <- paste0("orbital_tmp_layer", i, "_unit", seq_along(sums))
    units <- c(units, lapply(sums, activation))
    inputs <- lapply(names(sums), as.name)
    if (isTRUE(spec$batch_norm)) {
      parts <- c("gamma", "moving_variance", "beta", "moving_mean")
      normalization <- lapply(paste0(layer, "/batchnorm_", i - 1, "/", parts), function(name) {
        as.vector(checkpoint_value(context, name))
      })
      scale <- normalization[[1]] / sqrt(normalization[[2]] + 0.001)
      shift <- normalization[[3]] - normalization[[4]] * scale
    }
  }
  list(units = units, logits = unname(sums))
}

checkpoint_value <- function(context, name) {
  if (!name %in% checkpoint_names(context$path)) {
    abort_runhooks(
      "The checkpoint has no variable {.val {name}}, which the expression needs.",
      kind = "not_found", call = context$call
    )
  }
  cpp_checkpoint_values(context$path, name)[[1]]
}

# The functions limit the arguments of exp(), because databases fail on exp() of large numbers. Each
# branch is exact to double precision in its range.
activation_expressions <- list(
  relu = function(z) rlang::expr((!!z + abs(!!z)) / 2),
  relu6 = function(z) rlang::expr(dplyr::case_when(!!z > 6 ~ 6, !!z > 0 ~ !!z, !!z <= 0 ~ 0)),
  leaky_relu = function(z) rlang::expr(dplyr::case_when(!!z > 0 ~ !!z, .default = 0.2 * !!z)),
  elu = function(z) elu_expression(z, 1, 1),
  selu = function(z) elu_expression(z, 1.0507009873554805, 1.7580993408473766),
  sigmoid = function(z) inverse_logit_expression(z),
  swish = function(z) base::call("*", z, inverse_logit_expression(z)),
  tanh = function(z) {
    rlang::expr(
      dplyr::case_when(!!z > 20 ~ 1, !!z < -20 ~ -1, .default = 1 - 2 / (exp(2 * !!z) + 1))
    )
  },
  softplus = function(z) {
    rlang::expr(
      dplyr::case_when(!!z > 40 ~ !!z, !!z < -700 ~ 0, .default = log(1 + exp(!!z)))
    )
  },
  softsign = function(z) rlang::expr(!!z / (1 + abs(!!z)))
)

elu_expression <- function(z, scale, below) {
  rlang::expr(
    dplyr::case_when(
      !!z > 0 ~ !!scale * !!z, !!z < -40 ~ !!(-below), .default = !!below * (exp(!!z) - 1)
    )
  )
}

activation_expression <- function(activation, call) {
  if (is.null(activation)) return(identity)
  names <- names(activation_expressions)
  if (is.function(activation)) {
    is_same <- vapply(names, function(name) identical(activation, tf$nn[[name]]), NA)
    if (!any(is_same)) {
      abort_runhooks(
        c(
          "The activation of the network is an R function, which a database cannot compute.",
          i = "Known activations are {.val {names}}."
        ),
        call = call
      )
    }
    activation <- names[is_same][[1]]
  }
  if (!activation %in% names) {
    abort_runhooks(
      c(
        "The activation {.val {activation}} has no expression that a database can compute.",
        i = "Known activations are {.val {names}}."
      ),
      call = call
    )
  }
  function(sum) activation_expressions[[activation]](base::call("(", sum))
}

# --- Columns

# Returns the products of the columns' elements and the rows of `weights`, as a list of terms for
# each unit. Each unit has a column of `weights`.
column_terms <- function(columns, weights, scope, context) {
  terms <- rep(list(list()), ncol(weights))
  offset <- 0
  for (column in columns) {
    input <- column_input(column, scope, context)
    column_weights <- weights[offset + seq_len(input$size), , drop = FALSE]
    offset <- offset + input$size
    terms <- Map(c, terms, weighted_input(input, column_weights))
  }
  terms
}

linear_part_logits <- function(spec, columns, context) {
  combiner <- spec$sparse_combiner
  if (!is.null(combiner) && combiner != "sum") {
    abort_no_expression(sprintf("sparse_combiner = \"%s\"", combiner), context$call)
  }
  scope <- "linear/linear_model/"
  bias <- as.vector(checkpoint_value(context, paste0(scope, "bias_weights")))
  is_fixed <- vapply(columns, `[[`, "", "type") == "OffsetColumn"
  scopes <- variable_scope_name(vapply(columns, `[[`, "", "name"))
  repeated_column <- anyDuplicated(scopes)
  if (repeated_column) abort_no_expression(columns[[repeated_column]]$name, context$call)
  terms <- Map(function(column, name) {
    weights <- as.matrix(checkpoint_value(context, paste0(scope, name, "/weights")))
    column_terms(list(column), weights, scope, context)
  }, columns[!is_fixed], scopes[!is_fixed])
  offset <- offset_terms(columns[is_fixed], length(bias), context)
  lapply(seq_along(bias), function(j) {
    logit_terms <- unlist(lapply(unname(terms), `[[`, j), recursive = FALSE)
    sum_expressions(c(bias[[j]], logit_terms, offset[[j]]))
  })
}

offset_terms <- function(columns, n, context) {
  if (length(columns) == 0) return(rep(list(list()), n))
  expr <- numeric_expression(context$blueprint$offset$expr, context$blueprint, context$call)
  scale <- rep_len(unlist(columns[[1]]$scale), n)
  lapply(scale, function(scale) list(standardize_expression(expr, columns[[1]]$center, scale)))
}

# Returns the terms of one column for each unit. `input` is the result of column_input().
weighted_input <- function(input, weights) {
  if (!is.null(input$table)) weights <- input$table %*% weights
  lapply(seq_len(ncol(weights)), function(j) {
    unit_weights <- weights[, j]
    if (is.null(input$conditions)) {
      products <- Map(function(x, weight) base::call("*", x, weight), input$numbers, unit_weights)
      return(products)
    }
    cases <- Map(case_when_arm, input$conditions, unit_weights)
    unknown_case <- if (!is.null(input$unknown)) {
      list(case_when_arm(input$is_known, unit_weights[[input$unknown]]))
    }
    other_case <- if (is.null(input$others)) {
      list(.default = 0)
    } else {
      list(case_when_arm(input$others, 0))
    }
    cases <- c(unname(cases), unknown_case, other_case)
    value <- rlang::call2("case_when", !!!cases, .ns = "dplyr")
    list(if (is.null(input$numbers)) value else base::call("*", value, input$numbers[[1]]))
  })
}

case_when_arm <- function(condition, value) base::call("~", condition, value)

# Describes how a column enters a layer, as a list with these elements:
# `numbers`: expressions that are multiplied by weights.
# `conditions`: conditions with a weight each; at most one is TRUE.
# `is_known`, `unknown`: a condition and the number of a weight, for rows where none of the
#   conditions is TRUE.
# `others`: a condition for the rows with weight 0. Without it, they include missing values.
# `size`: the number of weights for each unit.
# `table`: the vectors of an embedding.
column_input <- function(column, scope, context) {
  input <- switch(column$type,
    NumericColumn = numeric_input(column, context),
    CyclicColumn = cyclic_input(column, context),
    BucketizedColumn = bucketized_input(column, context),
    IndicatorColumn = return(column_input(column$categorical_column, scope, context)),
    EmbeddingColumn = , SharedEmbeddingColumn = {
      return(embedding_input(column, scope, context))
    },
    WeightedCategoricalColumn = weighted_categorical_input(column, scope, context),
    VocabularyListCategoricalColumn = vocabulary_input(column, context),
    IdentityCategoricalColumn = identity_input(column, context)
  )
  if (is.null(input)) abort_no_expression(column$name, context$call)
  if (is.null(input$size)) input$size <- max(length(input$conditions), length(input$numbers))
  input
}

numeric_input <- function(column, context) {
  if (!is.null(column$normalizer_fn) || !is.null(column$among)) return(NULL)
  if (prod(unlist(column$shape)) != 1) return(NULL)
  number <- feature_expression(column$key, context)
  list(numbers = list(standardize_expression(number, column$center, column$scale)))
}

# Returns the default values of numeric columns, by feature. A default also applies to other columns
# of the same feature.
feature_defaults <- function(columns) {
  columns <- lapply(columns, function(column) {
    if (is.null(column$source_column)) column else column$source_column
  })
  has_default <- vapply(columns, function(column) {
    column$type == "NumericColumn" && !is.null(column$default_value)
  }, NA)
  columns <- columns[has_default]
  setNames(lapply(columns, `[[`, "default_value"), vapply(columns, `[[`, "", "key"))
}

standardize_expression <- function(number, center, scale) {
  if (is.null(scale)) return(number)
  center <- unlist(center)
  if (center != 0) number <- base::call("(", base::call("-", number, center))
  if (unlist(scale) == 1) number else base::call("/", number, unlist(scale))
}

feature_expression <- function(key, context) {
  blueprint <- context$blueprint
  if (is.null(blueprint)) {
    default <- context$defaults[[key]]
    if (is.null(default)) return(as.name(key))
    return(rlang::expr(dplyr::coalesce(!!as.name(key), !!as.numeric(default))))
  }
  parts <- blueprint$features[[match(key, blueprint$keys)]]
  numbers <- lapply(parts, variable_expression, blueprint, context$call)
  Reduce(function(a, b) base::call("*", a, b), numbers)
}

cyclic_input <- function(column, context) {
  angle <- base::call("*", feature_expression(column$key, context), 2 * pi / column$period)
  list(numbers = list(base::call("sin", angle), base::call("cos", angle)))
}

# Describes a bucketized column (see column_input()). A number that single precision rounds to a
# boundary belongs to the bucket above the boundary.
bucketized_input <- function(column, context) {
  number <- numeric_input(column$source_column, context)$numbers[[1]]
  if (is.null(number)) return(NULL)
  boundaries <- round_to_float32(unlist(column$boundaries))
  boundaries <- ifelse(boundaries == 0, 0, boundaries - 2^(floor(log2(abs(boundaries))) - 24))
  conditions <- lapply(boundaries, function(boundary) base::call("<", number, boundary))
  conditions[[length(boundaries) + 1]] <- base::call(">=", number, boundaries[[length(boundaries)]])
  # only rows with a missing number fulfil none of the conditions
  list(conditions = conditions, others = base::call("!", base::call("is.na", number)))
}

vocabulary_input <- function(column, context) {
  words <- column$vocabulary_list
  if (!is.null(context$blueprint)) return(formula_levels_input(column$key, unlist(words), context))
  if (column$num_oov_buckets > 0) return(NULL)
  name <- as.name(column$key)
  is_known <- rlang::expr(!is.na(!!name))
  list(
    conditions = lapply(words, function(word) base::call("==", name, word)),
    is_known = is_known, others = if (!is.character(words[[1]])) is_known,
    unknown = if (column$default_value >= 0) column$default_value + 1
  )
}

identity_input <- function(column, context) {
  name <- as.name(column$key)
  is_known <- rlang::expr(!is.na(!!name))
  ids <- seq_len(column$number_buckets) - 1
  list(
    conditions = lapply(ids, function(id) base::call("==", name, id)), is_known = is_known,
    others = is_known, unknown = if (!is.null(column$default_value)) column$default_value + 1
  )
}

# Describes the levels of a variable of a formula, or the combined levels of several variables, by
# conditions. `words`: the vocabulary of the column.
formula_levels_input <- function(key, words, context) {
  blueprint <- context$blueprint
  variables <- blueprint$features[[match(key, blueprint$keys)]]
  levels <- lapply(variables, function(name) blueprint$variables[[name]]$levels)
  grid <- do.call(expand.grid, c(levels, stringsAsFactors = FALSE))
  combinations <- if (length(levels) == 1) grid[[1]] else crossed_strings(grid)
  and_call <- function(a, b) base::call("&", a, b)
  is_level <- function(i, row) {
    level_condition(variables[[i]], grid[row, i], blueprint, context$call)
  }
  list(
    conditions = lapply(match(words, combinations), function(row) {
      Reduce(and_call, lapply(seq_along(variables), is_level, row))
    }),
    others = Reduce(and_call, lapply(variables, not_missing_condition, blueprint, context$call))
  )
}

weighted_categorical_input <- function(column, scope, context) {
  if (!is.null(column$among)) return(NULL)
  input <- column_input(column$categorical_column, scope, context)
  number <- feature_expression(column$weight_feature_key, context)
  input$numbers <- list(standardize_expression(number, column$center, column$scale))
  input
}

embedding_input <- function(column, scope, context) {
  input <- column_input(column$categorical_column, scope, context)
  if (!is.null(input$numbers)) abort_no_expression(column$name, context$call)
  shared <- column$shared_embedding_collection_name
  scope_name <- variable_scope_name(if (is.null(shared)) column$name else shared)
  table_name <- paste0(scope, scope_name, "/embedding_weights")
  input$table <- as.matrix(checkpoint_value(context, table_name))
  if (!is.null(column$max_norm)) {
    norms <- sqrt(rowSums(input$table^2))
    input$table <- input$table * pmin(1, column$max_norm / norms)
  }
  input$size <- ncol(input$table)
  input
}

# --- One expression for the whole network

max_terms <- 10000

# Replaces the names of hidden units by their expressions. Each layer multiplies the size of the
# expressions by its width.
inline_hidden_units <- function(expressions, function_name, call) {
  units <- list()
  sizes <- numeric()
  for (name in names(expressions$units)) {
    expr <- expressions$units[[name]]
    used <- all.names(expr, functions = FALSE)
    sizes[[name]] <- length(used) + sum(sizes[used], na.rm = TRUE)
    if (sizes[[name]] > max_terms) abort_large_network(function_name, call)
    units[[name]] <- substitute_names(expr, units)
  }
  used <- unlist(lapply(expressions$values, all.names, functions = FALSE))
  if (sum(sizes[used], na.rm = TRUE) > max_terms) abort_large_network(function_name, call)
  lapply(expressions$values, substitute_names, units)
}

abort_large_network <- function(function_name, call) {
  abort_runhooks(
    c(
      "{.fn {function_name}} returns one expression, which would have more than {max_terms} terms
       for this network.",
      i = "{.fn orbital::orbital} computes a column for each unit instead."
    ),
    call = call
  )
}

substitute_names <- function(expr, values) {
  if (length(values) == 0) return(expr)
  do.call(substitute, list(expr, values))
}
