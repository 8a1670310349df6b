# tf$contrib$layers: optimize_loss(), stack() and other functions that combine members of `tf`.

contrib_symbols <- function() {
  symbols <- list(
    optimize_loss = optimize_loss,
    stack = stack_layers,
    flatten = function(inputs, outputs_collections = NULL, scope = NULL) {
      abort_unsupported_arguments(outputs_collections)
      tf$layers$flatten(inputs, name = scope)
    },
    max_pool2d = pool_function("max_pooling2d", "MaxPool2D"),
    avg_pool2d = pool_function("average_pooling2d", "AvgPool2D"),
    one_hot_encoding = function(labels, num_classes, on_value = 1, off_value = 0,
                                outputs_collections = NULL, scope = NULL) {
      abort_unsupported_arguments(outputs_collections)
      force(labels)
      with(name_scope(scope, "OneHotEncoding"), {
        tf$one_hot(tf$cast(labels, "int64"), num_classes, on_value, off_value)
      })
    },
    l1_l2_regularizer = function(scale_l1 = 1, scale_l2 = 1, scope = NULL) {
      regularizer(scale_l1, scope, function(weights) {
        tf$reduce_sum(tf$abs(weights)) * scale_l1 + tf$nn$l2_loss(weights) * scale_l2
      })
    },
    apply_regularization = function(regularizer, weights_list = NULL) {
      is_valid <- is.function(regularizer)
      check_arg(is_valid, regularizer, "a function of weights", "regularizer", environment())
      if (is.null(weights_list)) {
        weights_list <- cpp_graph_default()$get_collection("weights", NULL)
      }
      losses <- Filter(Negate(is.null), lapply(as_tensor_list(weights_list), regularizer))
      if (length(losses) == 0) return(tf$constant(0))
      total <- tf$add_n(losses)
      for (loss in losses) cpp_graph_default()$add_to_collection("regularization_losses", loss)
      total
    },
    embed_sequence = embed_sequence
  )
  setNames(symbols, paste0("contrib.layers.", names(symbols)))
}

pool_function <- function(layer, scope_name) {
  force(layer)
  function(inputs, kernel_size, stride = 2, padding = "VALID", data_format = "NHWC",
           outputs_collections = NULL, scope = NULL) {
    abort_unsupported_arguments(data_format, outputs_collections)
    name <- if (is.null(scope)) scope_name else scope
    tf$layers[[layer]](inputs, unlist(kernel_size), unlist(stride), padding, name = name)
  }
}

embed_sequence <- function(ids, vocab_size = NULL, embed_dim = NULL, unique = FALSE,
                           initializer = NULL, regularizer = NULL, trainable = TRUE, scope = NULL,
                           reuse = NULL) {
  # evaluate `ids` before the scope opens, so that its variables are outside of the scope
  force(ids)
  # `unique` selects how TensorFlow looks the ids up, which does not change the result
  check_flag(unique)
  if (isTRUE(reuse) && is.null(scope)) {
    abort_runhooks("Must specify scope for reuse.")
  }
  if (is.null(vocab_size) || is.null(embed_dim)) {
    abort_runhooks("Must specify vocab size and embedding dimension when not reusing.")
  }
  with(variable_scope(scope, "EmbedSequence", reuse = reuse), {
    shape <- list(vocab_size, embed_dim)
    embeddings <- get_variable(
      "embeddings", shape, initializer = initializer, regularizer = regularizer,
      trainable = trainable
    )
    tf$nn$embedding_lookup(embeddings, ids)
  })
}

# Implements tf$contrib$layers$stack(): calls `layer` once for each element of `stack_args`, which
# are the arguments of the calls. Each call gets the output of the previous one.
stack_layers <- function(inputs, layer, stack_args, ...) {
  force(inputs)
  extras <- list(...)
  scope <- extras$scope
  extras$scope <- NULL
  check_function(layer)
  path <- deparse(substitute(layer))[[1]]
  name <- sub(".*[$]", "", path)
  if (!grepl("^[A-Za-z_.][A-Za-z0-9_.]*$", name)) name <- "layer"
  with(variable_scope(scope, "Stack"), {
    for (i in seq_along(stack_args)) {
      layer_args <- stack_args[[i]]
      layer_args <- if (is.list(layer_args)) layer_args else list(layer_args)
      scope_args <- list(scope = paste0(name, "_", i))
      inputs <- do.call(layer, c(list(inputs), layer_args, scope_args, extras), quote = TRUE)
    }
    inputs
  })
}

