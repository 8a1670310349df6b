# Sources of files: lines and records, lists of files. Delimited text is in dataset_delim.R.

#' Datasets of files
#'
#' `text_line_dataset()` gives the lines of text files, `tfrecord_dataset()` the records of TFRecord
#' files, `fixed_length_record_dataset()` pieces of one length; each as a string.
#'
#' Files are read one after the other, as far as elements are asked for. An iterator knows in which
#' file it stands and where, and goes on there when it is restored; a file that is not the one it
#' was (by its size and blocks of its bytes) is refused; the same files in another folder are the
#' same data.
#'
#' Where something else than a regular file stands at a path that is an error, since a pipe or a
#' device may have no end. With `stream = TRUE` pipes, named pipes (`mkfifo`), terminals and devices
#' are read as bytes come: lines and records are elements once they are whole, the end is when who
#' writes has closed, and Ctrl-C ends the waiting. An iterator reads a stream once, and no checkpoint
#' has a place in it; [dataset_cache()] keeps what it gives for further passes.
#'
#' @param filenames Paths of files, or a string tensor (see [datasets]).
#' @param compression_type `"GZIP"`, `"ZLIB"`, or `NULL` for plain files.
#' @param record_spec A specification of delimited text ([csv_record_spec()]): elements are then
#'   records with its columns. The header that its example file has is left out of each file, and
#'   must be the same. Fields in quotes may hold line ends.
#' @param parallel_records So many records are read ahead, by a thread of their own.
#' @param on_error `"skip"` leaves out what cannot be read, counts it, and warns at the end of each
#'   file; `"stop"` raises an error with file and line, or number of the record.
#' @param stream Whether paths may be those of pipes and devices.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_not_found` for a file that is not there,
#'   `runhooks_error_data_loss` for one that is damaged or cut off,
#'   `runhooks_error_invalid_argument` for a field that is not of its column's type, or a record with another number of fields. Errors
#'   arise when the record is read.
#' @family datasets
#' @export
#' @examples
#' file <- tempfile()
#' writeLines(c("x,word", "1,a", "2,b"), file)
#' text_line_dataset(file) %>% dataset_skip(1) %>% dataset_collect()
#' text_line_dataset(file, record_spec = csv_record_spec(file)) %>% dataset_collect(1)
#'
#' write_tfrecord(data.frame(x = 1:3), file)
#' tfrecord_dataset(file) %>%
#'   dataset_map(function(record) {
#'     tf$parse_single_example(record, list(x = tf$FixedLenFeature(1L, tf$int64)))
#'   }) %>%
#'   dataset_collect(2)
text_line_dataset <- function(filenames, compression_type = NULL, record_spec = NULL,
                              parallel_records = NULL, on_error = c("stop", "skip"),
                              stream = FALSE) {
  check_flag(stream)
  args <- list(
    filenames = file_names(filenames), compression_type = compression_type,
    on_error = check_one_of(on_error, c("stop", "skip")), stream = stream
  )
  check_positive_whole(parallel_records, null = TRUE)
  if (is.null(record_spec)) {
    dataset <- new_dataset("TextLineDataset", "text_line_dataset", args)
  } else {
    check_record_spec(record_spec)
    dataset <- csv_dataset("text_line_dataset", args, record_spec)
  }
  if (is.null(parallel_records)) dataset else dataset_prefetch(dataset, parallel_records)
}

#' @rdname text_line_dataset
#' @param buffer_size Accepted; files are read in blocks of a fixed size.
#' @param num_parallel_reads From so many files records are taken in turn; `NULL`: one after the
#'   other.
#' @export
tfrecord_dataset <- function(filenames, compression_type = NULL, buffer_size = NULL,
                             num_parallel_reads = NULL, on_error = c("stop", "skip"),
                             stream = FALSE) {
  on_error <- check_one_of(on_error, c("stop", "skip"))
  check_flag(stream)
  check_positive_whole(buffer_size, null = TRUE)
  check_positive_whole(num_parallel_reads, null = TRUE)
  filenames <- file_names(filenames)
  if (!is.null(num_parallel_reads)) {
    files <- if (is_tensor(filenames)) {
      tensor_slices_dataset(tf$reshape(filenames, -1L))
    } else {
      new_dataset("FileListDataset", "tfrecord_dataset", list(filenames = filenames))
    }
    reader <- function(file) {
      tfrecord_dataset(file, compression_type, on_error = on_error, stream = stream)
    }
    return(dataset_interleave(files, reader, num_parallel_reads))
  }
  args <- list(
    filenames = filenames, compression_type = compression_type, on_error = on_error,
    stream = stream
  )
  new_dataset("TFRecordDataset", "tfrecord_dataset", args)
}

