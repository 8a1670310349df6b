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
  decoding_arguments(encoding, call)
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
  location <- if (!missing(example_file)) cli::format_inline(" of {.path {example_file}}")
  names <- check_delim_names(if (is.null(names)) header_names(header) else names, location, call)
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
  if (!is.null(encoding)) records <- lapply(records, decode_record, encoding, file, call)
  if (length(records) == 0) {
    abort_runhooks("{.path {file}} has no records.", kind = "invalid_argument", call = call)
  }
  records
}

decode_record <- function(record, encoding, file, call) {
  decoded <- iconv(lapply(record, charToRaw), iconv_name(encoding), "UTF-8")
  if (!anyNA(decoded)) return(decoded)
  abort_runhooks(
    "{.path {file}} has text that is not valid {encoding}:
     {.val {iconv(record[is.na(decoded)], sub = \"byte\")}}.",
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

# Replaces empty names by names such as "...1", as readr does. write.csv() leaves the name of the
# column of row names empty.
header_names <- function(header) {
  empty <- !nzchar(header)
  header[empty] <- paste0("...", which(empty))
  header
}

check_delim_names <- function(names, location, call) {
  good <- is.character(names) && !anyNA(names) && !anyDuplicated(names) && all(nzchar(names))
  if (!good) {
    abort_runhooks(
      "The columns{location} must have unique, non-empty names, not {.val {names}}.",
      kind = "invalid_argument", call = call
    )
  }
  names
}

check_num_fields <- function(records, names, file, call) {
  row <- which(lengths(records) != length(names))[1]
  if (is.na(row)) return(invisible())
  fields <- records[[row]]
  is_blank <- length(fields) == 1 && !nzchar(fields) # nolint: used by cli
  abort_runhooks(
    c(
      "Row {row} of {.path {file}} has {length(fields)} field{?s}, but there
       {cli::qty(length(names))}{?is/are} {length(names)} column{?s}: {.val {names}}.",
      i = if (is_blank) "It is a blank line; remove it from the file."
    ),
    kind = "invalid_argument", call = call
  )
}

# The core's type for each name that the argument `types` accepts.
core_type_by_name <- c(
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
  accepted <- base::names(core_type_by_name)
  if (is_string(types) && !types %in% accepted) types <- strsplit(types, "")[[1]]
  types <- vapply(types, function(type) if (is.character(type)) type else dtype_name(type), "")
  if (!all(types %in% accepted)) {
    abort_runhooks(
      "{.arg types} must be {.or {.val {accepted}}}, not {.val {types[!types %in% accepted]}}.",
      kind = "invalid_argument", call = call
    )
  }
  check_per_column(types, names, "types", call)
  unname(core_type_by_name[types])
}

check_per_column <- function(x, names, arg, call) {
  if (length(x) == length(names)) return()
  abort_runhooks(
    "{.arg {arg}} has {length(x)} element{?s}, but there are {length(names)} columns:
     {.val {names}}.",
    kind = "invalid_argument", call = call
  )
}

# Returns three fields of a specification: default values as text, the names of required columns
# (whose default is a type), and whether the defaults are built in.
column_defaults <- function(defaults, types, names, call) {
  if (is.null(defaults)) {
    return(list(
      defaults = ifelse(types == "string", "", "0"), required = character(), are_built_in = TRUE
    ))
  }
  check_per_column(defaults, names, "defaults", call)
  is_required <- vapply(defaults, is_dtype, NA)
  text <- vapply(seq_along(names), function(k) {
    value <- defaults[[k]]
    if (is_required[[k]]) return(if (types[[k]] == "string") "" else "0")
    good <- is_atomic(value) && length(value) == 1 && !is.na(value)
    check_arg(good, value, "one value for each column", "defaults", call)
    if (!is.numeric(value)) return(as.character(value))
    with_decimal_point(format(value, digits = 17, scientific = FALSE))
  }, "")
  list(defaults = text, required = names[unlist(is_required)])
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

csv_core_arguments <- function(spec) {
  list(
    delim = spec$delim, use_quotes = spec$use_quotes, na_value = spec$na_value,
    num_fields = spec$num_fields,
    names = as.list(spec$names), fields = as.list(spec$fields), dtypes = as.list(spec$types),
    defaults = as.list(spec$defaults), required = as.list(spec$required)
  )
}

csv_records <- function(fun, args, spec) {
  spec_args <- c(
    list(skip = spec$skip, has_header = spec$has_header, header = as.list(spec$header)),
    decoding_arguments(spec$encoding)
  )
  result <- new_dataset("CsvDataset", fun, c(args, spec_args, csv_core_arguments(spec)))
  result <- tf_dataset(result$handle, setNames(as.list(seq_along(spec$names)), spec$names))
  with_csv_na_version(result, spec, function(spec) csv_records(fun, args, spec))
}

# Adds the version of `dataset` in which empty fields are NA, unless the user has specified
# defaults. `make_dataset()` creates the dataset from a modified specification.
with_csv_na_version <- function(dataset, spec, make_dataset) {
  if (!isTRUE(spec$are_built_in)) return(dataset)
  force(make_dataset)
  set_na_version(dataset, function(integers_as_doubles) {
    make_dataset(spec_with_na(spec, integers_as_doubles))
  })
}

# Replaces the default values of empty fields by values that R treats as NA. The type int64 has
# none, so empty fields of int64 columns are an error.
spec_with_na <- function(spec, integers_as_doubles) {
  spec$are_built_in <- FALSE
  if (integers_as_doubles) spec$types[spec$types %in% c("int32", "int64")] <- "float64"
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
  args <- c(list(dataset = dataset), csv_core_arguments(record_spec))
  result <- new_dataset("DecodeDelimDataset", "dataset_decode_delim", args)
  form <- setNames(as.list(seq_along(record_spec$names)), record_spec$names)
  result <- with_csv_na_version(tf_dataset(result$handle, form), record_spec, function(spec) {
    dataset_decode_delim(dataset, spec)
  })
  if (is.null(parallel_records)) result else dataset_prefetch(result, parallel_records)
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
  files <- expand_file_patterns(file_pattern)
  spec <- csv_file_spec(
    files[[1]], field_delim, column_names, header, compression_type, use_quote_delim, na_value,
    num_rows_for_inference, encoding
  )
  spec <- select_spec_columns(spec, select_columns, column_defaults)
  form <- form_with_label(spec, label_name)
  reader_of <- function(spec) {
    function(filenames) {
      args <- list(
        filenames = filenames, compression_type = compression_type, on_error = on_error
      )
      csv_records("make_csv_dataset", args, spec)
    }
  }
  batches <- function(spec) {
    if (!shuffle && num_parallel_reads == 1) {
      rows <- reader_of(spec)(as.list(files))
    } else {
      args <- list(filenames = as.list(files))
      paths <- new_dataset("FileListDataset", "make_csv_dataset", args)
      if (shuffle) paths <- dataset_shuffle(paths, length(files), seed = shuffle_seed)
      rows <- dataset_interleave(paths, reader_of(spec), num_parallel_reads)
      if (shuffle) rows <- dataset_shuffle(rows, shuffle_buffer_size, seed = shuffle_seed)
    }
    if (is.null(num_epochs) || num_epochs != 1) rows <- dataset_repeat(rows, num_epochs)
    rows <- tf_dataset(dataset_batch(rows, batch_size)$handle, form)
    if (prefetch_buffer_size == 0) rows else dataset_prefetch(rows, prefetch_buffer_size)
  }
  with_csv_na_version(batches(spec), spec, batches)
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
  selected <- seq_along(spec$names)
  if (is.character(select)) selected <- match(select, spec$names)
  if (is.numeric(select)) selected <- match(select, selected)
  if (length(selected) == 0 || anyNA(selected) || anyDuplicated(selected)) {
    abort_runhooks(
      "{.arg select_columns} must be unique names or numbers of columns, not {.val {select}};
       the columns are {.val {spec$names}}.",
      kind = "invalid_argument", call = call
    )
  }
  spec$fields <- selected - 1
  spec$names <- spec$names[selected]
  spec$types <- spec$types[selected]
  if (!is.null(defaults)) {
    check_per_column(defaults, spec$names, "column_defaults", call)
    spec$types <- vapply(defaults, type_of_default, "")
  }
  default_fields <- column_defaults(defaults, spec$types, spec$names, call)
  spec$defaults <- default_fields$defaults
  spec$required <- default_fields$required
  spec$are_built_in <- default_fields$are_built_in
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
  files <- expand_file_patterns(filenames, "filenames")
  spec <- record_spec(
    files[[1]], ",", skip, col_names, col_types, col_defaults, encoding, compression_type
  )
  text_line_dataset(
    files, compression_type, spec, parallel_records, check_one_of(on_error, c("stop", "skip"))
  )
}

# Implements tf$data$experimental$CsvDataset(). With `select_cols`, records may have more fields
# than the selected ones.
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
  types <- vapply(record_defaults, type_of_default, "")
  spec <- list(
    names = names, types = types, delim = field_delim, skip = 0, has_header = header,
    header = NULL, use_quotes = use_quote_delim, na_value = na_value,
    num_fields = if (is.null(select_cols)) count, fields = fields
  )
  spec <- c(spec, column_defaults(record_defaults, types, names))
  args <- list(filenames = check_file_paths(filenames), compression_type = compression_type)
  dataset <- csv_records("tf$data$experimental$CsvDataset", args, spec)
  tf_dataset(dataset$handle, if (count == 1) 1L else as.list(seq_len(count)))
}

type_of_default <- function(x) {
  if (is_dtype(x)) return(dtype_name(x))
  switch(typeof(x), integer = "int32", double = "float32", "string")
}

# Returns the structure of the elements: a record, or a tuple of a record and the label.
form_with_label <- function(spec, label_name, call = parent.frame()) {
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
