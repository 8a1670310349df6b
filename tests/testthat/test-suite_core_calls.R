# Overhead of a call: the number of calls from R into the core, of reads of the model directory, and
# of constructed models.

models_of_a_kind <- function(env = parent.frame()) {
  folder <- function() withr::local_tempdir(.local_envir = env)
  input <- mtcars_input()
  list(
    columns = list(model = mtcars_model(folder()), input = input),
    formula = list(
      model = linear_regressor(mpg ~ drat + cyl, mtcars, model_dir = folder()), input = mtcars
    ),
    deep = list(model = dnn_regressor(
      4, feature_columns(column_numeric("drat"), column_numeric("cyl")), model_dir = folder()
    ), input = input)
  )
}

custom_crossing_model <- function(folder) {
  within <- 0
  model_fn <- function(features, labels, mode) {
    within <<- within + 1
    on.exit(within <<- within - 1)
    output <- tf$layers$dense(features, 1L)
    predictions <- list(mpg = output)
    if (mode == "infer") return(estimator_spec(mode, predictions = predictions))
    loss <- tf$losses$mean_squared_error(labels, tf$squeeze(output, 1L))
    step <- tf$train$get_global_step()
    train_op <- tf$train$GradientDescentOptimizer(1e-4)$minimize(loss, global_step = step)
    estimator_spec(mode, predictions = predictions, loss = loss, train_op = train_op)
  }
  list(
    model = estimator(model_fn, model_dir = folder), is_own = function() within > 0,
    input = mtcars_input()
  )
}

test_that("calls into the core are counted, including nested ones", {
  expect_length(border_crossings(1 + 1), 0)
  model <- mtcars_model()
  counted <- border_crossings(train(model, mtcars_input(), steps = 1))
  expect_true(all(c("cpp_estimator_train", "cpp_next_batch") %in% counted))
})

test_that("train() calls the core at most 8 times, and reads the folder once", {
  kinds <- models_of_a_kind()
  for (kind in names(kinds)) {
    for (again in 1:2) {
      one <- kinds[[kind]]
      counted <- NULL
      reads <- folder_reads(counted <- border_crossings(train(one$model, one$input, steps = 2)))
      expect_lte(length(counted), 8)
      expect_equal(reads, 1, info = kind)
      expect_false("cpp_model_make" %in% counted, info = kind)
      expect_false(any(c("cpp_read_plain_file", "cpp_latest_checkpoint") %in% counted), info = kind)
    }
  }
})

test_that("predict() of one row calls the core at most 4 times and constructs no model", {
  kinds <- models_of_a_kind()
  for (kind in names(kinds)) {
    one <- kinds[[kind]]
    train(one$model, one$input, steps = 2)
    ask <- list(
      newdata = function() predict(one$model, newdata = mtcars[1, ]),
      input = function() predict(one$model, mtcars_input(data = mtcars[1, ]))
    )
    if (kind == "formula") ask$input <- NULL
    for (how in names(ask)) {
      counted <- NULL
      reads <- folder_reads(counted <- border_crossings(ask[[how]]()))
      expect_lte(length(counted), 4)
      expect_equal(reads, 1, info = paste(kind, how))
      expect_false("cpp_model_make" %in% counted, info = kind)
    }
  }
})

test_that("evaluate() reads the folder once and constructs no model", {
  kinds <- models_of_a_kind()
  for (kind in names(kinds)) {
    one <- kinds[[kind]]
    train(one$model, one$input, steps = 2)
    counted <- NULL
    reads <- folder_reads(counted <- border_crossings(evaluate(one$model, one$input)))
    expect_lte(length(counted), 5)
    expect_equal(reads, 1, info = kind)
    expect_false("cpp_model_make" %in% counted, info = kind)
  }
})

test_that("custom models have the same limits, without the calls of their functions", {
  one <- custom_crossing_model(withr::local_tempdir())
  counted <- NULL
  reads <- folder_reads(
    counted <- border_crossings(train(one$model, one$input, steps = 2), one$is_own)
  )
  expect_lte(length(counted), 8)
  expect_equal(reads, 1)
  ask <- mtcars_input(data = mtcars[1, ])
  reads <- folder_reads(counted <- border_crossings(predict(one$model, ask), one$is_own))
  expect_lte(length(counted), 4)
  expect_equal(reads, 1)
})

test_that("the number of calls does not depend on the number of columns", {
  data <- as.data.frame(matrix(stats::rnorm(2e5), 2e4))
  data$y <- data$V1
  model <- linear_regressor(y ~ ., data, model_dir = withr::local_tempdir())
  expect_lte(length(border_crossings(train(model, data, steps = 2))), 8)
  # the first prediction also creates the predictor
  expect_lte(length(border_crossings(predict(model, newdata = data))), 6)
})

