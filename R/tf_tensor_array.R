# tf$TensorArray(): an array of tensors for loops, which is stored in a tensor list of the core.

tensor_array_symbols <- function() list(TensorArray = tensor_array)

# Creates a TensorArray. Reading an element does not clear it, as in TensorFlow 2, so it can be read
# again.
tensor_array <- function(dtype, size = NULL, dynamic_size = NULL, clear_after_read = NULL,
                         tensor_array_name = NULL, handle = NULL, flow = NULL, infer_shape = TRUE,
                         element_shape = NULL, colocate_with_first_write_call = TRUE,
                         name = NULL) {
  abort_unsupported_arguments(handle)
  if (!is.null(clear_after_read)) check_flag(clear_after_read)
  if (!is.null(dynamic_size)) check_flag(dynamic_size)
  check_flag(infer_shape)
  check_flag(colocate_with_first_write_call)
  check_string(tensor_array_name, null = TRUE)
  dtype <- as_dtype(dtype)
  if (is.null(flow) && is.null(size)) {
    abort_runhooks("Size must be provided if handle is not provided.", kind = "invalid_argument")
  }
  # the dimensions of an element. A write returns a new array that shares this environment
  element <- new.env(parent = emptyenv())
  element$dims <- if (is.null(element_shape)) NULL else as_dims(element_shape)
  element$has_dims <- !is.null(element$dims)
  if (is.null(flow)) {
    flow <- cpp_op_create(
      "TensorListReserve", list(list_shape(element$dims), as_tensor(size, "int32")),
      list(element_dtype = dtype_name(dtype)), if (is.null(name)) "TensorArray" else name
    )
  }
  structure(
    list(
      flow = flow, dtype = dtype, element = element, infers = infer_shape,
      is_dynamic = isTRUE(dynamic_size)
    ),
    class = "tensorflow.tensor_array"
  )
}

is_tensor_array <- function(x) inherits(x, "tensorflow.tensor_array")

with_flow <- function(array, flow) {
  fields <- unclass(array)
  fields$flow <- flow
  structure(fields, class = "tensorflow.tensor_array")
}

#' @export
`$.tensorflow.tensor_array` <- function(x, name) {
  if (name %in% c("flow", "dtype")) return(unclass(x)[[name]])
  method <- tensor_array_methods()[[name]]
  if (is.null(method)) abort_no_member(x, name)
  function(...) method(x, ...)
}

#' @export
print.tensorflow.tensor_array <- function(x, ...) {
  cat("<tf.TensorArray of ", dtype_name(x$dtype), ">\n", sep = "") # lint: allow stdout
  invisible(x)
}

tensor_array_methods <- function() {
  list(
    size = array_size, read = array_read, write = array_write, stack = array_stack,
    gather = array_gather, concat = array_concat, unstack = array_unstack, split = array_split,
    scatter = array_scatter, identity = function(x) with_flow(x, tf$identity(x$flow)),
    close = function(x, name = NULL) tf$no_op(name = name)
  )
}

# Records the dimensions of a written element, or checks that they are those of earlier elements.
record_element_dims <- function(array, dims, call = parent.frame()) {
  fields <- unclass(array)
  element <- fields$element
  if (!fields$infers) return(invisible())
  if (!element$has_dims) {
    element$dims <- dims
    element$has_dims <- !is.null(dims)
    return(invisible())
  }
  matches <- is.null(dims) || (length(dims) == length(element$dims) &&
    all(is.na(dims) | is.na(element$dims) | dims == element$dims))
  if (!matches) {
    abort_runhooks(
      "Inconsistent shapes: saw ({toString(dims)}) but expected ({toString(element$dims)}).",
      kind = "invalid_argument", call = call
    )
  }
}

element_dims <- function(array) unclass(array)$element$dims

# Converts a value to a tensor of the data type of the array. Raises an error for other types.
as_array_value <- function(array, value, call = parent.frame()) {
  value <- as_tensor(value, array$dtype)
  if (identical(value$dtype$name, dtype_name(array$dtype))) return(value)
  abort_runhooks(
    "TensorArray dtype is {dtype_name(array$dtype)} but the value written has dtype
     {value$dtype$name}.",
    kind = "invalid_argument", call = call
  )
}

