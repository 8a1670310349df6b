# tf$pad() in all modes, tf$nn$fused_batch_norm(), NaN in extremes, and gradients of integers.

in_graph <- function(code) with(tf$Graph()$as_default(), code)
run <- function(x) with(tf$Session() %as% session, session$run(x))

test_that("tensors are padded by constants and by reflection", {
  in_graph({
    x <- tf$constant(matrix(1:6, 2, byrow = TRUE), dtype = "float32")
    around <- matrix(c(1L, 1L, 2L, 1L), 2, byrow = TRUE)
    padded <- list(
      tf$pad(x, around), tf$pad(x, around, constant_values = 9), tf$pad(x, around, "reflect"),
      tf$pad(x, around, mode = "SYMMETRIC")
    )
    got <- run(padded)
    inside <- rbind(1:3, 4:6)
    frame <- function(value) {
      whole <- matrix(value, 4, 6)
      whole[2:3, 3:5] <- inside
      whole
    }
    expect_equal(got[[1]], frame(0))
    expect_equal(got[[2]], frame(9))
    expect_equal(got[[3]], inside[c(2, 1, 2, 1), c(3, 2, 1, 2, 3, 2)])
    expect_equal(got[[4]], inside[c(1, 1, 2, 2), c(2, 1, 1, 2, 3, 3)])
    weights <- tf$constant(matrix(seq_len(24), 4), dtype = "float32")
    grads <- run(lapply(padded, function(y) tf$gradients(tf$reduce_sum(y * weights), x)[[1]]))
    numbers <- matrix(seq_len(24), 4)
    back <- function(rows, columns) {
      total <- matrix(0, 2, 3)
      for (i in 1:4) for (j in 1:6) {
        total[rows[i], columns[j]] <- total[rows[i], columns[j]] + numbers[i, j]
      }
      total
    }
    expect_equal(grads[[1]], numbers[2:3, 3:5])
    expect_equal(grads[[2]], numbers[2:3, 3:5])
    expect_equal(grads[[3]], back(c(2, 1, 2, 1), c(3, 2, 1, 2, 3, 2)))
    expect_equal(grads[[4]], back(c(1, 1, 2, 2), c(2, 1, 1, 2, 3, 3)))
    words <- run(tf$pad(tf$constant(c("a", "b")), matrix(c(1L, 1L), 1), "SYMMETRIC"))
    expect_equal(c(words), c("a", "a", "b", "b"))
    words <- run(tf$pad(tf$constant(c("a", "b")), matrix(c(1L, 0L), 1), constant_values = "z"))
    expect_equal(c(words), c("z", "a", "b"))
    expect_error(tf$pad(x, around, "odd"), "must be \"CONSTANT\"")
    expect_error(tf$pad(x, around, "REFLECT", constant_values = 2), "belongs to")
    expect_error(run(tf$pad(x, matrix(c(2L, 0L, 0L, 0L), 2, byrow = TRUE), "REFLECT")),
      "must be less than the dimension size")
  })
})

test_that("fused_batch_norm() matches TensorFlow's values", {
  x <- aperm(array(seq(0, 23)^1.1, c(2, 3, 2, 2)), 4:1)
  weights <- aperm(array(cos(0:23), c(2, 3, 2, 2)), 4:1)
  in_graph({
    image <- tf$constant(x, dtype = "float32")
    scale <- tf$constant(c(1, 2))
    offset <- tf$constant(c(0.5, -0.5))
    done <- tf$nn$fused_batch_norm(image, scale, offset)
    loss <- tf$reduce_sum(done[[1]] * tf$constant(weights, dtype = "float32"))
    got <- run(c(done, tf$gradients(loss, list(image, scale, offset))))
    expect_equal(c(got[[2]]), c(14.338844, 15.700084), tolerance = 1e-6)
    expect_equal(c(got[[3]]), c(98.5521, 101.1111), tolerance = 1e-6)
    expect_equal(c(got[[1]][1, 1, , ]), c(-1.0085965, -0.78307295, -0.52517617, -3.5538123, -3.0659592, -2.5414698),
      tolerance = 1e-5)
    expect_equal(c(got[[4]][1, 1, , ]), c(0.0818724, -0.06362852, -0.08462175, 0.09560309, -0.2181557, 0.05089258),
      tolerance = 1e-4)
    expect_equal(c(got[[5]]), c(-1.7663406, -0.9819102), tolerance = 1e-4)
    expect_equal(c(got[[6]]), c(-0.00282216, -0.53809243), tolerance = 1e-4)
    first <- tf$nn$fused_batch_norm(tf$transpose(image, c(0L, 3L, 1L, 2L)), scale, offset,
      data_format = "NCHW")[[1]]
    same <- run(list(done[[1]], tf$transpose(first, c(0L, 2L, 3L, 1L))))
    expect_equal(same[[1]], same[[2]], tolerance = 1e-5)
    given <- tf$nn$fused_batch_norm(image, scale, offset, c(3, 4), c(5, 6), is_training = FALSE)
    got <- run(given)
    expected <- x
    for (k in 1:2) {
      expected[, , , k] <- (x[, , , k] - c(3, 4)[k]) / sqrt(c(5, 6)[k] + 0.001) * k + c(0.5, -0.5)[k]
    }
    expect_equal(got[[1]], expected, tolerance = 1e-5)
    expect_error(tf$nn$fused_batch_norm(image, scale, offset, is_training = FALSE), "must be given")
    expect_error(tf$nn$fused_batch_norm(image, scale, offset, data_format = "X"), "data_format")
  })
})

