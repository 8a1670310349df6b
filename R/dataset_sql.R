# Datasets from database queries.

#' Create a dataset from a database query
#'
#' Returns a dataset of the rows of a query, as records. The query runs on a connection of the
#' package DBI, and rows are fetched in chunks, so tables may be larger than memory.
#'
#' Each iterator and each pass runs the query again. Restoring an iterator reads the chunks before
#' its position again and checks that they have not changed. The query should therefore have an
#' `ORDER BY`, and the table must not change. Most databases allow one open result per connection:
#' if another query has closed a result, the query runs again up to its position. Rows are fetched
#' on the main thread.
#'
#' @param connection A connection; see `DBI::dbConnect()`.
#' @param query A query that returns rows, a string.
#' @param chunk_size Number of rows per chunk. Default: 10000.
#' @return A dataset; see [datasets]. Integers become int32, `integer64` int64, doubles float64,
#'   logicals bool, and strings string.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a column has another type (convert it in the query), or a
#'     column that is not of doubles contains NULL; the message contains column and row. In columns
#'     of doubles NULL is NaN. A formula model also accepts NULL in integers and strings, as NA.
#'   * `runhooks_error_failed_precondition`: the query returns other rows than before.
#' @family datasets
#' @export
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE)
#' connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#' DBI::dbWriteTable(connection, "cars", mtcars)
#' sql_dataset(connection, "SELECT wt, mpg FROM cars ORDER BY wt LIMIT 4") |>
#'   dataset_batch(4) |>
#'   dataset_collect()
#' DBI::dbDisconnect(connection)
sql_dataset <- function(connection, query, chunk_size = 10000) {
  rlang::check_installed("DBI", "to read from a database.")
  good <- inherits(connection, "DBIConnection")
  check_arg(good, connection, "a connection of DBI", "connection", environment())
  check_string(query)
  check_positive_whole(chunk_size)
  query_dataset(query, chunk_size, connect = function() connection)
}

# Creates a dataset of the rows of a query. `connect()` returns a connection, which `disconnect()`
# closes when a stream ends.
query_dataset <- function(query, chunk_size, connect, disconnect = function(connection) NULL) {
  types <- types_of_query(query, connect, disconnect)
  rows <- function(types, na_allowed) {
    open <- function() sql_stream(connect, disconnect, query, chunk_size, types, na_allowed)
    chunks_dataset(types, open, query)
  }
  set_na_version(rows(types, FALSE), function(integers_as_doubles) {
    # float64 represents NA as NaN; int64 has no such value
    types[types %in% c("int64", if (integers_as_doubles) "int32")] <- "float64"
    rows(types, TRUE)
  })
}

#' Read a query of an SQLite file as tfdatasets does
#'
#' `sqlite_dataset()` returns a dataset of the rows of a query, with the columns of a record
#' specification. [sql_dataset()] reads from any connection and derives the columns from the query.
#' Each iterator opens its own connection and closes it at the end of the data.
#'
#' @param filename Path of the database.
#' @param query A query that returns rows, a string.
#' @param record_spec The value of `sql_record_spec()`.
#' @param names Names of the columns, instead of those of the query.
#' @param types Types of the columns: `tf$int32`, `tf$float64`, `tf$string` and so on.
#' @return `sqlite_dataset()`: a dataset; see [datasets]. `sql_record_spec()`: an object of class
#'   `tf_sql_record_spec`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or the query has another number of
#'     columns.
#' @family datasets
#' @export
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE)
#' file <- tempfile(fileext = ".sqlite3")
#' connection <- DBI::dbConnect(RSQLite::SQLite(), file)
#' DBI::dbWriteTable(connection, "cars", mtcars)
#' DBI::dbDisconnect(connection)
#' spec <- sql_record_spec(names = c("wt", "mpg"), types = list(tf$float64, tf$float64))
#' sqlite_dataset(file, "SELECT wt, mpg FROM cars ORDER BY wt LIMIT 4", spec) |>
#'   dataset_collect()
sqlite_dataset <- function(filename, query, record_spec) {
  check_string(filename)
  good <- inherits(record_spec, "tf_sql_record_spec")
  check_arg(good, record_spec, "the value of sql_record_spec()", "record_spec", environment())
  rlang::check_installed("RSQLite", "to read an SQLite file.")
  if (!file.exists(filename)) {
    abort_runhooks("{.path {filename}} does not exist.", kind = "not_found")
  }
  check_string(query)
  path <- normalizePath(filename)
  rows <- query_dataset(
    query, 10000, function() DBI::dbConnect(RSQLite::SQLite(), path), DBI::dbDisconnect
  )
  n <- length(record_spec$types)
  if (length(rows$form) != n) {
    abort_runhooks(
      "The query has {length(rows$form)} column{?s}, but {.arg record_spec} has {n} type{?s}."
    )
  }
  dataset_map(rows, function(record) {
    columns <- Map(function(x, type) {
      if (x$dtype$name == type) x else tf$cast(x, type)
    }, unname(record), record_spec$types)
    setNames(columns, if (is.null(record_spec$names)) names(record) else record_spec$names)
  })
}

