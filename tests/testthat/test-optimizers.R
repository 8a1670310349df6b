# Every optimizer alone, step by step, against TensorFlow's figures.

optimizer_of_class <- function(entry) {
  arguments <- entry$args
  do.call(tf$train[[entry$class]], arguments)
}

# Variable and slots after each of the golden's steps, by name.
run_optimizer <- function(entry, golden) {
  graph <- tf$Graph()
  with_graph(graph, {
    tf$train$get_or_create_global_step()
    v <- tf$Variable(tf$constant(unlist(golden$v0)), name = "v")
    # The gradient of sum(v * g) is g: the whole way from a loss to an update.
    step <- tf$train$get_global_step()
    gradients <- lapply(golden$gradients, function(g) tf$constant(unlist(g)))
    optimizer <- optimizer_of_class(entry)
    train_ops <- optimizer$apply_gradients(list(list(gradients[[1]], v)), global_step = step)
    init <- tf$global_variables_initializer()
  })
  session <- with_graph(graph, tf$Session())
  session$run(init)
  list(session = session, train_op = train_ops, gradient = gradients[[1]]$name)
}

test_that("dense updates are TensorFlow's, slots included", {
  golden <- read_golden("unit", "optimizers.json")
  for (entry in golden$optimizers) {
    run <- run_optimizer(entry, golden)
    names <- names(entry$dense[[1]])
    fetches <- paste0(names, ":0")
    for (t in seq_along(entry$dense)) {
      if (t > 1) {
        feed <- stats::setNames(list(unlist(golden$gradients[[t - 1]])), run$gradient)
        run$session$run(run$train_op, feed_dict = feed)
      }
      actual <- run$session$run(as.list(fetches))
      for (i in seq_along(names)) {
        error <- relative_error(actual[[i]], entry$dense[[t]][[names[[i]]]])
        expect_lte(
          error,
          1e-5,
          label = sprintf("error of %s of %s at step %d", names[[i]], entry$name, t - 1)
        )
      }
    }
    run$session$close()
  }
})

test_that("an optimizer minimizes a loss by hand", {
  graph <- tf$Graph()
  with_graph(graph, {
    w <- tf$Variable(3, name = "w")
    loss <- tf$square(w$value() - 1)
    train_op <- tf$train$GradientDescentOptimizer(0.25)$minimize(loss)
    init <- tf$global_variables_initializer()
    session <- tf$Session()
  })
  session$run(init)
  for (i in 1:30) session$run(train_op)
  expect_equal(session$run(w), 1, tolerance = 1e-6)
  session$close()
})

test_that("hyperparameters out of range are refused when the optimizer is made", {
  expect_error(tf$train$GradientDescentOptimizer(-0.1), class = "runhooks_error_invalid_argument")
  expect_snapshot(error = TRUE, {
    tf$train$GradientDescentOptimizer(learning_rate = -0.1)
    tf$train$AdamOptimizer(beta1 = 1.5)
    tf$train$FtrlOptimizer(0.1, learning_rate_power = 0.5)
    tf$train$MomentumOptimizer(0.1, momentum = "a lot")
  })
})

test_that("optimizers print what they are", {
  expect_snapshot(tf$train$MomentumOptimizer(0.1, 0.9))
})
