test_that("functions with arguments that are NULL work under the is.atomic() of R 4.4", {
  skip_if_not_installed("callr")
  helper <- test_path("helper-is_atomic.R")
  shapes <- callr::r(function(helper) {
    library(runhooks)
    sys.source(helper, globalenv())
    # Stops if no function was changed, because the test would then only use is.atomic() of the
    # running R.
    stopifnot(use_is_atomic_of_r44() > 0)
    features <- list(a = tf$constant(c(1, 2)))
    input <- input_layer(features, column_numeric("a"))
    linear <- linear_model(features, column_numeric("a"))
    x <- tf$constant(c(1, 2))
    gradients <- tf$gradients(tf$square(x), x)
    lapply(list(input, linear, gradients[[1]]), function(tensor) unlist(tensor$shape$as_list()))
  }, list(normalizePath(helper)))
  expect_identical(lapply(shapes, as.numeric), list(c(2, 1), c(2, 1), 2))
})

test_that("is_atomic() is TRUE for NULL", {
  is_atomic <- asNamespace("runhooks")$is_atomic
  expect_true(is_atomic(NULL))
  expect_true(is_atomic(1:2))
  expect_false(is_atomic(list()))
  expect_false(is_atomic(mean))
})
