test_that("shapes are lists of integers and NULL", {
  expect_identical(shape(NULL, 784), list(NULL, 784L))
  expect_identical(shape(), list())
  expect_identical(shape(NA, 3), list(NULL, 3L))
  expect_identical(shape(-1L, 28), list(-1L, 28L))
  expect_error(shape("a"), "whole number")
  expect_error(shape(-2), "whole number of -1 or more")
  expect_equal(column_numeric("x", shape = shape(784L)), column_numeric("x", shape = 784))
  expect_identical(tuple(1L, "a"), list(1L, "a"))
})

test_that("arrays are reshaped in row-major order", {
  expect_equal(array_reshape(1:6, c(2, 3)), rbind(1:3, 4:6))
  expect_equal(array_reshape(rbind(1:3, 4:6), 6), array(1:6, 6))
  expect_equal(array_reshape(rbind(1:3, 4:6), c(3, -1)), rbind(1:2, 3:4, 5:6))
  expect_equal(array_reshape(1:6, c(2, 3), order = "F"), array(1:6, 2:3))
  cube <- array_reshape(1:24, c(2, 3, 4))
  expect_equal(cube[2, 1, 3], 15) # 12 + 0 + 2, from 0
  expect_error(array_reshape(1:6, c(4, 2)), "6 values, which `dim` cannot hold")
  expect_error(array_reshape(1:6, c(4, -1)), "cannot hold")
})

test_that("arrays can have an explicit type", {
  data <- list(x = np_array(c(1, 2), "float32"), i = np_array(1:2, "int64"), d = np_array(c(1, 2)))
  features <- with_graph(
    tf$Graph(), input_fn(data, features = c("x", "i", "d"), shuffle = FALSE)(NULL)()
  )
  types <- vapply(features, function(x) x$dtype$name, "")
  expect_equal(types, c(d = "float64", i = "int64", x = "float32"))
})
