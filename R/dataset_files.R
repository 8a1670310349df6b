# Datasets from files: lines, TFRecord files, records of fixed length, and lists of files.

#' Read lines or records from files
#'
#' `text_line_dataset()` returns a dataset of the lines of text files, `tfrecord_dataset()` of the
#' records of TFRecord files, and `fixed_length_record_dataset()` of records of a fixed number of
#' bytes. Each element is a string.
#'
#' Files are read in order and only as far as needed. The state of an iterator contains the file and
#' the position in it. Restoring it fails if the file has changed, judged by its size and samples of
#' its content. The same files in another directory count as the same data.
#'
#' By default, a path must be that of a regular file. With `stream = TRUE` it may be a pipe, a named
#' pipe (`mkfifo`), a terminal or a device. Elements are then available as soon as a complete line
#' or record has arrived, the data end when the writer closes the stream, and Ctrl-C interrupts the
#' waiting. A stream can be read only once, and its position cannot be saved in a checkpoint. Use
#' [dataset_cache()] to read it in several passes.
#'
#' @param filenames Paths of files, or a string tensor (see [datasets]).
#' @param compression_type `"GZIP"`, `"ZLIB"`, or `NULL` for uncompressed files.
#' @param record_spec A specification of delimited text; see [csv_record_spec()]. Elements are then
#'   records. If the example file has a header, each file must have the same header, which is
#'   skipped. Quoted fields may contain line breaks. Default, `NULL`: elements are lines.
#' @param parallel_records Number of records to read in advance on another thread. Default, `NULL`:
#'   none.
#' @param on_error `"stop"`: a bad record is an error that contains the file and the line or record
#'   number. `"skip"`: bad records are skipped, and a warning at the end of each file contains their
#'   number.
#' @param stream Whether paths may be pipes and devices, a logical. Default: `FALSE`.
#' @param encoding Encoding of the files: a single-byte encoding of [iconv()], such as `"latin1"` or
#'   `"windows-1252"`, or `"UTF-8"`. Text that is not valid in it is an error. Default, `NULL`:
#'   UTF-8, with a warning about text that is not.
#' @return A dataset; see [datasets].
#' @section Errors: These errors are raised when the record is read.
#'   * `runhooks_error_not_found`: a file does not exist.
#'   * `runhooks_error_data_loss`: a file is damaged or truncated.
#'   * `runhooks_error_invalid_argument`: a field has another type than its column, or a record has
#'     another number of fields.
#' @export
#' @examples
#' file <- tempfile()
#' writeLines(c("x,word", "1,a", "2,b"), file)
#' text_line_dataset(file) |> dataset_skip(1) |> dataset_collect()
#' text_line_dataset(file, record_spec = csv_record_spec(file)) |> dataset_collect(1)
#'
#' write_tfrecord(data.frame(x = 1:3), file)
#' tfrecord_dataset(file) |>
#'   dataset_map(function(record) {
#'     tf$parse_single_example(record, list(x = tf$FixedLenFeature(1L, tf$int64)))
#'   }) |>
#'   dataset_collect(2)
text_line_dataset <- function(filenames, compression_type = NULL, record_spec = NULL,
                              parallel_records = NULL, on_error = c("stop", "skip"),
                              stream = FALSE, encoding = NULL) {
  check_flag(stream)
  args <- list(
    filenames = check_file_paths(filenames), compression_type = compression_type,
    on_error = check_one_of(on_error, c("stop", "skip")), stream = stream
  )
  check_positive_whole(parallel_records, null = TRUE)
  if (is.null(record_spec)) {
    args <- c(args, decoding_arguments(encoding))
    dataset <- new_dataset("TextLineDataset", "text_line_dataset", args)
  } else {
    check_record_spec(record_spec)
    if (!is.null(encoding)) record_spec$encoding <- encoding
    dataset <- csv_records("text_line_dataset", args, record_spec)
  }
  if (is.null(parallel_records)) dataset else dataset_prefetch(dataset, parallel_records)
}

