# What `tf` has for graphs that are written by hand: scopes, placeholders, variables.

scope_symbols <- function() {
  list(
    name_scope = function(name, default_name = NULL, values = NULL) {
      name_scope(name, default_name, values)
    },
    variable_scope = variable_scope,
    AUTO_REUSE = structure("auto", class = "runhooks_reuse"),
    control_dependencies = function(control_inputs) control_dependencies(control_inputs),
    reset_default_graph = function() invisible(cpp_graph_reset_default()),
    group = function(..., name = "group_deps") cpp_graph_group(flat_list(...), name),
    no_op = function(name = NULL) cpp_op_create("NoOp", list(), list(), name)
  )
}

# Arguments of tf.group(): elements and lists of them.
flat_list <- function(...) {
  flatten <- function(x) if (is.list(x)) do.call(c, lapply(x, flatten)) else list(x)
  as.list(flatten(list(...)))
}

# A shape as R gives it (NULL, c(), list() with NULLs, a tensor's shape) as numbers with NAs.
as_dims <- function(shape) {
  if (is.null(shape)) return(NULL)
  if (inherits(shape, "tensorflow.shape")) return(unclass(shape)$dims)
  number <- function(dim) {
    if (is.null(dim)) return(NA_real_)
    if (!is.numeric(dim) && !is.logical(dim)) {
      stop_runhooks(
        "A dimension of a shape must be a number or {.code NULL}, not {.obj_type_friendly {dim}}."
      )
    }
    as.numeric(dim)
  }
  as.numeric(vapply(shape, number, 0))
}

# --- placeholders and variables

state_symbols <- function() {
  c(
    list(
      placeholder = function(dtype, shape = NULL, name = NULL) {
        attrs <- list(dtype = dtype_name(dtype), shape = as_dims(shape))
        cpp_op_create("Placeholder", list(), attrs, name)
      },
      placeholder_with_default = function(input, shape, name = NULL) {
        attrs <- list(shape = as_dims(shape))
        cpp_op_create("PlaceholderWithDefault", list(as_tensor(input)), attrs, name)
      },
      Variable = function(initial_value, trainable = TRUE, collections = NULL,
                          validate_shape = TRUE, ..., name = "Variable", dtype = NULL) {
        value <- as_tensor(initial_value, dtype)
        cpp_variable_new(value, name, trainable, variable_collections(collections))
      },
      get_variable = get_variable,
      identity = function(input, name = NULL) tf_op("Identity", as_tensor(input), name = name),
      convert_to_tensor = function(value, dtype = NULL, name = NULL, preferred_dtype = NULL) {
        if (inherits(value, "tensorflow.indexed_slices")) return(cpp_dense_gradient(value))
        as_tensor(value, dtype)
      }
    ),
    assign_symbols(), initializer_symbols()
  )
}

variable_collections <- function(collections) {
  if (is.null(collections)) "variables" else as.character(unlist(collections))
}

get_variable <- function(name, shape = NULL, dtype = NULL, initializer = NULL, regularizer = NULL,
                         trainable = TRUE, collections = NULL, ...) {
  check_string(name)
  check_flag(trainable)
  type <- if (!is.null(dtype)) dtype_name(dtype)
  if (is.numeric(initializer) || is.character(initializer) || is.logical(initializer)) {
    initializer <- as_tensor(initializer, dtype)
  } else if (is_variable(initializer)) {
    initializer <- cpp_variable_snapshot(initializer)
  } else if (is.null(shape)) {
    if (is.function(initializer) || is.null(initializer)) {
      stop_runhooks(
        "Shape of a new variable ({name}) must be fully defined, but instead was <unknown>."
      )
    }
  } else if (is_tensor(initializer)) {
    stop_runhooks("If initializer is a constant, do not specify shape.")
  }
  initializer <- initializer_spec(initializer)
  cpp_variable_get(
    name, as_dims(shape), type, initializer, trainable, variable_collections(collections)
  )
}

assign_symbols <- function() {
  assigner <- function(type) {
    force(type)
    function(ref, value, use_locking = NULL, name = NULL) variable_assign(type, ref, value, name)
  }
  list(
    assign = function(ref, value, validate_shape = NULL, use_locking = NULL, name = NULL) {
      variable_assign("Assign", ref, value, name)
    },
    assign_add = assigner("AssignAdd"), assign_sub = assigner("AssignSub"),
    python.ops.state_ops.assign_add = assigner("AssignAdd"),
    python.ops.state_ops.assign_sub = assigner("AssignSub")
  )
}

# Of a reference variable the tensor after the change, as in TensorFlow 1.x.
variable_assign <- function(type, ref, value, name = NULL) {
  is_reference <- !is_variable(ref) || cpp_element_info(ref)$is_ref
  if (is_reference) return(tf_op(type, ref, value, name = name))
  change <- cpp_op_create(paste0(type, "VariableOp"), list(ref, value), list(), name)
  with(control_dependencies(change), cpp_variable_read(ref))
}