tensor_list_op <- function(type, inputs, array, attrs = list(), name = NULL) {
  attrs <- c(list(element_dtype = dtype_name(array$dtype)), attrs)
  cpp_op_create(type, inputs, attrs, name)
}

with_dims <- function(x, dims) {
  if (!is.null(dims)) cpp_tensor_set_shape(x, as.double(dims))
  x
}

array_size <- function(x, name = NULL) {
  cpp_op_create("TensorListLength", list(x$flow), NULL, name)
}

array_read <- function(x, index, name = NULL) {
  inputs <- list(x$flow, as_tensor(index, "int32"), list_shape(element_dims(x)))
  with_dims(tensor_list_op("TensorListGetItem", inputs, x, name = name), element_dims(x))
}

array_write <- function(x, index, value, name = NULL) {
  value <- as_array_value(x, value)
  index <- as_tensor(index, "int32")
  record_element_dims(x, static_dims(value))
  flow <- x$flow
  if (unclass(x)$is_dynamic) {
    size <- tf$maximum(array_size(x), index + 1L)
    flow <- cpp_op_create("TensorListResize", list(flow, size), NULL, NULL)
  }
  with_flow(x, tensor_list_op("TensorListSetItem", list(flow, index, value), x, name = name))
}

array_stack <- function(x, name = NULL) {
  dims <- element_dims(x)
  stacked <- tensor_list_op("TensorListStack", list(x$flow, list_shape(dims)), x, name = name)
  if (is.null(dims)) stacked else with_dims(stacked, c(NA, dims))
}

array_unstack <- function(x, value, name = NULL) {
  value <- as_array_value(x, value)
  dims <- static_dims(value)
  record_element_dims(x, dims[-1])
  inputs <- list(value, list_shape(dims[-1]))
  with_flow(x, cpp_op_create("TensorListFromTensor", inputs, NULL, name))
}

# Adds a loop that replaces the state by `step(i, state)` for i = 0, ..., n - 1.
loop_over_indices <- function(n, state, step) {
  tf_while_loop(
    function(i, state) i < n, function(i, state) list(i + 1L, step(i, state)),
    list(tf$constant(0L), state)
  )[[2]]
}

array_gather <- function(x, indices, name = NULL) {
  indices <- as_tensor(indices, "int32")
  with(name_scope(name, "TensorArrayGather"), {
    tf_map_fn(function(i) array_read(x, i), indices, dtype = x$dtype)
  })
}

array_scatter <- function(x, indices, value, name = NULL) {
  indices <- as_tensor(indices, "int32")
  value <- as_array_value(x, value)
  record_element_dims(x, static_dims(value)[-1])
  with(name_scope(name, "TensorArrayScatter"), {
    loop_over_indices(tf$size(indices), x, function(i, array) {
      array_write(array, tf$gather(indices, i), tf$gather(value, i))
    })
  })
}

array_split <- function(x, value, lengths, name = NULL) {
  value <- as_array_value(x, value)
  lengths <- tf$cast(as_tensor(lengths), "int32")
  starts <- tf$cumsum(lengths, exclusive = TRUE)
  with(name_scope(name, "TensorArraySplit"), {
    loop_over_indices(tf$size(lengths), x, function(i, array) {
      rows <- tf$range(tf$gather(lengths, i)) + tf$gather(starts, i)
      array_write(array, i, tf$gather(value, rows))
    })
  })
}

array_concat <- function(x, name = NULL) {
  dims <- element_dims(x)
  with(name_scope(name, "TensorArrayConcat"), {
    first <- array_read(x, 0L)
    n <- array_size(x)
    rows <- tf_while_loop(
      function(i, rows) i < n,
      function(i, rows) list(i + 1L, tf$concat(list(rows, array_read(x, i)), 0L)),
      list(tf$constant(1L), first),
      shape_invariants = list(integer(), if (!is.null(dims)) c(NA, dims[-1]))
    )
    rows[[2]]
  })
}
