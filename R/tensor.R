# R handles of tensors, operations and variables, which are elements of a graph of the core.

#' Tensors, operations and variables of a graph
#'
#' R represents tensors, operations and variables by handles. Two handles of the same element are
#' identical. Arithmetic, comparison, `%*%` and mathematical functions add operations to the graph.
#' A number in an operation takes the data type of the tensor.
#'
#' `$` returns TensorFlow's members:
#'
#' * of a tensor: `name`, `dtype`, `shape`, `op`, `graph`, `get_shape()`, `set_shape()`,
#'   `consumers()` and `eval()`;
#' * of an operation: `name`, `type`, `inputs`, `outputs`, `control_inputs`, `get_attr()`, `graph`
#'   and `run()`;
#' * of a variable: `value()`, `read_value()`, `initializer`, `assign()`, `assign_add()`,
#'   `assign_sub()`, `load()` and most members of a tensor.
#'
#' A tensor has no value while the graph is built. `if (x > 0)` is therefore an error. Use
#' `tf$cond()` or `tf$where()`, which evaluate the condition when the graph runs.
#'
#' @param x,e1,e2 A tensor, operation or variable; in arithmetic also a number.
#' @param name Name of a member.
#' @param ... Further arguments of the generic.
#' @return Arithmetic and functions return a tensor. `$` returns the member.
#' @section Errors:
#'   * `runhooks_error_not_found`: the member does not exist.
#'   * `runhooks_error_invalid_argument`: shapes or data types do not match, an index is out of
#'     bounds, tensors belong to different graphs, or a part of a tensor is assigned.
#' @name tensors
#' @examples
#' with(tf$Graph()$as_default(), {
#'   x <- tf$constant(c(1, 2, 3), name = "x")
#'   print(x)
#'   y <- sum(2 * x + 1)
#'   print(y$op$type)
#'   with(tf$Session() %as% sess, sess$run(y))
#' })
NULL

is_tensor <- function(x) inherits(x, "tensorflow.tensor")
is_variable <- function(x) inherits(x, "tensorflow.variable")
is_graph_element <- function(x) {
  inherits(x, c("tensorflow.tensor", "tensorflow.operation", "tensorflow.variable"))
}

# An alias of is_tensor() for scripts and tests of tfestimators. lint: allow caller
is.tensor <- function(object) is_tensor(object) # nolint

#' @rdname tensors
#' @export
`$.tensorflow.tensor` <- function(x, name) {
  switch(name,
    name = cpp_element_info(x)$name,
    dtype = tf_dtype(cpp_element_info(x)$dtype),
    shape = tensor_shape(x),
    get_shape = function() tensor_shape(x),
    op = cpp_element_operation(x),
    graph = cpp_element_graph(x),
    device = "",
    eval = function(feed_dict = NULL, session = NULL) {
      session_or_default(session)$run(x, feed_dict)
    },
    consumers = function() cpp_tensor_consumers(x),
    set_shape = function(shape) invisible(cpp_tensor_set_shape(x, as_dims(shape))),
    value_index = as.integer(sub(".*:", "", cpp_element_info(x)$name)),
    if (name %in% attr(x, "columns")) x[, name] else abort_no_member(x, name)
  )
}

#' @rdname tensors
#' @export
`$.tensorflow.operation` <- function(x, name) {
  switch(name,
    name = cpp_element_info(x)$name,
    type = cpp_element_info(x)$type,
    outputs = cpp_operation_outputs(x),
    inputs = cpp_operation_inputs(x),
    control_inputs = cpp_operation_control_inputs(x),
    get_attr = function(name) cpp_operation_attr(x, name),
    values = function() cpp_operation_outputs(x),
    run = function(feed_dict = NULL, session = NULL) {
      session_or_default(session)$run(x, feed_dict)
    },
    graph = cpp_element_graph(x),
    device = "",
    abort_no_member(x, name)
  )
}

initialized_value <- function(x) {
  tf_cond(
    tf$is_variable_initialized(x), function() cpp_variable_read(x),
    function() cpp_variable_initial_value(x)
  )
}

