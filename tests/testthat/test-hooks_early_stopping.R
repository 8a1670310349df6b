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
