# The `tf` object: TensorFlow's names as nested members. The core's operations show up by reading
# their registry; only what has another signature in R, or is no operation, has a line here.

#' TensorFlow's names
#'
#' `tf` gives what scripts reach as `tf$...`: types (`tf$float32`), operations of the core
#' (`tf$sqrt(x)`), optimizers (`tf$train$AdamOptimizer()`), hooks (`tf$train$StopAtStepHook()`),
#' errors (`tf$errors$AbortedError()`), logging (`tf$logging$set_verbosity()`). `names(tf$train)`
#' lists the members of a module. A member that does not exist is an error.
#'
#' @format An object with members.
#' @export
#' @examples
#' tf$float32
#' names(tf$train)
tf <- structure(list(path = ""), class = "runhooks_tf_module")

#' @export
`$.runhooks_tf_module` <- function(x, name) {
  path <- unclass(x)$path
  full <- paste0(path, name)
  symbol <- tf_symbols()[[full]]
  has_members <- any(startsWith(names(tf_symbols()), paste0(full, ".")))
  module <- structure(list(path = paste0(full, ".")), class = "runhooks_tf_module")
  # a class with members is a function and a module in one
  if (is.function(symbol) && has_members) {
    return(structure(symbol, class = "runhooks_tf_class", module = module))
  }
  if (!is.null(symbol)) return(symbol)
  if (has_members) return(module)
  stop_runhooks(
    c(
      "{.code tf${gsub('.', '$', full, fixed = TRUE)}} is not available.",
      i = "See {.run names(tf)}."
    ),
    kind = "not_found"
  )
}

#' @export
`[[.runhooks_tf_module` <- function(x, i) do.call(`$`, list(x, i))

#' @export
`$.runhooks_tf_class` <- function(x, name) do.call(`$`, list(attr(x, "module"), name))

#' @export
names.runhooks_tf_module <- function(x) {
  path <- unclass(x)$path
  inside <- names(tf_symbols())[startsWith(names(tf_symbols()), path)]
  sort(unique(sub("\\..*$", "", substring(inside, nchar(path) + 1))))
}

#' @export
print.runhooks_tf_module <- function(x, ...) {
  path <- sub("\\.$", "", unclass(x)$path)
  # lint: allow stdout
  cat(
    "<module tf",
    if (nzchar(path)) paste0(".", path),
    " of ",
    length(names(x)),
    " members>\n",
    sep = ""
  )
  invisible(x)
}

# All members by their full names ("train.AdamOptimizer"); made once.
tf_symbols <- function() {
  if (is.null(the$tf_symbols)) {
    symbols <- c(tf_own_symbols(), registry_symbols())
    the$tf_symbols <- c(symbols, alias_symbols(symbols))
  }
  the$tf_symbols
}

tf_own_symbols <- function() {
  list_of_modules <- list(
    dtype_symbols(), graph_symbols(), error_symbols(), logging_symbols(), train_symbols(),
    math_symbols(), summary_symbols(), scope_symbols(), state_symbols(), loss_symbols(),
    nn_symbols(), metric_symbols(), random_symbols(), partitioner_symbols(), layer_symbols(),
    clip_symbols(), session_symbols(), sparse_symbols(), column_symbols(), parsing_symbols(),
    input_symbols()
  )
  do.call(c, list_of_modules)
}

# --- operations of the registry

registry_symbols <- function() {
  symbols <- list()
  for (op in cpp_registry_ops()) {
    endpoints <- if (length(op$endpoints)) op$endpoints else snake_case(op$type)
    for (endpoint in endpoints) symbols[[endpoint]] <- registry_function(op)
  }
  symbols
}

snake_case <- function(type) tolower(gsub("([a-z0-9])([A-Z])", "\\1_\\2", sub("V2$", "", type)))

# A function of the op's inputs, its attributes and a name. An input of several tensors is a list.
registry_function <- function(op) {
  # `op` could be the name of an argument
  .op <- op
  f <- function() {
    given <- mget(c(.op$inputs, .op$attrs, "name"), envir = environment())
    values <- given[.op$inputs]
    flat <- Map(function(x, is_list) if (is_list) as.list(x) else list(x), values, .op$is_list)
    values <- unlist(unname(flat), recursive = FALSE)
    set <- given[.op$attrs]
    cpp_op_create(.op$type, as.list(values), set[!vapply(set, is.null, NA)], given$name)
  }
  arguments <- c(
    setNames(rep(list(quote(expr = )), length(op$inputs)), op$inputs),
    setNames(rep(list(NULL), length(op$attrs) + 1), c(op$attrs, "name"))
  )
  formals(f) <- as.pairlist(arguments)
  f
}

