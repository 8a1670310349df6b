# Record batches of Arrow as a dataset.

#' Rows of Arrow streams
#'
#' Reads what gives an Arrow C stream, record batch by record batch: objects of the packages arrow
#' (tables, datasets, readers of record batches) and nanoarrow. The rows are records.
#'
#' A stream can be read once. For several passes through the data or several iterators, and to go on
#' where one stopped, give a function that returns a new stream with the same batches each time, or
#' an object of which one can be made again, such as a table. Batches are asked for on the main
#' thread.
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
  read_once <- inherits(x, "RecordBatchReader")
  first <- open_arrow(x)
  columns <- cpp_arrow_columns(first)
  if (anyDuplicated(columns$names) || !all(nzchar(columns$names))) {
    abort_runhooks(
      "The columns of {.arg x} must have names that differ, not {.val {columns$names}}.",
      kind = "invalid_argument"
    )
  }
  open <- function() {
    if (is.null(first) && read_once) abort_arrow_read()
    reader <- if (is.null(first)) open_arrow(x) else first
    first <<- NULL
    reader
  }
  types <- setNames(columns$dtypes, columns$names)
  chunks_dataset(types, function() arrow_chunks(open, columns), "an Arrow stream")
}

open_arrow <- function(x) cpp_arrow_reader(arrow_stream(if (is.function(x)) x() else x))

abort_arrow_read <- function() {
  abort_runhooks(
    c(
      "The Arrow stream has been read before.",
      i = "Give {.fn arrow_dataset} a function that returns a new one each time."
    ),
    kind = "failed_precondition"
  )
}

# A stream of the record batches of what `open()` gives. Its position is how many have been read,
# and a hash of all of them.
arrow_chunks <- function(open, columns) {
  reader <- NULL
  fetched <- 0
  hash <- ""
  begin <- function() {
    reader <<- open()
    if (!identical(cpp_arrow_columns(reader), columns)) {
      abort_runhooks(
        "The Arrow stream has other columns than the first one had.", kind = "failed_precondition"
      )
    }
    fetched <<- 0
    hash <<- ""
  }
  fetch <- function() {
    batch <- cpp_arrow_next(reader)
    if (is.null(batch)) return(NULL)
    fetched <<- fetched + 1
    hash <<- rlang::hash(c(hash, batch$content))
    batch$columns
  }
  draw <- function(number) {
    if (is.null(reader)) begin()
    repeat {
      batch <- fetch()
      if (is.null(batch) || length(batch[[1]]) > 0) break
    }
    if (!is.null(batch)) Map(np_array, batch, columns$dtypes)
  }
  restore <- function(state) {
    begin()
    while (fetched < state$batches && !is.null(fetch())) NULL
    if (!identical(hash, state$hash)) {
      abort_runhooks(
        "The Arrow stream has other batches than the {state$batches} that were read.",
        kind = "failed_precondition"
      )
    }
  }
  list(
    draw = draw, rewind = begin, save = function() list(batches = fetched, hash = hash),
    restore = restore
  )
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
