# tf$nn and tf$losses: functions of the core under their names. Their arguments and defaults are
# TensorFlow's; what they do is C++.

# A function of the core that is called `name`, with its arguments and their defaults. Where one
# gives it a `name`, its operations are in a name scope of that name, which the core opens itself
# if it is `scoped`.
core_function <- function(name, arguments, scoped = "scope" %in% names(arguments)) {
  .name <- name
  .scoped <- scoped
  f <- function() {
    given <- mget(names(formals()), envir = environment())
    if (.scoped || is.null(given$name)) return(cpp_graph_function(.name, given))
    with(name_scope(given$name), cpp_graph_function(.name, given))
  }
  if (!scoped) arguments <- c(arguments, alist(name = NULL))
  formals(f) <- as.pairlist(arguments)
  f
}

nn_symbols <- function() {
  symbols <- list(
    nn.softmax = core_function("nn.softmax", alist(logits = , axis = -1)),
    nn.log_softmax = core_function("nn.log_softmax", alist(logits = , axis = -1)),
    nn.crelu = nn_activation("crelu"), nn.swish = nn_activation("swish"),
    nn.sigmoid_cross_entropy_with_logits = core_function(
      "nn.sigmoid_cross_entropy_with_logits", alist(labels = , logits = )
    ),
    nn.softmax_cross_entropy_with_logits = core_function(
      "nn.softmax_cross_entropy_with_logits", alist(labels = , logits = )
    ),
    nn.softmax_cross_entropy_with_logits_v2 = core_function(
      "nn.softmax_cross_entropy_with_logits_v2", alist(labels = , logits = )
    ),
    nn.sparse_softmax_cross_entropy_with_logits = core_function(
      "nn.sparse_softmax_cross_entropy_with_logits", alist(labels = , logits = )
    ),
    nn.weighted_cross_entropy_with_logits = core_function(
      "nn.weighted_cross_entropy_with_logits", alist(targets = , logits = , pos_weight = )
    ),
    nn.log_poisson_loss = core_function(
      "nn.log_poisson_loss", alist(targets = , log_input = , compute_full_loss = FALSE)
    ),
    nn.l2_normalize = core_function(
      "nn.l2_normalize", alist(x = , axis = NULL, epsilon = 1e-12)
    ),
    nn.moments = core_function("nn.moments", alist(x = , axes = , keep_dims = FALSE)),
    nn.batch_normalization = core_function(
      "nn.batch_normalization",
      alist(x = , mean = , variance = , offset = , scale = , variance_epsilon = )
    ),
    nn.top_k = core_function("nn.top_k", alist(input = , k = 1, sorted = TRUE)),
    nn.in_top_k = core_function("nn.in_top_k", alist(predictions = , targets = , k = )),
    one_hot = one_hot,
    zeros = function(shape, dtype = "float32", name = "zeros") {
      tf_constant(0, dtype_name(dtype), as_dims(shape), name)
    },
    ones = function(shape, dtype = "float32", name = "ones") {
      tf_constant(1, dtype_name(dtype), as_dims(shape), name)
    },
    ones_like = function(tensor, dtype = NULL, name = NULL, optimize = TRUE) {
      tensor <- as_tensor(tensor)
      type <- if (is.null(dtype)) cpp_element_info(tensor)$dtype else dtype_name(dtype)
      tf_op("Fill", tf_op("Shape", tensor), tf_constant(1, type, NULL, "Const"), name = name)
    },
    argmax = arg_extremum("ArgMax"), argmin = arg_extremum("ArgMin"),
    log_sigmoid = nn_activation("log_sigmoid")
  )
  c(
    symbols,
    list(
      arg_max = symbols$argmax, arg_min = symbols$argmin, math.top_k = symbols$nn.top_k,
      math.log_sigmoid = symbols$log_sigmoid, math.l2_normalize = symbols$nn.l2_normalize,
      math.argmax = symbols$argmax, nn.log_sigmoid = symbols$log_sigmoid
    )
  )
}

