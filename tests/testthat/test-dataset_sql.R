table_of <- function(frame, env = parent.frame()) {
  skip_if_not_installed("RSQLite", "2.0") # a database is what is read
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

test_that("what cannot be read is named", {
  connection <- table_of(data.frame(i = c(1:4, NA), x = c(1, NA, 3, 4, 5)))
  rows <- sql_dataset(connection, "SELECT * FROM data ORDER BY rowid", chunk_size = 2)
  expect_identical(column(rows, "x", 2), c(1, NaN))
  expect_error(dataset_collect(rows), "Column \"i\" is NULL in row 5")
  expect_error(sql_dataset(connection, "SELECT x'00' AS b"), "Column \"b\" is")
  expect_error(sql_dataset(connection, "SELECT 1 AS a, 2 AS a"), "names that differ")
  expect_error(sql_dataset(1, "SELECT 1"), "`connection` must be a connection of DBI")
  expect_error(sql_dataset(connection, "SELECT * FROM absent"), "no such table")
})

test_that("a query goes on where it stopped, on the same rows only", {
  connection <- table_of(data.frame(i = 1:7))
  closures <- sql_rows(connection, "SELECT i FROM data ORDER BY i", 2)
  closures$next_chunk()
  closures$next_chunk()
  state <- closures$save()
  # SQLite ends the first result, and says so
  other <- suppressWarnings(sql_rows(connection, "SELECT i FROM data ORDER BY i", 2))
  other$restore(state)
  expect_equal(as.vector(other$next_chunk()$i), 5:6)
  suppressWarnings(DBI::dbExecute(connection, "UPDATE data SET i = 70 WHERE i = 1"))
  expect_error(other$restore(state), "other rows than those that were read",
    class = "runhooks_error_failed_precondition")
})
