# tf$contrib$layers$optimize_loss(), stack(), and missing names.

with_values <- function(code) {
  with(tf$Graph()$as_default(), with(tf$Session() %as% session, code(session$run)))
}

test_that("optimize_loss() makes a step with rate, decay, clipping, multipliers and summaries", {
  with_values(function(run) {
    w <- tf$get_variable("w", initializer = c(3, 4))
    step <- tf$train$get_or_create_global_step()
    loss <- tf$reduce_sum(tf$square(w)) / 2
    # Variables are matched by their full name, "w:0".
    expect_warning(
      op <- tf$contrib$layers$optimize_loss(
        loss, step, 0.5, "SGD", clip_gradients = 1,
        learning_rate_decay_fn = function(rate, step) rate * 2,
        gradient_multipliers = list(w = 10)
      ),
      "`gradient_multipliers` has no effect for 'w'", fixed = TRUE
    )
    run(tf$global_variables_initializer())
    expect_equal(op$name, "OptimizeLoss/control_dependency:0")
    run(op)
    expect_equal(as.vector(run(w)), c(3, 4) * (1 - 1 / 5), tolerance = 1e-6)
    expect_equal(run(step), 1)
    tags <- vapply(tf$get_collection("summaries"), function(x) x$op$name, "")
    expect_setequal(tags, paste0(
      "OptimizeLoss/",
      c("learning_rate_1", "loss", "global_norm/gradient_norm", "global_norm/clipped_gradient_norm")
    ))
  })
})

test_that("optimize_loss() accepts names, classes, objects and functions", {
  with_values(function(run) {
    w <- tf$get_variable("w", initializer = c(3, 4))
    loss <- tf$reduce_sum(tf$square(w)) / 2
    optimize <- function(optimizer, rate = 0.5, ...) {
      tf$contrib$layers$optimize_loss(loss, NULL, rate, optimizer, summaries = list(), ...)
    }
    ops <- list(
      optimize(tf$train$GradientDescentOptimizer, name = "a"),
      optimize(tf$train$GradientDescentOptimizer(0.5), NULL, name = "b"),
      optimize(function(rate) tf$train$GradientDescentOptimizer(rate), name = "c")
    )
    run(tf$global_variables_initializer())
    for (op in ops) run(op)
    expect_equal(as.vector(run(w)), c(3, 4) / 8)
    expect_error(optimize("Best"), "should be one of \\[Adagrad, Adam, Ftrl")
    expect_error(optimize("SGD", NULL), "Learning rate is None")
    expect_error(optimize(3), "must be the name of an optimizer")
    expect_error(tf$contrib$layers$optimize_loss(loss, NULL, 1, "SGD", summaries = "all"), "one of")
  })
})

test_that("an unknown name is an error that suggests similar ones", {
  expect_error(tf$layers$conv2, "tf\\$layers\\$conv2d", class = "runhooks_error_not_found")
  expect_error(tf$conv2d, "tf\\$(nn|layers)\\$conv2d")
  expect_error(tf$nn$sofmax, "tf\\$nn\\$softmax")
  expect_error(tf$zzzzzzzz, "is not available")
})

test_that("longer paths lead to the same functions", {
  expect_identical(tf$math$reduce_sum, tf$reduce_sum)
  expect_identical(tf$python$ops$array_ops$reshape, tf$reshape)
  expect_identical(tf$python$framework$dtypes$float32, tf$float32)
  expect_equal(formals(tf$python$framework$constant_op$constant), formals(tf$constant))
})

