# Partitioners: functions of the shape and type of a variable that return its partitions per axis.

partitioner_symbols <- function() {
  list(
    fixed_size_partitioner = fixed_size_partitioner,
    min_max_variable_partitioner = min_max_variable_partitioner,
    variable_axis_size_partitioner = variable_axis_size_partitioner
  )
}

# Creates a fixed number of partitions, but at most one per row.
fixed_size_partitioner <- function(num_shards, axis = 0L) {
  check_positive_whole(num_shards)
  check_whole(axis)
  function(shape, dtype) partitions_per_axis(shape, axis, num_shards)
}

min_max_variable_partitioner <- function(max_partitions = 1L, axis = 0L,
                                         min_slice_size = bitwShiftL(256L, 10L),
                                         bytes_per_string_element = 16L) {
  check_positive_whole(max_partitions)
  check_whole(axis)
  check_positive_whole(min_slice_size)
  function(shape, dtype) {
    bytes <- prod(shape) * element_bytes(dtype, bytes_per_string_element)
    partitions_per_axis(shape, axis, max(1, min(max_partitions, ceiling(bytes / min_slice_size))))
  }
}

variable_axis_size_partitioner <- function(max_shard_bytes, axis = 0L,
                                           bytes_per_string_element = 16L, max_shards = NULL) {
  check_positive_whole(max_shard_bytes)
  check_whole(axis)
  if (!is.null(max_shards)) check_positive_whole(max_shards)
  function(shape, dtype) {
    rows <- shape[[axis + 1]]
    bytes_of_row <- prod(shape) / rows * element_bytes(dtype, bytes_per_string_element)
    rows_of_shard <- max(1, max_shard_bytes %/% bytes_of_row)
    partitions_per_axis(shape, axis, min(ceiling(rows / rows_of_shard), max_shards))
  }
}

partitions_per_axis <- function(shape, axis, count) {
  if (axis < 0 || axis >= length(shape)) {
    abort_runhooks("A variable with {length(shape)} dimension{?s} has no axis {axis} to partition.")
  }
  partitions <- rep(1, length(shape))
  partitions[[axis + 1]] <- min(count, shape[[axis + 1]])
  partitions
}

element_bytes <- function(dtype, string_bytes) {
  switch(dtype_name(dtype),
    string = string_bytes, float64 = , int64 = 8, bool = , uint8 = , int8 = 1, float16 = ,
    int16 = 2, 4
  )
}

check_partitioner <- function(x, name, call) {
  good <- is.null(x) || (is.function(x) && takes_arguments(x, 2))
  check_arg(good, x, "a function of a shape and a type, or NULL", name, call)
}

# Wraps a partitioner for the core, which passes the shape as a list.
wrap_partitioner <- function(f) {
  force(f)
  function(shape, dtype) f(as.integer(unlist(shape)), dtype)
}
