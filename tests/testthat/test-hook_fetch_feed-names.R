# Hooks can request standard tensors of any model by name.

asking <- function(..., keep) {
  session_run_hook(
    before_run = function(context) session_run_args(...),
    after_run = function(context, values) keep(values$results)
  )
}

results_of <- function(model, input, ..., run = train) {
  recorded <- NULL
  run(model, input, steps = 1, hooks = asking(..., keep = function(x) recorded <<- x))
  recorded
}

test_that("loss, predictions, labels and learning_rate exist in every canned model", {
  columns <- feature_columns(column_numeric("drat"), column_numeric("cyl"))
  binary <- input_fn(mtcars, response = "am", features = c("drat", "cyl"), batch_size = 8)
  models <- list(
    list(linear_regressor(columns), mtcars_input()),
    list(dnn_regressor(c(4), columns, optimizer = "SGD"), mtcars_input()),
    list(linear_classifier(columns), binary), list(dnn_classifier(4, columns), binary),
    list(dnn_linear_combined_regressor(
      linear_feature_columns = columns, dnn_feature_columns = columns, dnn_hidden_units = 4
    ), mtcars_input()),
    list(baseline_regressor(), mtcars_input()),
    list(linear_estimator(columns, head = regression_head()), mtcars_input())
  )
  for (given in models) {
    asked <- results_of(
      given[[1]], given[[2]], loss = "loss", predictions = "predictions", labels = "labels",
      rate = "learning_rate"
    )
    expect_true(is.double(asked$loss) && length(asked$loss) == 1)
    expect_length(asked$labels, 8)
    if (inherits(given[[1]], "tf_estimator_classifier")) {
      expect_true(all(c("logits", "probabilities", "classes") %in% names(asked$predictions)))
      expect_length(asked$predictions$logistic, 8)
    } else {
      expect_length(asked$predictions, 8)
    }
    expect_true(all(unlist(asked$rate) > 0))
  }
  two <- results_of(models[[5]][[1]], mtcars_input(), rate = "learning_rate")
  expect_named(two$rate, c("dnn", "linear"))
  model <- models[[3]][[1]]
  evaluated <- results_of(model, binary, "loss", "predictions", run = evaluate)
  expect_length(evaluated[[2]]$classes, 8)
})

test_that("a name with a colon is TensorFlow's tensor name", {
  asked <- results_of(mtcars_model(), mtcars_input(), summary = "loss:0", loss = "loss")
  expect_type(asked$summary, "raw")
  expect_type(asked$loss, "double")
})

test_that("built-in hooks accept the names", {
  history <- train(
    mtcars_model(), mtcars_input(), steps = 2,
    hooks = hook_history_saver(1, tensors = list(l = "loss", rate = "learning_rate"))
  )
  expect_equal(history$losses$l, history$losses$total_losses, tolerance = 1e-6)
  expect_equal(history$losses$rate, c(0.2, 0.2), tolerance = 1e-6)
  classes <- linear_classifier(column_numeric("drat"))
  input <- input_fn(mtcars, response = "am", features = "drat")
  expect_error(
    train(classes, input, hooks = hook_history_saver(tensors = "predictions")),
    "'predictions/logits'", class = "runhooks_error_invalid_argument"
  )
  history <- train(classes, input, hooks = hook_history_saver(tensors = "predictions/logits"))
  expect_equal(history$losses$`predictions/logits`, 0)
})

test_that("errors suggest similar names of tensors, operations, columns, variables and metrics", {
  model <- mtcars_model()
  input <- mtcars_input()
  kind <- "runhooks_error_not_found"
  expect_error(results_of(model, input, "losss"), "Did you mean 'loss'", class = kind)
  expect_error(
    results_of(model, input, "linear/head/predictons/probabilities"), class = kind
  )
  expect_error(
    results_of(model, input, "global_stp:0"), "Did you mean 'global_step:0'", class = kind
  )
  expect_error(
    train(model, input, hooks = hook_logging_tensor("losss", every_n_iter = 1)),
    "Did you mean 'loss'", class = kind
  )
  train(model, input, steps = 1)
  expect_error(variable_value(model, "global_stp"), "Did you mean \"global_step\"", class = kind)
  expect_error(input_fn(mtcars, c("drat", "cly")), "Did you mean \"cyl\"", class = kind)
  expect_error(tf$train$AdamOptimiser(), "Did you mean `tf\\$train\\$AdamOptimizer`", class = kind)
  slip <- list(befor_run = function(context) NULL)
  expect_error(train(model, input, hooks = slip), "Did you mean \"before_run\"")
  history <- train(model, input, steps = 1)
  expect_error(plot(history, metrics = "averge_loss"), "Did you mean \"average_loss\"", class = kind)
})

