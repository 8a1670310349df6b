# Scopes, placeholders and variables in `tf`.

scope_symbols <- function() {
  list(
    name_scope = function(name, default_name = NULL, values = NULL) {
      name_scope(name, default_name, values)
    },
    variable_scope = variable_scope,
    AUTO_REUSE = structure("auto", class = "runhooks_reuse"),
    control_dependencies = function(control_inputs) control_dependencies(control_inputs),
    reset_default_graph = function() invisible(cpp_graph_reset_default()),
    group = function(..., name = "group_deps") {
      cpp_graph_group(flat_list(...), if (is.null(name)) "group_deps" else name)
    }
  )
}

flat_list <- function(...) {
  flatten <- function(x, depth) {
    if (!is.list(x)) return(list(x))
    check_nesting(depth)
    do.call(c, lapply(x, flatten, depth + 1L))
  }
  as.list(flatten(list(...), 1L))
}

state_symbols <- function() {
  c(
    list(
      Variable = new_reference_variable, get_variable = get_variable,
      convert_to_tensor = function(value, dtype = NULL, name = NULL, preferred_dtype = NULL,
                                   dtype_hint = NULL) {
        if (!is.null(dtype_hint)) preferred_dtype <- dtype_hint
        convert_to_tensor(value, dtype, name, preferred_dtype)
      }
    ),
    assign_symbols(), initializer_symbols()
  )
}

# Converts a value to a tensor. Raises an error if the value cannot have the data type `dtype`. If
# the value cannot have `preferred_dtype`, it keeps its own type.
convert_to_tensor <- function(value, dtype, name, preferred_dtype, call = parent.frame()) {
  dtype <- as_dtype(dtype)
  if (inherits(value, "tensorflow.indexed_slices")) value <- cpp_dense_gradient(value)
  if (is_variable(value)) value <- cpp_variable_snapshot(value)
  if (is_tensor(value)) {
    if (!is.null(dtype) && value$dtype != dtype) {
      abort_runhooks(
        "Tensor conversion requested dtype {dtype_name(dtype)} for a tensor of dtype
         {value$dtype$name}.",
        call = call
      )
    }
    return(value)
  }
  name <- if (is.null(name)) "Const" else name
  constant <- function(type) cpp_constant(value, if (!is.null(type)) dtype_name(type), name)
  if (!is.null(dtype) || is.null(preferred_dtype)) return(constant(dtype))
  tryCatch(
    constant(preferred_dtype),
    runhooks_error_invalid_argument = function(condition) constant(NULL)
  )
}

variable_collections <- function(collections, call = parent.frame()) {
  collections_or(collections, "variables", call = call)
}

new_reference_variable <- function(initial_value = NULL, trainable = NULL, collections = NULL,
                                   validate_shape = TRUE, caching_device = NULL, name = NULL,
                                   variable_def = NULL, dtype = NULL, expected_shape = NULL,
                                   import_scope = NULL, constraint = NULL, use_resource = NULL,
                                   synchronization = "auto", aggregation = "none", shape = NULL) {
  abort_unsupported_arguments(
    validate_shape, caching_device, variable_def, expected_shape, import_scope, synchronization,
    aggregation
  )
  trainable <- if (is.null(trainable)) TRUE else trainable
  check_flag(trainable)
  check_string(name, null = TRUE)
  check_function(constraint, null = TRUE)
  if (!is.null(use_resource)) check_flag(use_resource)
  if (is.null(initial_value)) abort_runhooks("{.arg initial_value} must be specified.")
  dtype <- as_dtype(dtype)
  if (is.function(initial_value)) initial_value <- initial_value()
  value <- as_tensor(initial_value, dtype)
  if (!is.null(dtype) && value$dtype != dtype) value <- tf$cast(value, dtype)
  if (!is.null(shape) && !identical(as.numeric(unlist(dim(value))), as_dims(shape))) {
    abort_runhooks("The initial value has shape {value$shape$text}, not {.arg shape}.")
  }
  cpp_variable_new(
    value, if (is.null(name)) "Variable" else name, trainable, variable_collections(collections),
    list(constraint = constraint, use_resource = use_resource)
  )
}

get_variable <- function(name, shape = NULL, dtype = NULL, initializer = NULL, regularizer = NULL,
                         trainable = NULL, collections = NULL, caching_device = NULL,
                         partitioner = NULL, validate_shape = TRUE, use_resource = NULL,
                         custom_getter = NULL, constraint = NULL, synchronization = "auto",
                         aggregation = "none") {
  abort_unsupported_arguments(
    caching_device, partitioner, validate_shape, synchronization, aggregation
  )
  check_string(name)
  check_function(custom_getter, null = TRUE)
  trainable <- if (is.null(trainable)) TRUE else trainable
  check_flag(trainable)
  check_function(regularizer, null = TRUE)
  check_function(constraint, null = TRUE)
  if (!is.null(use_resource)) check_flag(use_resource)
  arguments <- list(
    shape = shape, dtype = dtype, initializer = initializer, regularizer = regularizer,
    trainable = trainable, collections = collections, use_resource = use_resource,
    constraint = constraint
  )
  getter <- cpp_scope_getter()
  if (!is.null(custom_getter)) getter <- compose_getters(custom_getter, NULL)
  if (is.null(getter)) return(make_variable(name, arguments, is_full = FALSE))
  scope <- cpp_variable_scope()$name
  do.call(getter, c(list(if (nzchar(scope)) paste0(scope, "/", name) else name), arguments))
}

