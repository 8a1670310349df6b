# SparseSlice, which occurs in TensorFlow's graphs of weighted columns.

slice_parts <- function(values, start, size, fetch = identity) {
  with(tf$Graph()$as_default(), {
    indices <- rbind(c(0, 1), c(1, 0), c(1, 3), c(2, 2))
    x <- tf$constant(values)
    parts <- tf$raw_ops$SparseSlice(
      tf$constant(indices, tf$int64), x, tf$constant(c(3, 4), tf$int64),
      tf$constant(start, tf$int64), tf$constant(size, tf$int64)
    )
    with(tf$Session() %as% session, session$run(fetch(list(x = x, parts = parts))))
  })
}

test_that("elements in a box are returned with indices relative to its corner", {
  # The expected values are those of TensorFlow 1.15.
  found <- slice_parts(c(1, 2, 3, 4), c(1, 0), c(2, 3), function(x) x$parts)
  expect_equal(unname(as.matrix(found[[1]])), rbind(c(0, 0), c(1, 2)), ignore_attr = TRUE)
  expect_equal(as.vector(found[[2]]), c(2, 4))
  expect_equal(as.vector(found[[3]]), c(2, 3))
  words <- slice_parts(c("a", "b", "c", "d"), c(0, 1), c(9, 9), function(x) x$parts)
  expect_equal(as.vector(words[[2]]), c("a", "c", "d"))
  expect_equal(as.vector(words[[3]]), c(3, 3))
  expect_length(slice_parts(1:4, c(5, 0), c(1, 1), function(x) x$parts)[[2]], 0)
})

test_that("its gradient flows to the selected elements", {
  gradient <- slice_parts(c(1, 2, 3, 4), c(1, 0), c(2, 3), function(x) {
    tf$gradients(tf$reduce_sum(x$parts[[2]] * x$parts[[2]]), x$x)[[1]]
  })
  expect_equal(as.vector(gradient), c(0, 4, 0, 8))
})

test_that("an invalid box is an error", {
  expect_error(
    slice_parts(1:4, c(1, 0, 0), c(2, 3), function(x) x$parts),
    class = "runhooks_error_invalid_argument"
  )
  expect_error(slice_parts(1:4, c(-1, 0), c(2, 3), function(x) x$parts), ">= 0")
  expect_error(slice_parts(1:3, c(1, 0), c(2, 3), function(x) x$parts), "4 indices for 3 values")
})
