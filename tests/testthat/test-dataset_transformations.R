# Tests functions of tfdatasets and tf$data that combine other transformations.

values_of <- function(dataset) unlist(dataset_collect(dataset))

test_that("transformations of tf$data$experimental are applied to datasets", {
  pairs <- dataset_batch(tensor_slices_dataset(list(a = 1:4, b = letters[1:4])), 3)
  single <- pairs$apply(tf$data$experimental$unbatch())
  expect_identical(lengths(dataset_collect(single)), rep(2L, 4))
  expect_identical(dataset_collect(single)[[4]], list(a = 4L, b = "d"))
  four <- function(from) dataset_batch(range_dataset(from, from + 4), 4)
  tuples <- zip_datasets(four(0), four(4))
  expect_equal(dataset_collect(tuples$apply(tf$data$experimental$unbatch()))[[2]], list(1, 5))

  texts <- tensor_slices_dataset(c("1", "x", "3", "y", "5"))
  numbers <- dataset_map(texts, ~ tf$strings$to_number(.x))
  expect_error(dataset_collect(numbers), "could not correctly convert")
  without_errors <- numbers$apply(tf$data$experimental$ignore_errors())
  expect_equal(values_of(without_errors), c(1, 3, 5))
  expect_equal(values_of(dataset_repeat(without_errors, 2)), rep(c(1, 3, 5), 2))
  expect_equal(values_of(dataset_batch(without_errors, 2)), c(1, 3, 5))

  read <- tf$data$experimental$parallel_interleave(~ range_dataset(0, 2), cycle_length = 2)
  expect_equal(values_of(range_dataset(0, 2)$apply(read)), c(0, 0, 1, 1))
  auto <- tf$data$experimental$AUTOTUNE
  doubled <- range_dataset(0, 3)$map(function(x) x * 2L, num_parallel_calls = auto)$prefetch(auto)
  expect_equal(values_of(doubled), c(0, 2, 4))
  expect_equal(values_of(dataset_prefetch_to_device(range_dataset(0, 3), "/gpu:0")), 0:2)
})

test_that("as_iterator() reads a dataset element by element", {
  iterator <- as_iterator(tensor_slices_dataset(list(a = 1:2, b = c("x", "y"))))
  expect_identical(iter_next(iterator), list(a = 1L, b = "x"))
  expect_length(iterate(iterator), 1)
  expect_identical(iter_next(iterator, completed = "end"), "end")
  expect_identical(as_iterator(iterator), iterator)
  expect_error(as_iterator(5), "`x` must be a dataset", class = "runhooks_error_invalid_argument")
})

test_that("sqlite_dataset() reads a query with the given types", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite3")
  connection <- DBI::dbConnect(RSQLite::SQLite(), file)
  DBI::dbWriteTable(connection, "cars", data.frame(wt = c(1.5, 2.5), name = c("a", "b")))
  DBI::dbDisconnect(connection)
  query <- "SELECT wt, name FROM cars ORDER BY wt"
  spec <- sql_record_spec(names = c("weight", "label"), types = list(tf$float32, tf$string))
  rows <- dataset_collect(sqlite_dataset(file, query, spec))
  expect_identical(rows[[2]], list(weight = 2.5, label = "b"))
  expect_identical(output_types(sqlite_dataset(file, query, spec))$weight$name, "float32")
  expect_error(sqlite_dataset(file, query, sql_record_spec(types = "int32")), "has 2 columns")
  expect_error(sqlite_dataset("nowhere.db", query, spec), class = "runhooks_error_not_found")
  expect_error(sql_record_spec("a", list("int32", "string")), "same length")
})

test_that("tf$python_io writes and reads records", {
  path <- withr::local_tempfile(fileext = ".tfrecord")
  feature <- tf$train$Feature(int64_list = tf$train$Int64List(value = 7L))
  example <- tf$train$Example(features = tf$train$Features(feature = list(a = feature)))
  with(tf$python_io$TFRecordWriter(path) %as% writer, {
    writer$write(example$SerializeToString())
    writer$write("text")
  })
  expect_error(writer$write("more"))
  records <- iterate(tf$python_io$tf_record_iterator(path))
  expect_identical(records, list(example$SerializeToString(), charToRaw("text")))
  parsed <- dataset_map(dataset_take(tfrecord_dataset(path), 1), function(record) {
    tf$parse_single_example(record, list(a = tf$FixedLenFeature(shape(), tf$int64)))
  })
  expect_equal(dataset_collect(parsed)[[1]]$a, 7)
})

test_that("formulas with a dot leave out what they subtract", {
  rows <- tensor_slices_dataset(list(y = 1:2, `a b` = 3:4, c = 5:6))
  element <- function(formula) {
    lapply(dataset_collect(dataset_prepare(rows, formula), 1)[[1]], as.vector)
  }
  expect_equal(element(y ~ .)$x, c(3, 5))
  expect_equal(element(y ~ . - c)$x, 3)
  expect_equal(element(y ~ c + `a b`)$x, c(5, 3))
})
