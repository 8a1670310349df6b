# LBFGS updates all variables jointly, from the gradients of all rows.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

minimized <- function(loss_of, start, steps, optimizer = tf$train$LBFGSOptimizer(), dtype = "float64") {
  graph <- tf$Graph()
  built <- with_graph(graph, {
    variables <- lapply(seq_along(start), function(i) {
      tf$Variable(tf$constant(start[[i]], dtype), name = paste0("v", i))
    })
    loss <- loss_of(variables)
    list(
      variables = variables, loss = loss, train = optimizer$minimize(loss),
      init = tf$global_variables_initializer(), session = tf$Session()
    )
  })
  on.exit(built$session$close())
  built$session$run(built$init)
  losses <- numeric(steps)
  for (i in seq_len(steps)) losses[[i]] <- built$session$run(list(built$loss, built$train))[[1]]
  list(values = built$session$run(built$variables), losses = losses)
}

test_that("a badly scaled quadratic converges in few steps", {
  scales <- 10^(0:-5)
  goal <- c(1, -2, 3, -4, 5, -6)
  loss_of <- function(variables) {
    tf$reduce_sum(tf$constant(scales, "float64") * tf$square(variables[[1]] - tf$constant(goal, "float64")))
  }
  found <- minimized(loss_of, list(rep(0, 6)), 60)
  expect_equal(found$values[[1]], goal, tolerance = 1e-3, ignore_attr = TRUE)
})

test_that("variables of several shapes are optimized jointly, also in a curved valley", {
  # Rosenbrock's function couples the variables.
  loss_of <- function(variables) {
    x <- variables[[1]]
    y <- tf$reshape(variables[[2]], list())
    tf$square(1 - x) + 100 * tf$square(y - tf$square(x))
  }
  for (dtype in c("float64", "float32")) {
    found <- minimized(loss_of, list(-1.2, matrix(1, 1, 1)), 120, dtype = dtype)
    expect_equal(as.numeric(found$values[[1]]), 1, tolerance = 1e-3, label = dtype)
    expect_equal(as.numeric(found$values[[2]]), 1, tolerance = 1e-3, label = dtype)
  }
})

test_that("an L1 penalty keeps small weights at 0", {
  goal <- c(3, 0.2, -2, -0.3)
  loss_of <- function(variables) tf$reduce_sum(tf$square(variables[[1]] - goal))
  for (start in list(rep(0, 4), c(-5, 5, 5, 5))) {
    optimizer <- tf$train$LBFGSOptimizer(l1_regularization_strength = 1)
    found <- minimized(loss_of, list(start), 40, optimizer)
    # with the penalty |x|, the minimum is where d/dx (x - goal)^2 = -sign(x)
    expect_equal(as.vector(found$values[[1]]), c(2.5, 0, -1.5, 0), tolerance = 1e-6)
  }
  optimizer <- tf$train$LBFGSOptimizer(l2_regularization_strength = 1)
  found <- minimized(loss_of, list(rep(0, 4)), 40, optimizer)
  expect_equal(as.vector(found$values[[1]]), goal / 2, tolerance = 1e-6)
})

test_that("every estimator accepts \"LBFGS\"; mini-batches train like Adagrad", {
  deep <- dnn_regressor(
    mpg ~ wt + hp, mtcars, hidden_units = c(6, 4), optimizer = "LBFGS", activation_fn = "tanh",
    model_dir = new_folder(), config = run_config(tf_random_seed = 1)
  )
  train(deep, batch_size = 32, steps = 100)
  # The mean squared error of lm() is 6.1.
  expect_lt(evaluate(deep)$average_loss, 4)
  expect_true("dnn/LBFGS/steps" %in% checkpoint_names(latest_checkpoint(model_dir(deep))))
  fit <- function(optimizer) {
    model <- linear_regressor(
      column_numeric("wt"), optimizer = optimizer, model_dir = new_folder(),
      config = run_config(tf_random_seed = 1)
    )
    train(model, input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 3))
    variable_value(model, c("linear/linear_model/wt/weights", "linear/linear_model/bias_weights"))
  }
  expect_equal(fit("LBFGS"), fit(tf$train$AdagradOptimizer(0.2)), tolerance = 1e-5)
})

test_that("numbers of very different scales need no standardization", {
  columns <- column_numeric("disp", "wt", "qsec")
  model <- linear_regressor(columns, optimizer = "LBFGS", model_dir = new_folder())
  all_rows <- input_fn(mpg ~ disp + wt + qsec, mtcars, batch_size = 32, num_epochs = NULL)
  history <- train(model, all_rows, steps = 200, hooks = hook_stop_when_converged())
  expect_lt(history$params$steps, 200)
  reference <- lm(mpg ~ disp + wt + qsec, mtcars)
  expect_equal(predict(model, newdata = mtcars)$.pred, unname(fitted(reference)), tolerance = 1e-4)
  expect_error(
    train(model, input_fn(mpg ~ disp + wt + qsec, mtcars, batch_size = 8),
      hooks = hook_stop_when_converged()
    ),
    "reports convergence"
  )
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook_stop_when_converged()),
    "reports convergence", class = "runhooks_error_failed_precondition"
  )
})

test_that("a stopped and resumed run has the same bits as an uninterrupted one", {
  fit <- function(...) {
    model <- linear_classifier(am ~ wt + I(wt^2), mtcars, model_dir = new_folder())
    for (steps in c(...)) train(model, steps = steps)
    variable_value(model)
  }
  expect_identical(fit(4, 3, 2), fit(9))
})

test_that("its graph is exported in TensorFlow's ops, and its arguments have ranges", {
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = new_folder())
  train(model, steps = 2)
  expect_true(file.exists(file.path(model_dir(model), "graph.pbtxt")))
  expect_error(tf$train$LBFGSOptimizer(num_correction_pairs = 0), "num_correction_pairs")
  expect_error(tf$train$LBFGSOptimizer(l1_regularization_strength = -1), "l1_regularization_strength")
  expect_error(tf$train$LBFGSOptimizer(tolerance = 0), "tolerance")
})

test_that("biases have no penalty on request", {
  data <- data.frame(x = 1:20, y = rep(c("no", "yes", "yes", "yes"), 5))
  predicted <- function(...) {
    optimizer <- tf$train$LBFGSOptimizer(...)
    model <- linear_classifier(y ~ x, data, optimizer = optimizer)
    train(model)
    predict(model, data, type = "prob")$.pred_yes
  }
  for (name in c("l1_regularization_strength", "l2_regularization_strength")) {
    strength <- setNames(list(1e4), name)
    free <- do.call(predicted, c(strength, penalize_bias = FALSE))
    expect_equal(free, rep(0.75, 20), tolerance = 1e-4, label = name)
    expect_equal(do.call(predicted, strength), rep(0.5, 20), tolerance = 1e-2, label = name)
  }
})