# --- types

dtype_names <- c(
  "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "string"
)

tf_dtype <- function(name) {
  structure(
    list(
      name = name, is_floating = startsWith(name, "float"), is_integer = grepl(
        "^u?int", name
      ), as_numpy_dtype = name
    ),
    class = "tensorflow.dtype"
  )
}

dtype_symbols <- function() {
  lapply(setNames(nm = dtype_names), tf_dtype)
}

#' @export
print.tensorflow.dtype <- function(x, ...) {
  cat("<dtype: '", unclass(x)$name, "'>\n", sep = "") # lint: allow stdout
  invisible(x)
}

#' @export
Ops.tensorflow.dtype <- function(e1, e2) {
  get(.Generic)(dtype_name(e1), dtype_name(e2))
}

# A type that is given as an object or as its name; NULL stays NULL.
as_dtype <- function(dtype) if (is.null(dtype)) NULL else tf_dtype(dtype_name(dtype))

# The name of a type that is given as an object or as its name.
dtype_name <- function(dtype) {
  if (inherits(dtype, "tensorflow.dtype")) unclass(dtype)$name else dtype
}

# --- graphs, constants, variables

graph_symbols <- function() {
  list(
    get_default_graph = function() cpp_graph_default(),
    Graph = function() cpp_graph_new(),
    get_collection = function(key, scope = NULL) cpp_graph_default()$get_collection(key, scope),
    add_to_collection = function(name, value) cpp_graph_default()$add_to_collection(name, value),
    constant = function(value, dtype = NULL, shape = NULL, name = "Const", verify_shape = FALSE) {
      tf_constant(value, dtype, shape, name)
    },
    cast = function(x, dtype, name = NULL) {
      tf_op("Cast", x, attrs = list(DstT = dtype_name(dtype)), name = name)
    },
    global_variables_initializer = function() cpp_variables_initializer("variables"),
    local_variables_initializer = function() cpp_variables_initializer("local_variables"),
    global_variables = function(scope = NULL) {
      cpp_graph_default()$get_collection("variables", scope)
    },
    trainable_variables = function(scope = NULL) {
      cpp_graph_default()$get_collection("trainable_variables", scope)
    },
    py_func = py_func
  )
}

tf_constant <- function(value, dtype, shape, name) {
  if (!is.null(shape)) {
    dims <- as.integer(unlist(shape))
    size <- max(prod(dims), 0)
    missing <- max(size - length(value), 0)
    if (length(value)) value <- c(value, rep(value[[length(value)]], missing))
    # R fills the first dimension first, TensorFlow the last one.
    value <- switch(min(length(dims), 2) + 1,
      as.vector(value),
      array(value, dims),
      aperm(array(value, rev(dims)), rev(seq_along(dims)))
    )
  }
  cpp_constant(value, if (!is.null(dtype)) dtype_name(dtype), name)
}

as_tensor <- function(x, dtype = NULL) {
  if (is_tensor(x)) return(x)
  if (is_variable(x)) return(cpp_variable_snapshot(x))
  cpp_constant(x, if (!is.null(dtype)) dtype_name(dtype), "initial_value")
}

# --- reductions and other operations whose arguments differ from the core's

