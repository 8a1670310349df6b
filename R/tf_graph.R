# Collections of variables, initializers and files in `tf`.

graph_more_symbols <- function() {
  collection <- function(name) {
    force(name)
    function(scope = NULL) cpp_graph_default()$get_collection(name, scope)
  }
  initialize <- function(var_list, name = "init") {
    cpp_graph_group(lapply(as_targets(var_list), cpp_variable_initializer), name)
  }
  list(
    local_variables = collection("local_variables"),
    model_variables = collection("model_variables"),
    moving_average_variables = collection("moving_average_variables"),
    get_collection_ref = function(key) cpp_graph_default()$get_collection(key, NULL),
    variables_initializer = initialize,
    initializers.variables = initialize,
    initialize_all_variables = function() cpp_variables_initializer("variables"),
    tables_initializer = function(name = "init_all_tables") {
      cpp_graph_group(cpp_graph_default()$get_collection("table_initializer", NULL), name)
    },
    device = function(device_name_or_function) {
      check_string(device_name_or_function, null = TRUE)
      new_context_manager(function() NULL, function(condition) NULL)
    },
    tuple = function(tensors, name = NULL, control_inputs = NULL) {
      given <- Filter(Negate(is.null), c(as_targets(tensors), as_targets(control_inputs)))
      with(control_dependencies(given), {
        lapply(as_targets(tensors), function(x) if (!is.null(x)) tf$identity(x))
      })
    },
    hessians = function(ys, xs, name = "hessians", colocate_gradients_with_ops = FALSE,
                        gate_gradients = FALSE, aggregation_method = NULL) {
      abort_unsupported_arguments(colocate_gradients_with_ops, gate_gradients, aggregation_method)
      lapply(as_targets(xs), function(x) with(name_scope(name), hessian(ys, x)))
    },
    strided_slice = call_strided_slice,
    newaxis = new_axis,
    r_func = py_func,
    python.framework.constant_op.constant = function(value, dtype = NULL, shape = NULL,
                                                     name = "Const", verify_shape = FALSE) {
      tf$constant(value, dtype, shape, name, verify_shape)
    }
  )
}

hessian <- function(ys, x, call = parent.frame()) {
  dims <- dim(x)
  if (is.null(dims) || is.list(dims)) {
    abort_runhooks("The Hessian needs a variable or tensor of known shape.", call = call)
  }
  slope <- tf$reshape(tf$gradients(ys, x)[[1]], -1L)
  rows <- lapply(seq_len(prod(dims)), function(i) {
    tf$gradients(slope[i], x, unconnected_gradients = "zero")[[1]]
  })
  tf$reshape(tf$stack(rows), as.integer(c(dims, dims)))
}
