# Estimators with user-defined model functions.

# The model function of a linear regression, the first example of tfestimators' documentation.
regression_fn <- function(features, labels, mode, params, config) {
  output <- tf$layers$dense(features, 1L, kernel_initializer = tf$zeros_initializer())
  predictions <- list(mpg = tf$reshape(output, -1L))
  if (mode == mode_keys()$PREDICT) return(estimator_spec(mode, predictions = predictions))
  loss <- tf$losses$mean_squared_error(labels, predictions$mpg)
  optimizer <- tf$train$GradientDescentOptimizer(params$rate)
  estimator_spec(
    mode = mode, predictions = predictions, loss = loss,
    train_op = optimizer$minimize(loss, global_step = tf$train$get_global_step()),
    eval_metric_ops = list(rmse = tf$metrics$root_mean_squared_error(labels, predictions$mpg))
  )
}

cars_input <- function(...) {
  input_fn(mpg ~ drat + cyl, mtcars, batch_size = 32, shuffle = FALSE, ...)
}

# Computes the same gradient descent in plain R.
descent <- function(steps, rate) {
  x <- cbind(mtcars$drat, mtcars$cyl)
  w <- c(0, 0)
  b <- 0
  for (i in seq_len(steps)) {
    error <- drop(x %*% w) + b - mtcars$mpg
    w <- w - rate * 2 * drop(crossprod(x, error)) / nrow(x)
    b <- b - rate * 2 * mean(error)
  }
  list(w = w, b = b, loss = mean((drop(x %*% w) + b - mtcars$mpg)^2))
}

test_that("a model function is trained, evaluated, predicted, and resumed", {
  model <- estimator(regression_fn, params = list(rate = 0.01), class = "mine")
  expect_s3_class(model, c("mine", "tf_custom_estimator", "tf_estimator"), exact = TRUE)
  history <- train(model, cars_input(num_epochs = NULL), steps = 5)
  expect_equal(variable_names(model), c("dense/bias", "dense/kernel", "global_step"))
  expected <- descent(5, 0.01)
  values <- variable_value(model)
  # The loss is computed in float32, as in TensorFlow.
  expect_equal(drop(values[["dense/kernel"]]), expected$w, tolerance = 1e-6)
  expect_equal(as.vector(values[["dense/bias"]]), expected$b, tolerance = 1e-6)
  expect_equal(history$losses$mean_losses, history$losses$total_losses)
  metrics <- evaluate(model, cars_input())
  expect_named(metrics, c("loss", "rmse", "global_step"))
  expect_equal(metrics$loss, expected$loss, tolerance = 1e-6)
  expect_equal(metrics$rmse, sqrt(expected$loss), tolerance = 1e-6)
  predictions <- predict(model, cars_input())
  x <- cbind(mtcars$drat, mtcars$cyl)
  expect_equal(as.numeric(predictions$mpg), drop(x %*% expected$w) + expected$b)
  train(model, cars_input(num_epochs = NULL), steps = 2)
  expect_equal(variable_value(model, "global_step"), list(global_step = 7))
  expect_equal(drop(variable_value(model)[["dense/kernel"]]), descent(7, 0.01)$w)
  again <- estimator(regression_fn, model_dir(model), params = list(rate = 0.01))
  train(again, cars_input(num_epochs = NULL), max_steps = 9)
  expect_equal(drop(variable_value(again)[["dense/kernel"]]), descent(9, 0.01)$w)
})

test_that("a model starts from the values of another one", {
  first <- estimator(regression_fn, params = list(rate = 0.01))
  train(first, cars_input(num_epochs = NULL), steps = 3)
  second <- estimator(
    regression_fn, params = list(rate = 0.01), warm_start_from = model_dir(first)
  )
  train(second, cars_input(num_epochs = NULL), steps = 1)
  expect_equal(drop(variable_value(second)[["dense/kernel"]]), descent(4, 0.01)$w)
})