# Creates a variable, or returns the existing one if the variable scope reuses variables.
make_variable <- function(name, arguments, is_full, call = parent.frame()) {
  a <- arguments
  initializer <- variable_initializer(name, a$shape, a$dtype, a$initializer, call)
  options <- list(
    regularizer = a$regularizer, constraint = a$constraint, use_resource = a$use_resource,
    is_full = is_full
  )
  cpp_variable_get(
    name, a$shape, a$dtype, initializer, a$trainable, variable_collections(a$collections), options
  )
}

# --- custom getters: tf$variable_scope(custom_getter = function(getter, name, ...) ...)

# The function that a custom getter receives as `getter`: it creates the variable. Arguments that it
# does not support must have their defaults.
default_variable_getter <- function(name, shape = NULL, dtype = NULL, initializer = NULL,
                            regularizer = NULL, reuse = NULL, trainable = TRUE,
                            collections = NULL, caching_device = NULL, partitioner = NULL,
                            validate_shape = TRUE, use_resource = NULL, custom_getter = NULL,
                            constraint = NULL, synchronization = "auto", aggregation = "none") {
  abort_unsupported_arguments(
    reuse, caching_device, partitioner, validate_shape, custom_getter, synchronization, aggregation
  )
  check_string(name)
  arguments <- list(
    shape = shape, dtype = dtype, initializer = initializer, regularizer = regularizer,
    trainable = if (is.null(trainable)) TRUE else trainable, collections = collections,
    use_resource = use_resource, constraint = constraint
  )
  make_variable(name, arguments, is_full = TRUE)
}

# Calls a custom getter for a variable of a layer that the C++ core builds. The core creates
# `options` and calls this function. lint: allow caller
call_custom_getter <- function(getter, name, shape, dtype, options, trainable, collections) {
  option_names <- cpp_variable_option_names(options)
  core_option <- function(option) {
    if (!option %in% option_names) return(NULL)
    if (option != "initializer") {
      return(function(x) cpp_variable_option_call(options, option, x, NULL))
    }
    function(shape, dtype = NULL) cpp_variable_option_call(options, option, shape, dtype)
  }
  variable <- getter(
    name,
    shape = as.list(shape), dtype = tf_dtype(dtype), initializer = core_option("initializer"),
    regularizer = core_option("regularizer"), trainable = trainable, collections = collections,
    use_resource = NULL, constraint = core_option("constraint")
  )
  if (is_variable(variable) || is_tensor(variable)) return(variable)
  abort_runhooks(
    "{.arg custom_getter} must return a variable or tensor for {.val {name}}, not
     {describe_type(variable)}.",
    call = user_frame()
  )
}

variable_initializer <- function(name, shape, dtype, initializer, call = parent.frame()) {
  if (inherits(initializer, "runhooks_initializer_class")) initializer <- initializer()
  if (is.numeric(initializer) || is.character(initializer) || is.logical(initializer)) {
    return(as_tensor(initializer, dtype))
  }
  if (is_variable(initializer)) return(cpp_variable_snapshot(initializer))
  if (!is.null(shape) && is_tensor(initializer)) {
    abort_runhooks("If initializer is a constant, do not specify shape.", call = call)
  }
  initializer
}

assign_symbols <- function() {
  assigner <- function(type) {
    force(type)
    # `use_locking` has no effect, because updates of a variable never overlap
    function(ref, value, use_locking = NULL, name = NULL) variable_assign(type, ref, value, name)
  }
  list(
    assign = function(ref, value, validate_shape = NULL, use_locking = NULL, name = NULL) {
      if (isFALSE(validate_shape)) {
        abort_runhooks(
          "Unused argument: {.arg validate_shape} must be TRUE: variables keep their shape.",
          kind = "unimplemented"
        )
      }
      variable_assign("Assign", ref, value, name)
    },
    assign_add = assigner("AssignAdd"), assign_sub = assigner("AssignSub")
  )
}

# Assigns to a variable. Returns the tensor with the new value, as TensorFlow 1.x does for reference
# variables.
variable_assign <- function(type, ref, value, name = NULL) {
  is_reference <- !is_variable(ref) || cpp_element_info(ref)$is_ref
  if (is_reference) return(tf_op(type, ref, value, name = name))
  change <- cpp_op_create(paste0(type, "VariableOp"), list(ref, value), list(), name)
  with(control_dependencies(change), cpp_variable_read(ref))
}