contrib_optimizer_classes <- list(
  Adagrad = "AdagradOptimizer", Adam = "AdamOptimizer", Ftrl = "FtrlOptimizer",
  Momentum = "MomentumOptimizer", RMSProp = "RMSPropOptimizer", SGD = "GradientDescentOptimizer"
)

optimize_loss <- function(loss, global_step, learning_rate, optimizer,
                          gradient_noise_scale = NULL, gradient_multipliers = NULL,
                          clip_gradients = NULL, learning_rate_decay_fn = NULL, update_ops = NULL,
                          variables = NULL, name = NULL, summaries = NULL,
                          colocate_gradients_with_ops = FALSE, increment_global_step = TRUE) {
  force(loss)
  force(learning_rate)
  force(optimizer)
  abort_unsupported_arguments(colocate_gradients_with_ops)
  check_flag(increment_global_step)
  check_arg(
    is.null(learning_rate_decay_fn) || is.function(learning_rate_decay_fn), learning_rate_decay_fn,
    "a function", "learning_rate_decay_fn", environment()
  )
  if (is.null(global_step)) global_step <- cpp_global_step(NULL, FALSE)
  if (is.null(summaries)) summaries <- c("loss", "learning_rate", "global_gradient_norm")
  summaries <- as_strings(summaries)
  check_summaries(summaries)
  with(variable_scope(name, "OptimizeLoss"), {
    updates <- if (is.null(update_ops)) {
      cpp_graph_default()$get_collection("update_ops", NULL)
    } else {
      as_tensor_list(update_ops)
    }
    if (length(updates)) loss <- after_operations(updates, loss)
    rate <- optimizer_rate(learning_rate)
    if (!is.null(rate) && !is.null(learning_rate_decay_fn)) {
      if (is.null(global_step)) {
        abort_runhooks("global_step is required for learning_rate_decay_fn.")
      }
      rate <- learning_rate_decay_fn(rate, global_step)
      if ("learning_rate" %in% summaries) tf$summary$scalar("learning_rate", rate)
    }
    optimizer <- contrib_optimizer(optimizer, rate)
    grads_and_vars <- optimizer$compute_gradients(loss, var_list = variables)
    grads_and_vars <- Filter(function(pair) !is.null(pair[[1]]), grads_and_vars)
    grads_and_vars <- changed_gradients(grads_and_vars, gradient_noise_scale, gradient_multipliers)
    clipped <- clipped_gradients(grads_and_vars, clip_gradients)
    summarize_optimization(summaries, loss, grads_and_vars, if (!is.null(clip_gradients)) clipped)
    step <- if (increment_global_step) global_step
    train <- optimizer$apply_gradients(clipped, global_step = step, name = "train")
    after_operations(list(train), loss)
  })
}

check_summaries <- function(summaries, call = parent.frame()) {
  choices <- c(
    "loss", "learning_rate", "gradients", "gradient_norm", "global_gradient_norm"
  )
  unknown <- setdiff(summaries, choices)
  if (length(unknown)) {
    abort_runhooks(
      "Summaries should be one of [{toString(choices)}], you provided {unknown[[1]]}.", call = call
    )
  }
}

# Returns a copy of the tensor that is computed after the operations.
after_operations <- function(operations, tensor) {
  with(control_dependencies(operations), tf$identity(tensor, name = "control_dependency"))
}

# Converts a learning rate that is a number to a variable, so that hooks can set it and checkpoints
# contain it.
optimizer_rate <- function(rate, call = parent.frame()) {
  if (is.null(rate) || is_graph_element(rate)) return(rate)
  check_number(rate, arg = "learning_rate", call = call)
  if (rate < 0) abort_runhooks("Invalid learning_rate {rate}.", call = call)
  variable <- get_variable(
    "learning_rate", list(), trainable = FALSE,
    initializer = tf$constant_initializer(rate)
  )
  cpp_variable_snapshot(variable)
}

