# The object `tf`, which has TensorFlow's functions as nested members. Functions of the core have
# the signatures that the core registers. The other R/tf_*.R files add functions that are written in
# R.

#' Use TensorFlow's names
#'
#' `tf` gives access to data types (`tf$float32`), operations (`tf$sqrt(x)`), optimizers
#' (`tf$train$AdamOptimizer()`), hooks (`tf$train$StopAtStepHook()`), errors
#' (`tf$errors$AbortedError()`) and logging (`tf$logging$set_verbosity()`) by the names that
#' TensorFlow uses. `names(tf$train)` lists the members of a module. [tf_symbols] lists all
#' functions with their arguments.
#'
#' Arguments have the names, positions and defaults of TensorFlow 1.15. A value that this package
#' does not support is an error ("Unused argument"); it is never ignored.
#'
#' @format An object with members.
#' @section Errors:
#'   * `runhooks_error_not_found`: the member does not exist.
#'   * `runhooks_error_invalid_argument`, while the graph is built: data types, shapes or values do
#'     not match. The message names the operation and the argument.
#'   * Errors with TensorFlow's codes, when a session runs the operation: for example
#'     `runhooks_error_out_of_range` at the end of data, or `runhooks_error_failed_precondition` for
#'     a variable without a value.
#' @export
#' @examples
#' tf$float32
#' names(tf$train)
#' with(tf$Graph()$as_default(), tf$sqrt(tf$constant(c(1, 4))))
tf <- structure(list(path = ""), class = "runhooks_tf_module")

#' @export
`$.runhooks_tf_module` <- function(x, name) {
  path <- unclass(x)$path
  # look data types up first: argument defaults use them before the table of all members exists
  if (path == "" && name %in% dtype_names) return(tf_dtype(name))
  full_name <- paste0(path, name)
  symbol <- tf_symbol(full_name)
  has_members <- any(startsWith(tf_names(), paste0(full_name, ".")))
  module <- structure(list(path = paste0(full_name, ".")), class = "runhooks_tf_module")
  if (is.function(symbol) && has_members) {
    return(structure(symbol, class = "runhooks_tf_class", module = module))
  }
  if (!is.null(symbol)) return(symbol)
  if (has_members) return(module)
  abort_no_symbol(full_name, path)
}

abort_no_symbol <- function(full_name, path, call = parent.frame()) {
  name <- substring(full_name, nchar(path) + 1)
  to_r_syntax <- function(names) gsub(".", "$", names, fixed = TRUE)
  same_names <- tf_names()[sub(".*[.]", "", tf_names()) == name]
  members <- names(structure(list(path = path), class = "runhooks_tf_module"))
  similar <- cpp_closest_matches(name, members)
  suggestions <- c(same_names, if (length(similar)) paste0(path, similar))
  suggestions <- suggestions[!grepl("^(python|raw_ops)[.]", suggestions)]
  suggestions <- utils::head(paste0("tf$", to_r_syntax(suggestions)), 4) # nolint: used by cli
  module_path <- if (nzchar(path)) paste0("$", sub("[$]$", "", to_r_syntax(path)))
  module <- paste0("names(tf", module_path, ")") # nolint: used by cli
  abort_runhooks(
    c(
      "{.code tf${to_r_syntax(full_name)}} is not available.",
      i = if (length(same_names) || length(similar)) "Did you mean {.code {suggestions}}?",
      i = advice_for_absent(full_name),
      i = "{.code {module}} lists all members."
    ),
    kind = "not_found", call = call
  )
}

#' @export
`[[.runhooks_tf_module` <- function(x, i) {
  check_string(i)
  do.call(`$`, list(x, i))
}

#' @export
`$.runhooks_tf_class` <- function(x, name) do.call(`$`, list(attr(x, "module"), name))

