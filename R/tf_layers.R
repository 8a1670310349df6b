# tf$contrib$layers: fully_connected(), dropout() and regularizers.

layer_symbols <- function() {
  list(
    contrib.layers.fully_connected = fully_connected,
    contrib.layers.dropout = function(inputs, keep_prob = 0.5, noise_shape = NULL,
                                      is_training = TRUE, outputs_collections = NULL,
                                      scope = NULL, seed = NULL) {
      abort_unsupported_arguments(outputs_collections)
      tf$layers$dropout(inputs, 1 - keep_prob, noise_shape, seed, is_training, name = scope)
    },
    contrib.layers.l1_regularizer = function(scale, scope = NULL) {
      regularizer(scale, scope, function(weights) tf$reduce_sum(tf$abs(weights)) * scale)
    },
    contrib.layers.l2_regularizer = function(scale, scope = NULL) {
      regularizer(scale, scope, function(weights) tf$nn$l2_loss(weights) * scale)
    }
  )
}

# Returns a function of weights that computes `loss`, in the name scope `scope` if there is one.
regularizer <- function(scale, scope, loss, call = parent.frame()) {
  check_number(scale, call = call)
  check_string(scope, null = TRUE, call = call)
  if (is.null(scope)) loss else function(weights) with(name_scope(scope), loss(weights))
}

# Implements tf$contrib$layers$fully_connected(). With a normalizer, the layer has no bias.
fully_connected <- function(inputs, num_outputs, activation_fn = tf$nn$relu, normalizer_fn = NULL,
                            normalizer_params = NULL, weights_initializer = NULL,
                            weights_regularizer = NULL, biases_initializer = 0,
                            biases_regularizer = NULL, reuse = NULL, variables_collections = NULL,
                            outputs_collections = NULL, trainable = TRUE, scope = NULL) {
  abort_unsupported_arguments(variables_collections, outputs_collections)
  finish <- function(x) {
    if (!is.null(normalizer_fn)) x <- do.call(normalizer_fn, c(list(x), normalizer_params))
    if (is.null(activation_fn)) x else activation_fn(x)
  }
  arguments <- list(
    inputs = inputs, num_outputs = num_outputs, activation = finish,
    use_bias = is.null(normalizer_fn) && !is.null(biases_initializer),
    kernel_initializer = weights_initializer,
    bias_initializer = biases_initializer,
    kernel_regularizer = weights_regularizer, bias_regularizer = biases_regularizer,
    trainable = trainable, scope = scope, reuse = reuse
  )
  cpp_tf_call("_fully_connected", arguments)
}