math_symbols <- function() {
  reduction <- function(type) {
    force(type)
    function(input_tensor, axis = NULL, keepdims = FALSE, name = NULL) {
      axes <- if (is.null(axis)) seq_along(dim(input_tensor)) - 1L else as.integer(unlist(axis))
      # One axis is a vector of one, not a scalar.
      tf_op(
        type,
        input_tensor,
        array(as.integer(axes), length(axes)),
        attrs = list(keep_dims = keepdims),
        name = name
      )
    }
  }
  scan <- function(name) {
    arguments <- alist(x = , axis = 0, exclusive = FALSE, reverse = FALSE, name = NULL)
    core_function(name, arguments, scoped = TRUE)
  }
  truediv <- core_function("truediv", alist(x = , y = , name = NULL), scoped = TRUE)
  list(
    reduce_sum = reduction("Sum"), reduce_mean = reduction("Mean"), reduce_max = reduction("Max"),
    reduce_min = reduction("Min"), reduce_prod = reduction("Prod"), reduce_all = reduction("All"),
    reduce_any = reduction("Any"),
    matmul = core_function(
      "matmul",
      alist(
        a = , b = , transpose_a = FALSE, transpose_b = FALSE, adjoint_a = FALSE,
        adjoint_b = FALSE, a_is_sparse = FALSE, b_is_sparse = FALSE, name = NULL
      ),
      scoped = TRUE
    ),
    where = core_function(
      "where", alist(condition = , x = NULL, y = NULL, name = NULL), scoped = TRUE
    ),
    unstack = core_function(
      "unstack", alist(value = , num = NULL, axis = 0, name = "unstack"), scoped = TRUE
    ),
    transpose = core_function(
      "transpose", alist(a = , perm = NULL, name = "transpose"), scoped = TRUE
    ),
    cumsum = scan("cumsum"), cumprod = scan("cumprod"),
    expand_dims = function(input, axis = NULL, name = NULL) {
      tf_op("ExpandDims", input, as.integer(axis), name = name)
    },
    concat = function(values, axis, name = NULL) {
      cpp_op_create("ConcatV2", c(as.list(values), list(as.integer(axis))), list(), name)
    },
    truediv = truediv, divide = truediv,
    gradients = function(ys, xs, grad_ys = NULL, name = "gradients", ..., stop_gradients = NULL) {
      as_targets <- function(x) if (is_graph_element(x)) list(x) else as.list(x)
      cpp_gradients(as_targets(ys), as_targets(xs), name)
    }
  )
}

# --- tf$errors, tf$logging

error_symbols <- function() {
  make <- function(kind) {
    force(kind)
    function(node_def = NULL, op = NULL, message = "") {
      structure(
        class = c(error_classes(kind), "error", "condition"),
        list(message = message, call = NULL, node_def = node_def, op = op)
      )
    }
  }
  kinds <- c(
    CancelledError = "cancelled", UnknownError = "unknown",
    InvalidArgumentError = "invalid_argument", NotFoundError = "not_found",
    FailedPreconditionError = "failed_precondition", AbortedError = "aborted",
    OutOfRangeError = "out_of_range", UnavailableError = "unavailable", DataLossError = "data_loss"
  )
  setNames(lapply(kinds, make), paste0("errors.", names(kinds)))
}

logging_symbols <- function() {
  line <- function(level) {
    force(level)
    function(msg, ...) cpp_log(level, sprintf(msg, ...))
  }
  c(
    setNames(as.list(log_levels), paste0("logging.", names(log_levels))),
    list(
      logging.set_verbosity = function(v) invisible(cpp_log_verbosity(log_level(v))),
      logging.get_verbosity = function() cpp_log_verbosity(NULL),
      logging.debug = line(10L), logging.info = line(20L), logging.warn = line(30L),
      logging.warning = line(30L), logging.error = line(40L)
    )
  )
}

# --- tf$train

train_symbols <- function() {
  symbols <- c(
    optimizer_constructors,
    monitored_symbols(),
    decay_symbols(),
    list(
      get_global_step = function(graph = NULL) cpp_global_step(graph, FALSE),
      create_global_step = function(graph = NULL) cpp_global_step(graph, TRUE),
      get_or_create_global_step = function(graph = NULL) cpp_global_step(graph, TRUE),
      latest_checkpoint = latest_checkpoint,
      Saver = train_saver,
      SessionRunHook = session_run_hook,
      SessionRunArgs = function(fetches, feed_dict = NULL, options = NULL) {
        cpp_session_run_args(fetches, feed_dict, options)
      },
      LoggingTensorHook = hook_logging_tensor, StopAtStepHook = hook_stop_at_step,
      CheckpointSaverHook = hook_checkpoint_saver, StepCounterHook = hook_step_counter,
      NanTensorHook = hook_nan_tensor, GlobalStepWaiterHook = hook_global_step_waiter,
      FinalOpsHook = hook_final_ops, FeedFnHook = hook_feed_fn,
      SummarySaverHook = hook_summary_saver, ProfilerHook = hook_profiler,
      CheckpointSaverListener = checkpoint_saver_listener
    )
  )
  setNames(symbols, paste0("train.", names(symbols)))
}
