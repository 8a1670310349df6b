rows_of <- function(dataset, name, n = Inf) {
  unlist(lapply(dataset_collect(dataset, n), `[[`, name))
}

test_that("record batches of a stream are records", {
  rows <- arrow_dataset(function() cpp_test_arrow_stream(3, -1))
  types <- vapply(output_types(rows), function(type) type$name, "")
  expect_identical(types, c(x = "float64", n = "int32", w = "string", f = "string", b = "bool"))
  # Each of the three batches has the rows 0, 1 and 2. Missing floats become NaN.
  expect_identical(rows_of(rows, "x"), rep(c(0.5, NaN, 2.5), 3))
  expect_identical(rows_of(rows, "n"), rep(0:2, 3) + rep(c(0L, 10L, 20L), each = 3))
  expect_identical(rows_of(rows, "w"), rep(c("a", "", "ccc"), 3))
  expect_identical(rows_of(rows, "f"), rep(c("yes", "no", "yes"), 3))
  expect_identical(rows_of(rows, "b"), rep(c(TRUE, FALSE, TRUE), 3))
  twice <- rows %>% dataset_repeat(2) %>% dataset_batch(5)
  expect_length(rows_of(twice, "n"), 18)
})

test_that("streams also come from objects, and are read once", {
  object <- list2env(list(export_to_c = function(pointer) cpp_test_arrow_stream(1, -1, pointer)))
  expect_identical(rows_of(arrow_dataset(object), "n"), 0:2)
  once <- arrow_dataset(cpp_test_arrow_stream(2, -1))
  expect_length(dataset_collect(once), 6)
  expect_error(dataset_collect(once), "has been read before",
    class = "runhooks_error_failed_precondition")
})

test_that("missing values, errors of the stream and other objects are handled", {
  expect_error(dataset_collect(arrow_dataset(cpp_test_arrow_stream(2, 4))),
    "Column 'n' of an Arrow stream has no value in row 5")
  expect_error(dataset_collect(arrow_dataset(cpp_test_arrow_stream(-1, -1))),
    "Cannot read the next batch of an Arrow stream: out of luck", class = "runhooks_error_data_loss")
  expect_error(arrow_dataset(cpp_test_arrow_stream(1, -1, format = "tdD")),
    "Column 'n' of an Arrow stream has format 'tdD'")
  has <- function(package) requireNamespace(package, quietly = TRUE)
  skip_if(has("nanoarrow") || has("arrow"), "arrow's packages take more objects")
  expect_error(arrow_dataset(3), "must be an Arrow stream")
})
