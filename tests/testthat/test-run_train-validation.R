
cars_model <- function(..., rate = 0.1) {
  linear_regressor(
    mpg ~ wt + hp, data = mtcars, optimizer = tf$train$AdamOptimizer(rate),
    model_dir = withr::local_tempdir(.local_envir = parent.frame()),
    config = run_config(tf_random_seed = 1, ...)
  )
}

test_that("validation data are evaluated during training, and the history has the metrics", {
  model <- cars_model()
  history <- train(model, mtcars[1:24, ], steps = 40, validation = mtcars[25:32, ])
  validated <- history$validation
  expect_s3_class(validated, "data.frame")
  expect_equal(validated$step, seq(0, 40, 2))
  expect_named(
    validated, c("step", "average_loss", "label/mean", "loss", "prediction/mean")
  )
  own <- evaluate(model, mtcars[25:32, ])
  expect_equal(validated$average_loss[[21]], own$average_loss, tolerance = 1e-6)
  long <- as.data.frame(history)
  rows <- long[long$metric == "average_loss" & long$data == "validation", ]
  expect_equal(rows$value, validated$average_loss)
  expect_output(print(history), "Validation \\(step 40\\):.* average_loss: ")
  expect_false("validation" %in% names(train(model, mtcars, steps = 1)))
})