#' @rdname sqlite_dataset
#' @export
sql_record_spec <- function(names = NULL, types) {
  check_arg(
    is.null(names) || is.character(names) && !anyDuplicated(names), names, "unique names", "names",
    environment()
  )
  types <- if (is.list(types) && !is_dtype(types)) types else as.list(types)
  types <- lapply(unname(types), dtype_name)
  if (!is.null(names) && length(names) != length(types)) {
    abort_runhooks(
      "{.arg names} and {.arg types} must have the same length, not {length(names)} and
       {length(types)}."
    )
  }
  structure(list(names = names, types = types), class = "tf_sql_record_spec")
}

# Creates a dataset of rows from a stream whose elements are chunks: data frames, or lists of
# columns. `source` describes the data in saved positions.
chunks_dataset <- function(types, open, source) {
  columns <- paste0(names(types), ": ", types, collapse = ", ")
  chunks <- source_dataset(
    open, structure_of(as.list(types)), unname(types), rep(list(NA_real_), length(types)),
    paste0(source, " with the columns ", columns)
  )
  dataset_flat_map(chunks, tensor_slices_dataset)
}

types_of_query <- function(query, connect, disconnect) {
  connection <- connect()
  on.exit(disconnect(connection))
  result <- send_query(connection, query)
  on.exit(DBI::dbClearResult(result), add = TRUE, after = FALSE)
  sql_types(DBI::dbFetch(result, n = 1))
}

# Sends a query. A warning that it has closed the result of another query is muffled, because the
# stream of the other query runs that query again.
send_query <- function(connection, query) {
  withCallingHandlers(
    DBI::dbSendQuery(connection, query),
    warning = function(w) {
      closes_other_result <- "Closing open result set|Cancelling previous query"
      if (grepl(closes_other_result, conditionMessage(w))) invokeRestart("muffleWarning")
    }
  )
}

