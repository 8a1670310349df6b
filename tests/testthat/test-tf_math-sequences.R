test_that("tf$roll() moves elements along axes", {
  with(tf$Graph()$as_default(), {
    session <- tf$Session()
    x <- matrix(1:6 + 0, 2, byrow = TRUE)
    for (roll in list(tf$roll, tf$manip$roll)) {
      expect_equal(session$run(roll(x, 1L, axis = 1L)), x[, c(3, 1, 2)])
      expect_equal(session$run(roll(x, -1L, axis = -1L)), x[, c(2, 3, 1)])
      expect_equal(session$run(roll(x, c(1L, 4L), axis = c(0L, 1L))), x[2:1, c(3, 1, 2)])
      expect_equal(session$run(roll(x, tf$constant(2L), axis = 1L)), x[, c(2, 3, 1)])
    }
    expect_error(tf$roll(x, 1L, axis = c(0L, 1L)), "shift for each axis")
    v <- tf$constant(c(1, 2, 3))
    slope <- tf$gradients(tf$roll(v, 1L, 0L) * c(1, 10, 100), v)[[1]]
    expect_equal(as.vector(session$run(slope)), c(10, 100, 1))
  })
})

test_that("tf$reverse_sequence() reverses the beginning of each example", {
  with(tf$Graph()$as_default(), {
    session <- tf$Session()
    x <- matrix(1:8 + 0, 2, byrow = TRUE)
    reversed <- rbind(c(3, 2, 1, 4), c(5, 6, 7, 8))
    expect_equal(session$run(tf$reverse_sequence(x, c(3L, 1L), seq_axis = 1L)), reversed)
    expect_equal(
      session$run(tf$reverse_sequence(t(x), c(3L, 1L), seq_dim = 0L, batch_dim = 1L)), t(reversed)
    )
    deep <- array(seq_len(12) + 0, c(2, 3, 2))
    found <- session$run(tf$reverse_sequence(deep, c(2L, 3L), seq_axis = 1L))
    expect_equal(found[1, , ], deep[1, c(2, 1, 3), ])
    expect_equal(found[2, , ], deep[2, 3:1, ])
    expect_error(tf$reverse_sequence(x, c(3L, 1L), 0L, 0L), "both")
  })
})

test_that("tf$strings$split() splits as in TensorFlow 1.15", {
  with(tf$Graph()$as_default(), {
    session <- tf$Session()
    parts <- function(...) as.vector(session$run(tf$strings$split(...)$values))
    expect_identical(parts(c(" a  b", "c")), c("a", "b", "c"))
    expect_identical(parts("a,,b", sep = ","), c("a", "", "b"))
    expect_identical(parts("1<>2<>3.<>", sep = "<>"), c("1", "2", "3.", ""))
    sparse <- session$run(tf$strings$split(c("a b", "c"))$indices)
    expect_equal(sparse, rbind(c(0, 0), c(0, 1), c(1, 0)))
    expect_identical(parts("a b  c d", maxsplit = 2L), c("a", "b", "c d"))
    expect_identical(parts("a--b--c", sep = "--", maxsplit = 1L), c("a", "b--c"))
    expect_identical(parts("x\x1fy<>z", sep = "<>"), c("x\x1fy", "z"))
    expect_identical(parts("aaa", sep = "aa"), c("", "a"))
    expect_identical(parts("1\u20ac2\u20ac", sep = "\u20ac"), c("1", "2", ""))
    expect_identical(parts("", sep = "<>"), "")
    expect_identical(parts(c("", "  ")), character())
    expect_identical(parts("a.*b", sep = ".*"), c("a", "b"))
    expect_error(tf$strings$split("a b", maxsplit = "1"), "maxsplit")
  })
})

test_that("tf$report_uninitialized_variables() names variables without a value", {
  with(tf$Graph()$as_default(), {
    a <- tf$get_variable("a", shape())
    b <- tf$get_variable("b", shape(), use_resource = TRUE)
    all <- tf$report_uninitialized_variables()
    one <- tf$report_uninitialized_variables(list(b))
    session <- tf$Session()
    expect_identical(as.vector(session$run(all)), c("a", "b"))
    session$run(a$initializer)
    expect_identical(as.vector(session$run(all)), "b")
    session$run(b$initializer)
    expect_length(session$run(all), 0)
    expect_length(session$run(one), 0)
    expect_length(session$run(tf$report_uninitialized_variables(list())), 0)
  })
})

test_that("whole numbers of R are indices of tf$dynamic_stitch()", {
  with(tf$Graph()$as_default(), {
    session <- tf$Session()
    data <- list(tf$constant(c(1, 2)), tf$constant(3))
    expect_equal(as.vector(session$run(tf$dynamic_stitch(list(c(0L, 2L), 1L), data))), c(1, 3, 2))
    expect_equal(as.vector(session$run(tf$dynamic_stitch(list(c(0, 2), 1), data))), c(1, 3, 2))
  })
})

test_that("tf$as_string() ignores `fill` for logicals", {
  with(tf$Graph()$as_default(), {
    made <- tf$Session()$run(tf$as_string(c(TRUE, FALSE), fill = " "))
    expect_identical(as.vector(made), c("true", "false"))
  })
})

test_that("the last threshold of specificity_at_sensitivity() is below 1, as in TensorFlow", {
  with(tf$Graph()$as_default(), {
    metric <- tf$metrics$specificity_at_sensitivity(FALSE, 1, 0.9)
    session <- tf$Session()
    session$run(tf$local_variables_initializer())
    session$run(metric[[2]])
    expect_equal(session$run(metric[[1]]), 0)
  })
})