test_that("validation data can be an input function, also without a formula", {
  model <- mtcars_model()
  history <- train(
    model, mtcars_input(num_epochs = 10), validation = mtcars_input(shuffle = FALSE)
  )
  expect_equal(history$validation$step, seq(0, 40, 2))
  expect_error(
    train(model, mtcars_input(), validation = mtcars), "validation",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("early_stopping() ends the training and keeps the best model", {
  model <- cars_model(rate = 0.5)
  messages <- capture_messages(
    history <- train(
      model, mtcars[1:24, ], steps = 20000, validation = mtcars[25:32, ],
      stop = early_stopping("average_loss", patience = 300)
    )
  )
  validated <- history$validation
  last <- max(validated$step)
  best <- which.min(validated$average_loss)
  expect_lt(last, 20000)
  expect_equal(last, validated$step[[best]] + 300)
  expect_equal(diff(validated$step)[[1]], 60)
  expect_match(messages, "stopped early at step", all = FALSE)
  expect_match(messages, "has the weights of step", all = FALSE)
  expect_false(any(grepl("completed after", messages)))
  own <- evaluate(model, mtcars[25:32, ])
  expect_equal(own$average_loss, validated$average_loss[[best]], tolerance = 1e-6)
  expect_equal(own$global_step, last)
  history <- suppressMessages(train(
    model, mtcars[1:24, ], steps = 200, validation = mtcars[25:32, ],
    stop = early_stopping("average_loss", patience = 300)
  ))
  expect_equal(max(history$validation$step), last + 200)
})

test_that("the default metric is the average loss, or the loss of models without one", {
  expect_equal(early_stopping(patience = 5)$metric_name, "average_loss")
  stopped_by <- function(model, ...) {
    messages <- capture_messages(train(
      model, ..., steps = 200, hooks = hook_learning_rate(reduce_on_plateau(patience = 50)),
      stop = early_stopping(patience = 1, every_n_steps = 1, min_delta = 1e6)
    ))
    sub('.*since "([^"]*)".*', "\\1", grep("stopped early", messages, value = TRUE))
  }
  model <- cars_model()
  expect_equal(stopped_by(model, mtcars[1:24, ], validation = mtcars[25:32, ]), "average_loss")
  own <- estimator(function(features, labels, mode, params, config) {
    w <- tf$get_variable("w", shape(1L))
    loss <- tf$reduce_mean((tf$cast(labels, tf$float32) - w)^2)
    step <- tf$train$GradientDescentOptimizer(0.01)$minimize(loss, tf$train$get_global_step())
    estimator_spec(mode, w, loss, step)
  })
  input <- mtcars_input(num_epochs = NULL)
  expect_equal(stopped_by(own, input, validation = mtcars_input()), "loss")
  expect_error(
    train(own, input, steps = 5, validation = mtcars_input(),
          stop = early_stopping("average_loss", patience = 2)),
    "average_loss", class = "runhooks_error_not_found"
  )
})

test_that("early_stopping() rejects invalid arguments", {
  invalid <- "runhooks_error_invalid_argument"
  expect_error(early_stopping("loss"), "`patience` is missing", class = invalid)
  expect_error(early_stopping("loss", 0), "positive whole number", class = invalid)
  expect_error(
    early_stopping("loss", 5, mode = "mix"), "Did you mean \"min\" or \"max\"", class = invalid
  )
  expect_error(early_stopping("label/mean", 5), "mode = \"min\"", class = invalid)
  expect_equal(early_stopping("label/mean", 5, mode = "max")$mode, "max")
  direction <- function(name) early_stopping(name, 5)$mode
  for (name in c("accuracy", "auc/head", "val_r2", "mean_iou", "precision_at_recall", "top_5_accuracy")) {
    expect_equal(direction(!!name), "max")
  }
  for (name in c("average_loss", "accuracy_loss", "rmse", "mean_error")) {
    expect_equal(direction(!!name), "min")
  }
  # these names contain the name of a known metric, but do not say which direction is better
  for (name in c("err2", "var2", "layer2_norm", "user2_cost", "neg_r2", "accuracy_baseline", "priority")) {
    expect_error(direction(!!name), "a higher or a lower", class = invalid)
  }
  modes <- vapply(c("loss", "average_loss", "mae", "accuracy", "auc_precision_recall", "auc/head"),
    function(name) early_stopping(name, 5)$mode, ""
  )
  expect_equal(unname(modes), c("min", "min", "min", "max", "max", "max"))
  model <- cars_model()
  expect_error(
    train(model, mtcars, steps = 5, stop = early_stopping("loss", 5)), "`stop` needs `validation`",
    class = invalid
  )
  expect_error(
    train(model, mtcars, steps = 5, validation = mtcars, stop = 10),
    "from `early_stopping\\(\\)`",
    class = invalid
  )
  expect_error(
    train(
      model, mtcars, steps = 5, validation = mtcars,
      stop = early_stopping("avrage_loss", patience = 5)
    ),
    "Did you mean 'average_loss'", class = "runhooks_error_not_found"
  )
  expect_output(print(early_stopping("loss", 5)), "no lower for 5 steps")
})

test_that("add_metrics() adds metrics, which evaluations and early stopping use", {
  model <- cars_model()
  more <- add_metrics(model, function(labels, predictions, features, config) {
    expect_named(features, c("hp", "wt"), ignore.order = TRUE)
    list(
      # Shapes [batch] and [batch, 1], as TensorFlow's metrics accept.
      mae = tf$metrics$mean_absolute_error(labels, predictions$predictions),
      average_loss = tf$metrics$mean(tf$constant(42))
    )
  })
  train(model, mtcars, steps = 20)
  own <- evaluate(more, mtcars)
  predicted <- predict(model, newdata = mtcars)$.pred
  expect_equal(own$mae, mean(abs(mtcars$mpg - predicted)), tolerance = 1e-5)
  expect_equal(own$average_loss, 42)
  expect_false("mae" %in% names(evaluate(model, mtcars)))
  history <- suppressMessages(train(
    more, mtcars, steps = 100, validation = mtcars, stop = early_stopping("mae", patience = 50)
  ))
  expect_true("mae" %in% names(history$validation))
  expect_identical(tf$contrib$estimator$add_metrics, add_metrics)
})

test_that("an invalid metric function is an error", {
  model <- cars_model()
  invalid <- "runhooks_error_invalid_argument"
  expect_error(add_metrics(model, 5), "must be a function", class = invalid)
  expect_error(add_metrics(model, function(label) 1), "Did you mean \"labels\"", class = invalid)
  for (bad in list(1, list(1), list(mae = 1))) {
    expect_error(
      untrained(evaluate(add_metrics(model, function() bad), mtcars)), "tf[$]metrics",
      class = invalid
    )
  }
})

test_that("labels of a metric have the precision of predictions", {
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(model)
  more <- add_metrics(model, function(labels, predictions) {
    list(mine = tf$metrics$mean(tf$abs(labels - tf$squeeze(predictions$predictions, 1L))))
  })
  expect_equal(
    evaluate(more, mtcars)$mine, mean(abs(residuals(lm(mpg ~ wt, mtcars)))), tolerance = 1e-4
  )
  deep <- estimator(
    function(features, labels, mode) {
      output <- tf$squeeze(tf$layers$dense(features, 1L), 1L)
      if (mode == "infer") return(estimator_spec(mode, predictions = list(y = output)))
      loss <- tf$losses$mean_squared_error(labels, output)
      estimator_spec(
        mode, loss = loss, predictions = list(y = output),
        train_op = tf$train$AdamOptimizer()$minimize(loss, tf$train$get_global_step())
      )
    },
    model_dir = withr::local_tempdir()
  )
  train(deep, input_fn(mpg ~ wt, mtcars), steps = 1)
  seen <- NULL
  evaluate(add_metrics(deep, function(labels, predictions) {
    seen <<- c(labels$dtype$name, predictions$y$dtype$name)
    list(d = tf$metrics$mean(labels - predictions$y))
  }), input_fn(mpg ~ wt, mtcars))
  expect_identical(seen, c("float64", "float64"))

  classes <- linear_classifier(vs ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(classes)
  wrong <- add_metrics(classes, function(labels, predictions) {
    list(d = tf$metrics$mean(tf$cast(labels == predictions$class_ids, "float32")))
  })
  error <- expect_error(evaluate(wrong, mtcars), class = "runhooks_error_invalid_argument")
  expect_match(
    conditionMessage(error), "in metric_fn of add_metrics(): `labels` is string (?,), predictions are",
    fixed = TRUE
  )
})

test_that("validation does not change what a seed gives", {
  predictions <- function(...) {
    set.seed(1)
    model <- dnn_regressor(mpg ~ ., mtcars, hidden_units = 8, dropout = 0.2)
    train(model, steps = 30, batch_size = 8, ...)
    c(predict(model, mtcars)$.pred, runif(1))
  }
  alone <- predictions()
  expect_identical(predictions(validation = mtcars[1:5, ]), alone)
  expect_identical(
    predictions(validation = input_fn(mpg ~ ., mtcars, shuffle = TRUE, batch_size = 4)), alone
  )

  by_columns <- function(...) {
    set.seed(1)
    model <- dnn_regressor(feature_columns(column_numeric("wt")), hidden_units = 8)
    train(model, input_fn(mtcars, wt, mpg, batch_size = 8, num_epochs = NULL), steps = 30, ...)
    unlist(predict(model, input_fn(mtcars, wt)))
  }
  test <- input_fn(mtcars, wt, mpg)
  expect_identical(by_columns(validation = test), by_columns())
  model <- dnn_regressor(feature_columns(column_numeric("wt")), hidden_units = 8)
  expect_identical(
    by_columns(hooks = hook_in_memory_evaluator(model, test, every_n_iter = 7)), by_columns()
  )
})

test_that("validation data without an end are refused", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  expect_error(
    train(model, mtcars_input(), validation = mtcars_input(num_epochs = NULL)),
    "The data never end", class = "runhooks_error_invalid_argument"
  )
})