test_that("the model function receives the arguments that it has", {
  seen <- list()
  given <- function(...) {
    model_fn <- function(features, mode) {
      estimator_spec(mode, predictions = list(sum = tf$reduce_sum(features, 1L)))
    }
    formals(model_fn) <- c(formals(model_fn), list(...))
    model_fn
  }
  model <- estimator(given())
  input <- input_fn(mtcars, c(cyl, am), batch_size = 32)
  expect_warning(sums <- unlist(predict(model, input)), class = "runhooks_warning_untrained")
  expect_equal(sums, mtcars$cyl + mtcars$am, ignore_attr = TRUE)
  config <- run_config(tf_random_seed = 7)
  model_fn <- function(features, labels, mode, params, config) {
    seen <<- list(labels, mode, params, config$tf_random_seed)
    estimator_spec(mode, predictions = features)
  }
  untrained(predict(estimator(model_fn, params = list(a = 1), config = config), cars_input()))
  expect_equal(seen, list(NULL, "infer", list(a = 1), 7))
})

test_that("features are a matrix in the order of the selection, or as the input function returns", {
  shown <- NULL
  model <- estimator(function(features, labels, mode) {
    shown <<- if (is.list(features)) lapply(features, format) else format(features)
    all <- if (is.list(features)) features else list(x = features)
    estimator_spec(mode, predictions = all)
  })
  out <- untrained(predict(model, input_fn(mtcars[1:2, ], c(mpg, cyl), mpg), simplify = FALSE))
  expect_match(shown, "shape=(?, 2), dtype=float64", fixed = TRUE)
  expect_equal(as.vector(out[[1]]$x), c(21, 6))
  untrained(predict(model, input_fn(data.frame(a = 1:2, b = factor(c("u", "v"))), c(b, a)))) |>
    expect_message("'u' => 0")
  expect_match(shown, "shape=(?, 2), dtype=int32", fixed = TRUE)
  untrained(predict(model, numpy_input_fn(list(x = array(1:24, c(2, 3, 4))), shuffle = FALSE)))
  expect_match(shown$x, "shape=(?, 3, 4), dtype=int32", fixed = TRUE)
  own <- function() list(a = np_array(1:2, "float32"), b = list(c(1, 2), "w"))
  model$model_fn <- function(features, mode) {
    estimator_spec(mode, predictions = list(a = features$a, b = features$b[[1]] * 2))
  }
  batches <- untrained(
    predict(model, own, as_iterable = TRUE, yield_single_examples = FALSE)
  )
  first <- iter_next(batches)
  expect_equal(lapply(first, as.vector), list(a = c(1, 2), b = c(2, 4)))
  mixed <- input_fn(data.frame(a = 1, b = "w"), c(a, b))
  expect_error(untrained(predict(model, mixed)), "all numbers, or all strings")
})

test_that("hooks of a specification are called in their modes, built-in ones and R's", {
  calls <- character()
  note <- function(text) {
    session_run_hook(after_run = function(context, values) calls <<- c(calls, text))
  }
  model_fn <- function(features, labels, mode) {
    w <- tf$get_variable("w", shape(2, 1), tf$float64)
    output <- tf$matmul(features, w)
    loss <- tf$reduce_mean(output)
    step <- tf$train$get_global_step()
    estimator_spec(
      mode, list(out = output), loss, step$assign_add(1L),
      training_hooks = list(note("train"), hook_stop_at_step(last_step = 2)),
      training_chief_hooks = note("chief"), evaluation_hooks = note("eval"),
      prediction_hooks = list(note("infer"))
    )
  }
  model <- estimator(model_fn)
  train(model, cars_input(num_epochs = NULL), steps = 100)
  expect_equal(calls, c("chief", "train", "chief", "train"))
  calls <- character()
  evaluate(model, cars_input())
  predict(model, cars_input())
  expect_equal(calls, c("eval", "infer"))
})