test_that("functions of shapes return TensorFlow's values", {
  with_values(function(run) {
    gives <- function(tensor, expected) {
      expect_equal(as.vector(run(tensor)), as.vector(expected), tolerance = 1e-6)
    }
    x <- tf$constant(array(1:24, c(2, 3, 4)))
    gives(tf$split(x, 2L, axis = 2L)[[2]], array(1:24, c(2, 3, 4))[, , 3:4])
    parts <- tf$split(tf$ones(shape(4, 5)), c(1L, -1L), axis = 1L)
    expect_equal(lapply(parts, dim), list(c(4L, 1L), c(4L, 4L)))
    expect_error(tf$split(x, 2L, axis = 1L), "evenly divisible by 2 but is 3")
    gives(tf$tile(tf$constant(c(1, 2)), 2L), c(1, 2, 1, 2))
    gives(tf$range(5L), 0:4)
    gives(tf$range(1, 2, 0.25), c(1, 1.25, 1.5, 1.75))
    gives(tf$range(5, 1, -2), c(5, 3))
    gives(tf$linspace(0, 1, 5L), c(0, 0.25, 0.5, 0.75, 1))
    gives(tf$eye(2L, 3L), diag(1, 2, 3))
    gives(tf$boolean_mask(c(1, 2, 3), c(TRUE, FALSE, TRUE)), c(1, 3))
    gives(tf$boolean_mask(x, matrix(c(TRUE, FALSE), 2, 3)), array(1:24, c(2, 3, 4))[1, , ])
    gives(tf$sequence_mask(c(1L, 2L)), matrix(c(TRUE, TRUE, FALSE, TRUE), 2))
    gives(tf$reverse(tf$constant(c(1, 2, 3)), 0L), c(3, 2, 1))
    gives(tf$reduce_logsumexp(c(1000, 1000)), 1000 + log(2))
    gives(tf$count_nonzero(c(0, 2, 3)), 2)
    gives(tf$logical_xor(c(TRUE, FALSE), c(TRUE, TRUE)), c(FALSE, TRUE))
    table <- list(tf$constant(rbind(c(0, 0), c(2, 2))), tf$constant(rbind(c(1, 1))))
    gives(tf$nn$embedding_lookup(table, c(2L, 1L, 0L)), rbind(c(2, 2), c(1, 1), c(0, 0)))
    gives(tf$nn$embedding_lookup(table, c(2L, 0L), "div"), rbind(c(1, 1), c(0, 0)))
    expect_equal(tf$nn$softmax(tf$constant(c(1, 2)), name = "probabilities")$name, "probabilities:0")
    expect_equal(dim(tf$transpose(x)), c(4L, 3L, 2L))
  })
})

test_that("a list in place of a tensor is its numbers, or its tensors stacked", {
  with_values(function(run) {
    x <- tf$constant(matrix(1:6, 2))
    expect_equal(dim(tf$reshape(x, list(-1L, 2L))), c(3L, 2L))
    expect_equal(dim(tf$reshape(x, list(6))), 6L)
    expect_equal(dim(tf$reshape(tf$constant(1), list())), integer())
    expect_equal(dim(tf$reshape(x, x$get_shape())), c(2L, 3L))
    expect_equal(dim(run(tf$reshape(x, list(tf$size(x), 1L)))), c(6, 1))
    expect_error(tf$reshape(x, list(1:2, 3)), "element 2 is a number")
  })
})

test_that("gradient_multipliers are matched by full variable names", {
  after_step <- function(multipliers) {
    with(tf$Graph()$as_default(), {
      w <- tf$get_variable("w", list(), initializer = tf$ones_initializer())
      step <- tf$train$get_or_create_global_step()
      train <- tf$contrib$layers$optimize_loss(
        w * 2, step, 0.1, "SGD", gradient_multipliers = multipliers
      )
      with(tf$Session() %as% session, {
        session$run(tf$global_variables_initializer())
        session$run(train)
        session$run(w)
      })
    })
  }
  # The expected values are those of TensorFlow 1.15.
  expect_equal(after_step(list("w:0" = 0.5)), 0.9, tolerance = 1e-6)
  expect_warning(moved <- after_step(list(w = 0.5)), "no effect for 'w'.*'w:0'")
  expect_equal(moved, 0.8, tolerance = 1e-6)
})

test_that("maxout has a known shape", {
  with(tf$Graph()$as_default(), {
    x <- tf$placeholder(tf$float32, shape(NULL, 8))
    expect_equal(dim(tf$contrib$layers$maxout(x, 4L)), list(NULL, 4L))
  })
})

test_that("arguments of a layer are created outside of its scope", {
  with(tf$Graph()$as_default(), {
    x <- tf$placeholder(tf$float32, shape(NULL, 8))
    tf$contrib$layers$maxout(tf$layers$dense(x, 4L), 2L)
    tf$contrib$layers$layer_norm(tf$layers$dense(x, 4L, name = "second"))
    names <- vapply(tf$trainable_variables(), function(v) v$name, "")
    expect_true(all(c("dense/kernel:0", "second/kernel:0", "LayerNorm/beta:0") %in% names))
  })
})