nn_activation <- function(kind) {
  force(kind)
  function(features, name = NULL) {
    cpp_graph_function("nn.activation", list(features = features, kind = kind))
  }
}

one_hot <- function(indices, depth, on_value = NULL, off_value = NULL, axis = NULL, dtype = NULL,
                    name = NULL) {
  arguments <- list(
    indices = indices, depth = depth, on_value = on_value, off_value = off_value, axis = axis,
    dtype = if (!is.null(dtype)) dtype_name(dtype), name = name
  )
  cpp_graph_function("one_hot", arguments)
}

arg_extremum <- function(type) {
  force(type)
  function(input, axis = NULL, name = NULL, dimension = NULL, output_type = "int64") {
    if (is.null(axis)) axis <- if (is.null(dimension)) 0 else dimension
    attrs <- list(output_type = dtype_name(output_type))
    tf_op(type, input, as.integer(axis), attrs = attrs, name = name)
  }
}

# --- losses

loss_symbols <- function() {
  reductions <- c(
    NONE = "none", SUM = "weighted_sum", MEAN = "weighted_mean",
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size",
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights",
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
  )
  plain <- alist(scope = NULL, loss_collection = "losses")
  reduced <- c(plain, reduction = "weighted_sum_by_nonzero_weights")
  # labels, predictions, weights, what is the loss's own, and where the result goes
  loss <- function(name, first, own = list(), last = reduced) {
    core_function(paste0("losses.", name), c(first, alist(weights = 1), own, last))
  }
  pair <- alist(labels = , predictions = )
  functions <- list(
    mean_squared_error = loss("mean_squared_error", pair),
    absolute_difference = loss("absolute_difference", pair),
    huber_loss = loss("huber_loss", pair, alist(delta = 1)),
    log_loss = loss("log_loss", pair, alist(epsilon = 1e-7)),
    hinge_loss = loss("hinge_loss", alist(labels = , logits = )),
    cosine_distance = core_function(
      "losses.cosine_distance", c(alist(labels = , predictions = , axis = , weights = 1), reduced)
    ),
    mean_pairwise_squared_error = loss("mean_pairwise_squared_error", pair, last = plain),
    sigmoid_cross_entropy = loss(
      "sigmoid_cross_entropy", alist(multi_class_labels = , logits = ), alist(label_smoothing = 0)
    ),
    softmax_cross_entropy = loss(
      "softmax_cross_entropy", alist(onehot_labels = , logits = ), alist(label_smoothing = 0)
    ),
    sparse_softmax_cross_entropy = loss(
      "sparse_softmax_cross_entropy", alist(labels = , logits = )
    ),
    compute_weighted_loss = loss("compute_weighted_loss", alist(losses = )),
    get_losses = function(scope = NULL, loss_collection = "losses") {
      cpp_graph_default()$get_collection(loss_collection, scope)
    },
    get_regularization_losses = function(scope = NULL) {
      cpp_graph_default()$get_collection("regularization_losses", scope)
    },
    get_regularization_loss = function(scope = NULL, name = "total_regularization_loss") {
      cpp_graph_function("losses.get_regularization_loss", list(scope = scope, name = name))
    },
    get_total_loss = function(add_regularization_losses = TRUE, name = "total_loss",
                              scope = NULL) {
      arguments <- list(
        add_regularization_losses = add_regularization_losses, name = name, scope = scope
      )
      cpp_graph_function("losses.get_total_loss", arguments)
    },
    add_loss = function(loss, loss_collection = "losses") {
      if (!is.null(loss_collection)) {
        cpp_graph_default()$add_to_collection(loss_collection, loss)
      }
      invisible()
    }
  )
  c(
    setNames(functions, paste0("losses.", names(functions))),
    setNames(as.list(reductions), paste0("losses.Reduction.", names(reductions)))
  )
}