test_that("an invalid specification is an error with TensorFlow's message and the user's call", {
  failed <- function(model_fn, mode = train) {
    input <- cars_input(num_epochs = NULL)
    rlang::catch_cnd(mode(estimator(model_fn), input, steps = 1), "runhooks_error")
  }
  expect_invalid_spec <- function(text, ...) {
    model_fn <- function(features, labels, mode) estimator_spec(mode, ...)
    condition <- failed(model_fn)
    expect_match(conditionMessage(condition), text, fixed = TRUE)
    expect_equal(condition$call[[1]], quote(estimator_spec))
  }
  with(tf$Graph()$as_default(), other <- tf$constant(1))
  expect_invalid_spec("Missing train_op.", loss = NULL)
  noop <- function() tf$group()
  expect_invalid_spec("Missing loss.", train_op = noop())
  expect_invalid_spec("train_op must be Operation or Tensor, given: a string.", train_op = "go")
  expect_invalid_spec("loss must be Tensor, given: a number.", loss = 3, train_op = noop())
  expect_invalid_spec(
    "Loss must be scalar, given: 'ones:0' of shape (2, 1).",
    loss = tf$ones(shape(2, 1)), train_op = noop()
  )
  expect_invalid_spec("predictions[a] must be Tensor", predictions = list(a = 1))
  expect_invalid_spec("from the default graph", loss = other, train_op = noop())
  expect_invalid_spec("(metric_value, update_op) tuples", eval_metric_ops = list(a = other))
  expect_invalid_spec("has no `hooks`", hooks = list())
  expect_invalid_spec("Every element of", training_hooks = list(3))
  expect_invalid_spec("must be ExportOutput objects", export_outputs = list(a = 3))
  expect_invalid_spec(
    "Metric with name 'loss' is not allowed",
    loss = tf$constant(1), train_op = noop(),
    eval_metric_ops = list(loss = tf$metrics$mean(tf$constant(1)))
  )
  says <- function(text, model_fn) {
    expect_match(conditionMessage(failed(model_fn)), text, fixed = TRUE)
  }
  says("should return an EstimatorSpec", function(features, labels, mode) 3)
  says("has mode \"eval\"", function(features, labels, mode) {
    estimator_spec("eval", loss = tf$constant(1))
  })
  says("does not take labels", function(features, mode) 3)
  expect_error(estimator(function(x) 1), "must include features argument")
  expect_error(estimator(function(features, more) 1), "not expected args: more")
  expect_error(estimator(function(features) 1, params = list()), "params is passed")
})

test_that("an error in a model function shows its line", {
  model_fn <- function(features, labels, mode) tf$matmul(features, tf$ones(shape(5, 1), tf$float64))
  condition <- rlang::catch_cnd(train(estimator(model_fn), cars_input()), "error")
  expect_match(deparse(condition$call)[[1]], "^tf\\$matmul\\(features")
  stopped <- rlang::catch_cnd(
    train(estimator(function(features, labels, mode) stop("mine")), cars_input()), "error"
  )
  expect_equal(conditionMessage(stopped), "mine")
})

test_that("a loss of shape [1], a scaffold and export outputs are accepted", {
  initialized <- FALSE
  model_fn <- function(features, labels, mode) {
    loss <- tf$reshape(tf$reduce_mean(features), 1L)
    estimator_spec(
      mode, loss = loss, train_op = tf$train$get_global_step()$assign_add(1L),
      predictions = features,
      export_outputs = list(
        serving_default = tf$estimator$export$PredictOutput(list(x = features)),
        again = tf$estimator$export$RegressionOutput(loss)
      ),
      scaffold = tf$train$Scaffold(init_fn = function(scaffold, session) initialized <<- TRUE)
    )
  }
  model <- estimator(model_fn)
  train(model, cars_input(), steps = 1)
  expect_true(initialized)
  expect_equal(evaluate(model, cars_input())$loss, mean(as.matrix(mtcars[c("drat", "cyl")])),
    tolerance = 1e-6
  )
  expect_named(predict(model, cars_input()), "predictions")
})

