# Conversion of R values for the core: data types, shapes, constants, and columns of data.

dtype_name <- function(dtype, arg = "dtype") {
  if (inherits(dtype, "tensorflow.dtype")) return(unclass(dtype)$name)
  # exclude strings with the encoding "bytes", because R cannot use them as names
  if (is_string(dtype) && Encoding(dtype) != "bytes") return(dtype)
  abort_runhooks(
    c(
      "{.arg {arg}} must be a data type, not {describe(dtype)}.",
      i = "For example {.code tf$float32}, or its name {.val float32}."
    ),
    call = user_frame()
  )
}

as_dtype <- function(dtype, arg = "dtype") {
  if (is.null(dtype) || inherits(dtype, "tensorflow.dtype")) return(dtype)
  tf_dtype(dtype_name(dtype, arg))
}

# Returns a list of integers for a shape. Raises an error unless all dimensions are known.
known_dims <- function(shape, call = parent.frame()) {
  dims <- if (inherits(shape, "tensorflow.shape")) unclass(shape)$dims else unlist(shape)
  is_valid <- is.null(dims) || is.numeric(dims) && all(vapply(dims, is_whole, NA))
  check_arg(is_valid, shape, "whole numbers", "shape", call)
  as.list(as.integer(dims))
}

as_tensor <- function(x, dtype = NULL) {
  if (is_tensor(x)) return(x)
  if (is_variable(x)) return(cpp_variable_snapshot(x))
  if (is.list(x) && !is.object(x)) x <- list_as_input(x)
  if (is_tensor(x)) return(x)
  cpp_constant(x, if (!is.null(dtype)) dtype_name(dtype), "initial_value")
}

tf_dtype <- function(name) {
  if (is.null(the$dtypes[[name]])) {
    is_integer <- grepl("^u?int", name)
    the$dtypes[[name]] <- structure(
      list(
        name = name, is_floating = startsWith(name, "float"), is_integer = is_integer,
        as_numpy_dtype = name
      ),
      class = "tensorflow.dtype"
    )
  }
  the$dtypes[[name]]
}

# Converts a shape to numbers, with NA for unknown dimensions. The shape is NULL, numbers, a list
# that may contain NULL, or the shape of a tensor.
as_dims <- function(shape) {
  if (is.null(shape)) return(NULL)
  if (inherits(shape, "tensorflow.shape")) return(unclass(shape)$dims)
  if (is.object(shape) || !is.list(shape) && !is_atomic(shape)) {
    abort_runhooks("A shape must be numbers, {.code NULL} or a list of these, not
       {describe_type(shape)}.",
      call = user_frame())
  }
  number <- function(dim) {
    if (is.null(dim)) return(NA_real_)
    if (!is.numeric(dim) && !is.logical(dim)) {
      abort_runhooks(
        "A dimension of a shape must be a number or {.code NULL}, not {describe_type(dim)}.",
        call = user_frame()
      )
    }
    dim <- as.numeric(dim)
    if (!all(is.na(dim) | (dim >= -1 & dim == trunc(dim) & dim < 2^53))) {
      abort_runhooks(
        "A dimension of a shape must be a whole number of -1 or more, not {describe(dim)}.",
        call = user_frame()
      )
    }
    dim
  }
  as.numeric(vapply(shape, number, 0))
}

#' @rdname shapes
#' @export
np_array <- function(data, dtype = NULL) {
  check_arg(is.atomic(data) && !is.null(data), data, "a vector or an array", "data", environment())
  # set the attribute directly: this keeps the class integer64; other classes may have no `dim<-`
  if (is.null(dim(data))) attr(data, "dim") <- length(data)
  structure(data, dtype = if (!is.null(dtype)) dtype_name(dtype))
}

# TRUE for a sparse matrix of the class that the C++ core reads directly, one batch at a time.
is_sparse_matrix <- function(x) is_matrix_package(x) && inherits(x, "dgCMatrix")

is_matrix_package <- function(x) isS4(x) && inherits(x, "Matrix")

# Converts a matrix of the package Matrix: a sparse one to dgCMatrix, others to an R matrix.
plain_matrix <- function(x) {
  if (is_sparse_matrix(x)) return(x)
  if (!inherits(x, "sparseMatrix")) return(unname(Matrix::as.matrix(x)))
  methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
}

# Replaces a factor by integer codes, and signals a message that lists them.
encode_column <- function(x, name) {
  if (!is.factor(x)) return(x)
  message(encoding_message(x, name))
  factor_codes(x)
}

# Returns the message as a condition, which can be signalled several times without formatting again.
encoding_message <- function(x, name) {
  lines <- paste0("- '", levels(x), "' => ", seq_along(levels(x)) - 1L)
  title <- sprintf("The following factor levels of '%s' have been encoded:", name)
  simpleMessage(paste0(c(title, lines), "\n", collapse = ""))
}

factor_codes <- function(x) {
  codes <- as.integer(x) - 1L
  codes[is.na(codes)] <- -1L # TensorFlow's missing value
  codes
}

# Returns the data type that np_array() has set, or NA.
declared_type <- function(x) {
  type <- attr(x, "dtype", exact = TRUE)
  if (is.character(type)) type else NA_character_
}

# Returns the specification of an initializer from `tf`; returns other initializers unchanged.
initializer_spec <- function(initializer) {
  spec <- attr(initializer, "spec")
  if (is.null(spec)) initializer else spec
}

# Returns for each column whether it has finite values only. R code checks small data, because a
# call of the C++ core would take longer.
all_finite <- function(columns) {
  numbers <- lapply(columns, stored_numbers)
  has_numbers <- vapply(numbers, function(x) is.numeric(x) || is.logical(x), NA)
  finite <- !has_numbers
  finite[has_numbers] <- if (sum(lengths(numbers[has_numbers])) < 1e4) {
    vapply(numbers[has_numbers], function(x) all(is.finite(x)), NA)
  } else {
    cpp_all_finite(numbers[has_numbers])
  }
  finite
}
