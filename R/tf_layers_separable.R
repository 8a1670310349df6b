# Separable convolutions of tf$layers: a filter for each channel, and then a linear combination of
# the channels.

separable_symbols <- function() {
  list(
    layers.separable_conv2d = separable_layer(2), layers.separable_conv1d = separable_layer(1)
  )
}

# Returns the layer function. `dims` is 1 for sequences and 2 for images.
separable_layer <- function(dims) {
  force(dims)
  f <- function(inputs, filters, kernel_size, strides = 1, padding = "valid",
                data_format = "channels_last", dilation_rate = 1, depth_multiplier = 1,
                activation = NULL, use_bias = TRUE, depthwise_initializer = NULL,
                pointwise_initializer = NULL, bias_initializer = NULL,
                depthwise_regularizer = NULL, pointwise_regularizer = NULL,
                bias_regularizer = NULL, activity_regularizer = NULL,
                depthwise_constraint = NULL, pointwise_constraint = NULL,
                bias_constraint = NULL, trainable = TRUE, name = NULL, reuse = NULL) {
    abort_unsupported_arguments(data_format, activity_regularizer)
    check_whole(filters)
    check_whole(depth_multiplier)
    check_flag(use_bias)
    check_flag(trainable)
    kind <- paste0("separable_conv", dims, "d")
    with(variable_scope(name, kind, reuse = reuse), {
      inputs <- as_tensor(inputs)
      rank <- length(dim(inputs))
      if (rank != dims + 2) {
        abort_runhooks("Input 0 of layer {kind} is incompatible with the layer: expected ndim=
          {dims + 2}, found ndim={rank}: {.val {inputs$name}} has shape {inputs$shape$text}.")
      }
      channels <- dim(inputs)[[rank]]
      if (is.null(channels)) {
        abort_runhooks("The channel dimension of the inputs should be defined. Found NULL.")
      }
      size_in_each_dim <- function(x, arg) {
        x <- as_whole_numbers(x, arg, environment())
        check_arg(length(x) %in% c(1, dims), x, "a whole number for each dimension", arg,
          environment()
        )
        rep_len(x, dims)
      }
      create_variable <- function(name, shape, initializer, regularizer, constraint) {
        get_variable(
          name, as.list(shape), inputs$dtype, initializer, regularizer, trainable,
          constraint = constraint
        )
      }
      depthwise <- create_variable(
        "depthwise_kernel",
        c(size_in_each_dim(kernel_size, "kernel_size"), channels, depth_multiplier),
        depthwise_initializer, depthwise_regularizer, depthwise_constraint
      )
      pointwise <- create_variable(
        "pointwise_kernel", c(rep(1L, dims), channels * depth_multiplier, filters),
        pointwise_initializer, pointwise_regularizer, pointwise_constraint
      )
      bias <- if (use_bias) {
        zeros <- tf$zeros_initializer()
        initializer <- if (is.null(bias_initializer)) zeros else as_initializer(bias_initializer)
        create_variable("bias", filters, initializer, bias_regularizer, bias_constraint)
      }
      as_image <- function(x, at) if (dims == 1) tf$expand_dims(x, at) else x
      steps <- rep_len(size_in_each_dim(strides, "strides"), 2)
      rates <- rep_len(size_in_each_dim(dilation_rate, "dilation_rate"), 2)
      result <- tf$nn$separable_conv2d(
        as_image(inputs, 1L), as_image(depthwise, 0L), as_image(pointwise, 0L),
        c(1L, steps, 1L), ascii_upper(padding), rate = rates
      )
      if (dims == 1) result <- tf$squeeze(result, 1L)
      if (use_bias) result <- tf$nn$bias_add(result, bias)
      if (is.null(activation)) result else activation_function(activation)(result)
    })
  }
  f
}

activation_function <- function(x) if (is.character(x)) tf$nn[[x]] else x