test_that("NaN propagates through extremes and relu's gradient", {
  in_graph({
    a <- tf$constant(c(NaN, 1, NaN, 2))
    b <- tf$constant(c(1, NaN, NaN, 1))
    larger <- tf$maximum(a, b)
    smaller <- tf$minimum(a, b)
    x <- tf$constant(c(-1, 0, 1, NaN))
    through <- function(f, dy) tf$gradients(f(x), x, grad_ys = tf$fill(4L, dy))[[1]]
    got <- run(list(
      larger, smaller, tf$gradients(larger, list(a, b)), tf$gradients(smaller, list(a, b)),
      through(tf$nn$relu, NaN), through(tf$nn$relu, Inf), through(tf$nn$relu, 2),
      through(tf$nn$relu6, Inf)
    ))
    expect_equal(c(got[[1]]), c(NaN, NaN, NaN, 2))
    expect_equal(c(got[[2]]), c(NaN, NaN, NaN, 1))
    expect_equal(lapply(got[[3]], c), list(c(0, 0, 0, 1), c(1, 1, 1, 0)))
    expect_equal(lapply(got[[4]], c), list(c(0, 0, 0, 0), c(1, 1, 1, 1)))
    expect_equal(c(got[[5]]), rep(NaN, 4))
    expect_equal(c(got[[6]]), c(NaN, NaN, Inf, NaN))
    expect_equal(c(got[[7]]), c(0, 0, 2, 0))
    expect_equal(c(got[[8]]), c(NaN, NaN, Inf, NaN))
  })
})

test_that("integers have no gradients except of themselves", {
  in_graph({
    n <- tf$constant(c(1L, 2L))
    x <- tf$constant(c(1, 2))
    expect_null(tf$gradients(n * 2L, n)[[1]])
    expect_null(tf$gradients(tf$cast(n, "float32") * 2, n)[[1]])
    expect_null(tf$gradients(tf$cast(x, "int32"), x)[[1]])
    expect_null(tf$gradients(x > 1, x)[[1]])
    expect_equal(c(run(tf$gradients(n, n)[[1]])), c(1, 1))
    expect_equal(c(run(tf$gradients(list(x * 2, tf$cast(x, "int32")), x)[[1]])), c(2, 2))
    expect_error(tf$gradients(tf$constant("a"), x), "need numeric tensors")
  })
})

test_that("a custom gradient of another shape is an error", {
  in_graph({
    x <- tf$constant(c(1, 2))
    for (wrong in list(c(1, 2, 3), 1)) {
      twice <- tf$custom_gradient(function(x) list(x * 2, function(dy) tf$constant(wrong)))
      expect_error(tf$gradients(twice(x), x), "has shape \\(2,\\)",
        class = "runhooks_error_invalid_argument")
    }
  })
})

test_that("paddings in lists give a known shape", {
  x <- tf$placeholder(tf$float32, shape(NULL, 8, 3))
  y <- tf$pad(x, list(c(0L, 0L), c(1L, 2L), list(0L, 1L)))
  expect_equal(y$shape$as_list()[2:3], list(11L, 4L), ignore_attr = TRUE)
})
