set.seed(1)

records <- function(data) {
  path <- withr::local_tempfile(fileext = ".tfrecord")
  write_tfrecord(data, path)
  read_raw_records(path)
}

# Returns the records of an uncompressed TFRecord file, which stores length, checksum, data and
# checksum.
read_raw_records <- function(path) {
  bytes <- readBin(path, "raw", file.size(path))
  all <- list()
  at <- 1
  while (at < length(bytes)) {
    n <- sum(as.integer(bytes[at + 0:3]) * 256^(0:3))
    all[[length(all) + 1]] <- bytes[at + 11 + seq_len(n)]
    at <- at + n + 16
  }
  all
}

run <- function(build) {
  with(tf$Graph()$as_default(), {
    fetches <- build()
    with(tf$Session() %as% session, session$run(fetches))
  })
}

test_that("written rows can be parsed", {
  data <- data.frame(x = c(1.5, 2, NA), n = 1:3, word = c("a", NA, "c"))
  data$several <- list(c(1L, 2L), integer(), 3L)
  parsed <- run(function() {
    tf$parse_example(records(data), list(
      x = tf$FixedLenFeature(1L, tf$float32, default_value = -1),
      n = tf$FixedLenFeature(list(), tf$int64),
      word = tf$FixedLenFeature(list(), tf$string, default_value = "none"),
      several = tf$VarLenFeature(tf$int64)
    ))
  })
  expect_equal(as.vector(parsed$x), c(1.5, 2, -1))
  expect_equal(as.vector(parsed$n), c(1, 2, 3))
  expect_equal(as.vector(parsed$word), c("a", "none", "c"))
  expect_equal(as.vector(parsed$several$values), c(1, 2, 3))
  expect_equal(unclass(parsed$several$dense_shape), array(c(3, 2)))
})

test_that("one example can be parsed without a batch", {
  one <- records(data.frame(x = 2.5, word = "a"))[[1]]
  parsed <- run(function() {
    tf$parse_single_example(one, list(
      x = tf$FixedLenFeature(1L, tf$float32), word = tf$VarLenFeature(tf$string)
    ))
  })
  expect_equal(as.vector(parsed$x), 2.5)
  expect_equal(as.vector(parsed$word$values), "a")
})

test_that("a missing required feature is an error that names the record", {
  serialized <- records(data.frame(x = c(1, NA)))
  expect_error(
    run(function() tf$parse_example(serialized, list(x = tf$FixedLenFeature(1L, tf$float32)))),
    "Index: 1, Feature: x .* is required", class = "runhooks_error_invalid_argument"
  )
})

test_that("unsupported values and specifications are errors", {
  path <- withr::local_tempfile()
  expect_error(write_tfrecord(data.frame(d = Sys.Date()), path), "Date")
  expect_error(write_tfrecord(data.frame(x = 1e300), path), "float32")
  expect_false(file.exists(path))
  expect_warning(write_tfrecord(data.frame(id = 123456789), path), "rounds")
  expect_error(
    run(function() tf$parse_example("", list(x = tf$FixedLenFeature(1L, tf$int32)))), "int32"
  )
  expect_error(run(function() tf$parse_example("", list())), "features")
})

test_that("compressed records match TensorFlow's", {
  path <- withr::local_tempfile()
  expect_equal(write_tfrecord(data.frame(x = 1:3), path, "GZIP"), 3)
  expect_equal(readBin(path, "raw", 2), as.raw(c(0x1f, 0x8b)))
  expect_error(write_tfrecord(data.frame(x = 1), path, "ZIP"), "compression_type")
})

test_that("bytes and lines are decoded", {
  out <- run(function() {
    fields <- tf$decode_csv(c("1,a", "2,"), list(list(0L), list("none")))
    list(tf$decode_raw(list(as.raw(c(1, 0, 2, 0))), tf$uint8), fields)
  })
  expect_equal(as.vector(out[[1]]), c(1, 0, 2, 0))
  expect_equal(lapply(out[[2]], as.vector), list(c(1L, 2L), c("a", "none")))
  expect_error(run(function() tf$decode_csv("1,2,3", list(0, 0))), "Expect 2 fields but have 3")
  expect_error(run(function() tf$decode_csv("x", list(0L))), "not a valid int32: x")
  expect_error(run(function() tf$decode_csv("x\"y", list("a"))), "cannot have quotes/CRLFs.*record 0")
  expect_error(run(function() tf$decode_csv(c("1", "\"1"), list("a"))), "end with quote.*record 1")
  expect_error(run(function() tf$decode_csv("1\n2", list(0L))), "quotes/CRLFs")
  expect_error(run(function() tf$decode_csv("1\n", list(0L))), "quotes/CRLFs")
  expect_error(run(function() tf$decode_csv("+1", list(0L))), "not a valid int32: [+]1")
  expect_equal(as.vector(run(function() tf$decode_csv("\"a\"\"b\"", list("")))[[1]]), "a\"b")
})

test_that("a PNG round trip is lossless", {
  image <- array(sample(0:255, 24, TRUE), c(4, 2, 3))
  back <- run(function() {
    tf$image$decode_png(tf$image$encode_png(tf$constant(image, tf$uint8)))
  })
  expect_equal(array(back, dim(back)), image)
})

test_that("tf$parse_single_example() can be mapped over the records of a file", {
  path <- withr::local_tempfile()
  data <- data.frame(x = c(1.5, NA, 3), word = c("a", "b", NA), n = 1:3)
  write_tfrecord(data, path, "GZIP")
  spec <- list(
    x = tf$FixedLenFeature(list(), tf$float32, default_value = -1),
    word = tf$FixedLenFeature(list(), tf$string, default_value = "none"),
    n = tf$FixedLenFeature(list(), tf$int64), words = tf$VarLenFeature(tf$string)
  )
  for (workers in c(1L, 2L)) {
    with(tf$Graph()$as_default(), {
      rows <- tf$data$TFRecordDataset(path, compression_type = "GZIP")$map(
        function(record) tf$parse_single_example(record, spec[1:3]), num_parallel_calls = workers
      )
      batch <- rows$`repeat`(2L)$batch(4L)$make_one_shot_iterator()$get_next()
      with(tf$Session() %as% session, {
        first <- session$run(batch)
        expect_equal(as.vector(first$x), c(1.5, -1, 3, 1.5))
        expect_equal(as.vector(first$word), c("a", "b", "none", "a"))
        expect_equal(as.vector(first$n), c(1, 2, 3, 1))
        expect_equal(as.vector(session$run(batch)$n), c(2, 3))
        expect_error(session$run(batch), class = "runhooks_error_out_of_range")
      })
    })
  }
  input <- function() {
    tfrecord_dataset(path, compression_type = "GZIP") %>%
      dataset_map(function(record) {
        row <- tf$parse_single_example(record, spec[1:3])
        list(list(x = row$x), tf$cast(row$n, tf$float32))
      }) %>%
      dataset_batch(3)
  }
  model <- linear_regressor(column_numeric("x"), config = run_config(tf_random_seed = 1))
  suppressMessages(train(model, input))
  expect_length(unlist(predict(model, input)), 3)
})
