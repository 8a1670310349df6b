# Collections of variables, initializers, Hessians and tf$gfile.

graph_utility_symbols <- function() {
  collection <- function(name) {
    force(name)
    function(scope = NULL) cpp_graph_default()$get_collection(name, scope)
  }
  initialize <- function(var_list, name = "init") {
    cpp_graph_group(lapply(as_tensor_list(var_list), cpp_variable_initializer), name)
  }
  list(
    local_variables = collection("local_variables"),
    model_variables = collection("model_variables"),
    moving_average_variables = collection("moving_average_variables"),
    get_collection_ref = function(key) cpp_graph_default()$get_collection(key, NULL),
    variables_initializer = initialize,
    initializers.variables = initialize,
    tables_initializer = function(name = "init_all_tables") {
      cpp_graph_group(cpp_graph_default()$get_collection("table_initializer", NULL), name)
    },
    device = function(device_name_or_function) {
      check_string(device_name_or_function, null = TRUE)
      new_context_manager(function() NULL, function(condition) NULL)
    },
    tuple = function(tensors, name = NULL, control_inputs = NULL) {
      tensors <- as_tensor_list(tensors)
      dependencies <- Filter(Negate(is.null), c(tensors, as_tensor_list(control_inputs)))
      with(control_dependencies(dependencies), {
        lapply(tensors, function(x) if (!is.null(x)) tf$identity(x))
      })
    },
    hessians = function(ys, xs, name = "hessians", colocate_gradients_with_ops = FALSE,
                        gate_gradients = FALSE, aggregation_method = NULL) {
      abort_unsupported_arguments(colocate_gradients_with_ops, gate_gradients, aggregation_method)
      lapply(as_tensor_list(xs), function(x) with(name_scope(name), hessian(ys, x)))
    },
    strided_slice = call_strided_slice,
    newaxis = new_axis,
    r_func = py_func
  )
}

hessian <- function(ys, x, call = parent.frame()) {
  dims <- dim(x)
  if (is.null(dims) || is.list(dims)) {
    abort_runhooks("The Hessian needs a variable or tensor of known shape.", call = call)
  }
  gradient <- tf$reshape(tf$gradients(ys, x)[[1]], -1L)
  rows <- lapply(seq_len(prod(dims)), function(i) {
    tf$gradients(gradient[i], x, unconnected_gradients = "zero")[[1]]
  })
  tf$reshape(tf$stack(rows), as.integer(c(dims, dims)))
}