test_that("a result that was not requested is explained once", {
  reading <- function(after_run, before_run = function(context) session_run_args(loss = "loss")) {
    session_run_hook(before_run = before_run, after_run = after_run)
  }
  run <- function(hook) {
    train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 4, hooks = hook)
  }
  kind <- "runhooks_warning_not_asked_for"
  count <- 0
  withCallingHandlers(
    run(reading(function(context, values) values$results$lss)),
    runhooks_warning_not_asked_for = function(w) {
      expect_match(conditionMessage(w), "values[$]results[$]lss.*not requested.*\"loss\"")
      count <<- count + 1
      invokeRestart("muffleWarning")
    }
  )
  expect_equal(count, 1)
  expect_warning(run(reading(function(a, b) b$results[["rate"]])), "rate", class = kind)
  expect_warning(run(reading(function(a, b) {
    r <- b$results
    r$rate
  })), "rate", class = kind)
  expect_warning(
    run(session_run_hook(after_run = function(context, values) values$results$loss)),
    "has no `before_run\\(\\)`", class = kind
  )
  expect_warning(
    run(reading(
      function(context, values) values$results$loss, function(context) session_run_args("loss")
    )),
    "without names", class = kind
  )
  expect_warning(run(reading(function(context, values) {
    lapply("rate", function(name) values$results[[name]])
  })), "rate", class = kind)
  expect_warning(
    run(reading(function(context, values) values$loss)), "mean `values[$]results[$]loss`",
    class = kind
  )
  expect_no_warning(run(reading(function(context, values) values$results$loss)))
  expect_no_warning(run(reading(function(context, values) if (FALSE) values$results$rate)))
  expect_no_warning(run(session_run_hook(
    begin = function() tf$no_op(name = "nothing"),
    before_run = function(context) session_run_args(loss = "loss", op = "nothing"),
    after_run = function(context, values) stopifnot(is.null(values$results$op))
  )))
})

test_that("the results of the first step are a plain list after the step", {
  stored <- list()
  hook <- session_run_hook(
    before_run = function(context) session_run_args(loss = "loss"),
    after_run = function(context, values) stored <<- c(stored, list(values))
  )
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = hook)
  expect_identical(lapply(stored, function(x) names(attributes(x))), rep(list("names"), 2))
  expect_identical(
    lapply(stored, function(x) attributes(x$results)), rep(list(list(names = "loss")), 2)
  )
})

test_that("an error of a hook names the member that an object lacks", {
  fails <- function(says, ...) {
    expect_error(
      train(mtcars_model(), mtcars_input(), hooks = session_run_hook(...)), says, fixed = TRUE,
      class = "runhooks_error_hook"
    )
  }
  fails("`context` has no member `request_stp`; did you mean `context$request_stop`?",
    before_run = function(context) context$request_stp())
  fails("`context$session` has no member `rn`; did you mean `context$session$run`?",
    after_run = function(context, values) context$session$rn("loss"))
  fails("`context$session$graph` has no member `get_colection`;",
    before_run = function(context) context$session$graph$get_colection("losses"))
  fails("`coord` has no member `request_stp`;",
    after_create_session = function(session, coord) coord$request_stp())
  # Errors that are not about names are unchanged.
  error <- tryCatch(
    train(mtcars_model(), mtcars_input(), hooks = session_run_hook(
      before_run = function(context) context$session("loss")
    )), error = identity
  )
  expect_no_match(conditionMessage(error), "has no member")
})
