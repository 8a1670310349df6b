evaluate_tensors <- function(build) {
  graph <- tf$Graph()
  tensors <- with_graph(graph, build())
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  session$run(tensors)
}

test_that("arithmetic works with numbers on either side, in any type", {
  values <- evaluate_tensors(function() {
    x <- tf$constant(matrix(c(1, 2, 3, 4), 2)) # float64
    list(
      a = x + 1, b = 1 - x, c = 2 * x, d = x / 2, e = 1 / x, f = x^2, g = -x, h = x %% 2,
      i = x %/% 2, j = x > 2, k = 2 >= x, l = !(x == 1), m = (x > 1) & (x < 4),
      n = (x < 2) | (x > 3)
    )
  })
  x <- matrix(c(1, 2, 3, 4), 2)
  expect_equal(values, list(
    a = x + 1, b = 1 - x, c = 2 * x, d = x / 2, e = 1 / x, f = x^2, g = -x, h = x %% 2, i = x %/% 2,
    j = x > 2, k = 2 >= x, l = !(x == 1), m = (x > 1) & (x < 4), n = (x < 2) | (x > 3)
  ))
})

test_that("mathematical functions are operations", {
  x <- matrix(c(0.5, 1.5, 2.5, 3.5), 2)
  values <- evaluate_tensors(function() {
    t <- tf$constant(x)
    list(
      abs(-t), sign(t), sqrt(t), floor(t), ceiling(t), round(t), exp(t), log(t), log(
        t, 2
      ), log2(t), log10(t), log1p(t),
      sin(t), cos(t), tanh(t)
    )
  })
  expect_equal(values, list(
    x, sign(x), sqrt(x), floor(x), ceiling(x), round(x), exp(x), log(x), log(
      x, 2
    ), log2(x), log10(x), log1p(x),
    sin(x), cos(x), tanh(x)
  ))
  expect_error(
    evaluate_tensors(function() gamma(tf$constant(1))),
    "gamma",
    class = "runhooks_error_unimplemented"
  )
  expect_error(
    evaluate_tensors(function() round(tf$constant(1), 2)),
    "0 digits",
    class = "runhooks_error_unimplemented"
  )
})

test_that("types of two tensors must agree", {
  expect_error(
    evaluate_tensors(
      function() tf$constant(1) + tf$constant(1L)
    ), "int32 that does not match type float32",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("members, printing and dimensions work", {
  graph <- tf$Graph()
  with_graph(graph, {
    x <- tf$constant(matrix(1, 2, 3), name = "x")
    v <- tf$Variable(c(1, 2), name = "w")
  })
  expect_equal(x$name, "x:0")
  expect_equal(x$dtype$name, "float64")
  expect_identical(x$shape$as_list(), c(2L, 3L))
  expect_identical(tf$placeholder("float32", shape(NULL, 2L))$shape$as_list(), list(NULL, 2L))
  expect_equal(x$shape[[2]], 3L)
  expect_equal(x$get_shape()$ndims, 2L)
  expect_equal(x$op$type, "Const")
  expect_identical(x$op$outputs[[1]], x)
  expect_identical(x$graph, graph)
  expect_equal(dim(x), c(2L, 3L))
  expect_equal(length(x), 6L)
  expect_output(print(x), "Tensor(\"x:0\", shape=(2, 3), dtype=float64)", fixed = TRUE)
  expect_output(print(v), "<tf.Variable 'w:0' shape=(2,) dtype=float32_ref>", fixed = TRUE)
  expect_output(print(x$op), "<tf.Operation 'x' type=Const>", fixed = TRUE)
  expect_error(x$colour, "colour", class = "runhooks_error_not_found")
  expect_true(is.tensor(x))
  expect_false(is.tensor(1))
  expect_identical(graph$get_tensor_by_name("x:0"), x)
})

test_that("restored handles report that they are invalid", {
  x <- with_graph(tf$Graph(), tf$constant(1))
  file <- withr::local_tempfile()
  saveRDS(x, file)
  expect_error(
    readRDS(file)$name, "another R session has saved", class = "runhooks_error_failed_precondition"
  )
})