# Sets the value of a variable. For an R value, it runs the variable's initializer with this value
# as input instead of adding an assignment, because the graph may be finalized.
load_variable_value <- function(x, value, session, call = parent.frame()) {
  session <- session_or_default(session, call)
  if (is_tensor(value) || is_variable(value)) {
    session$run(variable_assign("Assign", x, value))
  } else {
    initializer <- cpp_variable_initializer(x)
    feed <- structure(list(value), keys = cpp_operation_inputs(initializer)[2])
    session$run(initializer, feed)
  }
  invisible()
}

#' @rdname tensors
#' @export
`$.tensorflow.variable` <- function(x, name) {
  switch(name,
    name = cpp_element_info(x)$name,
    dtype = tf_dtype(cpp_element_info(x)$dtype),
    shape = tensor_shape(x),
    get_shape = function() tensor_shape(x),
    op = cpp_element_operation(x),
    graph = cpp_element_graph(x),
    value = function() cpp_variable_snapshot(x),
    read_value = function() cpp_variable_read(x),
    eval = function(session = NULL) session_or_default(session)$run(x),
    initializer = cpp_variable_initializer(x),
    initial_value = cpp_variable_initial_value(x),
    initialized_value = function() initialized_value(x),
    trainable = any(vapply(
      cpp_element_graph(x)$get_collection("trainable_variables"), identical, NA, x
    )),
    device = "",
    scatter_add = function(sparse_delta, use_locking = FALSE, name = NULL) {
      scatter_rows(x, "Add", sparse_delta, name)
    },
    scatter_sub = function(sparse_delta, use_locking = FALSE, name = NULL) {
      scatter_rows(x, "Sub", sparse_delta, name)
    },
    scatter_update = function(sparse_delta, use_locking = FALSE, name = NULL) {
      scatter_rows(x, "Update", sparse_delta, name)
    },
    load = function(value, session = NULL) load_variable_value(x, value, session),
    assign = function(value, use_locking = FALSE) variable_assign("Assign", x, value),
    assign_add = function(delta, use_locking = FALSE) variable_assign("AssignAdd", x, delta),
    assign_sub = function(delta, use_locking = FALSE) variable_assign("AssignSub", x, delta),
    abort_no_member(x, name)
  )
}

# Returns dimensions as an integer vector, because reticulate converts a Python list of numbers to a
# vector. If a dimension is unknown, returns a list in which it is NULL.
dims_as_list <- function(dims) {
  if (is.null(dims)) return(list())
  if (!anyNA(dims)) return(as.integer(dims))
  lapply(dims, function(d) if (!is.na(d)) as.integer(d))
}

# Returns the shape of a tensor, with TensorFlow's members. An unknown dimension is NULL in
# as_list() and NA in `dims`.
tensor_shape <- function(x) {
  info <- cpp_element_info(x)
  structure(
    list(
      dims = info$dims, ndims = if (!is.null(info$dims)) length(info$dims),
      as_list = function() dims_as_list(info$dims),
      text = info$shape,
      num_elements = function() if (!is.null(info$dims) && !anyNA(info$dims)) prod(info$dims),
      is_fully_defined = function() !is.null(info$dims) && !anyNA(info$dims)
    ),
    class = "tensorflow.shape"
  )
}

