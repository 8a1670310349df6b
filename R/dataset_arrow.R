# Datasets from Arrow record batches.

#' Create a dataset from an Arrow stream
#'
#' Returns a dataset with the rows of an Arrow C stream as records. It reads objects of the packages
#' arrow (tables, datasets, record batch readers) and nanoarrow, one record batch at a time.
#'
#' A stream can be read only once. To read the data several times, to use several iterators or to
#' resume from a checkpoint, pass an object that can be converted repeatedly, such as a table, or a
#' function that returns a new stream with the same batches in each call. Batches are requested on
#' the main thread.
#'
#' @param x A function without arguments that returns a stream; a stream (an external pointer of
#'   class `nanoarrow_array_stream`, or an object with a method `export_to_c()`); or another object
#'   that nanoarrow or arrow can convert to a stream.
#' @return A dataset; see [datasets]. Integers, floats, logicals, strings and dictionaries of
#'   strings become tensors of the type that represents all values of the Arrow type.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a column has another type, or a column that is not of
#'     floats has a missing value (the message contains column and row). In columns of floats a
#'     missing value is NaN.
#'   * `runhooks_error_failed_precondition`: the stream has already been read, or a new stream has
#'     other columns or batches than the first one.
#' @family datasets
#' @export
#' @examplesIf requireNamespace("nanoarrow", quietly = TRUE)
#' arrow_dataset(function() nanoarrow::as_nanoarrow_array_stream(mtcars)) |>
#'   dataset_batch(4) |>
#'   dataset_collect(1)
arrow_dataset <- function(x) {
  read_once <- inherits(x, "RecordBatchReader")
  first <- open_arrow(x)
  columns <- cpp_arrow_columns(first)
  if (anyDuplicated(columns$names) || !all(nzchar(columns$names))) {
    abort_runhooks(
      "The columns of {.arg x} must have unique, non-empty names, not {.val {columns$names}}.",
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
      "The Arrow stream has already been read.",
      i = "Pass {.fn arrow_dataset} a function that returns a new stream in each call."
    ),
    kind = "failed_precondition"
  )
}

# Returns the functions of a stream for source_dataset() (R/dataset_generator.R). A saved position
# consists of the number of batches read and a hash of their contents.
arrow_chunks <- function(open, columns) {
  reader <- NULL
  n_batches <- 0
  hash <- ""
  rewind <- function() {
    reader <<- open()
    if (!identical(cpp_arrow_columns(reader), columns)) {
      abort_runhooks(
        "The Arrow stream has other columns than the first one.", kind = "failed_precondition"
      )
    }
    n_batches <<- 0
    hash <<- ""
  }
  read_batch <- function() {
    batch <- cpp_arrow_next(reader)
    if (is.null(batch)) return(NULL)
    n_batches <<- n_batches + 1
    hash <<- rlang::hash(c(hash, batch$content))
    batch$columns
  }
  next_components <- function(number) {
    if (is.null(reader)) rewind()
    repeat {
      batch <- read_batch()
      if (is.null(batch) || length(batch[[1]]) > 0) break
    }
    if (!is.null(batch)) Map(np_array, batch, columns$dtypes)
  }
  restore <- function(state) {
    rewind()
    while (n_batches < state$batches && !is.null(read_batch())) NULL
    if (!identical(hash, state$hash)) {
      abort_runhooks(
        "The first {state$batches} batches of the Arrow stream differ from those read before.",
        kind = "failed_precondition"
      )
    }
  }
  list(
    draw = next_components, rewind = rewind,
    save = function() list(batches = n_batches, hash = hash), restore = restore
  )
}

arrow_stream <- function(x, call = parent.frame()) {
  if (inherits(x, "nanoarrow_array_stream")) return(x)
  if (is.environment(x) && is.function(x[["export_to_c"]])) {
    stream <- cpp_new_arrow_stream()
    x$export_to_c(stream)
    return(stream)
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
