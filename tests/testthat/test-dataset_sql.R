table_of <- function(frame, env = parent.frame()) {
  skip_if_not_installed("RSQLite", "2.0") # the database under test
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection), envir = env)
  DBI::dbWriteTable(connection, "data", frame)
  connection
}

column <- function(dataset, name, n = Inf) {
  unlist(lapply(dataset_collect(dataset, n), `[[`, name))
}

test_that("rows of a query are records, chunk by chunk", {
  connection <- table_of(data.frame(i = 1:7, x = 1:7 / 2, w = letters[1:7]))
  rows <- sql_dataset(connection, "SELECT * FROM data ORDER BY i", chunk_size = 3)
  expect_identical(column(rows, "i"), 1:7)
  expect_identical(column(rows, "w"), letters[1:7])
  expect_identical(vapply(output_types(rows), function(type) type$name, ""),
    c(i = "int32", x = "float64", w = "string"))
  twice <- rows %>% dataset_repeat(2) %>% dataset_batch(4)
  expect_identical(column(twice, "i"), rep(1:7, 2))
  empty <- sql_dataset(connection, "SELECT i FROM data WHERE i > 100")
  expect_length(dataset_collect(empty), 0)
})

test_that("unreadable queries are errors that name them", {
  connection <- table_of(data.frame(i = c(1:4, NA), x = c(1, NA, 3, 4, 5)))
  rows <- sql_dataset(connection, "SELECT * FROM data ORDER BY rowid", chunk_size = 2)
  expect_identical(is.na(column(rows, "x", 2)), c(FALSE, TRUE))
  expect_error(dataset_collect(rows), "Column \"i\" is NULL in row 5")
  expect_error(sql_dataset(connection, "SELECT x'00' AS b"), "Column \"b\" is")
  expect_error(sql_dataset(connection, "SELECT 1 AS a, 2 AS a"), "unique names")
  expect_error(sql_dataset(1, "SELECT 1"), "`connection` must be a connection of DBI")
  expect_error(sql_dataset(connection, "SELECT * FROM absent"), "no such table")
})

test_that("a query resumes on unchanged rows only", {
  connection <- table_of(data.frame(i = 1:7))
  stream <- function() {
    sql_stream(function() connection, function(connection) NULL, "SELECT i FROM data ORDER BY i", 2, c(i = "int32"))
  }
  first <- stream()
  first$draw(1)
  first$draw(2)
  state <- first$save()
  other <- stream()
  other$restore(state)
  expect_equal(as.vector(other$draw(3)[[1]]), 5:6)
  # SQLite has closed the query of the first iterator, so that iterator runs its query again.
  expect_no_warning(expect_equal(as.vector(first$draw(3)[[1]]), 5:6))
  suppressWarnings(DBI::dbExecute(connection, "UPDATE data SET i = 70 WHERE i = 1"))
  expect_error(other$restore(state), "other rows than before",
    class = "runhooks_error_failed_precondition")
})

test_that("each iterator has its own stream", {
  connection <- table_of(data.frame(i = 1:7))
  rows <- sql_dataset(connection, "SELECT * FROM data ORDER BY i", chunk_size = 2)
  both <- dataset_collect(zip_datasets(rows, rows))
  expect_equal(lapply(both, function(pair) unlist(pair, use.names = FALSE)), lapply(1:7, rep, 2))
  # After a failure, a stream continues after the chunk that failed.
  odd <- table_of(data.frame(i = c(1:4, NA, 6:9)))
  values <- sql_dataset(odd, "SELECT * FROM data ORDER BY rowid", chunk_size = 2)
  next_row <- iterator_get_next(make_iterator_one_shot(values))
  with(tf$Session() %as% session, {
    expect_equal(unlist(take_elements(session, next_row, 4), use.names = FALSE), 1:4)
    expect_error(session$run(next_row), "NULL in row 5", class = "runhooks_error_invalid_argument")
    expect_equal(unlist(take_elements(session, next_row, 9), use.names = FALSE), 7:9)
  })
})

test_that("training and evaluation on the same query each see all rows once", {
  connection <- table_of(data.frame(x = 1:64 / 64, y = as.numeric(1:64)))
  batches <- sql_dataset(connection, "SELECT * FROM data ORDER BY x", chunk_size = 8) %>%
    dataset_batch(4)
  model <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  rows_read <- numeric()
  spy <- session_run_hook(
    before_run = function(context) session_run_args("IteratorGetNext:0"),
    after_run = function(context, values) rows_read <<- c(rows_read, as.vector(values$results[[1]]) * 64)
  )
  evaluator <- hook_in_memory_evaluator(model, input_fn(batches, x, y), every_n_iter = 3)
  # `steps` is only a limit: without it, the test could not fail if the training never ended.
  train(model, input_fn(batches, x, y), hooks = list(spy, evaluator), steps = 100)
  expect_equal(rows_read, 1:64)
})

test_that("sqlite_dataset() closes its connection at the end of each iterator", {
  skip_if_not_installed("RSQLite", "2.0") # the database under test
  file <- withr::local_tempfile(fileext = ".sqlite3")
  connection <- DBI::dbConnect(RSQLite::SQLite(), file)
  DBI::dbWriteTable(connection, "data", data.frame(i = 1:5, w = letters[1:5]))
  DBI::dbDisconnect(connection)
  skip_if_not(dir.exists("/proc/self/fd"), "open files are listed")
  file <- normalizePath(file)
  are_open <- function() {
    sum(Sys.readlink(list.files("/proc/self/fd", full.names = TRUE)) %in% file)
  }
  spec <- sql_record_spec(names = c("i", "w"), types = list(tf$int32, tf$string))
  rows <- sqlite_dataset(file, "SELECT * FROM data ORDER BY i", spec)
  expect_equal(are_open(), 0)
  expect_identical(column(rows, "i"), 1:5)
  expect_equal(are_open(), 0)
  expect_identical(column(dataset_repeat(rows, 2), "i"), rep(1:5, 2))
  expect_equal(are_open(), 0)
  expect_identical(column(dataset_take(rows, 2), "i"), 1:2)
  expect_equal(are_open(), 0)
  iterator <- as_iterator(rows)
  iter_next(iterator)
  expect_equal(are_open(), 1)
  while (!is.null(iter_next(iterator))) NULL
  expect_equal(are_open(), 0)
  expect_error(sqlite_dataset(file, "SELECT nothing FROM data", spec), "nothing")
  expect_equal(are_open(), 0)
})
