# R vectors whose stored numbers are not their values.

with_values <- function(code) {
  with(tf$Graph()$as_default(), with(tf$Session() %as% session, code(session$run)))
}

integer64 <- function(x) {
  # the bits of small integers, without bit64
  bytes <- unlist(lapply(x, function(one) writeBin(c(as.integer(one), 0L), raw(), endian = "little")))
  structure(readBin(bytes, "double", length(x), endian = "little"), class = "integer64")
}

test_that("integer64 becomes int64, or is refused by its name", {
  skip_if_not(.Platform$endian == "little")
  with_values(function(run) {
    expect_equal(as.vector(run(tf$constant(integer64(c(5, 7))))), c(5, 7))
    expect_identical(tf$constant(integer64(5))$dtype$name, "int64")
    expect_error(tf$constant(integer64(5), shape = 2L), "`value` must be plain numbers")
    x <- tf$placeholder(tf$int64, shape())
    expect_equal(run(x, feed_dict = dict(x = integer64(5))), 5)
    expect_equal(run(tf$constant(integer64(3), dtype = tf$float32)), 3)
  })
  expect_equal(dataset_collect(tensor_slices_dataset(list(id = integer64(c(3, 9))))),
    list(list(id = 3), list(id = 9)))
  expect_equal(
    dataset_collect(tensor_slices_dataset(tibble::tibble(id = integer64(c(3, 9))))),
    list(list(id = 3), list(id = 9))
  )
  missing <- structure(-0.0, class = "integer64") # the bits of NA_integer64_
  expect_error(tf$constant(missing), "NA cannot become", class = "runhooks_error_invalid_argument")
  model <- mtcars_model()
  expect_error(train(model, mtcars_input(), steps = integer64(5)), "`steps`.*integer64",
    class = "runhooks_error_invalid_argument")
  expect_error(column_categorical_with_hash_bucket("k", hash_bucket_size = integer64(5)), "integer64")
  expect_length(dataset_collect(dataset_batch(range_dataset(0, 3), integer64(2))), 2)
})

test_that("factors, dates and times are refused with the conversion to choose", {
  for (x in list(
    factor("a"), Sys.Date(), Sys.time(), Sys.time() - 5, structure(1, class = "yearmon"),
    structure(1, units = "m", class = "units")
  )) {
    expect_error(tf$constant(x), class(x)[[1]], class = "runhooks_error_invalid_argument")
    expect_error(tf$add(x, 1), "as\\.(numeric|integer)", class = "runhooks_error_invalid_argument")
    with_values(function(run) {
      y <- tf$placeholder("float32", shape())
      expect_error(run(y, feed_dict = dict(y = x)), class = "runhooks_error_invalid_argument")
    })
  }
  expect_error(dataset_map(range_dataset(0, 1), function(i) Sys.Date()), "Date")
})

test_that("memory that R lacks in a step ends the training with R's error", {
  withr::defer(mem.maxVSize(Inf))
  square <- NULL
  hook <- session_run_hook(
    begin = function() square <<- tf$zeros(shape(6000L, 6000L)),
    before_run = function(context) session_run_args(square),
    after_run = function(context, values) values$results[[1]][1, 1]
  )
  used <- sum(gc()[, 2])
  mem.maxVSize(used + 150)
  model <- mtcars_model()
  expect_error(train(model, mtcars_input(), hooks = hook), "memory|allocate")
  mem.maxVSize(Inf)
  square <- NULL
  expect_no_error(train(model, mtcars_input(), steps = 2))
})
