# Datasets from delimited text, such as CSV files, and specifications of their columns.

#' Specify the columns of delimited text
#'
#' Returns a specification of delimited text: names and types of columns, and values for empty
#' fields. What you do not specify is inferred from the first 1000 rows of an example file.
#'
#' @param example_file Path of a file with the same columns as the data. Not needed if you give
#'   `names` and `types`.
#' @param skip Number of lines to skip before the header. Default: 0.
#' @param names Names of the columns. Default, `NULL`: the first line is a header with the names. An
#'   empty name becomes `"...1"`, with the number of the column.
#'   With `names`, the file must have no header, or `skip` must include it.
#' @param types Types of the columns: `"integer"` (int32), `"double"` (float32), `"character"`, or
#'   `"int32"`, `"int64"`, `"float32"`, `"float64"`, `"string"`. A single string of the letters `i`,
#'   `d` and `c`, such as `"ddic"`, is accepted, too. Default, `NULL`: the smallest type that
#'   represents all fields of the example.
#' @param defaults Values for empty fields: a list with one value per column. A type instead of a
#'   value, such as `tf$float32`, makes an empty field an error. Default, `NULL`: 0 and `""`. If a
#'   dataset is passed directly to a formula model, empty fields are NA instead; see `na.action` in
#'   [linear_regressor()].
#' @param delim Field delimiter, a single character.
#' @param encoding Encoding of the files; see [text_line_dataset()].
#' @return A specification for [text_line_dataset()] and [dataset_decode_delim()].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the file is empty, a row has another number of fields than
#'     the header, or an argument is invalid.
#'   * `runhooks_error_not_found`: the file does not exist.
#' @family datasets
#' @export
#' @examples
#' file <- tempfile()
#' writeLines(c("id,size,word", "1,2.5,a", "2,,b"), file)
#' spec <- csv_record_spec(file)
#' spec
#' text_line_dataset(file, record_spec = spec) |> dataset_batch(2) |> dataset_collect()
#'
#' writeLines(c("id\tsize", "1\t2.5"), file)
#' tsv_record_spec(file)
#' writeLines(c("id;size", "1;2.5"), file)
#' delim_record_spec(file, delim = ";")
csv_record_spec <- function(example_file, skip = 0, names = NULL, types = NULL, defaults = NULL,
                            encoding = NULL) {
  record_spec(example_file, ",", skip, names, types, defaults, encoding)
}

#' @rdname csv_record_spec
#' @export
tsv_record_spec <- function(example_file, skip = 0, names = NULL, types = NULL, defaults = NULL,
                            encoding = NULL) {
  record_spec(example_file, "\t", skip, names, types, defaults, encoding)
}

#' @rdname csv_record_spec
#' @export
delim_record_spec <- function(example_file, delim = ",", skip = 0, names = NULL, types = NULL,
                              defaults = NULL, encoding = NULL) {
  record_spec(example_file, delim, skip, names, types, defaults, encoding)
}

record_spec <- function(example_file, delim, skip, names, types, defaults, encoding = NULL,
                        compression_type = NULL, use_quotes = TRUE, na_value = "", rows = 1000,
                        has_header = is.null(names), call = parent.frame()) {
  check_string(delim, call = call)
  check_whole(skip, call = call)
  text_decoding(encoding, call)
  records <- list()
  if (!missing(example_file)) {
    compression <- if (is.null(compression_type)) "" else compression_type
    records <- example_records(
      example_file, compression, delim, use_quotes, skip, rows + has_header, encoding, call
    )
  } else if (is.null(names) || is.null(types)) {
    abort_runhooks(
      "Without {.arg example_file}, both {.arg names} and {.arg types} are needed.", call = call
    )
  }
  header <- if (has_header) records[[1]]
  if (has_header) records <- records[-1]
  where <- if (!missing(example_file)) cli::format_inline(" of {.path {example_file}}")
  names <- delim_names(if (is.null(names)) header_names(header) else names, where, call)
  if (!is.null(header) && any(Encoding(header) == "latin1")) {
    warn_header_encoding(example_file)
    header <- NULL # cannot be compared with the bytes of the files
  }
  names <- enc2utf8(names)
  check_num_fields(records, names, example_file, call)
  types <- column_types(types, records, names, na_value, call)
  structure(
    c(
      list(
        names = names, types = types, delim = delim, skip = skip, has_header = has_header,
        header = header, use_quotes = use_quotes, na_value = na_value,
        num_fields = length(names), fields = seq_along(names) - 1, encoding = encoding
      ),
      column_defaults(defaults, types, names, call)
    ),
    class = "tf_record_spec"
  )
}

