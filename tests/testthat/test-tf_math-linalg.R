# tf$linalg and matrix products by Eigen, with the signs and numbers of TensorFlow 1.15.

evaluate <- function(x) {
  session <- tf$Session()
  on.exit(session$close())
  session$run(x)
}

test_that("decompositions reproduce their matrix, with TensorFlow's signs", {
  a <- matrix(c(4, 1, 2, 1, 3, 0, 2, 0, 5), 3)
  with_graph(tf$Graph(), {
    x <- tf$constant(a, dtype = tf$float64)
    out <- evaluate(list(
      tf$cholesky(x), tf$qr(x), tf$linalg$svd(x), tf$self_adjoint_eig(x),
      tf$matrix_inverse(x), tf$matrix_determinant(x), tf$linalg$slogdet(x)
    ))
  })
  expect_equal(out[[1]], t(chol(a)))
  expect_equal(
    out[[2]][[2]], rbind(
      c(-4.58257569, -1.52752523, -3.92792202), c(0, -2.76887462, 1.44463024), c(0, 0, 3.38887475)
    ), tolerance = 1e-8
  )
  expect_equal(out[[2]][[1]] %*% out[[2]][[2]], a)
  expect_equal(as.vector(out[[3]][[1]]), c(6.66907909, 3.4760236, 1.85489731), tolerance = 1e-8)
  expect_equal(out[[3]][[2]] %*% diag(as.vector(out[[3]][[1]])) %*% t(out[[3]][[3]]), a)
  expect_equal(out[[3]][[2]][1, ], c(0.63117897, 0.37436195, -0.67931306), tolerance = 1e-7)
  expect_equal(out[[4]][[2]][1, ], c(-0.67931306, 0.37436195, 0.63117897), tolerance = 1e-7)
  expect_equal(as.vector(out[[4]][[1]]), rev(as.vector(out[[3]][[1]])))
  expect_equal(out[[5]], solve(a))
  expect_equal(as.vector(out[[6]]), det(a))
  expect_equal(as.vector(out[[7]][[1]]), 1)
  expect_equal(as.vector(out[[7]][[2]]), log(det(a)))
})

test_that("linear systems are solved, and singular ones are an error", {
  a <- matrix(c(4, 1, 2, 1, 3, 0, 2, 0, 5), 3)
  b <- matrix(1:6 + 0, 3)
  with_graph(tf$Graph(), {
    x <- tf$constant(a, dtype = tf$float64)
    rhs <- tf$constant(b, dtype = tf$float64)
    lower <- tf$cholesky(x)
    out <- evaluate(list(
      tf$matrix_solve(x, rhs), tf$matrix_triangular_solve(lower, rhs), tf$linalg$inv(x)
    ))
    expect_equal(out[[1]], solve(a, b))
    expect_equal(out[[2]], forwardsolve(t(chol(a)), b))
    expect_equal(out[[3]], solve(a))
    singular <- tf$constant(matrix(c(1, 2, 2, 4), 2))
    expect_error(
      evaluate(tf$matrix_inverse(singular)), "not invertible",
      class = "runhooks_error_invalid_argument"
    )
    expect_error(
      evaluate(tf$cholesky(tf$constant(matrix(c(1, 2, 2, 1), 2)))), "not successful",
      class = "runhooks_error_invalid_argument"
    )
    expect_error(tf$cholesky(tf$constant(matrix(1, 2, 3))), "square")
  })
})

test_that("tf$matmul multiplies batches of matrices, with broadcasting", {
  set.seed(3)
  a <- array(rnorm(24), c(2, 3, 4))
  b <- matrix(rnorm(20), 4)
  with_graph(tf$Graph(), {
    x <- tf$constant(a, dtype = tf$float64)
    y <- tf$constant(b, dtype = tf$float64)
    product <- tf$matmul(x, y)
    expect_identical(product$op$type, "BatchMatMulV2")
    expect_identical(tf$matmul(y, y, transpose_b = TRUE)$op$type, "MatMul")
    gradient <- tf$gradients(tf$reduce_sum(product * product), list(x, y))
    out <- evaluate(list(product, gradient[[1]], gradient[[2]]))
  })
  expect_equal(dim(out[[1]]), c(2, 3, 5))
  by_y <- 0
  for (i in 1:2) {
    expect_equal(out[[1]][i, , ], a[i, , ] %*% b)
    expect_equal(out[[2]][i, , ], 2 * (a[i, , ] %*% b) %*% t(b))
    by_y <- by_y + 2 * t(a[i, , ]) %*% (a[i, , ] %*% b)
  }
  expect_equal(out[[3]], by_y)
})

test_that("integers divide to doubles, strings compare, and unstack() counts by the shape", {
  with_graph(tf$Graph(), {
    i <- tf$constant(c(1L, -3L), dtype = tf$int32)
    quotient <- i / 2L
    expect_identical(quotient$dtype$name, "float64")
    words <- tf$constant(c("a", "b", "a"))
    parts <- tf$unstack(tf$constant(matrix(1:6 + 0, 2)), axis = 1L)
    expect_length(parts, 3)
    out <- evaluate(list(
      quotient, words == "a", words != tf$constant(c("a", "b", "c")), parts[[2]],
      tf$zeros_like(words), tf$transpose(tf$constant(matrix(1:6 + 0, 2)))
    ))
  })
  expect_equal(as.vector(out[[1]]), c(0.5, -1.5))
  expect_identical(as.vector(out[[2]]), c(TRUE, FALSE, TRUE))
  expect_identical(as.vector(out[[3]]), c(FALSE, FALSE, TRUE))
  expect_equal(as.vector(out[[4]]), c(3, 4))
  expect_identical(as.vector(out[[5]]), c("", "", ""))
  expect_equal(out[[6]], t(matrix(1:6 + 0, 2)))
})

