# R vectors whose stored numbers are not their values.

with_values <- function(code) {
  with(tf$Graph()$as_default(), with(tf$Session() %as% session, code(session$run)))
}

integer64 <- function(x) {
  # an integer64 as the package bit64 stores it: the bits of an integer in a double
  bytes <- unlist(lapply(x, function(one) writeBin(c(as.integer(one), 0L), raw(), endian = "little")))
  structure(readBin(bytes, "double", length(x), endian = "little"), class = "integer64")
}

test_that("integer64 becomes int64, or is an error that names its class", {
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

test_that("factors, dates and times are errors that name the conversions to choose from", {
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

test_that("classed vectors and bytes are errors as whole numbers and as types", {
  invalid <- "runhooks_error_invalid_argument"
  x <- tf$constant(rbind(c(1, 2), c(3, 4)))
  odd <- list(
    as.POSIXlt("2020-01-01"), factor("1"), as.Date("2020-01-01"), "1", 0.5, NA, list("a"),
    linear_regressor(column_numeric("x"))
  )
  for (axis in odd) {
    expect_error(tf$roll(x, 1L, axis), "whole numbers", class = invalid)
    expect_error(tf$roll(x, axis, 0L), "whole numbers", class = invalid)
    expect_error(tf$norm(x, axis = axis), "whole numbers", class = invalid)
  }
  expect_error(
    tf$report_uninitialized_variables(methods::new("externalptr")), "list of variables",
    class = invalid
  )
  bytes <- `Encoding<-`("\xe9t\xe9", "bytes")
  expect_error(tf$zeros(2L, dtype = bytes), class = invalid)
  classes <- c("haven_labelled", "vctrs_vctr", "double")
  labelled <- structure(c(1, 2), labels = c(no = 1), class = classes)
  expect_no_error(np_array(labelled))
  expect_error(parsnip_linear_fit(y ~ x, sum), "data frame", class = invalid)
  expect_error(parsnip_mlp_fit(2L, mtcars), "formula", class = invalid)
})

test_that("memory that R lacks in a container of Rcpp is an error that unwinds C++", {
  withr::defer(mem.maxVSize(Inf))
  warns <- function() {
    x <- tf$constant(NaN)
    hook <- hook_nan_tensor(x, fail_on_nan_loss = FALSE)
    with(tf$train$SingularMonitoredSession(hooks = list(hook)) %as% session, session$run(x))
  }
  with(tf$Graph()$as_default(), {
    expect_warning(warns(), "NaN")
    bounds <- tf$raw_ops$Bucketize(input = tf$constant(1), boundaries = as.list(seq_len(4e5)))$op
    # R ignores a limit below the size of its heap, which is the trigger of the next collection
    limit <- max(gc()["Vcells", c(2, 4)]) + 150
    for (i in 1:3) {
      expect_equal(mem.maxVSize(limit), limit, tolerance = 0.01)
      filler <- list()
      # allocates 2 MB at a time until the limit is reached
      while (length(filler) < limit) {
        x <- tryCatch(numeric(2^18), error = function(error) NULL)
        if (is.null(x)) break
        filler[[length(filler) + 1]] <- x
      }
      expect_error(bounds$get_attr("boundaries"), "memory|allocate")
      mem.maxVSize(Inf)
      filler <- NULL
      gc()
    }
    expect_length(bounds$get_attr("boundaries"), 4e5)
    # a frame that was jumped over would still count as a running call, which delays warnings
    expect_warning(warns(), "NaN")
  })
})

test_that("classed vectors in lists and in arguments of columns are refused", {
  day <- as.Date("2020-01-01")
  # the bits of bit64::as.integer64(c(5, 7))
  counts <- structure(c(5, 7) * 2^-1074, class = "integer64")
  fails <- function(code, message) {
    expect_error(code, message, class = "runhooks_error_invalid_argument")
  }
  with(tf$Graph()$as_default(), {
    fails(tf$constant(list(day, day)), "A list with a <Date> object cannot become a tensor")
    fails(tf$constant(list(list(counts))), "A list with an <integer64> object")
    fails(tf$reshape(tf$zeros(shape(35L)), list(counts, 1L)), "A list with an <integer64> object")
  })
  fails(column_bucketized(column_numeric("a"), boundaries = counts), "`boundaries` must be numbers, not an <integer64>")
  fails(column_categorical_with_vocabulary_list("a", vocabulary_list = counts), "not an <integer64>")
  fails(linear_classifier(factor(am) ~ wt, mtcars, class_weights = counts), "not an <integer64>")
  fails(linear_classifier(factor(am) ~ wt, mtcars, class_weights = c(1, -1)), "one is -1")
  fails(input_fn(list(a = list(day, day), y = 1:2), "a", "y"), "Its elements have a class")
  fails(numpy_input_fn(list(a = list(counts, counts)), 1:2, shuffle = FALSE), "Its elements have a class")
  fails(tf$train$FloatList(value = list(day)), "`value` must be numbers")
})
