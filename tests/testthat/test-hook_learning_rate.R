# hook_learning_rate(), and learning rates that are variables or functions.

rates_of <- function(model, hook, steps = 6, ...) {
  hooks <- if (!is.null(hook)) list(hook)
  saver <- hook_history_saver(1, tensors = list(rate = "learning_rate"))
  history <- train(
    model, mtcars_input(num_epochs = NULL), steps = steps, hooks = c(hooks, list(saver)), ...
  )
  history$losses$rate
}

sgd_model <- function(rate = 0.001, ...) {
  linear_regressor(
    feature_columns(column_numeric("drat"), column_numeric("cyl")),
    optimizer = tf$train$GradientDescentOptimizer(rate), loss_reduction = "mean",
    model_dir = withr::local_tempdir(.local_envir = parent.frame()),
    config = run_config(tf_random_seed = 1, save_summary_steps = 1), ...
  )
}

test_that("a schedule sets the rate of each step, and the step uses it", {
  model <- sgd_model()
  expect_equal(
    rates_of(model, hook_learning_rate(function(step, epoch, rate) rate * 0.5^step)),
    0.001 * 0.5^(0:5), tolerance = 1e-6
  )
  events <- read_events(model_dir(model))
  expect_equal(
    events$value[events$tag == "learning_rate"], 0.001 * 0.5^(0:5), tolerance = 1e-6
  )
  # A second training continues with the next step of the schedule, and rate 0 changes no weight.
  before <- variable_value(model)
  expect_equal(rates_of(model, hook_learning_rate(function(step) step * 0)), rep(0, 6))
  after <- variable_value(model)
  expect_equal(after$global_step, 12)
  expect_equal(before[names(before) != "global_step"], after[names(after) != "global_step"])
})

test_that("a schedule matches TensorFlow's decay", {
  weights <- function(model, ...) {
    train(model, mtcars_input(num_epochs = NULL, shuffle = FALSE), steps = 6, ...)
    variable_value(model, "linear/linear_model/cyl/weights")[[1]]
  }
  decayed <- sgd_model(function(step) tf$train$exponential_decay(0.001, step, 1, 0.5))
  scheduled <- sgd_model(0.001)
  expect_equal(
    weights(decayed),
    weights(scheduled, hooks = hook_learning_rate(function(step, epoch, rate) rate * 0.5^step)),
    tolerance = 1e-6
  )
  events <- read_events(model_dir(decayed))
  expect_equal(events$value[events$tag == "learning_rate"], 0.001 * 0.5^(0:5), tolerance = 1e-6)
  # The schedule receives the rate that the optimizer would use in this step.
  with_decay <- sgd_model(function(step) tf$train$exponential_decay(0.001, step, 1, 0.5))
  expect_equal(
    rates_of(with_decay, hook_learning_rate(function(rate) rate * 10)), 0.01 * 0.5^(0:5),
    tolerance = 1e-6
  )
})

test_that("schedule arguments match by name or position, and epochs count from 1", {
  by_epoch <- rates_of(sgd_model(), hook_learning_rate(function(epoch) epoch / 1000), steps = 9)
  # 4 batches per epoch. The first batch of an epoch still counts as the epoch before.
  expect_equal(by_epoch[c(1, 4, 6, 8)], c(1, 1, 2, 2) / 1000, tolerance = 1e-6)
  expect_equal(
    rates_of(sgd_model(), hook_learning_rate(function(s, e) (s + e) / 1000), steps = 3),
    c(1, 2, 3) / 1000, tolerance = 1e-6
  )
})

test_that("both rates of a wide and deep model are set", {
  columns <- feature_columns(column_numeric("drat"))
  model <- dnn_linear_combined_regressor(
    linear_feature_columns = columns, dnn_feature_columns = columns, dnn_hidden_units = 4
  )
  recorded <- NULL
  ask <- session_run_hook(
    before_run = function(context) session_run_args(rate = "learning_rate"),
    after_run = function(context, values) recorded <<- values$results$rate
  )
  half <- hook_learning_rate(function(rate) rate / 2)
  train(model, mtcars_input(), steps = 1, hooks = list(half, ask))
  expect_equal(recorded, list(dnn = 0.0005, linear = 0.0025), tolerance = 1e-6)
})

test_that("reduce_on_plateau() lowers the rate when the metric stops improving, and resumes", {
  model <- sgd_model(0) # no step improves it
  schedule <- reduce_on_plateau("average_loss", factor = 0.5, patience = 4)
  hook <- hook_learning_rate(schedule)
  messages <- capture_messages(train(
    model, mtcars_input(num_epochs = NULL), steps = 10, hooks = hook,
    validation = mtcars_input(shuffle = FALSE),
    stop = early_stopping("loss", 1000, every_n_steps = 2)
  ))
  expect_equal(sum(grepl("gets no better", messages)), 2)
  state <- variable_names(model)
  model <- sgd_model(0.001)
  always_worse <- add_metrics(model, function() {
    list(worse = tf$metrics$mean(tf$cast(tf$train$get_global_step(), tf$float32)))
  })
  hook <- hook_learning_rate(reduce_on_plateau("worse", 0.5, patience = 3, mode = "min"))
  rates <- function(steps) {
    suppressMessages(rates_of(
      always_worse, hook, steps = steps, validation = mtcars_input(),
      stop = early_stopping("worse", 1000, mode = "min", every_n_steps = 1)
    ))
  }
  expect_equal(rates(8), 0.001 * 0.5^c(0, 0, 0, 1, 1, 1, 2, 2), tolerance = 1e-6)
  expect_equal(rates(1), 0.001 * 0.25, tolerance = 1e-6)
})

test_that("a learning rate can be a variable or a function", {
  rate_now <- function(optimizer) {
    model <- linear_regressor(column_numeric("drat"), optimizer = optimizer)
    rates_of(model, NULL, steps = 1)
  }
  of_variable <- function() {
    rate <- tf$Variable(0.25, trainable = FALSE, name = "rate")
    tf$train$GradientDescentOptimizer(rate)
  }
  expect_equal(rate_now(of_variable), 0.25)
  expect_equal(rate_now(tf$train$AdamOptimizer(function() 0.125)), 0.125)
  expect_equal(
    rate_now(tf$train$AdamOptimizer(function(step) tf$cast(step, tf$float32) + 0.5)), 0.5
  )
})

test_that("invalid schedules are errors", {
  invalid <- "runhooks_error_invalid_argument"
  expect_error(hook_learning_rate(0.1), "tf[$]train[$]AdamOptimizer\\(0.1\\)", class = invalid)
  expect_error(hook_learning_rate("step"), "must be a function", class = invalid)
  expect_error(hook_learning_rate(function() 0.1), "must be a function of", class = invalid)
  expect_error(reduce_on_plateau("loss", 2, 5), "between 0 and 1", class = invalid)
  expect_error(reduce_on_plateau("loss"), "`patience` is missing", class = invalid)
  for (bad in list("a", -1, NaN, NULL)) {
    expect_error(
      train(sgd_model(), mtcars_input(), hooks = hook_learning_rate(function(step) bad)),
      "must return a number of 0 or more", class = invalid
    )
  }
  expect_error(
    train(
      sgd_model(), mtcars_input(),
      hooks = hook_learning_rate(reduce_on_plateau("loss", patience = 5))
    ),
    "needs evaluations", class = invalid
  )
  model <- sgd_model()
  train(model, mtcars_input(), steps = 1)
  expect_error(
    evaluate(model, mtcars_input(), hooks = hook_learning_rate(function(step) 1)),
    "no learning rate to set", class = "runhooks_error_failed_precondition"
  )
})
