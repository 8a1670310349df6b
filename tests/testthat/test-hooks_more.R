test_that("hook_final_ops() gives the values in the form that was asked for", {
  hook <- hook_final_ops(list(step = "global_step:0", more = list(
    "linear/linear_model/bias_weights:0", "global_step"
  )))
  expect_null(hook$final_ops_values)
  model <- mtcars_model()
  train(model, mtcars_input(num_epochs = NULL), steps = 3, hooks = hook)
  expect_equal(hook$final_ops_values$step, 3)
  expect_equal(
    hook$final_ops_values$more[[1]], variable_value(model, "linear/linear_model/bias_weights")[[1]]
  )
  expect_null(hook$final_ops_values$more[[2]])

  one <- tf$train$FinalOpsHook("global_step/read:0", list("global_step/read:0" = 7))
  train(model, mtcars_input(), steps = 1, hooks = one)
  expect_equal(one$final_ops_values, 7)
  nothing <- hook_final_ops(NULL)
  train(model, mtcars_input(), steps = 1, hooks = nothing)
  expect_null(nothing$final_ops_values)
})

test_that("hook_final_ops() says what is wrong with operations that read data", {
  hook <- hook_final_ops("linear/head/weighted_loss/Sum:0")
  lines <- lines_of_log(expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook), class = "runhooks_error_out_of_range"
  ))
  expect_match(lines, "The data have ended, but the operations of FinalOpsHook", all = FALSE)
  expect_null(hook$final_ops_values)
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook_final_ops("nope:0")),
    class = "runhooks_error_not_found"
  )
})

test_that("hook_feed_fn() feeds what its function returns, anew in each run", {
  count <- 0
  feed <- hook_feed_fn(function() {
    count <<- count + 1
    if (count == 3) NULL else list("global_step/read" = 10 * count)
  })
  seen <- c()
  see <- session_run_hook(
    before_run = function(context) session_run_args("global_step/read:0"),
    after_run = function(context, values) seen <<- c(seen, values$results[[1]])
  )
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 4, hooks = list(feed, see))
  expect_equal(seen, c(10, 20, 2, 40))
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = list(feed, tf$train$FeedFnHook(feed$feed_fn))),
    "Same tensor is fed by two hooks", class = "runhooks_error_failed_precondition"
  )
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook_feed_fn(function() stop("no feed"))),
    "no feed", class = "runhooks_error_hook"
  )
})

test_that("hook_global_step_waiter() lets a step pass that is reached", {
  model <- mtcars_model()
  hooks <- list(hook_global_step_waiter(0), hook_global_step_waiter(-3))
  train(model, mtcars_input(num_epochs = NULL), steps = 2, hooks = hooks)
  train(
    model, mtcars_input(num_epochs = NULL), steps = 2,
    hooks = tf$train$GlobalStepWaiterHook(wait_until_step = 2)
  )
  expect_equal(variable_value(model, "global_step")[[1]], 4)
})

test_that("arguments of the other hooks are refused as TensorFlow refuses them", {
  expect_snapshot(error = TRUE, {
    hook_global_step_waiter("ten")
    hook_final_ops(3)
    hook_final_ops("a:0", 3)
    hook_feed_fn(function(x) x)
  })
})

stopping <- function(model, should_stop, ...) {
  hook_early_stopping(model, should_stop, run_every_secs = NULL, run_every_steps = 1)
}

test_that("hook_early_stopping() stops, and notes it in the checkpoint", {
  model <- mtcars_model()
  input <- mtcars_input(num_epochs = NULL)
  note <- "signal_early_stopping/STOP"
  train(model, input, steps = 7, hooks = stopping(model, function() TRUE))
  expect_equal(variable_value(model, "global_step")[[1]], 1)
  expect_true(variable_value(model, note)[[1]])
  # what TensorFlow's golden calls train_again_after_early_stop
  train(model, input, steps = 3, hooks = stopping(model, function() FALSE))
  expect_equal(variable_value(model, "global_step")[[1]], 4)
  expect_true(variable_value(model, note)[[1]])
  train(model, input, steps = 3)
  expect_false(note %in% variable_names(model))
  expect_error(
    train(model, input, steps = 3, hooks = stopping(model, function() FALSE)),
    note, class = "runhooks_error_not_found"
  )
})

test_that("early stopping says what it cannot use", {
  model <- mtcars_model()
  expect_error(
    train(model, mtcars_input(), hooks = stopping(model, function() "yes")),
    "`should_stop_fn` must return TRUE or FALSE, not a string"
  )
  lines <- lines_of_log(train(model, mtcars_input(), steps = 1, hooks = hook_stop_if_lower(
    model, "average_loss", 5
  )))
  expect_match(
    lines, paste0("never saw the metric \"average_loss\".*", basename(model_dir(model)), "/eval")
  )
})

# What TensorFlow says to such a call; its class is ours.
golden_refusal <- function(call) {
  rows <- read_golden("hooks", "validation_errors.json")$scenarios[[1]]$table
  Filter(function(row) row$call == call, rows)[[1]]$raised$message
}

test_that("arguments of early stopping are refused in TensorFlow's words", {
  est <- mtcars_model()
  fn <- function() TRUE
  refused <- function(expr, call) {
    expect_error(
      expr, golden_refusal(call), fixed = TRUE, class = "runhooks_error_invalid_argument"
    )
  }
  refused(
    hook_early_stopping(est, fn, run_every_secs = 60, run_every_steps = 100),
    "make_early_stopping_hook(est, fn, run_every_secs=60, run_every_steps=100)"
  )
  refused(hook_early_stopping(est, NULL), "make_early_stopping_hook(est, NULL)")
  refused(
    hook_early_stopping(est, fn, run_every_secs = NULL),
    "make_early_stopping_hook(est, fn, run_every_secs=NULL)"
  )
  refused(
    hook_stop_if_higher(est, "a", 0.9, run_every_steps = 10),
    paste(
      "stop_if_higher_hook(est, 'a', 0.9, run_every_steps=10)",
      " (run_every_secs keeps its default 60)"
    )
  )
  expect_s3_class(hook_stop_if_no_increase(est, "a", -1), "StopIfNoIncreaseHook")
  expect_error(
    hook_early_stopping("e", fn),
    "`estimator` must have type `tf.estimator.Estimator`. Got: \"e\"", fixed = TRUE
  )
})

test_that("hook_stop_at_checkpoint_step() waits for a checkpoint of the last step", {
  model <- mtcars_model(save_checkpoints_steps = 3)
  hook <- hook_stop_at_checkpoint_step(
    model_dir(model), last_step = 5, wait_after_file_check_secs = 0
  )
  train(model, mtcars_input(num_epochs = NULL), steps = 20, hooks = hook)
  expect_equal(variable_value(model, "global_step")[[1]], 6)
  # on the process that saves, as in TensorFlow
  expect_s3_class(hook_stop_at_checkpoint_step(model, 7), "StopAtStepHook")
})
