# tf$py_func(): operations that call an R function.

py_func <- function(func, inp, Tout, stateful = TRUE, name = NULL) { # nolint
  check_function(func)
  check_flag(stateful)
  check_string(name, null = TRUE)
  inputs <- if (is_graph_element(inp) || !is.list(inp)) list(inp) else inp
  if (!takes_arguments(func, length(inputs))) {
    abort_runhooks("{.arg func} must be a function of {length(inputs)} argument{?s}.")
  }
  is_one <- is.character(Tout) && length(Tout) == 1 || inherits(Tout, "tensorflow.dtype")
  is_types <- is_one || is.character(Tout) || is.list(Tout) && !is.object(Tout)
  check_arg(is_types, Tout, "a type or a list of types", "Tout", environment())
  types <- vapply(if (is_one) list(Tout) else as.list(Tout), dtype_name, "")
  outputs <- cpp_py_func(
    func, lapply(inputs, as_tensor), types, stateful, if (is.null(name)) "PyFunc" else name
  )
  if (is_one) outputs[[1]] else outputs
}

# Calls the R function of an operation. Called by the core. Errors that control a loop, such as the
# end of the data, are returned as values. Other conditions are not caught, so that calling handlers
# see the call stack.
call_tensor_function <- function(f, arguments) {
  as_value <- function(condition) {
    kind <- control_error_kind(condition)
    # a subclass of a control condition does not control the loop
    if (is.null(kind)) stop(condition)
    structure(list(condition, kind), class = "runhooks_raised")
  }
  tryCatch(
    do.call(f, arguments, quote = TRUE),
    runhooks_error_out_of_range = as_value, runhooks_error_stop_iteration = as_value,
    runhooks_error_aborted = as_value, runhooks_error_unavailable = as_value
  )
}