#' @export
print.tensorflow.shape <- function(x, ...) {
  cat(x$text, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

#' @export
`[[.tensorflow.shape` <- function(x, i) {
  dim <- unclass(x)$dims[[i]]
  if (is.na(dim)) NULL else as.integer(dim)
}

# Returns the selected dimensions; unknown ones are NULL.
#' @export
`[.tensorflow.shape` <- function(x, i) dims_as_list(unclass(x)$dims[i])

#' @export
`$.tensorflow.shape` <- function(x, name) get_member(x, name)

#' @export
Ops.tensorflow.shape <- function(e1, e2) {
  if (!.Generic %in% c("==", "!=")) {
    abort_runhooks("{.code {(.Generic)}} is not defined for shapes.", kind = "unimplemented")
  }
  (.Generic == "==") == identical(as_dims(e1), as_dims(e2))
}

#' @export
length.tensorflow.shape <- function(x) length(unclass(x)$dims)

#' @export
format.tensorflow.tensor <- function(x, ...) {
  info <- cpp_element_info(x)
  sprintf(
    "Tensor(\"%s\", shape=%s, dtype=%s%s)",
    info$name,
    info$shape,
    info$dtype,
    if (info$is_ref) "_ref" else ""
  )
}

#' @export
print.tensorflow.tensor <- function(x, ...) {
  cat(format(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

#' @export
print.tensorflow.operation <- function(x, ...) {
  info <- cpp_element_info(x)
  cat(sprintf("<tf.Operation '%s' type=%s>\n", info$name, info$type)) # lint: allow stdout
  invisible(x)
}

#' @export
print.tensorflow.variable <- function(x, ...) {
  info <- cpp_element_info(x)
  dtype <- paste0(info$dtype, if (info$is_ref) "_ref")
  # lint: allow stdout
  cat(sprintf("<tf.Variable '%s' shape=%s dtype=%s>\n", info$name, info$shape, dtype))
  invisible(x)
}

#' @export
str.tensorflow.tensor <- function(object, ...) print(object) # lint: allow stdout

#' @export
str.tensorflow.variable <- str.tensorflow.tensor

#' @export
dim.tensorflow.tensor <- function(x) {
  dims <- cpp_element_info(x)$dims
  if (is.null(dims)) NULL else dims_as_list(dims)
}

# Called in a method of a primitive generic, such as length(). Returns the name of the function that
# called the generic. Skips calls of `generic`, because R sometimes records the primitive as a call.
calling_function <- function(generic) {
  for (call in rev(utils::head(sys.calls(), -2))) {
    name <- if (is.symbol(call[[1]])) as.character(call[[1]]) else ""
    if (name != generic) return(name)
  }
  ""
}

#' @export
length.tensorflow.tensor <- function(x) {
  dims <- cpp_element_info(x)$dims
  if (!is.null(dims) && !anyNA(dims)) return(as.integer(prod(dims)))
  # seq_along() would create 2^31 numbers for the length NA
  if (calling_function("length") == "seq_along") {
    abort_runhooks("The number of elements of {.val {x$name}} is unknown before the graph runs.",
      call = environment()
    )
  }
  NA_integer_
}

# Converts a list to the input of an operation that needs one tensor: a list of numbers to an array,
# and a list of tensors to the stacked tensor. Called by the C++ core. lint: allow caller
list_as_input <- function(x, depth = 1L) {
  check_nesting(depth)
  if (inherits(x, "tensorflow.shape")) x <- x$as_list()
  if (any(vapply(x, is_graph_element, NA))) {
    return(tf$stack(lapply(unname(x), function(part) {
      if (is.list(part)) list_as_input(part, depth + 1L) else part
    })))
  }
  # the core converts each raw vector to a string
  if (length(x) && all(vapply(x, is.raw, NA))) return(x)
  array_of_list(x)
}

# Converts a list of equally shaped values to an array. If all values are plain numbers, the array
# has the attribute `is_plain`: the operation that uses it chooses the data type.
array_of_list <- function(x, depth = 1L) {
  check_nesting(depth)
  if (length(x) == 0) return(array(integer(), 0L))
  parts <- lapply(unname(x), function(part) {
    if (is.list(part)) return(array_of_list(part, depth + 1L))
    if (!has_encoded_numbers(part)) return(part)
    abort_runhooks(
      c(
        "A list with {describe_type(part)} cannot become a tensor.",
        i = "Convert it, for example with {.fn as.numeric}."
      ),
      call = user_frame()
    )
  })
  shapes <- lapply(parts, function(part) {
    if (!is.null(dim(part))) return(dim(part))
    if (length(part) == 1) integer() else length(part)
  })
  is_value <- vapply(parts, function(part) is.atomic(part) && !is.null(part), NA)
  has_same_shape <- vapply(shapes, identical, NA, shapes[[1]])
  if (!all(is_value & has_same_shape)) {
    wrong <- which(!(is_value & has_same_shape))[[1]]
    abort_runhooks(
      "A list of values cannot become one tensor: element {wrong} is
       {describe_type(parts[[wrong]])}, element 1 {describe_type(parts[[1]])}.",
      call = user_frame()
    )
  }
  # array() fills the first dimension first, so the elements are stacked last and then moved first
  stacked <- array(unlist(parts, use.names = FALSE), c(shapes[[1]], length(parts)))
  rank <- length(dim(stacked))
  stacked <- aperm(stacked, c(rank, seq_len(rank - 1)))
  is_plain <- vapply(parts, function(part) {
    is.null(dim(part)) || !is.null(attr(part, "is_plain"))
  }, NA)
  if (is.double(stacked) && all(is_plain)) attr(stacked, "is_plain") <- TRUE
  stacked
}

# Adds an operation to the graph. Inputs that are not tensors get the data type of the other inputs.
tf_op <- function(
  type,
  ...,
  attrs = list(),
  name = NULL
) {
  cpp_op_create(type, list(...), attrs, name)
}

binary_ops <- c(
  "+" = "AddV2", "-" = "Sub", "*" = "Mul", "%/%" = "FloorDiv", "%%" = "FloorMod",
  "^" = "Pow", "==" = "Equal", "!=" = "NotEqual", "<" = "Less", "<=" = "LessEqual", ">" = "Greater",
  ">=" = "GreaterEqual", "&" = "LogicalAnd", "|" = "LogicalOr"
)

#' @rdname tensors
#' @export
Ops.tensorflow.tensor <- function(e1, e2) tensor_operator(.Generic, e1, e2, nargs())

#' @rdname tensors
#' @export
Ops.tensorflow.variable <- function(e1, e2) tensor_operator(.Generic, e1, e2, nargs())

tensor_operator <- function(operator, e1, e2, n) {
  if (n == 1) {
    return(switch(operator,
      "-" = tf_op("Neg", e1),
      "+" = e1,
      "!" = tf_op("LogicalNot", e1)
    ))
  }
  if (operator == "/") return(cpp_tf_call("truediv", list(x = e1, y = e2)))
  tf_op(binary_ops[[operator]], e1, e2)
}

unary_ops <- c(
  abs = "Abs", sign = "Sign", sqrt = "Sqrt", floor = "Floor", ceiling = "Ceil", exp = "Exp",
  log1p = "Log1p", expm1 = "Expm1", cos = "Cos", sin = "Sin", tan = "Tan", acos = "Acos",
  asin = "Asin", atan = "Atan", cosh = "Cosh", sinh = "Sinh", tanh = "Tanh", acosh = "Acosh",
  asinh = "Asinh", atanh = "Atanh", lgamma = "Lgamma", digamma = "Digamma"
)

#' @rdname tensors
#' @export
Math.tensorflow.tensor <- function(x, ...) {
  generic <- .Generic
  if (generic == "log") return(tensor_log(x, ...))
  if (generic == "log2") return(tensor_log(x, 2))
  if (generic == "log10") return(tensor_log(x, 10))
  if (generic == "round") return(tensor_round(x, ...))
  if (generic %in% c("sinpi", "cospi", "tanpi")) {
    return(tf_op(unary_ops[[sub("pi$", "", generic)]], x * pi))
  }
  if (generic == "cumsum") return(cumulate_vector(x, tf$cumsum, generic))
  if (generic == "cumprod") return(cumulate_vector(x, tf$cumprod, generic))
  if (generic == "trigamma") return(tf_op("Polygamma", tf$ones_like(x), x))
  if (!generic %in% names(unary_ops)) {
    abort_runhooks("{.fn {generic}} is not defined for tensors.", kind = "unimplemented")
  }
  tf_op(unary_ops[[generic]], x)
}

# Applies `f`, such as tf$cumsum, to a vector. R's cumsum() also accepts arrays, because their
# elements have an order. The elements of a tensor of several dimensions have none.
cumulate_vector <- function(x, f, generic, call = parent.frame()) {
  if (!identical(length(dim(x)), 1L)) {
    abort_runhooks(
      "{.fn {generic}} needs a vector; {.val {x$name}} has shape {x$shape$text}. Use
       {.code tf${generic}(x, axis)} along an axis.",
      call = call
    )
  }
  f(x, 0L)
}

tensor_log <- function(x, base = exp(1)) {
  natural <- tf_op("Log", x)
  if (base == exp(1)) natural else natural / log(base)
}

tensor_round <- function(x, digits = 0) {
  if (digits != 0) {
    abort_runhooks(
      "Tensors can only be rounded to 0 digits, not to {digits}.", kind = "unimplemented"
    )
  }
  tf_op("Round", x)
}