test_that("tf$where returns coordinates, or elements and rows, with gradients", {
  with_graph(tf$Graph(), {
    at <- tf$where(tf$constant(c(FALSE, TRUE, TRUE)))
    x <- tf$constant(matrix(1:4 + 0, 2), dtype = tf$float64)
    y <- tf$constant(matrix(5:8 + 0, 2), dtype = tf$float64)
    rows <- tf$where(c(TRUE, FALSE), x, y)
    words <- tf$where(c(TRUE, FALSE), tf$constant(c("a", "b")), tf$constant(c("c", "d")))
    gradient <- tf$gradients(tf$reduce_sum(rows * rows), list(x, y))
    out <- evaluate(list(at, rows, words, gradient[[1]], gradient[[2]]))
    expect_error(tf$where(c(TRUE, FALSE), x), "both be given")
  })
  expect_equal(as.vector(out[[1]]), c(1, 2))
  expect_equal(out[[2]], rbind(c(1, 3), c(6, 8)))
  expect_identical(as.vector(out[[3]]), c("a", "d"))
  expect_equal(out[[4]], rbind(c(2, 6), c(0, 0)))
  expect_equal(out[[5]], rbind(c(0, 0), c(12, 16)))
})

test_that("tf$scatter_nd accepts plain R values", {
  with_graph(tf$Graph(), {
    out <- evaluate(tf$scatter_nd(matrix(c(1L, 1L), 2), c(2, 3), 3L))
  })
  expect_equal(as.vector(out), c(0, 5, 0))
})

test_that("batch normalization supports any axis, and a tensor for the mode", {
  input <- array(0, c(2, 3, 4))
  # The numbers are in row-major order, as in TensorFlow's reference.
  input[] <- aperm(array((0:23 %% 7) * 1.5 - 2, c(4, 3, 2)), 3:1)
  with_graph(tf$Graph(), {
    x <- tf$constant(input)
    is_training <- tf$placeholder(tf$bool, list(), name = "is_training")
    y <- tf$layers$batch_normalization(x, axis = 1L, training = is_training)
    updates <- tf$get_collection("update_ops")
    moving <- Filter(function(v) grepl("moving", v$name), tf$global_variables())
    session <- tf$Session()
    on.exit(session$close())
    session$run(tf$global_variables_initializer())
    idle <- session$run(c(list(y), updates), feed_dict = list("is_training:0" = FALSE))[[1]]
    expect_equal(idle, input / sqrt(1.001), tolerance = 1e-6)
    expect_equal(as.vector(session$run(moving[[1]])), c(0, 0, 0))
    trained <- session$run(c(list(y), updates), feed_dict = list("is_training:0" = TRUE))[[1]]
    expect_equal(
      trained[1, 1, ], c(-1.06805003, -0.59336001, -0.11867, 0.35602), tolerance = 1e-5
    )
    expect_equal(
      as.vector(session$run(moving[[1]])), c(0.01375, 0.034375, 0.015625), tolerance = 1e-5
    )
    expect_equal(
      as.vector(session$run(moving[[2]])), c(1.08984375, 1.06277347, 1.06277347),
      tolerance = 1e-6
    )
  })
})

test_that("images are normalized by TensorFlow's fused kernel, with unbiased moving variance", {
  input <- array(0, c(2, 3, 2, 2))
  input[] <- aperm(array((0:23 %% 7) * 1.5 - 2, c(2, 2, 3, 2)), 4:1)
  moving_variance <- function(...) {
    with_graph(tf$Graph(), {
      tf$layers$batch_normalization(tf$constant(input), training = TRUE, ...)
      session <- tf$Session()
      on.exit(session$close())
      session$run(tf$global_variables_initializer())
      session$run(tf$get_collection("update_ops"))
      names <- vapply(tf$global_variables(), function(v) v$name, "")
      as.vector(session$run(tf$global_variables()[[grep("moving_variance", names)]]))
    })
  }
  expect_equal(moving_variance(), c(1.09568167, 1.08136356), tolerance = 1e-6)
  expect_equal(moving_variance(fused = FALSE), c(1.08687496, 1.07375002), tolerance = 1e-6)
})

test_that("tf$cross matches TensorFlow's cross products, and their gradients", {
  a <- rbind(c(1.75, -1, -1.25), c(-0.25, 1.75, -1.75))
  b <- rbind(c(-1.25, 0, -1.25), c(-0.5, -0.75, -2))
  with_graph(tf$Graph(), {
    x <- tf$constant(a, "float32")
    y <- tf$constant(b, "float32")
    product <- tf$cross(x, y)
    loss <- tf$reduce_sum(product * rbind(c(1, 2, 3), c(-1, 0, 2)))
    out <- evaluate(list(product, tf$gradients(loss, list(x, y))))
    expect_error(tf$linalg$cross(x[, 1:2], y[, 1:2]), "must have 3 elements")
    expect_error(tf$cross(x, y[1, ]), class = "runhooks_error")
  })
  expect_equal(out[[1]], rbind(c(1.25, 3.75, -1.25), c(-4.8125, 0.375, 1.0625)))
  expect_equal(out[[2]][[1]], rbind(c(2.5, 2.5, -2.5), c(-1.5, 3, -0.75)))
  expect_equal(out[[2]][[2]], rbind(c(0.5, 6.5, -4.5), c(-3.5, -2.25, -1.75)))
})