contrib_optimizer <- function(optimizer, rate, call = parent.frame()) {
  if (is.character(optimizer) && length(optimizer) == 1) {
    class_name <- contrib_optimizer_classes[[optimizer]]
    if (is.null(class_name)) {
      abort_runhooks(
        "Optimizer name should be one of [{toString(names(contrib_optimizer_classes))}], you
         provided {optimizer}.",
        call = call
      )
    }
    if (is.null(rate)) {
      abort_runhooks("Learning rate is None, but should be specified if optimizer is string.",
        call = call
      )
    }
    arguments <- c(list(learning_rate = rate), if (optimizer == "Momentum") list(momentum = 0.9))
    return(do.call(tf$train[[class_name]], arguments))
  }
  if (is.function(optimizer)) {
    optimizer <- if (is.null(rate)) optimizer() else optimizer(rate)
  }
  if (!is_optimizer(optimizer)) {
    abort_runhooks(
      "{.arg optimizer} must be the name of an optimizer, an optimizer of {.code tf$train}, or a
       function that returns one, not {describe_type(optimizer)}.",
      call = call
    )
  }
  optimizer
}

# Adds noise to the gradients, and multiplies them by `multipliers`, which have the names of
# variables. As in TensorFlow, these names end in ":0".
changed_gradients <- function(grads_and_vars, noise, multipliers) {
  names <- vapply(grads_and_vars, function(pair) pair[[2]]$name, "")
  unknown <- setdiff(names(multipliers), names)
  if (length(unknown)) {
    rlang::warn(sprintf(
      "`gradient_multipliers` has no effect for '%s': the variables with gradients are '%s'.",
      paste(unknown, collapse = "', '"), paste(names, collapse = "', '")
    ))
  }
  lapply(seq_along(grads_and_vars), function(i) {
    gradient <- grads_and_vars[[i]][[1]]
    if (!is.null(noise)) {
      values <- convert_to_tensor(gradient, NULL, NULL, NULL)
      gradient <- values + tf$truncated_normal(tf$shape(values)) * noise
    }
    factor <- multipliers[[names[[i]]]]
    if (!is.null(factor)) gradient <- convert_to_tensor(gradient, NULL, NULL, NULL) * factor
    list(gradient, grads_and_vars[[i]][[2]])
  })
}

clipped_gradients <- function(grads_and_vars, clip, call = parent.frame()) {
  if (is.null(clip)) return(grads_and_vars)
  if (is.function(clip)) return(clip(grads_and_vars))
  check_number(clip, arg = "clip_gradients", call = call)
  clipped <- tf$clip_by_global_norm(lapply(grads_and_vars, `[[`, 1), clip)[[1]]
  Map(function(gradient, pair) list(gradient, pair[[2]]), clipped, grads_and_vars)
}

summarize_optimization <- function(summaries, loss, grads_and_vars, clipped) {
  wants_norm <- any(c("global_gradient_norm", "gradient_norm") %in% summaries)
  norm_of <- function(grads_and_vars) tf$global_norm(lapply(grads_and_vars, `[[`, 1))
  if (wants_norm) tf$summary$scalar("global_norm/gradient_norm", norm_of(grads_and_vars))
  if ("loss" %in% summaries) tf$summary$scalar("loss", loss)
  for (pair in if (is.null(clipped)) grads_and_vars else clipped) {
    name <- sub(":0$", "", pair[[2]]$name)
    if ("gradients" %in% summaries) {
      values <- convert_to_tensor(pair[[1]], NULL, NULL, NULL)
      tf$summary$histogram(paste0("gradients/", name), values)
    }
    if ("gradient_norm" %in% summaries) {
      tf$summary$scalar(paste0("gradient_norm/", name), norm_of(list(pair)))
    }
  }
  if (!is.null(clipped) && wants_norm) {
    tf$summary$scalar("global_norm/clipped_gradient_norm", norm_of(clipped))
  }
}
