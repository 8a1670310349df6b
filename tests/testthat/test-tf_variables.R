# Graphs that are built directly, without an estimator.

test_that("a linear model trains in a session with R feeds", {
  with(tf$Graph()$as_default() %as% graph, {
    x <- tf$placeholder(tf$float32, shape = list(NULL), name = "x")
    y <- tf$placeholder("float32", shape = list(NULL), name = "y")
    w <- tf$get_variable("w", initializer = 0)
    b <- tf$get_variable("b", shape = list(), initializer = tf$zeros_initializer())
    loss <- tf$losses$mean_squared_error(labels = y, predictions = w * x + b)
    expect_identical(graph$get_collection("losses"), list(loss))
    expect_identical(tf$losses$get_losses(), list(loss))
    expect_equal(loss$name, "mean_squared_error/value:0")
    step <- tf$train$get_or_create_global_step()
    optimizer <- tf$train$GradientDescentOptimizer(0.1)
    train_op <- optimizer$minimize(loss, global_step = step)
    values <- c(1, 2, 3)
    losses <- numeric()
    hook <- session_run_hook(
      before_run = function(context) session_run_args(loss = loss),
      after_run = function(context, values) losses <<- c(losses, values$results$loss)
    )
    hooks <- list(hook, hook_stop_at_step(last_step = 100))
    with(tf$train$MonitoredTrainingSession(hooks = hooks) %as% sess, {
      while (!sess$should_stop()) {
        sess$run(train_op, feed_dict = dict(x = values, y = 2 * values + 1))
      }
      found <- sess$run(list(w, b), list("x:0" = values, y = values), hooks = FALSE)
    })
  })
  expect_length(losses, 100)
  expect_equal(losses[[1]], mean((2 * values + 1)^2), tolerance = 1e-6)
  # Computes the same gradient descent in plain R.
  by_hand <- c(0, 0)
  for (i in 1:100) {
    error <- by_hand[[1]] * values + by_hand[[2]] - (2 * values + 1)
    by_hand <- by_hand - 0.1 * c(mean(2 * error * values), mean(2 * error))
  }
  expect_equal(unlist(found), by_hand, tolerance = 1e-5)
})

test_that("losses are weighted and added to the given collection", {
  with(tf$Graph()$as_default() %as% graph, {
    labels <- tf$constant(c(1, 2, 3))
    predictions <- tf$constant(c(2, 4, 6))
    mse <- tf$losses$mean_squared_error
    weighted <- mse(labels, predictions, weights = c(1, 0, 2), loss_collection = "others")
    none <- mse(1:3, predictions, reduction = tf$losses$Reduction$NONE, loss_collection = NULL)
    sum <- mse(labels, predictions, reduction = tf$losses$Reduction$SUM, scope = "own")
    expect_equal(sum$op$name, "own/Sum")
    expect_identical(graph$get_collection("losses"), list(sum))
    expect_identical(graph$get_collection("others"), list(weighted))
    with(tf$Session() %as% sess, {
      expect_equal(sess$run(weighted), (1 + 2 * 9) / 2)
      expect_equal(as.vector(sess$run(none)), c(1, 4, 9))
      expect_equal(sess$run(sum), 14)
    })
    expect_error(mse(labels, tf$constant(c(1, 2))), "incompatible")
  })
})

test_that("variables accept initializers", {
  with(tf$Graph()$as_default(), {
    variables <- list(
      number = tf$get_variable("number", initializer = 2.5),
      vector = tf$get_variable("vector", initializer = c(1, 2)),
      zeros = tf$get_variable("zeros", list(2), initializer = tf$zeros_initializer()),
      ones = tf$get_variable("ones", c(2, 1), initializer = tf$ones_initializer()),
      constant = tf$get_variable("constant", 2, initializer = tf$constant_initializer(7)),
      values = tf$get_variable("values", 2, initializer = tf$constant_initializer(c(3, 4))),
      integer = tf$get_variable("integer", list(), "int64", tf$constant_initializer(5)),
      own = tf$get_variable("own", 2, initializer = function(shape, dtype) {
        tf$constant(9, dtype, shape = shape)
      })
    )
    expect_equal(variables$integer$dtype$name, "int64")
    expect_error(tf$get_variable("unknown", initializer = tf$zeros_initializer()), "fully defined")
    expect_error(
      tf$get_variable("both", 2, initializer = tf$constant(1)), "do not specify shape"
    )
    with(tf$Session() %as% sess, {
      sess$run(tf$global_variables_initializer())
      values <- lapply(sess$run(variables), as.vector)
    })
  })
  expect_equal(values, list(
    number = 2.5, vector = c(1, 2), zeros = c(0, 0), ones = c(1, 1), constant = c(7, 7),
    values = c(3, 4), integer = 5, own = c(9, 9)
  ))
})

test_that("assignments and placeholders work", {
  with(tf$Graph()$as_default(), {
    v <- tf$Variable(3, name = "v")
    p <- tf$placeholder_with_default(5, shape = list())
    required <- tf$placeholder(tf$int32, shape = list(2, NULL))
    expect_equal(dim(required), list(2L, NULL))
    with(tf$Session() %as% sess, {
      sess$run(v$initializer)
      expect_equal(sess$run(tf$assign_add(v, p)), 8)
      expect_equal(sess$run(tf$assign_sub(v, p), dict(p = 1)), 7)
      expect_equal(sess$run(v$assign(1)), 1)
      expect_error(sess$run(tf$identity(required)), "feed a value")
      expect_equal(sess$run(required, dict(required = matrix(1:4, 2))), matrix(1:4, 2))
    })
  })
})

test_that("the default graph can be reset only outside of nested graphs", {
  tf$reset_default_graph()
  tf$constant(1, name = "here")
  tf$reset_default_graph()
  expect_length(tf$get_default_graph()$get_operations(), 0)
  expect_error(
    with(tf$Graph()$as_default(), {
      with(tf$Graph()$as_default(), tf$reset_default_graph())
    }),
    "nested", class = "runhooks_error_failed_precondition"
  )
})