#' @export
names.runhooks_tf_module <- function(x) {
  path <- unclass(x)$path
  members <- tf_names()[startsWith(tf_names(), path)]
  sort_bytewise(unique(sub("\\..*$", "", substring(members, nchar(path) + 1))))
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

# --- the table of all members by full name ("train.AdamOptimizer"), built once

# The table has these elements:
# `own`: members that are written in R.
# `arguments`: the signatures of the C++ core's functions.
# `made`: R functions that call the C++ core, which are created when they are first used.
# `aliases`: other names of members.
tf_table <- function() {
  if (is.null(the$tf_table)) {
    core <- cpp_tf_symbols()
    own <- tf_own_symbols()
    own <- c(own, alias_symbols(own))
    arguments <- setNames(core$arguments, core$name)
    names <- unique(c(names(own), names(arguments)))
    aliases <- alias_names(names)
    the$tf_table <- list(
      own = list2env(own), arguments = arguments, made = new.env(parent = emptyenv()),
      aliases = aliases, names = c(names, names(aliases))
    )
  }
  the$tf_table
}

tf_names <- function() tf_table()$names

tf_symbol <- function(name) {
  table <- tf_table()
  if (name %in% names(table$aliases)) name <- table$aliases[[name]]
  own <- table$own[[name]]
  if (!is.null(own)) return(own)
  if (is.null(table$made[[name]]) && name %in% names(table$arguments)) {
    table$made[[name]] <- core_function(name, table$arguments[[name]])
  }
  table$made[[name]]
}

tf_own_symbols <- function() {
  symbol_lists <- list(
    dtype_symbols(), graph_symbols(), error_symbols(), logging_symbols(), train_symbols(),
    gradient_symbols(), summary_symbols(), scope_symbols(), state_symbols(), loss_symbols(),
    random_symbols(), partitioner_symbols(), layer_symbols(), session_symbols(),
    sparse_symbols(), column_symbols(), parsing_symbols(), input_symbols(), version_symbols(),
    data_symbols(), export_symbols(), serving_receiver_members(), contrib_symbols(),
    graph_utility_symbols(), math_symbols(), image_symbols(), layer_class_symbols(),
    contrib_layer_symbols(), train_utility_symbols(), variable_symbols(), unavailable_symbols(),
    train_and_evaluate_symbols(), control_symbols(), tensor_array_symbols(), separable_symbols(),
    graph_def_symbols(), example_symbols(), gfile_symbols(), script_symbols(),
    data_experimental_symbols()
  )
  with_argument_checks(do.call(c, symbol_lists))
}

core_function <- function(name, arguments) {
  # use `.name`, because `name` can be an argument of the function
  .name <- name
  f <- function() {
    cpp_tf_call(.name, mget(base::names(base::formals()), envir = base::environment()))
  }
  formals(f) <- signature_formals(arguments)
  f
}

version_symbols <- function() {
  list(
    VERSION = "1.15.5", GIT_VERSION = "runhooks", version.VERSION = "1.15.5",
    version.GIT_VERSION = "runhooks"
  )
}

dtype_names <- c(
  "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "string"
)

dtype_symbols <- function() {
  lapply(setNames(nm = dtype_names), tf_dtype)
}

#' @export
print.tensorflow.dtype <- function(x, ...) {
  cat("<dtype: '", unclass(x)$name, "'>\n", sep = "") # lint: allow stdout
  invisible(x)
}

#' @export
`$.tensorflow.dtype` <- function(x, name) get_member(x, name)

#' @export
Ops.tensorflow.dtype <- function(e1, e2) {
  get(.Generic)(dtype_name(e1), dtype_name(e2))
}

# --- graphs, constants, variables

graph_symbols <- function() {
  list(
    get_default_graph = function() with_checked_members(cpp_graph_default()),
    Graph = function() with_checked_members(cpp_graph_new()),
    get_collection = function(key, scope = NULL) cpp_graph_default()$get_collection(key, scope),
    add_to_collection = function(name, value) cpp_graph_default()$add_to_collection(name, value),
    constant = function(value, dtype = NULL, shape = NULL, name = "Const", verify_shape = FALSE) {
      check_flag(verify_shape)
      if (verify_shape && !is.null(shape) && length(value) != prod(unlist(shape))) {
        abort_runhooks(
          "Expected tensor's shape ({toString(unlist(shape))}), got {length(value)} value{?s}."
        )
      }
      tf_constant(value, dtype, shape, name)
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
  if (is_tensor(value) || is_variable(value)) {
    abort_runhooks(
      c(
        "{.fn tf$constant} needs values, not a tensor.",
        i = "Use {.fn tf$identity} or {.fn tf$convert_to_tensor} for tensors."
      ),
      call = parent.frame()
    )
  }
  if (is.list(value) && !is.object(value)) value <- list_as_input(value)
  if (!is.null(shape) && is.object(value) && cpp_has_encoded_numbers(value)) {
    abort_runhooks(
      c(
        "With {.arg shape}, {.arg value} must be plain numbers, not {describe_type(value)}.",
        i = "Convert it, for example with {.fn as.numeric}."
      ), call = parent.frame()
    )
  }
  is_plain <- is.double(value) && (is.null(dim(value)) || !is.null(attr(value, "is_plain")))
  # cpp_constant() rejects empty values
  if (!is.null(shape) && (is_atomic(value) || is.object(value))) {
    dims <- as_dims(shape)
    if (anyNA(dims) || any(dims < 0 | dims > .Machine$integer.max)) {
      abort_runhooks("{.arg shape} of a constant must be whole numbers from 0 to 2^31 - 1, not
        {describe(shape)}.", call = parent.frame())
    }
    # `value` becomes a vector in TensorFlow's order, in which the last index changes fastest
    rows_first <- function(x) if (length(dim(x)) > 1) as.vector(aperm(x)) else as.vector(x)
    value <- rows_first(value)
    size <- max(prod(dims), 0)
    if (length(value) > size) {
      abort_runhooks("Too many elements provided. Needed at most {size}, but received
        {length(value)}.", call = parent.frame())
    }
    if (length(value)) value <- c(value, rep(value[[length(value)]], size - length(value)))
    value <- if (length(dims)) aperm(array(value, rev(dims)), rev(seq_along(dims))) else value
    if (is_plain) attr(value, "is_plain") <- TRUE
  }
  cpp_constant(value, if (!is.null(dtype)) dtype_name(dtype), name)
}

gradient_symbols <- function() {
  list(
    gradients = function(ys, xs, grad_ys = NULL, name = "gradients",
                         colocate_gradients_with_ops = FALSE, gate_gradients = FALSE,
                         aggregation_method = NULL, stop_gradients = NULL,
                         unconnected_gradients = "none") {
      abort_unsupported_arguments(colocate_gradients_with_ops, gate_gradients, aggregation_method)
      ys <- as_tensor_list(ys)
      xs <- as_tensor_list(xs)
      grads <- cpp_gradients(
        ys, xs, initial_gradients(ys, grad_ys), as_tensor_list(stop_gradients), name
      )
      if (identical(unconnected_gradients, "zero")) return(Map(gradient_or_zeros, grads, xs))
      if (!identical(unconnected_gradients, "none")) {
        abort_runhooks("{.arg unconnected_gradients} must be \"none\" or \"zero\".")
      }
      grads
    }
  )
}

as_tensor_list <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  if (is_graph_element(x) || is_sparse(x)) return(list(x))
  check_arg(is.list(x) || is_atomic(x), x, "a tensor or a list of tensors", arg, call)
  as.list(x)
}

# Returns the gradients with respect to `ys`, from which backpropagation starts. NULL in `grad_ys`
# stands for ones.
initial_gradients <- function(ys, grad_ys, call = parent.frame()) {
  if (is.null(grad_ys)) return(list())
  grad_ys <- if (is_graph_element(grad_ys) || !is.list(grad_ys)) list(grad_ys) else grad_ys
  if (length(grad_ys) != length(ys)) {
    abort_runhooks(
      "{.arg grad_ys} must have {length(ys)} element{?s}, as {.arg ys} has, not {length(grad_ys)}.",
      call = call
    )
  }
  initial_gradient <- function(y, grad) {
    check_arg(is_graph_element(y), y, "a tensor or a list of tensors", "ys", call)
    if (is.null(grad)) tf$ones_like(y) else as_tensor(grad, y$dtype)
  }
  Map(initial_gradient, ys, grad_ys)
}

gradient_or_zeros <- function(grad, x) if (is.null(grad)) tf$zeros_like(x) else grad

# --- tf$errors, tf$logging

error_symbols <- function() {
  error_constructor <- function(kind) {
    force(kind)
    function(node_def = NULL, op = NULL, message = "") {
      check_string(message)
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
    OutOfRangeError = "out_of_range", UnavailableError = "unavailable", DataLossError = "data_loss",
    AlreadyExistsError = "already_exists", DeadlineExceededError = "deadline_exceeded",
    InternalError = "internal", PermissionDeniedError = "permission_denied",
    ResourceExhaustedError = "resource_exhausted", UnauthenticatedError = "unauthenticated",
    UnimplementedError = "unimplemented"
  )
  constructors <- lapply(kinds, error_constructor)
  formals(constructors$UnknownError)$error_code <- 2
  setNames(constructors, paste0("errors.", names(kinds)))
}

logging_symbols <- function() {
  log_at <- function(level) {
    force(level)
    # logs a line; at the level WARN, too, this is not an R warning
    function(msg, ...) {
      text <- log_text(msg, ...)
      if (level >= cpp_log_verbosity(NULL)) show_line(level, text)
    }
  }
  c(
    setNames(as.list(log_levels), paste0("logging.", names(log_levels))),
    list(
      logging.set_verbosity = function(v) invisible(cpp_log_verbosity(log_level(v))),
      logging.get_verbosity = function() cpp_log_verbosity(NULL),
      logging.debug = log_at(10L), logging.info = log_at(20L), logging.warn = log_at(30L),
      logging.warning = log_at(30L), logging.error = log_at(40L), logging.fatal = log_at(50L),
      logging.log = function(level, msg, ...) log_at(log_level(level))(msg, ...),
      # does the same as logging.log, as in TensorFlow
      logging.vlog = function(level, msg, ...) log_at(log_level(level))(msg, ...)
    )
  )
}

# Formats a message with Python's format codes, such as "%d". Without values, returns it unchanged.
log_text <- function(msg, ..., call = parent.frame()) {
  if (is_atomic(msg) && length(msg) == 1 && !is.character(msg)) msg <- format(msg)
  check_string(msg, call = call)
  if (...length() == 0) return(msg)
  tryCatch(
    sprintf(msg, ...),
    error = function(error) {
      abort_runhooks(
        c(
          "The values after {.arg msg} do not match its format {encodeString(msg, quote = '\"')}.",
          x = gsub("([{}])", "\\1\\1", conditionMessage(error))
        ),
        call = call
      )
    }
  )
}

# --- tf$train

train_symbols <- function() {
  symbols <- c(
    monitored_symbols(),
    list(
      get_global_step = function(graph = NULL) cpp_global_step(graph, FALSE),
      create_global_step = function(graph = NULL) cpp_global_step(graph, TRUE),
      get_or_create_global_step = function(graph = NULL) cpp_global_step(graph, TRUE),
      latest_checkpoint = function(checkpoint_dir, latest_filename = NULL) {
        latest_checkpoint(checkpoint_dir, latest_filename)
      },
      Saver = train_saver,
      SessionRunHook = session_run_hook,
      SessionRunArgs = function(fetches, feed_dict = NULL, options = NULL) {
        cpp_session_run_args(fetches, feed_dict, options)
      },
      SessionRunContext = function(original_args, session) {
        list(original_args = original_args, session = session)
      },
      SessionRunValues = function(results, options = NULL, run_metadata = NULL) {
        list(results = results, options = options, run_metadata = run_metadata)
      },
      NanLossDuringTrainingError = function(message = "NaN loss during training.") {
        structure(
          class = c(error_classes("nan_loss"), "error", "condition"),
          list(message = message, call = NULL)
        )
      },
      LoggingTensorHook = function(tensors, every_n_iter = NULL, every_n_secs = NULL,
                                   at_end = FALSE, formatter = NULL) {
        hook_logging_tensor(tensors, every_n_iter, every_n_secs, formatter, at_end)
      },
      CheckpointSaverListener = checkpoint_saver_listener
    )
  )
  c(
    setNames(symbols, paste0("train.", names(symbols))), optimizer_symbols(),
    registered_tf_members("hook")
  )
}
