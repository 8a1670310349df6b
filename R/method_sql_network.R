# Networks and models from feature columns as expressions, for tidypredict and orbital.

# `units`: named expressions of hidden units, in the order of the layers; later ones and `values`
# refer to them by name. `values`: an expression for each logit.
network_expressions <- function(model, call) {
  spec <- model$spec
  slots <- names(model_traits(spec$type)$parts_of_columns)
  source <- list(
    blueprint = model$blueprint, path = required_checkpoint(model_dir(model)), call = call,
    defaults = feature_defaults(unlist(unname(spec[slots]), recursive = FALSE))
  )
  units <- list()
  values <- list()
  for (slot in slots[lengths(spec[slots]) > 0]) {
    is_deep <- model_traits(spec$type)$parts_of_columns[[slot]]$is_deep
    logits <- if (is_deep) {
      layers <- layer_expressions(spec, sub("feature_columns", "", slot), spec[[slot]], source)
      units <- layers$units
      layers$logits
    } else {
      linear_part_logits(spec, spec[[slot]], source)
    }
    values <- if (length(values)) Map(add_expressions, values, logits) else logits
  }
  list(units = units, values = to_response_units(values, spec))
}

# In the units of the response.
to_response_units <- function(values, spec) {
  head <- if (is.null(spec$head)) spec else spec$head
  if (is.null(head$label_scale)) return(values)
  Map(function(value, scale, center) {
    base::call("+", base::call("*", base::call("(", value), scale), center)
  }, values, head$label_scale, head$label_center)
}

# --- Layers

layer_expressions <- function(spec, prefix, columns, source) {
  activation <- activation_expression(spec[[paste0(prefix, "activation_fn")]], source$call)
  n_layers <- length(spec[[paste0(prefix, "hidden_units")]])
  columns <- columns[order(vapply(columns, `[[`, "", "name"), method = "radix")]
  units <- list()
  inputs <- NULL
  # batch normalization scales and shifts what the next layer reads
  scale <- shift <- NULL
  for (i in seq_len(n_layers + 1)) {
    layer <- if (i > n_layers) "dnn/logits" else paste0("dnn/hiddenlayer_", i - 1)
    kernel <- checkpoint_value(source, paste0(layer, "/kernel"))
    bias <- as.vector(checkpoint_value(source, paste0(layer, "/bias")))
    if (!is.null(scale)) {
      bias <- bias + as.vector(shift %*% kernel)
      kernel <- kernel * scale
    }
    sums <- if (i == 1) {
      column_terms(columns, kernel, "dnn/input_from_feature_columns/input_layer/", source)
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
      norm <- lapply(paste0(layer, "/batchnorm_", i - 1, "/", parts), function(name) {
        as.vector(checkpoint_value(source, name))
      })
      scale <- norm[[1]] / sqrt(norm[[2]] + 0.001)
      shift <- norm[[3]] - norm[[4]] * scale
    }
  }
  list(units = units, logits = unname(sums))
}

checkpoint_value <- function(source, name) {
  if (!name %in% checkpoint_names(source$path)) {
    abort_runhooks(
      "The checkpoint has no variable {.val {name}}, which the expression needs.",
      kind = "not_found", call = source$call
    )
  }
  cpp_checkpoint_values(source$path, name)[[1]]
}

# Databases fail on exp() of large numbers, so each branch has a range in which it is exact.
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
  known <- names(activation_expressions)
  if (is.function(activation)) {
    same <- vapply(known, function(name) identical(activation, tf$nn[[name]]), NA)
    if (!any(same)) {
      abort_runhooks(
        c(
          "The activation of the network is an R function, which a database cannot compute.",
          i = "Known activations are {.val {known}}."
        ),
        call = call
      )
    }
    activation <- known[same][[1]]
  }
  if (!activation %in% known) {
    abort_runhooks(
      c(
        "The activation {.val {activation}} has no expression that a database can compute.",
        i = "Known activations are {.val {known}}."
      ),
      call = call
    )
  }
  function(sum) activation_expressions[[activation]](base::call("(", sum))
}

# --- Columns

# The product of the columns' elements and `weights`, a list of terms for each unit.
column_terms <- function(columns, weights, scope, source) {
  terms <- rep(list(list()), ncol(weights))
  first <- 0
  for (column in columns) {
    input <- column_input(column, scope, source)
    own <- weights[first + seq_len(input$size), , drop = FALSE]
    first <- first + input$size
    terms <- Map(c, terms, weighted_input(input, own))
  }
  terms
}

