# tf$contrib$layers: convolutions and normalizations. Layers evaluate their inputs before they open
# their variable scope, so that the variables of the inputs are outside of it.

contrib_layer_symbols <- function() {
  with_activation <- function(activation) {
    f <- fully_connected
    formals(f)["activation_fn"] <- list(activation)
    f
  }
  symbols <- list(
    conv2d = contrib_conv2d, convolution2d = contrib_conv2d, batch_norm = contrib_batch_norm,
    conv2d_transpose = contrib_conv2d_transpose, convolution2d_transpose = contrib_conv2d_transpose,
    layer_norm = contrib_layer_norm, bias_add = contrib_bias_add,
    linear = with_activation(NULL), relu = with_activation(quote(tf$nn$relu)),
    relu6 = with_activation(quote(tf$nn$relu6)),
    maxout = contrib_maxout, unit_norm = contrib_unit_norm,
    softmax = function(logits, scope = NULL) {
      force(logits)
      with(variable_scope(scope, "softmax"), tf$nn$softmax(logits))
    },
    sum_regularizer = function(regularizer_list, scope = NULL) {
      regularizers <- Filter(Negate(is.null), regularizer_list)
      if (length(regularizers) == 0) return(NULL)
      losses <- function(weights) {
        values <- Filter(Negate(is.null), lapply(regularizers, function(f) f(weights)))
        if (length(values)) tf$add_n(values)
      }
      if (is.null(scope)) losses else function(weights) with(name_scope(scope), losses(weights))
    },
    variance_scaling_initializer = function(factor = 2, mode = "FAN_IN", uniform = FALSE,
                                            seed = NULL, dtype = "float32") {
      if (!mode %in% c("FAN_IN", "FAN_OUT", "FAN_AVG")) {
        abort_runhooks("Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
      }
      distribution <- if (uniform) "uniform" else "truncated_normal"
      tf$variance_scaling_initializer(factor, ascii_lower(mode), distribution, seed, dtype)
    },
    xavier_initializer_conv2d = function(uniform = TRUE, seed = NULL, dtype = "float32") {
      tf$contrib$layers$xavier_initializer(uniform, seed, dtype)
    },
    bow_encoder = contrib_bow_encoder,
    summarize_tensor = summarize_tensor,
    summarize_tensors = function(tensors, summarizer = summarize_tensor) {
      lapply(as_tensor_list(tensors), summarizer)
    },
    summarize_activation = summarize_activation,
    summarize_collection = function(collection, name_filter = NULL, summarizer = summarize_tensor) {
      lapply(cpp_graph_default()$get_collection(collection, name_filter), summarizer)
    }
  )
  setNames(symbols, paste0("contrib.layers.", names(symbols)))
}

# Returns the collections of a layer's variable: those of the user, and two for all variables.
model_collections <- function(collections) {
  unique(c("variables", "model_variables", unlist(collections)))
}

# Completes a layer: applies the normalizer, or else adds the bias, and then applies the activation.
finish_layer <- function(x, filters, normalizer_fn, normalizer_params, biases_initializer,
                         biases_regularizer, activation_fn, variables_collections,
                         outputs_collections, trainable) {
  if (!is.null(normalizer_fn)) {
    x <- do.call(normalizer_fn, c(list(x), normalizer_params))
  } else if (!is.null(biases_initializer)) {
    biases <- get_variable(
      "biases", list(filters), x$dtype, as_initializer(biases_initializer), biases_regularizer,
      trainable, collections_of(variables_collections, "biases")
    )
    x <- tf$nn$bias_add(x, biases)
  }
  finish_output(x, activation_fn, outputs_collections)
}

# Applies the activation and adds the output of a layer to the collections.
finish_output <- function(x, activation_fn, outputs_collections) {
  if (!is.null(activation_fn)) x <- activation_fn(x)
  for (key in as_strings(outputs_collections)) cpp_graph_default()$add_to_collection(key, x)
  x
}

# Converts a number to an initializer with this value.
as_initializer <- function(x) if (is.numeric(x)) tf$constant_initializer(x) else x

# Returns the collections of the variable `name` of a layer. `collections` is one set for all
# variables, or a list of sets that are named by variable.
collections_of <- function(collections, name) {
  if (is.list(collections) && !is.null(names(collections))) collections <- collections[[name]]
  model_collections(collections)
}

# Returns the height and the width. `x` has one number for both, or two numbers.
as_two_integers <- function(x, arg, call = parent.frame()) {
  x <- unlist(x)
  is_valid <- is.numeric(x) && length(x) %in% 1:2
  check_arg(is_valid, x, "one whole number or two", arg, call)
  as.integer(rep_len(x, 2))
}

# Returns the number of channels of images, the last dimension.
channels_of <- function(inputs, call = parent.frame()) {
  dims <- dim(inputs)
  if (length(dims) != 4) {
    abort_runhooks(
      "{.arg inputs} must be images [batch, height, width, channels]; the shape of
       {.val {inputs$name}} is {inputs$shape$text}.",
      call = call
    )
  }
  if (is.null(dims[[4]])) {
    abort_runhooks("The channels of {.arg inputs} must be known.", call = call)
  }
  dims[[4]]
}

contrib_conv2d <- function(inputs, num_outputs, kernel_size, stride = 1, padding = "SAME",
                           data_format = NULL, rate = 1, activation_fn = tf$nn$relu,
                           normalizer_fn = NULL, normalizer_params = NULL,
                           weights_initializer = NULL, weights_regularizer = NULL,
                           biases_initializer = 0, biases_regularizer = NULL, reuse = NULL,
                           variables_collections = NULL, outputs_collections = NULL,
                           trainable = TRUE, scope = NULL) {
  rate <- as_two_integers(rate, "rate")
  contrib_convolution(environment(), "Conv", function(x, weights, size, strides) {
    tf$nn$conv2d(x, weights, c(1L, strides, 1L), ascii_upper(padding), dilations = c(1L, rate, 1L))
  })
}

contrib_conv2d_transpose <- function(inputs, num_outputs, kernel_size, stride = 1,
                                     padding = "SAME", data_format = "NHWC",
                                     activation_fn = tf$nn$relu, normalizer_fn = NULL,
                                     normalizer_params = NULL, weights_initializer = NULL,
                                     weights_regularizer = NULL, biases_initializer = 0,
                                     biases_regularizer = NULL, reuse = NULL,
                                     variables_collections = NULL, outputs_collections = NULL,
                                     trainable = TRUE, scope = NULL) {
  transpose <- function(x, weights, size, strides) {
    padding_size <- if (ascii_upper(padding) == "VALID") pmax(size - strides, 0L) else c(0L, 0L)
    n <- tf$shape(x)
    shape <- tf$stack(list(
      n[1], n[2] * strides[[1]] + padding_size[[1]], n[3] * strides[[2]] + padding_size[[2]],
      as.integer(num_outputs)
    ))
    product <- tf$nn$conv2d_transpose(x, weights, shape, c(1L, strides, 1L), ascii_upper(padding))
    known_size <- function(i) {
      if (!is.null(dim(x)[[i]])) dim(x)[[i]] * strides[[i - 1]] + padding_size[[i - 1]]
    }
    product$set_shape(list(NULL, known_size(2), known_size(3), num_outputs))
    product
  }
  contrib_convolution(environment(), "Conv2d_transpose", transpose, is_transposed = TRUE)
}

# Creates a convolution layer. `args`: the environment with the arguments of the layer. `convolve`:
# the function that convolves.
contrib_convolution <- function(args, scope_name, convolve, is_transposed = FALSE) {
  call <- args
  check_data_format(args$data_format, call)
  check_whole(args$num_outputs, arg = "num_outputs", call = call)
  force(args$inputs)
  with(variable_scope(args$scope, scope_name, reuse = args$reuse), {
    x <- as_tensor(args$inputs)
    size <- as_two_integers(args$kernel_size, "kernel_size", call)
    channels <- c(channels_of(x, call), args$num_outputs)
    weights <- get_variable(
      "weights", as.list(c(size, if (is_transposed) rev(channels) else channels)), x$dtype,
      args$weights_initializer, args$weights_regularizer, args$trainable,
      collections_of(args$variables_collections, "weights")
    )
    finish_layer(
      convolve(x, weights, size, as_two_integers(args$stride, "stride", call)), args$num_outputs,
      args$normalizer_fn, args$normalizer_params, args$biases_initializer,
      args$biases_regularizer, args$activation_fn, args$variables_collections,
      args$outputs_collections, args$trainable
    )
  })
}

check_data_format <- function(data_format, call = parent.frame()) {
  if (!is.null(data_format) && !identical(data_format, "NHWC")) {
    abort_runhooks("{.arg data_format} must be \"NHWC\", not {describe(data_format)}.",
      kind = "unimplemented", call = call
    )
  }
}

# --- normalizations

# Normalizes batches. For inputs of rank 2 or 4, the moving variance uses the unbiased variance of
# each batch, as in TensorFlow's fused kernel.
contrib_batch_norm <- function(inputs, decay = 0.999, center = TRUE, scale = FALSE,
                               epsilon = 0.001, activation_fn = NULL, param_initializers = NULL,
                               param_regularizers = NULL, updates_collections = "update_ops",
                               is_training = TRUE, reuse = NULL, variables_collections = NULL,
                               outputs_collections = NULL, trainable = TRUE, batch_weights = NULL,
                               fused = NULL, data_format = "NHWC",
                               zero_debias_moving_mean = FALSE, scope = NULL, renorm = FALSE,
                               renorm_clipping = NULL, renorm_decay = 0.99, adjustment = NULL) {
  force(inputs)
  abort_unsupported_arguments(
    batch_weights, data_format, zero_debias_moving_mean, renorm, renorm_clipping, adjustment
  )
  check_number(renorm_decay)
  if (!is.null(fused)) check_flag(fused)
  layer_scope <- variable_scope(scope, "BatchNorm", reuse = reuse)
  with(layer_scope, {
    inputs <- as_tensor(inputs)
    rank <- length(dim(inputs))
    width <- as.integer(dim(inputs)[[rank]])
    parameter <- function(name, initial, trainable) {
      initializer <- param_initializers[[name]]
      get_variable(
        name, list(width), inputs$dtype,
        if (is.null(initializer)) tf$constant_initializer(initial) else initializer,
        param_regularizers[[name]], trainable, collections_of(variables_collections, name)
      )
    }
    beta <- if (center) parameter("beta", 0, trainable)
    gamma <- if (scale) parameter("gamma", 1, trainable)
    moving_mean <- parameter("moving_mean", 0, FALSE)
    moving_variance <- parameter("moving_variance", 1, FALSE)
    statistics <- list(moving_mean$value(), moving_variance$value())
    if (is_graph_element(is_training) || is_training) {
      batch <- tf$nn$moments(inputs, seq_len(rank - 1) - 1L)
      unbiased <- batch[[2]]
      if (!isFALSE(fused) && rank %in% c(2, 4)) {
        n <- tf$cast(tf$size(inputs), inputs$dtype) / width
        unbiased <- unbiased * (n / tf$maximum(n - 1, 1))
      }
      new_statistics <- list(batch[[1]], unbiased)
      if (is_graph_element(is_training)) {
        choose <- function(a, b) Map(function(x, y) tf$where(as_mask(is_training, x), x, y), a, b)
        new_statistics <- choose(new_statistics, statistics)
        statistics <- choose(batch, statistics)
      } else {
        statistics <- batch
      }
      rate <- tf$constant(decay)
      updates <- list(
        assign_moving_average(moving_mean, new_statistics[[1]], rate),
        assign_moving_average(moving_variance, new_statistics[[2]], rate)
      )
      for (key in as_strings(updates_collections)) {
        for (update in updates) cpp_graph_default()$add_to_collection(key, update)
      }
      # without a collection for the updates, computing the output also runs them
      if (is.null(updates_collections)) {
        statistics[[1]] <- after_operations(updates, statistics[[1]])
      }
    }
    outputs <- tf$nn$batch_normalization(
      inputs, statistics[[1]], statistics[[2]], beta, gamma, epsilon
    )
    if (!is.null(dim(inputs))) outputs$set_shape(lapply(dim(inputs), identity))
    finish_output(outputs, activation_fn, outputs_collections)
  })
}

as_mask <- function(condition, x) {
  tf$logical_and(tf$cast(condition, "bool"), tf$ones_like(x, dtype = "bool"))
}

contrib_layer_norm <- function(inputs, center = TRUE, scale = TRUE, activation_fn = NULL,
                               reuse = NULL, variables_collections = NULL,
                               outputs_collections = NULL, trainable = TRUE, begin_norm_axis = 1,
                               begin_params_axis = -1, scope = NULL) {
  force(inputs)
  with(variable_scope(scope, "LayerNorm", reuse = reuse), {
    inputs <- as_tensor(inputs)
    rank <- length(dim(inputs))
    if (begin_norm_axis < 0) begin_norm_axis <- begin_norm_axis + rank
    if (begin_params_axis < 0) begin_params_axis <- begin_params_axis + rank
    if (begin_params_axis >= rank || begin_norm_axis >= rank) {
      abort_runhooks("begin_params_axis ({begin_params_axis}) and begin_norm_axis
        ({begin_norm_axis}) must be < rank(inputs) ({rank})")
    }
    shape <- as.list(dim(inputs))[(begin_params_axis + 1):rank]
    if (any(vapply(shape, is.null, NA))) {
      abort_runhooks("Inputs {inputs$name}: shape(inputs)[{begin_params_axis}:] is not fully
        defined: {inputs$shape$text}")
    }
    parameter <- function(name, initial) {
      get_variable(
        name, shape, inputs$dtype, tf$constant_initializer(initial), NULL, trainable,
        collections_of(variables_collections, name)
      )
    }
    beta <- if (center) parameter("beta", 0)
    gamma <- if (scale) parameter("gamma", 1)
    axes <- as.integer(begin_norm_axis:(rank - 1))
    moments <- tf$nn$moments(inputs, axes, keep_dims = TRUE)
    outputs <- tf$nn$batch_normalization(inputs, moments[[1]], moments[[2]], beta, gamma, 1e-12)
    finish_output(outputs, activation_fn, outputs_collections)
  })
}

contrib_unit_norm <- function(inputs, dim, epsilon = 1e-07, scope = NULL) {
  force(inputs)
  with(variable_scope(scope, "UnitNorm"), {
    squares <- tf$reduce_sum(tf$square(inputs), as_whole_numbers(dim), keepdims = TRUE)
    lengths <- tf$sqrt(epsilon + squares)
    inputs / lengths
  })
}

contrib_bias_add <- function(inputs, activation_fn = NULL, initializer = 0, regularizer = NULL,
                             reuse = NULL, variables_collections = NULL,
                             outputs_collections = NULL, trainable = TRUE, data_format = "NHWC",
                             scope = NULL) {
  force(inputs)
  check_data_format(data_format)
  with(variable_scope(scope, "BiasAdd", reuse = reuse), {
    inputs <- as_tensor(inputs)
    if (length(dim(inputs)) == 0) {
      abort_runhooks("{.arg inputs} must have a dimension, not shape {inputs$shape$text}.")
    }
    width <- dim(inputs)[[length(dim(inputs))]]
    finish_layer(
      inputs, width, NULL, NULL, initializer, regularizer, activation_fn, variables_collections,
      outputs_collections, trainable
    )
  })
}

contrib_maxout <- function(inputs, num_units, axis = -1, scope = NULL) {
  force(inputs)
  with(variable_scope(scope, "MaxOut"), {
    inputs <- as_tensor(inputs)
    dims <- dim(inputs)
    position <- if (axis < 0) length(dims) + axis + 1 else axis + 1
    if (dims[[position]] %% num_units != 0) {
      abort_runhooks(
        "number of features({dims[[position]]}) is not a multiple of num_units({num_units})"
      )
    }
    sizes <- lapply(seq_along(dims), function(i) {
      if (is.null(dims[[i]])) tf$shape(inputs)[i] else as.integer(dims[[i]])
    })
    sizes[[position]] <- as.integer(num_units)
    sizes <- append(sizes, list(as.integer(dims[[position]] / num_units)), position)
    outputs <- tf$reduce_max(tf$reshape(inputs, tf$stack(sizes)), as.integer(position))
    outputs$set_shape(replace(as.list(dims), position, num_units))
    outputs
  })
}

contrib_bow_encoder <- function(ids, vocab_size, embed_dim, sparse_lookup = TRUE,
                                initializer = NULL, regularizer = NULL, trainable = TRUE,
                                scope = NULL, reuse = NULL) {
  force(ids)
  check_flag(sparse_lookup)
  with(variable_scope(scope, "bow_encoder", reuse = reuse), {
    embeddings <- get_variable(
      "embeddings", list(vocab_size, embed_dim), initializer = initializer,
      regularizer = regularizer, trainable = trainable, collections = model_collections(NULL)
    )
    if (is_sparse(ids)) return(safe_embedding_lookup_sparse(embeddings, ids))
    tf$reduce_mean(tf$nn$embedding_lookup(embeddings, ids), 1L)
  })
}

summarize_tensor <- function(tensor, tag = NULL) {
  check_arg(is_graph_element(tensor), tensor, "a tensor", "tensor", environment())
  if (is.null(tag)) tag <- sub(":[0-9]+$", "", tensor$name)
  is_scalar <- identical(length(dim(tensor)), 0L)
  if (is_scalar) tf$summary$scalar(tag, tensor) else tf$summary$histogram(tag, tensor)
}

summarize_activation <- function(op) {
  name <- sub(":[0-9]+$", "", op$name)
  if (op$op$type %in% c("Relu", "Softplus", "Relu6")) {
    zeros <- if (op$op$type == "Softplus") {
      tf$reduce_mean(tf$cast(tf$less(op, 0.001), "float32"))
    } else {
      tf$nn$zero_fraction(op)
    }
    tf$summary$scalar(paste0(name, "/zeros"), zeros)
  }
  if (op$op$type == "Relu6") {
    tf$summary$scalar(
      paste0(name, "/sixes"), tf$reduce_mean(tf$cast(tf$equal(op, 6), "float32"))
    )
  }
  tf$summary$histogram(paste0(name, "/activation"), op)
}