#' @rdname text_line_dataset
#' @param record_bytes How long a record is.
#' @param header_bytes,footer_bytes So much is left out at the beginning and the end of each file.
#' @export
#' @examples
#'
#' writeBin(charToRaw("headaaabbb"), file)
#' fixed_length_record_dataset(file, 3, header_bytes = 4) %>% dataset_collect()
fixed_length_record_dataset <- function(filenames, record_bytes, header_bytes = NULL,
                                        footer_bytes = NULL, buffer_size = NULL,
                                        stream = FALSE) {
  check_positive_whole(buffer_size, null = TRUE)
  check_flag(stream)
  args <- list(
    filenames = file_names(filenames), record_bytes = record_bytes, header_bytes = header_bytes,
    footer_bytes = footer_bytes, stream = stream
  )
  new_dataset("FixedLengthRecordDataset", "fixed_length_record_dataset", args)
}

# Paths as the core takes them.
file_names <- function(x, arg = "filenames", call = parent.frame()) {
  if (is_tensor(x)) return(x)
  good <- is.character(x) && length(x) > 0 && !anyNA(x)
  if (is.data.frame(x)) {
    abort_runhooks(
      c(
        "{.arg {arg}} must be paths of files, not a data frame.",
        i = "{.code tensor_slices_dataset(data)} makes a dataset of a data frame."
      ),
      call = call
    )
  }
  check_arg(good, x, "paths of files", arg, call)
  as.list(unname(enc2utf8(path.expand(x))))
}

# --- lists of files

#' Lists of files
#'
#' `file_list_dataset()` gives the paths of files that match patterns, `read_files()` the elements
#' of all of them.
#'
#' The files are looked for when the dataset is made. Without a shuffle their order is that of their
#' names, byte by byte, whatever the locale.
#'
#' @param file_pattern Paths, with wildcards as in [Sys.glob()].
#' @param shuffle FALSE gives the files in order; `NULL` and TRUE in a random one, another one in
#'   each pass through them.
#' @param seed Fixes the order.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_not_found` where nothing matches a pattern.
#' @family datasets
#' @export
#' @examples
#' folder <- tempfile()
#' dir.create(folder)
#' for (i in 1:3) writeLines(paste0("file ", i, ", line ", 1:2), file.path(folder, i))
#' found <- dataset_collect(file_list_dataset(file.path(folder, "*"), shuffle = FALSE))
#' basename(unlist(found))
file_list_dataset <- function(file_pattern, shuffle = NULL, seed = NULL) {
  if (is.null(shuffle)) shuffle <- TRUE
  check_flag(shuffle)
  files <- matching_files(file_pattern)
  dataset <- new_dataset("FileListDataset", "file_list_dataset", list(filenames = as.list(files)))
  if (shuffle) dataset_shuffle(dataset, length(files), seed = seed) else dataset
}

#' @rdname file_list_dataset
#' @param files Paths with wildcards, which are read in order; or a dataset of paths.
#' @param reader A function that makes a dataset of a path: [text_line_dataset()],
#'   [tfrecord_dataset()], [fixed_length_record_dataset()] or one of these with other arguments.
#' @param ... Further arguments of `reader`.
#' @param parallel_files How many files are read in turn.
#' @param parallel_interleave How many elements are taken of one file before the next.
#' @param num_shards,shard_index Reads one file of every `num_shards` only, from this one on (from 0).
#' @export
#' @examples
#'
#' read_files(file.path(folder, "*"), text_line_dataset, parallel_files = 2) %>%
#'   dataset_collect() %>%
#'   unlist()
read_files <- function(files, reader, ..., parallel_files = 1, parallel_interleave = 1,
                       num_shards = NULL, shard_index = NULL) {
  check_function(reader)
  if (!is_dataset(files)) files <- file_list_dataset(files, shuffle = FALSE)
  if (is.null(num_shards) != is.null(shard_index)) {
    abort_runhooks("{.arg num_shards} and {.arg shard_index} belong together: give both or none.")
  }
  if (!is.null(num_shards)) files <- dataset_shard(files, num_shards, shard_index)
  dataset_interleave(files, function(file) reader(file, ...), parallel_files, parallel_interleave)
}

matching_files <- function(patterns, arg = "file_pattern", call = parent.frame()) {
  good <- is.character(patterns) && length(patterns) > 0 && !anyNA(patterns)
  check_arg(good, patterns, "paths of files", arg, call)
  found <- lapply(patterns, function(pattern) {
    # a name may itself have the signs of a pattern
    files <- if (file.exists(pattern)) path.expand(pattern) else Sys.glob(pattern)
    if (length(files) == 0) {
      abort_runhooks("No files matched pattern: {.path {pattern}}.", kind = "not_found", call = call)
    }
    files
  })
  sorted_words(unique(enc2utf8(unlist(found))))
}