linear_part_logits <- function(spec, columns, source) {
  combiner <- spec$sparse_combiner
  if (!is.null(combiner) && combiner != "sum") {
    abort_no_expression(sprintf("sparse_combiner = \"%s\"", combiner), source$call)
  }
  scope <- "linear/linear_model/"
  bias <- as.vector(checkpoint_value(source, paste0(scope, "bias_weights")))
  is_fixed <- vapply(columns, `[[`, "", "type") == "OffsetColumn"
  scopes <- variable_scope_name(vapply(columns, `[[`, "", "name"))
  if (anyDuplicated(scopes)) abort_no_expression(columns[[anyDuplicated(scopes)]]$name, source$call)
  terms <- Map(function(column, name) {
    weights <- as.matrix(checkpoint_value(source, paste0(scope, name, "/weights")))
    column_terms(list(column), weights, scope, source)
  }, columns[!is_fixed], scopes[!is_fixed])
  offset <- offset_terms(columns[is_fixed], length(bias), source)
  lapply(seq_along(bias), function(j) {
    own <- unlist(lapply(unname(terms), `[[`, j), recursive = FALSE)
    sum_expressions(c(bias[[j]], own, offset[[j]]))
  })
}

offset_terms <- function(columns, n, source) {
  if (length(columns) == 0) return(rep(list(list()), n))
  expr <- numeric_expression(source$blueprint$offset$expr, source$blueprint, source$call)
  scale <- rep_len(unlist(columns[[1]]$scale), n)
  lapply(scale, function(scale) list(standardize_expression(expr, columns[[1]]$center, scale)))
}

# The terms of a column for each unit.
weighted_input <- function(input, weights) {
  if (!is.null(input$table)) weights <- input$table %*% weights
  lapply(seq_len(ncol(weights)), function(j) {
    own <- weights[, j]
    if (is.null(input$conditions)) {
      return(Map(function(number, weight) base::call("*", number, weight), input$numbers, own))
    }
    arms <- Map(case_when_arm, input$conditions, own)
    unknown <- if (!is.null(input$unknown)) {
      list(case_when_arm(input$is_known, own[[input$unknown]]))
    }
    others <- if (is.null(input$others)) list(.default = 0) else list(case_when_arm(input$others, 0))
    value <- rlang::call2("case_when", !!!unname(arms), !!!unknown, !!!others, .ns = "dplyr")
    list(if (is.null(input$numbers)) value else base::call("*", value, input$numbers[[1]]))
  })
}

case_when_arm <- function(condition, value) base::call("~", condition, value)

# What a column contributes: `numbers`, or `conditions` of which at most one holds, with a weight
# each. `others`: the condition of a row that is not missing; without it, missing rows count as 0.
# `size`: the number of weights for each unit. `table`: vectors of an embedding.
column_input <- function(column, scope, source) {
  input <- switch(column$type,
    NumericColumn = numeric_input(column, source),
    CyclicColumn = cyclic_input(column, source),
    BucketizedColumn = bucketized_input(column, source),
    IndicatorColumn = return(column_input(column$categorical_column, scope, source)),
    EmbeddingColumn = , SharedEmbeddingColumn = {
      return(embedding_input(column, scope, source))
    },
    WeightedCategoricalColumn = weighted_categorical_input(column, scope, source),
    VocabularyListCategoricalColumn = vocabulary_input(column, source),
    IdentityCategoricalColumn = identity_input(column, source)
  )
  if (is.null(input)) abort_no_expression(column$name, source$call)
  if (is.null(input$size)) input$size <- max(length(input$conditions), length(input$numbers))
  input
}

numeric_input <- function(column, source) {
  if (!is.null(column$normalizer_fn) || !is.null(column$among)) return(NULL)
  if (prod(unlist(column$shape)) != 1) return(NULL)
  number <- feature_expression(column$key, source)
  list(numbers = list(standardize_expression(number, column$center, column$scale)))
}

# The default of a numeric column also fills the feature for other columns.
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

feature_expression <- function(key, source) {
  blueprint <- source$blueprint
  if (is.null(blueprint)) {
    default <- source$defaults[[key]]
    if (is.null(default)) return(as.name(key))
    return(rlang::expr(dplyr::coalesce(!!as.name(key), !!as.numeric(default))))
  }
  parts <- blueprint$features[[match(key, blueprint$keys)]]
  numbers <- lapply(parts, variable_expression, blueprint, source$call)
  Reduce(function(a, b) base::call("*", a, b), numbers)
}

cyclic_input <- function(column, source) {
  angle <- base::call("*", feature_expression(column$key, source), 2 * pi / column$period)
  list(numbers = list(base::call("sin", angle), base::call("cos", angle)))
}