test_that("a restored model is constructed once, and a modified one is a different model", {
  model <- mtcars_model()
  train(model, mtcars_input())
  path <- withr::local_tempfile()
  saveRDS(model, path)
  read <- readRDS(path)
  ask <- function(model) predict(model, newdata = mtcars[1:3, ])
  made <- function(expr) sum(border_crossings(expr) == "cpp_model_make")
  # The saved file does not contain the core's model, so it is constructed once.
  expect_equal(made(ask(read)), 1)
  expect_equal(made(ask(read)), 0)
  expect_identical(ask(read), ask(model))
  expect_lt(file.size(path), 40000)
  more <- add_metrics(model, function(labels, predictions) {
    list(most = tf$metrics$mean(tf$reduce_max(labels)))
  })
  expect_equal(made(evaluate(more, mtcars_input())), 1)
  expect_true("most" %in% names(evaluate(more, mtcars_input())))
  expect_false("most" %in% names(evaluate(model, mtcars_input())))
})

test_that("a hook that evaluates its model sees the current state of the folder", {
  model <- mtcars_model(save_checkpoints_steps = 1)
  seen <- NULL
  hook <- session_run_hook(after_run = function(context, values) {
    seen <<- c(seen, evaluate(model, mtcars_input())$global_step)
  })
  train(model, mtcars_input(), hooks = hook)
  expect_equal(seen, 1:4)
})

# --- metadata of custom models

test_that("a matrix with other features is an error that names them", {
  one <- custom_crossing_model(withr::local_tempdir())
  input <- function(...) input_fn(mtcars, features = c(...), response = "mpg")
  train(one$model, input("drat", "cyl"))
  error <- expect_error(
    predict(one$model, input("cyl", "wt")), class = "runhooks_error_failed_precondition"
  )
  expect_match(conditionMessage(error), "'drat', 'cyl', not on 'cyl', 'wt'")
  expect_match(conditionMessage(error), "contains a different model")
  expect_error(train(one$model, input("drat", "wt")), "not on 'drat', 'wt'")
  expect_error(evaluate(one$model, input("drat")), "not on 'drat'")
  expect_s3_class(predict(one$model, input("drat", "cyl")), "tbl_df")
  # Features that the model function accesses by name have no order.
  by_name <- estimator(function(features, labels, mode) {
    output <- tf$expand_dims(features$a, 1L) - tf$expand_dims(features$b, 1L)
    if (mode == "infer") return(estimator_spec(mode, predictions = output))
    weight <- tf$get_variable("w", shape = 1, dtype = "float64")
    loss <- tf$reduce_mean(tf$square(labels - tf$squeeze(output, 1L) * weight))
    step <- tf$train$get_global_step()
    train_op <- tf$train$GradientDescentOptimizer(1e-4)$minimize(loss, global_step = step)
    estimator_spec(mode, loss = loss, train_op = train_op)
  }, model_dir = withr::local_tempdir())
  lists <- function(x) numpy_input_fn(x, c(1, 2), shuffle = FALSE)
  train(by_name, lists(list(a = c(1, 2), b = c(3, 4))))
  expect_s3_class(predict(by_name, lists(list(b = c(3, 4), a = c(1, 2)))), "tbl_df")
})

test_that("a factor's codes are those of the training, also for custom models", {
  folder <- withr::local_tempdir()
  seen <- NULL
  model <- estimator(function(features, labels, mode) {
    output <- tf$layers$dense(features, 3L)
    loss <- tf$losses$sparse_softmax_cross_entropy(labels, output)
    step <- tf$train$get_global_step()
    train_op <- tf$train$GradientDescentOptimizer(1e-4)$minimize(loss, global_step = step)
    estimator_spec(
      mode, loss = loss, train_op = train_op,
      eval_metric_ops = list(code = tf$metrics$mean(tf$cast(labels, "float32")))
    )
  }, model_dir = folder)
  suppressMessages(train(model, input_fn(iris, features = 1:4, response = "Species"), steps = 1))
  last <- droplevels(iris[iris$Species == "virginica", ])
  input <- input_fn(last, features = 1:4, response = "Species")
  expect_equal(suppressMessages(evaluate(model, input))$code, 2)
  unknown <- transform(last, Species = factor("other"))
  expect_error(
    suppressMessages(evaluate(model, input_fn(unknown, features = 1:4, response = "Species"))),
    "did not occur in training"
  )
})
