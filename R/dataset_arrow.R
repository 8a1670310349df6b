# Record batches of Arrow as a dataset.

#' Rows of Arrow streams
#'
#' Reads what gives an Arrow C stream, record batch by record batch: objects of the packages arrow
#' (tables, datasets, readers of record batches) and nanoarrow. The rows are records.
#'
#' A stream can be read once. For several passes through the data, and to go on where an iterator
#' stopped, give a function that returns a new stream with the same batches each time, or an object
#' of which one can be made again, such as a table. Batches are asked for on the main thread.
#'
#' @param x A function without arguments that returns a stream; a stream (an external pointer of the
#'   class `nanoarrow_array_stream`, or an object with a method `export_to_c()`); or another object
#'   that nanoarrow or arrow make a stream of.
#' @return A dataset, see [datasets]. Columns of integers, floats, logicals, strings and
#'   dictionaries of strings have the type of tensors that holds all values of theirs.
#' @section Errors: `runhooks_error_invalid_argument` for columns of other kinds, and with column
#'   and row for a missing value in a column that is not of floats (in these it is NaN);
#'   `runhooks_error_failed_precondition` for a stream that has been read before.
#' @family datasets
#' @export
#' @examplesIf requireNamespace("nanoarrow", quietly = TRUE)
#' arrow_dataset(function() nanoarrow::as_nanoarrow_array_stream(mtcars)) %>%
#'   dataset_batch(4) %>%
#'   dataset_collect(1)
arrow_dataset <- function(x) {
  open <- function() cpp_arrow_reader(arrow_stream(if (is.function(x)) x() else x))
  reader <- open()
  columns <- cpp_arrow_columns(reader)
  if (anyDuplicated(columns$names) || !all(nzchar(columns$names))) {
    stop_runhooks(
      "The columns of {.arg x} must have names that differ, not {.val {columns$names}}.",
      kind = "invalid_argument"
    )
  }
  fetched <- 0
  next_chunk <- function() {
    repeat {
      chunk <- cpp_arrow_next(reader)
      if (is.null(chunk)) return(NULL)
      fetched <<- fetched + 1
      if (length(chunk[[1]]) > 0) break
    }
    setNames(Map(np_array, chunk, columns$dtypes), columns$names)
  }
  restore <- function(state) {
    if (state < fetched) {
      reader <<- open()
      fetched <<- 0
    }
    while (fetched < state) {
      if (is.null(cpp_arrow_next(reader))) {
        stop_runhooks(
          "The Arrow stream has {fetched} batches; {state} had been read.",
          kind = "failed_precondition"
        )
      }
      fetched <<- fetched + 1
    }
  }
  chunks_dataset(setNames(columns$dtypes, columns$names), next_chunk, function() fetched, restore)
}

# An external pointer to the C struct of a stream.
arrow_stream <- function(x, call = parent.frame()) {
  if (inherits(x, "nanoarrow_array_stream")) return(x)
  if (is.environment(x) && is.function(x[["export_to_c"]])) {
    room <- cpp_arrow_room()
    x$export_to_c(room)
    return(room)
  }
  if (requireNamespace("nanoarrow", quietly = TRUE)) {
    return(getExportedValue("nanoarrow", "as_nanoarrow_array_stream")(x))
  }
  if (requireNamespace("arrow", quietly = TRUE)) {
    return(arrow_stream(getExportedValue("arrow", "as_record_batch_reader")(x)))
  }
  check_arg(
    FALSE, x, "an Arrow stream, or a function that returns one (the packages arrow and nanoarrow,
    which make streams of other objects, are not installed)", "x", call
  )
}