# A number belongs to the upper interval if it rounds to the boundary in single precision.
bucketized_input <- function(column, source) {
  number <- numeric_input(column$source_column, source)$numbers[[1]]
  if (is.null(number)) return(NULL)
  bounds <- as_single(unlist(column$boundaries))
  bounds <- ifelse(bounds == 0, 0, bounds - 2^(floor(log2(abs(bounds))) - 24))
  conditions <- lapply(bounds, function(bound) base::call("<", number, bound))
  conditions[[length(bounds) + 1]] <- base::call(">=", number, bounds[[length(bounds)]])
  # no row is left but missing ones
  list(conditions = conditions, others = base::call("!", base::call("is.na", number)))
}

vocabulary_input <- function(column, source) {
  words <- column$vocabulary_list
  if (!is.null(source$blueprint)) return(formula_levels_input(column$key, unlist(words), source))
  if (column$num_oov_buckets > 0) return(NULL)
  name <- as.name(column$key)
  is_known <- rlang::expr(!is.na(!!name))
  list(
    conditions = lapply(words, function(word) base::call("==", name, word)),
    is_known = is_known, others = if (!is.character(words[[1]])) is_known,
    unknown = if (column$default_value >= 0) column$default_value + 1
  )
}

identity_input <- function(column, source) {
  name <- as.name(column$key)
  is_known <- rlang::expr(!is.na(!!name))
  ids <- seq_len(column$number_buckets) - 1
  list(
    conditions = lapply(ids, function(id) base::call("==", name, id)), is_known = is_known,
    others = is_known, unknown = if (!is.null(column$default_value)) column$default_value + 1
  )
}

# Levels of a formula, or combinations of the levels of several variables.
formula_levels_input <- function(key, words, source) {
  blueprint <- source$blueprint
  variables <- blueprint$features[[match(key, blueprint$keys)]]
  levels <- lapply(variables, function(name) blueprint$variables[[name]]$levels)
  grid <- do.call(expand.grid, c(levels, stringsAsFactors = FALSE))
  crossed <- if (length(levels) == 1) grid[[1]] else crossed_strings(grid)
  both <- function(a, b) base::call("&", a, b)
  is_level <- function(i, row) {
    level_condition(variables[[i]], grid[row, i], blueprint, source$call)
  }
  list(
    conditions = lapply(match(words, crossed), function(row) {
      Reduce(both, lapply(seq_along(variables), is_level, row))
    }),
    others = Reduce(both, lapply(variables, not_missing_condition, blueprint, source$call))
  )
}

weighted_categorical_input <- function(column, scope, source) {
  if (!is.null(column$among)) return(NULL)
  input <- column_input(column$categorical_column, scope, source)
  number <- feature_expression(column$weight_feature_key, source)
  input$numbers <- list(standardize_expression(number, column$center, column$scale))
  input
}

embedding_input <- function(column, scope, source) {
  input <- column_input(column$categorical_column, scope, source)
  if (!is.null(input$numbers)) abort_no_expression(column$name, source$call)
  shared <- column$shared_embedding_collection_name
  own <- variable_scope_name(if (is.null(shared)) column$name else shared)
  input$table <- as.matrix(checkpoint_value(source, paste0(scope, own, "/embedding_weights")))
  if (!is.null(column$max_norm)) {
    norms <- sqrt(rowSums(input$table^2))
    input$table <- input$table * pmin(1, column$max_norm / norms)
  }
  input$size <- ncol(input$table)
  input
}

# --- One expression instead of a column for each unit

max_terms <- 10000

# Units replaced by their expressions, which grow by a layer's width with each layer.
inline_hidden_units <- function(parts, what, call) {
  known <- list()
  sizes <- numeric()
  for (name in names(parts$units)) {
    expr <- parts$units[[name]]
    used <- all.names(expr, functions = FALSE)
    sizes[[name]] <- length(used) + sum(sizes[used], na.rm = TRUE)
    if (sizes[[name]] > max_terms) abort_large_network(what, call)
    known[[name]] <- substitute_names(expr, known)
  }
  used <- unlist(lapply(parts$values, all.names, functions = FALSE))
  if (sum(sizes[used], na.rm = TRUE) > max_terms) abort_large_network(what, call)
  lapply(parts$values, substitute_names, known)
}

abort_large_network <- function(what, call) {
  abort_runhooks(
    c(
      "{.fn {what}} returns one expression, which would have more than {max_terms} terms for this
       network.",
      i = "{.fn orbital::orbital} computes a column for each unit instead."
    ),
    call = call
  )
}

substitute_names <- function(expr, known) {
  if (length(known) == 0) return(expr)
  do.call(substitute, list(expr, known))
}