test_that("a training operation that does not count steps is explained", {
  model <- estimator(function(features, labels, mode, params, config) {
    output <- tf$reshape(tf$layers$dense(features, 1L), -1L)
    loss <- tf$losses$mean_squared_error(labels, output)
    train_op <- tf$train$GradientDescentOptimizer(0.01)$minimize(loss)
    estimator_spec(mode, predictions = list(mpg = output), loss = loss, train_op = train_op)
  })
  expect_message(
    train(model, cars_input(num_epochs = 2), steps = 5),
    "after 0 steps but 5 steps.*step counter has not changed.*global_step = tf\\$train\\$get_global_step"
  )
})

test_that("a prediction without a row for each example is an error that names the prediction", {
  squeezing <- function(squeeze, more = function(out) NULL) {
    estimator(function(features, labels, mode) {
      dense <- tf$layers$dense(tf$cast(features, tf$float32), 1L)
      out <- squeeze(dense)
      if (mode == "infer") {
        return(estimator_spec(mode, predictions = c(list(mpg = out), more(dense))))
      }
      loss <- tf$losses$mean_squared_error(tf$cast(labels, tf$float32), out)
      optimizer <- tf$train$GradientDescentOptimizer(1e-5)
      step <- tf$train$get_global_step()
      estimator_spec(mode, loss = loss, train_op = optimizer$minimize(loss, step))
    }, withr::local_tempdir(.local_envir = parent.frame()))
  }
  input <- function(rows) {
    input_fn(mtcars[rows, ], c("wt", "hp"), "mpg", batch_size = 16L, num_epochs = 1)
  }
  model <- squeezing(tf$squeeze)
  train(model, input(1:32))
  expect_equal(nrow(predict(model, input(1:2))), 2)
  pattern <- "Prediction `mpg` has shape \\(\\) where a row per example.*tf\\$squeeze\\(x, axis = 1L\\)"
  for (rows in list(1, 1:17)) {
    expect_error(predict(model, input(rows)), pattern, class = "runhooks_error_invalid_argument")
    expect_error(
      iterate(predict(model, input(rows), as_iterable = TRUE)), pattern,
      class = "runhooks_error_invalid_argument"
    )
  }
  kept <- squeezing(function(x) tf$squeeze(x, axis = 1L))
  train(kept, input(1:32))
  expect_equal(nrow(predict(kept, input(1))), 1)
  unequal <- squeezing(function(x) tf$squeeze(x, axis = 1L), function(out) {
    list(all = tf$reshape(tf$concat(list(out, out), 0L), c(-1L, 1L)))
  })
  train(unequal, input(1:32))
  expect_error(predict(unequal, input(1:2)), "`mpg` has 2, `all` has 4")
})

test_that("an error of a model function that uses `labels` in prediction says that it is NULL", {
  model_of <- function(break_it) {
    model_fn <- function(features, labels, mode) {
      out <- tf$layers$dense(tf$cast(features, tf$float32), 1L)
      if (mode == "infer") {
        break_it(labels)
        return(estimator_spec(mode, predictions = list(p = out)))
      }
      loss <- tf$losses$mean_squared_error(tf$reshape(labels, c(-1L, 1L)), out)
      step <- tf$train$get_global_step()
      estimator_spec(
        mode, loss = loss, train_op = tf$train$GradientDescentOptimizer(1e-5)$minimize(loss, step)
      )
    }
    estimator(model_fn, withr::local_tempdir(.local_envir = parent.frame()))
  }
  input <- input_fn(mtcars, c("wt", "hp"), "mpg", batch_size = 8L, num_epochs = 1)
  pattern <- "`labels` is NULL in mode \"infer\"."
  uses <- list(
    function(labels) tf$reshape(labels, c(-1L, 1L)), function(labels) stop("no ", class(labels)),
    function(labels) labels$shape$as_list(), function(labels) labels + tf$constant(1)
  )
  for (use in uses) {
    model <- model_of(use)
    train(model, input)
    expect_error(predict(model, input), pattern, fixed = TRUE)
  }
  others <- model_of(function(labels) stop("something else"))
  train(others, input)
  error <- expect_error(predict(others, input), "something else")
  expect_no_match(conditionMessage(error), "labels")
  seen <- "nothing"
  fine <- model_of(function(labels) seen <<- labels)
  train(fine, input)
  predict(fine, input)
  expect_null(seen)
})
