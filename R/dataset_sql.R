# Rows of database tables as a dataset.

#' Rows of a query
#'
#' Runs a query on a connection of the package DBI and gives its rows as records, fetched in chunks,
#' so that tables larger than memory are read.
#'
#' Each pass through the data runs the query again. An iterator that is restored does so, too, goes
#' through the chunks that had been read and checks that they are the same: the query should have an
#' `ORDER BY`, the table should not change. Give the dataset a connection of its own: most databases
#' read one result at a time. What R must be asked for is read on the main thread.
#'
#' @param connection A connection, see `DBI::dbConnect()`.
#' @param query A query that gives rows, as a string.
#' @param chunk_size How many rows are fetched at once.
#' @return A dataset, see [datasets]: integers are int32, `integer64` int64, doubles float64,
#'   logicals bool, words strings.
#' @section Errors: `runhooks_error_invalid_argument` with column and row for NULL in a column that
#'   is not of doubles (in these it is NaN), and for columns of other kinds: convert them in the
#'   query. `runhooks_error_failed_precondition` where the query gives other rows than before.
#' @family datasets
#' @export
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE)
#' connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#' DBI::dbWriteTable(connection, "cars", mtcars)
#' sql_dataset(connection, "SELECT wt, mpg FROM cars ORDER BY wt") %>%
#'   dataset_batch(4) %>%
#'   dataset_collect(1)
#' DBI::dbDisconnect(connection)
sql_dataset <- function(connection, query, chunk_size = 10000) {
  rlang::check_installed("DBI", "to read from a database.")
  good <- inherits(connection, "DBIConnection")
  check_arg(good, connection, "a connection of DBI", "connection", environment())
  check_string(query)
  check_positive_whole(chunk_size)
  rows <- sql_rows(connection, query, chunk_size)
  chunks_dataset(rows$types, rows$next_chunk, rows$save, rows$restore)
}

# Records of chunks of rows: data frames, or named lists of columns of equal length. Rows are taken
# apart in the core. `types` are those of the columns, by name.
chunks_dataset <- function(types, next_chunk, save, restore) {
  chunks <- generator_dataset(
    next_chunk, as.list(types), lapply(types, function(type) NA), save, restore
  )
  dataset_flat_map(chunks, tensor_slices_dataset)
}

# The closures of a query: its columns' types, the next chunk, and the position: how many chunks
# have been fetched, and a hash of all of them.
sql_rows <- function(connection, query, chunk_size) {
  result <- NULL
  fetched <- 0
  hash <- ""
  begin <- function() {
    finish()
    result <<- DBI::dbSendQuery(connection, query)
    fetched <<- 0
    hash <<- ""
  }
  finish <- function() {
    if (!is.null(result) && DBI::dbIsValid(result)) DBI::dbClearResult(result)
    result <<- NULL
  }
  fetch <- function() {
    chunk <- DBI::dbFetch(result, n = chunk_size)
    if (nrow(chunk) == 0) return(NULL)
    fetched <<- fetched + 1
    hash <<- rlang::hash(list(hash, chunk))
    chunk
  }
  begin()
  first <- DBI::dbFetch(result, n = 1)
  finish()
  types <- sql_types(first)
  next_chunk <- function() {
    if (is.null(result)) begin()
    if (!DBI::dbIsValid(result)) restore(save()) # another query has ended it
    before <- fetched * chunk_size
    chunk <- fetch()
    if (is.null(chunk)) return(finish())
    withCallingHandlers(sql_columns(chunk, types, before), error = function(e) finish())
  }
  save <- function() list(chunks = fetched, hash = hash)
  restore <- function(state) {
    begin()
    while (fetched < state$chunks && !is.null(fetch())) NULL
    if (!identical(hash, state$hash)) {
      finish()
      stop_runhooks(
        c(
          "The query gives other rows than those that were read: {.val {query}}.",
          i = "It needs an {.code ORDER BY}, and a table that does not change."
        ),
        kind = "failed_precondition"
      )
    }
  }
  list(types = types, next_chunk = next_chunk, save = save, restore = restore)
}

sql_types <- function(frame) {
  types <- vapply(frame, sql_type, "")
  if (length(types) == 0) {
    stop_runhooks("{.arg query} gives no columns.", kind = "invalid_argument")
  }
  if (anyDuplicated(names(types))) {
    stop_runhooks(
      "The columns of {.arg query} must have names that differ, not {.val {names(types)}}.",
      kind = "invalid_argument"
    )
  }
  odd <- names(types)[types == ""]
  if (length(odd)) {
    stop_runhooks(
      c(
        "Column {.val {odd[[1]]}} is {.obj_type_friendly {frame[[odd[[1]]]]}}; tensors hold numbers,
         logicals and words.",
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

# A chunk with the types that the first row has shown; `before` rows came before it.
sql_columns <- function(chunk, types, before) {
  columns <- list()
  for (name in names(types)) {
    values <- chunk[[name]]
    fits <- identical(sql_type(values), types[[name]]) ||
      (types[[name]] == "float64" && sql_type(values) == "int32") || all(is.na(values))
    if (!fits) {
      stop_runhooks(
        "Column {.val {name}} is {.val {sql_type(values)}} in rows from {before + 1} on; it began as
         {.val {types[[name]]}}.",
        kind = "invalid_argument"
      )
    }
    missing <- which(is.na(values))
    if (length(missing) && types[[name]] != "float64") {
      stop_runhooks(
        "Column {.val {name}} is NULL in row {before + missing[[1]]}, which {.val {types[[name]]}}
         cannot be.",
        kind = "invalid_argument"
      )
    }
    if (types[[name]] == "int64") values <- exact_int64(values, name)
    if (types[[name]] == "float64") values <- as.double(values)
    columns[[name]] <- np_array(values, types[[name]])
  }
  columns
}

exact_int64 <- function(x, name) {
  numbers <- as.double(x)
  if (any(abs(numbers) > 2^53)) {
    stop_runhooks(
      "Column {.val {name}} has integers beyond 2^53, which R cannot hand over exactly.",
      kind = "invalid_argument"
    )
  }
  numbers
}
