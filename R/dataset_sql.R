# Rows of database tables as a dataset.

#' Rows of a query
#'
#' Runs a query on a connection of the package DBI and gives its rows as records, fetched in chunks,
#' so that tables larger than memory are read.
#'
#' Each iterator runs the query for itself, and again for each pass through the data. One that is
#' restored goes through the chunks that had been read and checks that they are the same: the query
#' should have an `ORDER BY`, the table should not change. Most databases read one result of a
#' connection at a time: where another one has ended it, the query is run again up to where it was.
#' What R must be asked for is read on the main thread.
#'
#' @param connection A connection, see `DBI::dbConnect()`.
#' @param query A query that gives rows, as a string.
#' @param chunk_size How many rows are fetched at once.
#' @return A dataset, see [datasets]: integers are int32, `integer64` int64, doubles float64,
#'   logicals bool, words strings.
#' @section Errors: `runhooks_error_invalid_argument` with column and row for NULL in a column that
#'   is not of doubles (in these it is NaN; a model of a formula takes NULL of integers and strings as
#'   NA, too), and for columns of other kinds: convert them in the query. `runhooks_error_failed_precondition` where the query gives other rows than before.
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
  types <- query_types(connection, query)
  rows <- function(types, has_gaps) {
    open <- function() sql_stream(connection, query, chunk_size, types, has_gaps)
    chunks_dataset(types, open, query)
  }
  with_gaps(rows(types, FALSE), function(wide) {
    # of these, NA is one
    types[types %in% c("int64", if (wide) "int32")] <- "float64"
    rows(types, TRUE)
  })
}

# Records of chunks of rows: data frames, or named lists of columns of equal length. Rows are taken
# apart in the core. `types` are those of the columns, by name; `open()` begins a stream of chunks.
chunks_dataset <- function(types, open, declared) {
  columns <- paste0(names(types), ": ", types, collapse = ", ")
  chunks <- source_dataset(
    open, form_of(as.list(types)), unname(types), rep(list(NA_real_), length(types)),
    paste0(declared, " with the columns ", columns)
  )
  dataset_flat_map(chunks, tensor_slices_dataset)
}

# Of a query's columns, by name.
query_types <- function(connection, query) {
  result <- send_query(connection, query)
  on.exit(DBI::dbClearResult(result))
  sql_types(DBI::dbFetch(result, n = 1))
}

# Many databases have one open result a connection: a new one ends that of another stream, which
# runs its query again when it is read on.
send_query <- function(connection, query) {
  withCallingHandlers(
    DBI::dbSendQuery(connection, query),
    warning = function(w) {
      ends_other <- "Closing open result set|Cancelling previous query"
      if (grepl(ends_other, conditionMessage(w))) invokeRestart("muffleWarning")
    }
  )
}

# A stream of the rows of a query. Its position is how many chunks have been fetched, and a hash of
# all of them.
sql_stream <- function(connection, query, chunk_size, types, has_gaps = FALSE) {
  result <- NULL
  fetched <- 0
  hash <- ""
  finish <- function() {
    if (!is.null(result) && DBI::dbIsValid(result)) DBI::dbClearResult(result)
    result <<- NULL
  }
  begin <- function() {
    finish()
    result <<- send_query(connection, query)
    fetched <<- 0
    hash <<- ""
  }
  fetch <- function() {
    chunk <- DBI::dbFetch(result, n = chunk_size)
    if (nrow(chunk) == 0) return(NULL)
    fetched <<- fetched + 1
    hash <<- rlang::hash(list(hash, chunk))
    chunk
  }
  save <- function() list(chunks = fetched, hash = hash)
  restore <- function(state) {
    force(state) # which may be save()
    begin()
    while (fetched < state$chunks && !is.null(fetch())) NULL
    if (!identical(hash, state$hash)) {
      finish()
      abort_runhooks(
        c(
          "The query gives other rows than those that were read: {.val {query}}.",
          i = "It needs an {.code ORDER BY}, and a table that does not change."
        ),
        kind = "failed_precondition"
      )
    }
  }
  draw <- function(number) {
    # it has not begun, has failed, or another query has ended it
    if (is.null(result) || !DBI::dbIsValid(result)) restore(save())
    before <- fetched * chunk_size
    chunk <- fetch()
    if (is.null(chunk)) return(finish())
    withCallingHandlers(
      unname(sql_columns(chunk, types, before, has_gaps)), error = function(e) finish()
    )
  }
  list(draw = draw, rewind = begin, save = save, restore = restore)
}

sql_types <- function(frame) {
  types <- vapply(frame, sql_type, "")
  if (length(types) == 0) {
    abort_runhooks("{.arg query} gives no columns.", kind = "invalid_argument")
  }
  if (anyDuplicated(names(types))) {
    abort_runhooks(
      "The columns of {.arg query} must have names that differ, not {.val {names(types)}}.",
      kind = "invalid_argument"
    )
  }
  odd <- names(types)[types == ""]
  if (length(odd)) {
    abort_runhooks(
      c(
        "Column {.val {odd[[1]]}} is {kind_of(frame[[odd[[1]]]])}; tensors hold numbers,
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

# A chunk with the types that the first row has shown; `before` rows came before it. `has_gaps`: NULL is
# what R reads as NA, a word that is missing the empty one.
sql_columns <- function(chunk, types, before, has_gaps) {
  columns <- list()
  for (name in names(types)) {
    values <- chunk[[name]]
    fits <- identical(sql_type(values), types[[name]]) ||
      (types[[name]] == "float64" && sql_type(values) %in% c("int32", if (has_gaps) "int64")) ||
      all(is.na(values))
    if (!fits) {
      abort_runhooks(
        "Column {.val {name}} is {.val {sql_type(values)}} in rows from {before + 1} on; it began as
         {.val {types[[name]]}}.",
        kind = "invalid_argument"
      )
    }
    missing <- which(is.na(values))
    if (has_gaps && types[[name]] == "string") values[missing] <- ""
    if (has_gaps && types[[name]] == "int32") {
      values <- as.double(values)
      values[missing] <- -2^31 # which R reads as NA
    }
    can_lack <- c("float64", if (has_gaps) c("int32", "string"))
    if (length(missing) && !types[[name]] %in% can_lack) {
      abort_runhooks(
        "Column {.val {name}} is NULL in row {before + missing[[1]]}, which {.val {types[[name]]}}
         cannot be.",
        kind = "invalid_argument"
      )
    }
    if (inherits(values, "integer64")) values <- exact_int64(values, name)
    if (types[[name]] == "float64") values <- as.double(values)
    columns[[name]] <- np_array(values, types[[name]])
  }
  columns
}

exact_int64 <- function(x, name) {
  numbers <- as.double(x)
  if (any(abs(numbers) > 2^53, na.rm = TRUE)) {
    abort_runhooks(
      "Column {.val {name}} has integers beyond 2^53, which R cannot hand over exactly.",
      kind = "invalid_argument"
    )
  }
  numbers
}