example_records <- function(file, compression, delim, use_quotes, skip, n, encoding, call) {
  check_string(file, arg = "example_file", call = call)
  records <- cpp_csv_peek(path.expand(file), compression, delim, use_quotes, skip, n)
  if (!is.null(encoding)) records <- lapply(records, decoded_header, encoding, file, call)
  if (length(records) == 0) {
    abort_runhooks("{.path {file}} has no records.", kind = "invalid_argument", call = call)
  }
  records
}

decoded_header <- function(x, encoding, file, call) {
  decoded <- iconv(lapply(x, charToRaw), iconv_name(encoding), "UTF-8")
  if (!anyNA(decoded)) return(decoded)
  abort_runhooks(
    "{.path {file}} has text that is not valid {encoding}:
     {.val {iconv(x[is.na(decoded)], sub = \"byte\")}}.",
    kind = "invalid_argument", call = call
  )
}

warn_header_encoding <- function(file) {
  cli::cli_warn(
    c(
      "The header of {.path {file}} is not valid UTF-8; it is read as Latin-1.",
      i = "If it has another encoding, give {.arg encoding}."
    ),
    class = c("runhooks_warning_encoding", "runhooks_warning"), call = NULL
  )
}

# write.csv() leaves the name of the row names empty. readr gives such a column the name "...1".
header_names <- function(header) {
  empty <- !nzchar(header)
  header[empty] <- paste0("...", which(empty))
  header
}

delim_names <- function(names, where, call) {
  good <- is.character(names) && !anyNA(names) && !anyDuplicated(names) && all(nzchar(names))
  if (!good) {
    abort_runhooks(
      "The columns{where} must have unique, non-empty names, not {.val {names}}.",
      kind = "invalid_argument", call = call
    )
  }
  names
}

check_num_fields <- function(records, names, file, call) {
  odd <- which(lengths(records) != length(names))
  if (length(odd) == 0) return(invisible())
  found <- records[[odd[[1]]]]
  is_blank <- length(found) == 1 && !nzchar(found) # nolint: used by cli
  abort_runhooks(
    c(
      "Row {odd[[1]]} of {.path {file}} has {length(found)} field{?s}, but there
       {cli::qty(length(names))}{?is/are} {length(names)} column{?s}: {.val {names}}.",
      i = if (is_blank) "It is a blank line; remove it from the file."
    ),
    kind = "invalid_argument", call = call
  )
}

core_types <- c(
  integer = "int32", double = "float32", character = "string", i = "int32", d = "float32",
  c = "string", int32 = "int32", int64 = "int64", float32 = "float32", float64 = "float64",
  string = "string"
)

column_types <- function(types, records, names, na_value, call) {
  if (is.null(types)) {
    return(vapply(seq_along(names), function(k) {
      cpp_csv_type(vapply(records, `[[`, "", k), na_value)
    }, ""))
  }
  if (is_string(types) && !types %in% base::names(core_types)) types <- strsplit(types, "")[[1]]
  types <- vapply(types, function(type) if (is.character(type)) type else dtype_name(type), "")
  known <- types %in% base::names(core_types)
  if (!all(known)) {
    abort_runhooks(
      "{.arg types} must be {.or {.val {base::names(core_types)}}}, not {.val {types[!known]}}.",
      kind = "invalid_argument", call = call
    )
  }
  check_per_column(types, names, "types", call)
  unname(core_types[types])
}

check_per_column <- function(x, names, arg, call) {
  if (length(x) == length(names)) return()
  abort_runhooks(
    "{.arg {arg}} has {length(x)} element{?s}, but there are {length(names)} columns:
     {.val {names}}.",
    kind = "invalid_argument", call = call
  )
}

# Default values as text, and the names of required columns, whose default is a type.
column_defaults <- function(defaults, types, names, call) {
  if (is.null(defaults)) {
    return(list(
      defaults = ifelse(types == "string", "", "0"), required = character(), are_ours = TRUE
    ))
  }
  check_per_column(defaults, names, "defaults", call)
  required <- vapply(defaults, is_dtype, NA)
  text <- vapply(seq_along(names), function(k) {
    value <- defaults[[k]]
    if (required[[k]]) return(if (types[[k]] == "string") "" else "0")
    good <- is_atomic(value) && length(value) == 1 && !is.na(value)
    check_arg(good, value, "one value for each column", "defaults", call)
    if (!is.numeric(value)) return(as.character(value))
    with_decimal_point(format(value, digits = 17, scientific = FALSE))
  }, "")
  list(defaults = text, required = names[unlist(required)])
}

is_dtype <- function(x) inherits(x, "tensorflow.dtype")

check_record_spec <- function(x, arg = "record_spec", call = parent.frame()) {
  good <- inherits(x, "tf_record_spec")
  check_arg(good, x, "a specification, such as from csv_record_spec()", arg, call)
}

#' @rdname csv_record_spec
#' @param x A specification.
#' @param ... Ignored.
#' @export
print.tf_record_spec <- function(x, ...) {
  # lint: allow stdout
  cat("<record specification> ", paste0(x$names, ": ", x$types, collapse = ", "), "\n", sep = "")
  invisible(x)
}

csv_arguments <- function(spec) {
  list(
    delim = spec$delim, use_quotes = spec$use_quotes, na_value = spec$na_value,
    num_fields = spec$num_fields,
    names = as.list(spec$names), fields = as.list(spec$fields), dtypes = as.list(spec$types),
    defaults = as.list(spec$defaults), required = as.list(spec$required)
  )
}

csv_records <- function(fun, args, spec) {
  own <- c(
    list(skip = spec$skip, has_header = spec$has_header, header = as.list(spec$header)),
    text_decoding(spec$encoding)
  )
  made <- new_dataset("CsvDataset", fun, c(args, own, csv_arguments(spec)))
  made <- tf_dataset(made$handle, setNames(as.list(seq_along(spec$names)), spec$names))
  csv_with_na(made, spec, function(spec) csv_records(fun, args, spec))
}

# `make` creates the dataset from a modified specification. Defaults of the user have priority.
csv_with_na <- function(dataset, spec, make) {
  if (!isTRUE(spec$are_ours)) return(dataset)
  force(make)
  set_na_version(dataset, function(wide) make(spec_with_na(spec, wide)))
}

# Empty fields become values that R treats as NA; int64 has none, so there they are an error.
spec_with_na <- function(spec, wide) {
  spec$are_ours <- FALSE
  if (wide) spec$types[spec$types %in% c("int32", "int64")] <- "float64"
  spec$defaults <- c(
    int32 = "-2147483648", int64 = "0", float32 = "NaN", float64 = "NaN", string = ""
  )[spec$types]
  spec$defaults <- unname(spec$defaults)
  spec$required <- spec$names[spec$types == "int64"]
  spec
}

#' Parse lines of delimited text
#'
#' Returns a dataset that converts each line of delimited text to a record.
#'
#' @param dataset A dataset of lines without a header, such as from [text_line_dataset()] and
#'   [dataset_skip()].
#' @param record_spec A specification; see [csv_record_spec()].
#' @param parallel_records Number of records to prepare in advance on another thread. Default,
#'   `NULL`: none.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a field has another type than its column, or a line has
#'     another number of fields. The message contains file, line and column.
#'   * `runhooks_error_data_loss`: quotes are not closed.
#' @family datasets
#' @export
#' @examples
#' file <- tempfile()
#' writeLines(c("x,word", "1,a", "2,b"), file)
#' text_line_dataset(file) |>
#'   dataset_skip(1) |>
#'   dataset_decode_delim(csv_record_spec(file)) |>
#'   dataset_collect()
dataset_decode_delim <- function(dataset, record_spec, parallel_records = NULL) {
  check_dataset(dataset)
  check_record_spec(record_spec)
  check_positive_whole(parallel_records, null = TRUE)
  args <- c(list(dataset = dataset), csv_arguments(record_spec))
  made <- new_dataset("DecodeDelimDataset", "dataset_decode_delim", args)
  form <- setNames(as.list(seq_along(record_spec$names)), record_spec$names)
  made <- csv_with_na(tf_dataset(made$handle, form), record_spec, function(spec) {
    dataset_decode_delim(dataset, spec)
  })
  if (is.null(parallel_records)) made else dataset_prefetch(made, parallel_records)
}

#' Read CSV files in batches
#'
#' Returns a dataset that reads delimited text files, shuffles and repeats their rows, and combines
#' them into batches.
#'
#' @param file_pattern Paths of files, which may contain wildcards.
#' @param batch_size Number of rows per batch. A batch may contain rows of several files.
#' @param column_names Names of all columns. Default, `NULL`: the header of the first file.
#' @param column_defaults A list with one element per selected column: the value for empty fields,
#'   which also determines the column's type, or a type, which makes an empty field an error.
#'   Default, `NULL`: types and values as in [csv_record_spec()].
#' @param label_name Name of the label column. Elements are then tuples of a record and the label.
#'   Default, `NULL`: elements are records.
#' @param select_columns Names or numbers of the columns to read. Default, `NULL`: all.
#' @param field_delim Field delimiter, a single character.
#' @param use_quote_delim Whether fields may be quoted, a logical.
#' @param na_value Additional string to treat as missing.
#' @param header Whether the files have a header, a logical. Without `column_names` the header must
#'   be the same in all files.
#' @param num_epochs Number of passes through the data. Default, `NULL`: repeat without end.
#' @param shuffle Whether to shuffle the files and the rows, a logical.
#' @param shuffle_buffer_size,shuffle_seed See [dataset_shuffle()].
#' @param prefetch_buffer_size Number of batches to prepare in advance on another thread. 0: none.
#' @param num_parallel_reads Number of files from which rows are read alternately.
#' @param sloppy Ignored; the order never depends on threads.
#' @param num_rows_for_inference Number of rows of the first file from which types are inferred.
#' @param compression_type `"GZIP"`, `"ZLIB"`, or `NULL` for uncompressed files.
#' @param on_error,encoding See [text_line_dataset()].
#' @return A dataset; see [datasets].
#' @inheritSection dataset_decode_delim Errors
#' @family datasets
#' @export
#' @examples
#' file <- tempfile()
#' write.csv(mtcars, file, row.names = FALSE)
#' cars <- make_csv_dataset(file, batch_size = 4, label_name = "mpg",
#'   select_columns = c("mpg", "wt", "cyl"), num_epochs = 1, shuffle = FALSE)
#' dataset_collect(cars, 1)
make_csv_dataset <- function(file_pattern, batch_size, column_names = NULL, column_defaults = NULL,
                             label_name = NULL, select_columns = NULL, field_delim = ",",
                             use_quote_delim = TRUE, na_value = "", header = TRUE,
                             num_epochs = NULL, shuffle = TRUE, shuffle_buffer_size = 10000,
                             shuffle_seed = NULL, prefetch_buffer_size = 1, num_parallel_reads = 1,
                             sloppy = FALSE, num_rows_for_inference = 100, compression_type = NULL,
                             on_error = c("stop", "skip"), encoding = NULL) {
  check_flag(shuffle)
  check_flag(sloppy)
  check_positive_whole(batch_size)
  check_positive_whole(num_parallel_reads)
  check_positive_whole(num_rows_for_inference)
  on_error <- check_one_of(on_error, c("stop", "skip"))
  files <- matching_files(file_pattern)
  spec <- csv_file_spec(
    files[[1]], field_delim, column_names, header, compression_type, use_quote_delim, na_value,
    num_rows_for_inference, encoding
  )
  spec <- select_spec_columns(spec, select_columns, column_defaults)
  label <- split_label(spec, label_name)
  reader <- function(spec) {
    function(filenames) {
      args <- list(
        filenames = filenames, compression_type = compression_type, on_error = on_error
      )
      csv_records("make_csv_dataset", args, spec)
    }
  }
  batches <- function(spec) {
    if (!shuffle && num_parallel_reads == 1) {
      rows <- reader(spec)(as.list(files))
    } else {
      listed <- new_dataset("FileListDataset", "make_csv_dataset", list(filenames = as.list(files)))
      if (shuffle) listed <- dataset_shuffle(listed, length(files), seed = shuffle_seed)
      rows <- dataset_interleave(listed, reader(spec), num_parallel_reads)
      if (shuffle) rows <- dataset_shuffle(rows, shuffle_buffer_size, seed = shuffle_seed)
    }
    if (is.null(num_epochs) || num_epochs != 1) rows <- dataset_repeat(rows, num_epochs)
    rows <- tf_dataset(dataset_batch(rows, batch_size)$handle, label)
    if (prefetch_buffer_size == 0) rows else dataset_prefetch(rows, prefetch_buffer_size)
  }
  csv_with_na(batches(spec), spec, batches)
}

csv_file_spec <- function(file, delim, names, header, compression_type, use_quotes, na_value, rows,
                          encoding, call = parent.frame()) {
  check_flag(header, call = call)
  check_flag(use_quotes, "use_quote_delim", call = call)
  check_string(na_value, call = call)
  if (is.null(names) && !header) {
    abort_runhooks(
      "Files without a header need {.arg column_names}.", kind = "invalid_argument", call = call
    )
  }
  spec <- record_spec(
    file, delim, 0, names, NULL, NULL, encoding, compression_type, use_quotes, na_value, rows,
    header, call
  )
  # user-specified names may differ from those of the header
  if (!is.null(names)) spec["header"] <- list(NULL)
  spec
}

select_spec_columns <- function(spec, select, defaults, call = parent.frame()) {
  chosen <- seq_along(spec$names)
  if (is.character(select)) chosen <- match(select, spec$names)
  if (is.numeric(select)) chosen <- match(select, chosen)
  if (length(chosen) == 0 || anyNA(chosen) || anyDuplicated(chosen)) {
    abort_runhooks(
      "{.arg select_columns} must be unique names or numbers of columns, not {.val {select}};
       the columns are {.val {spec$names}}.",
      kind = "invalid_argument", call = call
    )
  }
  spec$fields <- chosen - 1
  spec$names <- spec$names[chosen]
  spec$types <- spec$types[chosen]
  if (!is.null(defaults)) {
    check_per_column(defaults, spec$names, "column_defaults", call)
    spec$types <- vapply(defaults, default_type, "")
  }
  own <- column_defaults(defaults, spec$types, spec$names, call)
  spec$defaults <- own$defaults
  spec$required <- own$required
  spec$are_ours <- own$are_ours
  spec
}

#' Read CSV files as records
#'
#' Returns a dataset of the records of CSV files, as `text_line_dataset()` with `csv_record_spec()`
#' does. [make_csv_dataset()] also shuffles and batches; `tf$data$experimental$CsvDataset()` returns
#' tuples without names.
#'
#' @param filenames Paths of files, which may contain wildcards. Names and types are inferred from
#'   the first file.
#' @param compression_type `"GZIP"`, `"ZLIB"`, or `NULL` for uncompressed files.
#' @param skip,encoding See [csv_record_spec()].
#' @param col_names,col_types,col_defaults `names`, `types` and `defaults` of [csv_record_spec()].
#' @param parallel_records,on_error See [text_line_dataset()].
#' @return A dataset; see [datasets].
#' @inheritSection dataset_decode_delim Errors
#' @family datasets
#' @export
#' @examples
#' file <- tempfile(fileext = ".csv")
#' write.csv(cars, file, row.names = FALSE)
#' csv_dataset(file) %>% dataset_batch(2) %>% dataset_collect(1)
csv_dataset <- function(filenames, compression_type = NULL, skip = 0, col_names = NULL,
                        col_types = NULL, col_defaults = NULL, parallel_records = NULL,
                        on_error = c("stop", "skip"), encoding = NULL) {
  files <- matching_files(filenames, "filenames")
  spec <- record_spec(
    files[[1]], ",", skip, col_names, col_types, col_defaults, encoding, compression_type
  )
  text_line_dataset(
    files, compression_type, spec, parallel_records, check_one_of(on_error, c("stop", "skip"))
  )
}

# tf$data$experimental$CsvDataset. With `select_cols`, records may have additional fields at the
# end.
tf_csv_dataset <- function(filenames, record_defaults, compression_type = NULL, buffer_size = NULL,
                           header = FALSE, field_delim = ",", use_quote_delim = TRUE,
                           na_value = "", select_cols = NULL) {
  check_flag(header)
  check_flag(use_quote_delim)
  check_string(na_value)
  check_positive_whole(buffer_size, null = TRUE)
  if (!is.list(record_defaults)) record_defaults <- as.list(record_defaults)
  count <- length(record_defaults)
  fields <- if (is.null(select_cols)) seq_len(count) - 1 else as.numeric(select_cols)
  if (length(fields) != count || is.unsorted(fields, strictly = TRUE)) {
    abort_runhooks(
      "{.arg select_cols} must be increasing field numbers, starting from 0, one for each of
       {.arg record_defaults}.",
      kind = "invalid_argument"
    )
  }
  names <- as.character(fields)
  types <- vapply(record_defaults, default_type, "")
  spec <- list(
    names = names, types = types, delim = field_delim, skip = 0, has_header = header,
    header = NULL, use_quotes = use_quote_delim, na_value = na_value,
    num_fields = if (is.null(select_cols)) count, fields = fields
  )
  spec <- c(spec, column_defaults(record_defaults, types, names))
  args <- list(filenames = file_names(filenames), compression_type = compression_type)
  made <- csv_records("tf$data$experimental$CsvDataset", args, spec)
  tf_dataset(made$handle, if (count == 1) 1L else as.list(seq_len(count)))
}

default_type <- function(x) {
  if (is_dtype(x)) return(dtype_name(x))
  switch(typeof(x), integer = "int32", double = "float32", "string")
}

# The structure of the elements: a record, or a tuple of a record and the label.
split_label <- function(spec, label_name, call = parent.frame()) {
  form <- setNames(as.list(seq_along(spec$names)), spec$names)
  if (is.null(label_name)) return(form)
  if (!is_string(label_name) || !label_name %in% spec$names) {
    abort_runhooks(
      "{.arg label_name} must be one of the columns {.val {spec$names}}, not {.val {label_name}}.",
      kind = "invalid_argument", call = call
    )
  }
  list(form[setdiff(spec$names, label_name)], form[[label_name]])
}
