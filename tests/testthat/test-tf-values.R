# Conversion of R values to tensors.

run_in_graph <- function(expr) {
  with(tf$Graph()$as_default(), {
    fetched <- force(expr)
    with(tf$Session() %as% session, {
      session$run(list(tf$global_variables_initializer(), tf$local_variables_initializer()))
      session$run(fetched)
    })
  })
}
type_of <- function(expr) with(tf$Graph()$as_default(), expr$dtype$name)

test_that("nested lists are stacked, and their numbers take the default type", {
  rows <- list(c(1, 2), c(3, 4))
  expected <- rbind(c(1, 2), c(3, 4))
  expect_equal(run_in_graph(tf$constant(rows)), expected)
  expect_equal(run_in_graph(tf$constant(list(list(1, 2), list(3, 4)))), expected)
  expect_equal(run_in_graph(tf$Variable(rows)), expected)
  expect_equal(run_in_graph(tf$square(rows)), expected^2)
  expect_equal(run_in_graph(tf$reduce_sum(rows, 1)), array(c(3, 7)))
  expect_equal(type_of(tf$constant(rows)), "float32")
  expect_equal(type_of(tf$square(rows)), "float32")
  # Numbers take the type of the other tensor.
  expect_equal(type_of(tf$add(tf$ones(2L, tf$float64), list(1, 2))), "float64")
  expect_equal(type_of(tf$constant(list(1L, 2L))), "int32")
  expect_equal(type_of(tf$constant(list(1, 2), dtype = "int64")), "int64")
  cube <- list(matrix(1:4, 2), matrix(5:8, 2))
  expect_equal(run_in_graph(tf$constant(cube))[2, , ], matrix(5:8, 2))
  expect_error(
    run_in_graph(tf$constant(list(c(1, 2), 3))), "cannot become one tensor: element 2",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("paddings are a list of pairs", {
  padded <- run_in_graph(tf$pad(matrix(1, 1, 1), list(c(1L, 0L), c(0L, 2L))))
  expect_equal(padded, rbind(0, c(1, 0, 0)))
})

test_that("a constant's values fill its shape in row-major order", {
  expect_equal(type_of(tf$constant(0.1, shape = shape(3))), "float32")
  expect_equal(type_of(tf$constant(c(1, 2), shape = list(2L, 2L))), "float32")
  # A matrix is reshaped in row-major order, as numpy does.
  expect_equal(
    run_in_graph(tf$constant(matrix(1:6, 2), shape = c(3L, 2L))), rbind(c(1, 3), c(5, 2), c(4, 6))
  )
  expect_equal(run_in_graph(tf$constant(c(1, 2), shape = c(2L, 2L))), rbind(c(1, 2), c(2, 2)))
  expect_error(run_in_graph(tf$constant(1:3, shape = 2L)), "Needed at most 2, but received 3")
  expect_error(with(tf$Graph()$as_default(), tf$constant(tf$constant(1))), "needs values")
})

test_that("an array of np_array() keeps its type", {
  expect_equal(type_of(tf$constant(np_array(c(1, 2), dtype = "int64"))), "int64")
  expect_equal(type_of(tf$square(np_array(matrix(1, 2, 2), dtype = "float32"))), "float32")
  expect_equal(type_of(tf$reduce_sum(np_array(1:2, dtype = "float32"))), "float32")
})

test_that("a shape can contain tensors", {
  rows <- function() tf$shape(tf$ones(c(3L, 2L)))[1]
  expect_equal(run_in_graph(tf$zeros(list(rows(), 2L))), matrix(0, 3, 2))
  expect_equal(run_in_graph(tf$ones(list(rows(), 1L), tf$int32)), matrix(1L, 3, 1))
  expect_equal(dim(run_in_graph(tf$random_normal(list(rows(), 4L)))), c(3L, 4L))
  expect_equal(dim(run_in_graph(tf$random_uniform(list(2L, rows())))), c(2L, 3L))
  expect_equal(dim(run_in_graph(tf$truncated_normal(list(rows())))), 3L)
})

test_that("distributions accept tensors as parameters", {
  drawn <- run_in_graph({
    tf$set_random_seed(1)
    list(
      tf$random_normal(c(1000L), mean = tf$constant(5), stddev = tf$constant(0.5), seed = 2),
      tf$random_uniform(c(1000L), tf$constant(2), tf$constant(3), seed = 2),
      tf$random_normal(c(1000L), mean = 5, stddev = 0.5, seed = 2)
    )
  })
  expect_equal(drawn[[1]], drawn[[3]], tolerance = 1e-6)
  expect_true(all(drawn[[2]] >= 2 & drawn[[2]] < 3))
})

test_that("an initializer's class can replace an initializer", {
  expect_equal(
    run_in_graph(tf$get_variable("v", c(2L), initializer = tf$zeros_initializer)), array(c(0, 0))
  )
  dense <- run_in_graph(tf$layers$dense(
    tf$ones(c(1L, 2L)), 1,
    kernel_initializer = tf$ones_initializer, bias_initializer = tf$initializers$ones
  ))
  expect_equal(dense, matrix(3))
})

test_that("results with names in TensorFlow have these names", {
  x <- c(1, 5, 3)
  expect_equal(run_in_graph(tf$nn$top_k(x, 2L)$indices), array(c(1L, 2L)))
  expect_equal(run_in_graph(tf$nn$top_k(x, 2L)[[1]]), array(c(5, 3)))
  expect_equal(run_in_graph(tf$unique(c(3L, 1L, 3L))$y), array(c(3L, 1L)))
  expect_equal(run_in_graph(tf$unique_with_counts(c(3L, 1L, 3L))$count), array(c(2L, 1L)))
  expect_equal(run_in_graph(tf$setdiff1d(1:3, 2L)$out), array(c(1L, 3L)))
  expect_named(with(tf$Graph()$as_default(), tf$qr(diag(2))), c("q", "r"))
  expect_null(names(with(tf$Graph()$as_default(), tf$unstack(tf$ones(2L)))))
})

test_that("tensors can be concatenated, repeated and used in ranges", {
  a <- c(1, 2)
  expect_equal(run_in_graph(rbind(tf$constant(a), c(3, 4))), rbind(a, c(3, 4), deparse.level = 0))
  expect_equal(run_in_graph(cbind(tf$constant(a), c(3, 4))), cbind(a, c(3, 4), deparse.level = 0))
  m <- matrix(1:4 + 0, 2)
  expect_equal(run_in_graph(rbind(tf$constant(m), c(9, 9))), rbind(m, c(9, 9)))
  expect_equal(as.vector(run_in_graph(rep(tf$constant(a), each = 2))), rep(a, each = 2))
  expect_equal(as.vector(run_in_graph(rep(tf$constant(a), 2))), rep(a, 2))
  expect_equal(as.vector(run_in_graph(range(tf$constant(c(2, 1, 3))))), c(1, 3))
  expect_error(with(tf$Graph()$as_default(), rep(tf$constant(m), 2)), "needs a vector of known length")
})

test_that("shapes can be compared and counted", {
  with(tf$Graph()$as_default(), {
    x <- tf$zeros(c(4L, 2L))
    expect_equal(x$shape$num_elements(), 8)
    expect_true(x$get_shape()$is_fully_defined())
    expect_true(x$shape == shape(4, 2))
    expect_true(x$shape != tf$zeros(2L)$shape)
    expect_equal(x$shape[2], 2L)
    open <- tf$placeholder(tf$float32, shape(NULL, 2))
    expect_null(open$shape$num_elements())
    expect_false(open$shape$is_fully_defined())
  })
})

test_that("tf$diag_part() inverts tf$diag()", {
  expect_equal(run_in_graph(tf$diag_part(tf$diag(c(1, 2)))), array(c(1, 2)))
  m <- matrix(1:4 + 0, 2)
  expect_equal(run_in_graph(tf$diag_part(tf$diag(m))), m)
  expect_error(run_in_graph(tf$diag_part(tf$ones(c(2L, 3L, 4L)))), "shape")
})

test_that("tf$feature_column has TensorFlow's order of arguments", {
  column <- tf$feature_column$categorical_column_with_vocabulary_list("a", c("x", "y"))
  expect_equal(
    column, column_categorical_with_vocabulary_list("a", vocabulary_list = c("x", "y"))
  )
  expect_equal(tf$feature_column$numeric_column("x", 3L), column_numeric("x", shape = 3L))
  expect_equal(
    tf$feature_column$categorical_column_with_identity(key = "x", num_buckets = 4),
    column_categorical_with_identity("x", num_buckets = 4)
  )
})

test_that("zeros() keeps the known dimensions of a shape with tensors", {
  with(tf$Graph()$as_default(), {
    x <- tf$placeholder(tf$float32, shape(NULL, 3))
    expect_equal(dim(tf$zeros(list(tf$shape(x)[1], 4L))), list(NULL, 4L))
    expect_equal(dim(tf$random_normal(list(tf$shape(x)[1], 4L))), list(NULL, 4L))
  })
})

test_that("an existing variable is found without its shape", {
  with(tf$Graph()$as_default(), {
    with(tf$variable_scope("s"), w <- tf$get_variable("w", c(2L, 3L)))
    with(tf$variable_scope("s", reuse = TRUE), again <- tf$get_variable("w"))
    expect_identical(w, again)
    expect_error(tf$get_variable("new"), "Shape of a new variable \\(new\\) must be fully defined")
  })
})

test_that("tf$gather() has a gradient along any axis", {
  m <- matrix(1:6 + 0, 2)
  slope <- run_in_graph({
    x <- tf$constant(m)
    tf$gradients(tf$gather(x, c(2L, 0L, 2L), axis = 1L) * c(1, 10, 100), x)[[1]]
  })
  expect_equal(slope, rbind(c(10, 0, 101), c(10, 0, 101)))
})

test_that("reshape() keeps the known dimensions of the new shape", {
  with(tf$Graph()$as_default(), {
    x <- tf$placeholder(tf$float32, shape(NULL, 4L, 12L))
    flat <- tf$reshape(x, list(tf$shape(x)[1], 48L))
    expect_equal(flat$get_shape()$as_list(), list(NULL, 48L))
    expect_equal(tf$layers$dense(flat, 3)$get_shape()$as_list(), list(NULL, 3L))
    expect_equal(tf$reshape(flat, tf$shape(x))$get_shape()$as_list(), list(NULL, 4L, 12L))
    expect_equal(tf$reshape(x, list(-1L, tf$shape(x)[2]))$get_shape()$as_list(), list(NULL, NULL))
  })
})

test_that("impossible dimensions are an error that names the shape", {
  withr::defer(tf$reset_default_graph())
  for (shape in list(1e300, 2^33, -2, 2.5, NA, c(2, 2.5))) {
    expect_error(tf$constant(1, shape = shape), "shape", class = "runhooks_error")
  }
  expect_error(tf$zeros(1e300), "imension", class = "runhooks_error")
  expect_error(
    tf$errors$NotFoundError(message = function() 1), "`message` must be a single string",
    class = "runhooks_error"
  )
})