#' @rdname text_line_dataset
#' @param buffer_size Ignored; files are read in blocks of a fixed size.
#' @param num_parallel_reads Number of files from which records are read alternately. Default,
#'   `NULL`: one file after another.
#' @export
tfrecord_dataset <- function(filenames, compression_type = NULL, buffer_size = NULL,
                             num_parallel_reads = NULL, on_error = c("stop", "skip"),
                             stream = FALSE) {
  on_error <- check_one_of(on_error, c("stop", "skip"))
  check_flag(stream)
  check_positive_whole(buffer_size, null = TRUE)
  check_positive_whole(num_parallel_reads, null = TRUE)
  filenames <- check_file_paths(filenames)
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
#' @param record_bytes Length of a record in bytes, a positive whole number.
#' @param header_bytes,footer_bytes Number of bytes to skip at the beginning and the end of each
#'   file. Default, `NULL`: 0.
#' @export
#' @examples
#'
#' writeBin(charToRaw("headaaabbb"), file)
#' fixed_length_record_dataset(file, 3, header_bytes = 4) |> dataset_collect()
fixed_length_record_dataset <- function(filenames, record_bytes, header_bytes = NULL,
                                        footer_bytes = NULL, buffer_size = NULL,
                                        stream = FALSE) {
  check_positive_whole(buffer_size, null = TRUE)
  check_flag(stream)
  args <- list(
    filenames = check_file_paths(filenames), record_bytes = record_bytes,
    header_bytes = header_bytes, footer_bytes = footer_bytes, stream = stream
  )
  new_dataset("FixedLengthRecordDataset", "fixed_length_record_dataset", args)
}

iconv_name <- function(encoding) {
  if (ascii_lower(encoding) %in% c("latin1", "latin-1")) "ISO-8859-1" else encoding
}

# Returns the core's arguments for an encoding: its name and, for a single-byte encoding, the
# characters of the bytes 128 to 255 as UTF-8.
decoding_arguments <- function(encoding, call = parent.frame()) {
  if (is.null(encoding)) return(list())
  check_string(encoding, arg = "encoding", call = call)
  if (ascii_upper(encoding) %in% c("UTF-8", "UTF8")) return(list(encoding = "UTF-8"))
  decode <- function(bytes) {
    tryCatch(iconv(bytes, iconv_name(encoding), "UTF-8"), error = function(e) NULL)
  }
  ascii <- decode(as.list(as.raw(1:127)))
  if (is.null(ascii)) {
    abort_runhooks(
      c("{.arg encoding} {.val {encoding}} is not known.", i = "{.fn iconvlist} lists encodings."),
      kind = "invalid_argument", call = call
    )
  }
  high <- as.raw(128:255)
  # a multi-byte encoding decodes some of these pairs of bytes to a single character
  pairs <- c(lapply(high, c, as.raw(0x41)), lapply(high, c, as.raw(0xa1)))
  is_single_byte <- all(nchar(decode(pairs)) != 1, na.rm = TRUE)
  if (!is_single_byte || !identical(ascii, intToUtf8(1:127, TRUE))) {
    abort_runhooks(
      c(
        "{.arg encoding} must be {.val UTF-8} or a single-byte encoding such as {.val latin1} and
         {.val windows-1252}, not {.val {encoding}}.",
        i = "Convert the file first: {.code lines <- readLines(file(path, encoding =
             \"{encoding}\"))}, then {.code writeLines(lines, new_path, useBytes = TRUE)}."
      ),
      kind = "invalid_argument", call = call
    )
  }
  table <- decode(as.list(high))
  table[is.na(table)] <- "\ufffd"
  list(encoding = encoding, decoding = charToRaw(paste(table, collapse = "")))
}

check_file_paths <- function(x, arg = "filenames", call = parent.frame()) {
  if (is_tensor(x)) return(x)
  good <- is.character(x) && length(x) > 0 && !anyNA(x)
  if (is.data.frame(x)) {
    abort_runhooks(
      c(
        "{.arg {arg}} must be paths of files, not a data frame.",
        i = "To create a dataset from a data frame, use {.code tensor_slices_dataset(data)}."
      ),
      call = call
    )
  }
  check_arg(good, x, "paths of files", arg, call)
  as.list(unname(enc2utf8(path.expand(x))))
}

#' List files and read their elements
#'
#' `file_list_dataset()` returns a dataset of the paths that match patterns. `read_files()` returns
#' a dataset of the elements of all these files.
#'
#' Patterns are expanded when the dataset is created. Without shuffling, files are sorted by the
#' bytes of their names, independently of the locale.
#'
#' @param file_pattern Paths, which may contain wildcards as in [Sys.glob()].
#' @param shuffle `TRUE` or `NULL` (the default): random order, different in each pass. `FALSE`:
#'   sorted.
#' @param seed Seed of the random order; see [dataset_shuffle()].
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_not_found`: a pattern matches no file.
#'   * `runhooks_error_invalid_argument`: an argument is invalid.
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
  files <- expand_file_patterns(file_pattern)
  dataset <- new_dataset("FileListDataset", "file_list_dataset", list(filenames = as.list(files)))
  if (shuffle) dataset_shuffle(dataset, length(files), seed = seed) else dataset
}

#' @rdname file_list_dataset
#' @param files Paths, which may contain wildcards, read in sorted order; or a dataset of paths.
#' @param reader A function that creates a dataset from a path, such as [text_line_dataset()],
#'   [tfrecord_dataset()] or [fixed_length_record_dataset()].
#' @param ... Additional arguments of `reader`.
#' @param parallel_files Number of files from which elements are read alternately. Default: 1.
#' @param parallel_interleave Number of consecutive elements from each file. Default: 1.
#' @param num_shards,shard_index Reads only every `num_shards`-th file, starting with number
#'   `shard_index` (from 0). Default, `NULL`: all files.
#' @export
#' @examples
#'
#' read_files(file.path(folder, "*"), text_line_dataset, parallel_files = 2) |>
#'   dataset_collect() |>
#'   unlist()
read_files <- function(files, reader, ..., parallel_files = 1, parallel_interleave = 1,
                       num_shards = NULL, shard_index = NULL) {
  check_function(reader)
  if (!is_dataset(files)) files <- file_list_dataset(files, shuffle = FALSE)
  if (is.null(num_shards) != is.null(shard_index)) {
    abort_runhooks("Give both {.arg num_shards} and {.arg shard_index}, or neither.")
  }
  if (!is.null(num_shards)) files <- dataset_shard(files, num_shards, shard_index)
  dataset_interleave(files, function(file) reader(file, ...), parallel_files, parallel_interleave)
}

expand_file_patterns <- function(patterns, arg = "file_pattern", call = parent.frame()) {
  good <- is.character(patterns) && length(patterns) > 0 && !anyNA(patterns)
  check_arg(good, patterns, "paths of files", arg, call)
  files_by_pattern <- lapply(patterns, function(pattern) {
    # the name of an existing file may contain wildcard characters
    files <- if (file.exists(pattern)) path.expand(pattern) else Sys.glob(pattern)
    if (length(files) == 0) {
      abort_runhooks(
        "No files matched pattern: {.path {pattern}}.", kind = "not_found", call = call
      )
    }
    files
  })
  sort_bytewise(unique(enc2utf8(unlist(files_by_pattern))))
}