# Returns the functions of a stream for source_dataset() (R/dataset_generator.R). A saved position
# consists of the number of chunks fetched and a hash of their contents.
sql_stream <- function(connect, disconnect, query, chunk_size, types, na_allowed = FALSE) {
  connection <- NULL
  result <- NULL
  n_chunks <- 0
  hash <- ""
  close <- function() {
    if (!is.null(result) && DBI::dbIsValid(result)) DBI::dbClearResult(result)
    result <<- NULL
    if (!is.null(connection)) disconnect(connection)
    connection <<- NULL
  }
  rewind <- function() {
    close()
    connection <<- connect()
    result <<- send_query(connection, query)
    n_chunks <<- 0
    hash <<- ""
  }
  next_chunk <- function() {
    chunk <- DBI::dbFetch(result, n = chunk_size)
    if (nrow(chunk) == 0) return(NULL)
    n_chunks <<- n_chunks + 1
    hash <<- rlang::hash(list(hash, chunk))
    chunk
  }
  save <- function() list(chunks = n_chunks, hash = hash)
  restore <- function(state) {
    force(state) # a lazy argument: save() must run before rewind() resets the position
    rewind()
    while (n_chunks < state$chunks && !is.null(next_chunk())) NULL
    if (!identical(hash, state$hash)) {
      close()
      abort_runhooks(
        c(
          "The query returns other rows than before: {.val {query}}.",
          i = "Add an {.code ORDER BY}, and use a table that does not change."
        ),
        kind = "failed_precondition"
      )
    }
  }
  next_components <- function(number) {
    # the query has not started or has failed, or another query has closed its result
    if (is.null(result) || !DBI::dbIsValid(result)) restore(save())
    rows_before <- n_chunks * chunk_size
    chunk <- next_chunk()
    if (is.null(chunk)) return(close())
    withCallingHandlers(
      unname(sql_columns(chunk, types, rows_before, na_allowed)), error = function(e) close()
    )
  }
  list(draw = next_components, rewind = rewind, save = save, restore = restore, close = close)
}

sql_types <- function(rows) {
  types <- vapply(rows, sql_type, "")
  if (length(types) == 0) {
    abort_runhooks("{.arg query} returns no columns.", kind = "invalid_argument")
  }
  if (anyDuplicated(names(types))) {
    abort_runhooks(
      "The columns of {.arg query} must have unique names, not {.val {names(types)}}.",
      kind = "invalid_argument"
    )
  }
  unsupported <- names(types)[types == ""]
  if (length(unsupported)) {
    abort_runhooks(
      c(
        "Column {.val {unsupported[[1]]}} is {describe_type(rows[[unsupported[[1]]]])}; tensors
         contain numbers, logicals and strings.",
        i = "Convert it in the query."
      ),
      kind = "invalid_argument"
    )
  }
  types
}

sql_type <- function(x) {
  if (inherits(x, "integer64")) return("int64")
  if (is.object(x)) return("")
  switch(typeof(x),
    integer = "int32", double = "float64", logical = "bool", character = "string", ""
  )
}

# Converts the columns of a chunk to their declared types. `na_allowed`: NULL becomes the value that
# R treats as NA, or "" in strings.
sql_columns <- function(chunk, types, rows_before, na_allowed) {
  columns <- list()
  for (name in names(types)) {
    values <- chunk[[name]]
    fits <- identical(sql_type(values), types[[name]]) ||
      (types[[name]] == "float64" && sql_type(values) %in% c("int32", if (na_allowed) "int64")) ||
      all(is.na(values))
    if (!fits) {
      abort_runhooks(
        "Column {.val {name}} has type {.val {sql_type(values)}} from row {rows_before + 1} on; its
         first rows have type {.val {types[[name]]}}.",
        kind = "invalid_argument"
      )
    }
    missing <- which(is.na(values))
    if (na_allowed && types[[name]] == "string") values[missing] <- ""
    if (na_allowed && types[[name]] == "int32") {
      values <- as.double(values)
      values[missing] <- -2^31 # NA_integer_
    }
    nullable <- c("float64", if (na_allowed) c("int32", "string"))
    if (length(missing) && !types[[name]] %in% nullable) {
      abort_runhooks(
        "Column {.val {name}} is NULL in row {rows_before + missing[[1]]};
         type {.val {types[[name]]}} has no missing value.",
        kind = "invalid_argument"
      )
    }
    if (inherits(values, "integer64")) values <- int64_as_double(values, name)
    if (types[[name]] == "float64") values <- as.double(values)
    columns[[name]] <- np_array(values, types[[name]])
  }
  columns
}

int64_as_double <- function(x, name) {
  numbers <- as.double(x)
  if (any(abs(numbers) > 2^53, na.rm = TRUE)) {
    abort_runhooks(
      "Column {.val {name}} has integers above 2^53, which R cannot represent exactly.",
      kind = "invalid_argument"
    )
  }
  numbers
}
