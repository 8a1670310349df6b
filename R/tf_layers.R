# tf$layers, and what of tf$contrib$layers makes the same layers under other names.

layer_symbols <- function() {
  list(
    layers.dense = layers_dense, layers.dropout = layers_dropout,
    layers.batch_normalization = layers_batch_normalization,
    layers.flatten = function(inputs, name = NULL) {
      cpp_graph_function("layers.flatten", list(inputs = inputs))
    },
    nn.dropout = nn_dropout,
    contrib.layers.fully_connected = fully_connected,
    contrib.layers.dropout = function(inputs, keep_prob = 0.5, noise_shape = NULL,
                                      is_training = TRUE, outputs_collections = NULL,
                                      scope = NULL, seed = NULL) {
      layers_dropout(inputs, 1 - keep_prob, noise_shape, seed, training = is_training)
    },
    contrib.layers.l1_regularizer = function(scale, scope = NULL) {
      check_number(scale)
      function(weights) tf$reduce_sum(tf$abs(weights)) * scale
    },
    contrib.layers.l2_regularizer = function(scale, scope = NULL) {
      check_number(scale)
      function(weights) tf$nn$l2_loss(weights) * scale
    }
  )
}

layers_dense <- function(inputs, units, activation = NULL, use_bias = TRUE,
                         kernel_initializer = NULL, bias_initializer = NULL,
                         kernel_regularizer = NULL, bias_regularizer = NULL,
                         activity_regularizer = NULL, kernel_constraint = NULL,
                         bias_constraint = NULL, trainable = TRUE, name = NULL, reuse = NULL) {
  unsupported(activity_regularizer, kernel_constraint, bias_constraint)
  arguments <- list(
    inputs = as_tensor(inputs), units = units, activation = activation, use_bias = use_bias,
    kernel_initializer = initializer_spec(kernel_initializer),
    bias_initializer = initializer_spec(bias_initializer),
    kernel_regularizer = kernel_regularizer, bias_regularizer = bias_regularizer,
    trainable = trainable, name = name, reuse = reuse
  )
  cpp_graph_function("layers.dense", arguments)
}

# `activation_fn` is relu unless it is NULL; a normalizer takes the bias's place.
fully_connected <- function(inputs, num_outputs, activation_fn = tf$nn$relu, normalizer_fn = NULL,
                            normalizer_params = NULL, weights_initializer = NULL,
                            weights_regularizer = NULL, biases_initializer = 0,
                            biases_regularizer = NULL, reuse = NULL, variables_collections = NULL,
                            outputs_collections = NULL, trainable = TRUE, scope = NULL) {
  unsupported(variables_collections, outputs_collections)
  finish <- function(x) {
    if (!is.null(normalizer_fn)) x <- do.call(normalizer_fn, c(list(x), normalizer_params))
    if (is.null(activation_fn)) x else activation_fn(x)
  }
  arguments <- list(
    inputs = as_tensor(inputs), num_outputs = num_outputs, activation = finish,
    use_bias = is.null(normalizer_fn) && !is.null(biases_initializer),
    kernel_initializer = initializer_spec(weights_initializer),
    bias_initializer = initializer_spec(biases_initializer),
    kernel_regularizer = weights_regularizer, bias_regularizer = biases_regularizer,
    trainable = trainable, scope = scope, reuse = reuse
  )
  cpp_graph_function("contrib.layers.fully_connected", arguments)
}

layers_dropout <- function(inputs, rate = 0.5, noise_shape = NULL, seed = NULL, training = FALSE,
                           name = NULL) {
  check_flag(training)
  with(name_scope(if (is.null(name)) "dropout" else name), {
    if (training) {
      nn_dropout(inputs, noise_shape = noise_shape, seed = seed, rate = rate)
    } else {
      tf_op("Identity", as_tensor(inputs))
    }
  })
}

nn_dropout <- function(x, keep_prob = NULL, noise_shape = NULL, seed = NULL, name = NULL,
                       rate = NULL) {
  if (is.null(rate) == is.null(keep_prob)) {
    stop_runhooks("Give one of {.arg rate} and {.arg keep_prob}.")
  }
  if (is.null(rate)) rate <- 1 - keep_prob
  if (!is.null(noise_shape) && !is_tensor(noise_shape)) {
    noise_shape <- array(as.integer(unlist(noise_shape)))
  }
  arguments <- list(
    x = as_tensor(x), rate = rate, noise_shape = noise_shape, seed = seed, name = name
  )
  cpp_graph_function("nn.dropout", arguments)
}

layers_batch_normalization <- function(
  inputs, axis = -1, momentum = 0.99, epsilon = 0.001, center = TRUE, scale = TRUE,
  beta_initializer = NULL, gamma_initializer = NULL, moving_mean_initializer = NULL,
  moving_variance_initializer = NULL, beta_regularizer = NULL, gamma_regularizer = NULL,
  beta_constraint = NULL, gamma_constraint = NULL, training = FALSE, trainable = TRUE,
  name = NULL, reuse = NULL, fused = NULL
) {
  unsupported(beta_constraint, gamma_constraint)
  arguments <- list(
    inputs = as_tensor(inputs), axis = unlist(axis), fused = fused, momentum = momentum, epsilon = epsilon,
    center = center, scale = scale, beta_initializer = initializer_spec(beta_initializer),
    gamma_initializer = initializer_spec(gamma_initializer),
    moving_mean_initializer = initializer_spec(moving_mean_initializer),
    moving_variance_initializer = initializer_spec(moving_variance_initializer),
    beta_regularizer = beta_regularizer, gamma_regularizer = gamma_regularizer,
    training = training, trainable = trainable, name = name, reuse = reuse
  )
  cpp_graph_function("layers.batch_normalization", arguments)
}

# Arguments that TensorFlow has and this package does not: an error rather than silence.
unsupported <- function(..., call = parent.frame()) {
  names <- vapply(substitute(list(...))[-1], as.character, "")
  given <- !vapply(list(...), is.null, NA)
  if (any(given)) stop_runhooks("{.arg {names[given]}} is not supported.", call = call)
}
