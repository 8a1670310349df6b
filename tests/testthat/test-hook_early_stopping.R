stopping <- function(model, should_stop, ...) {
  hook_early_stopping(model, should_stop, run_every_secs = NULL, run_every_steps = 1)
}

test_that("hook_early_stopping() stops, and records it in the checkpoint", {
  model <- mtcars_model()
  input <- mtcars_input(num_epochs = NULL)
  note <- "signal_early_stopping/STOP"
  train(model, input, steps = 7, hooks = stopping(model, function() TRUE))
  expect_equal(variable_value(model, "global_step")[[1]], 1)
  expect_true(variable_value(model, note)[[1]])
  # Replays the recorded TensorFlow scenario train_again_after_early_stop.
  train(model, input, steps = 3, hooks = stopping(model, function() FALSE))
  expect_equal(variable_value(model, "global_step")[[1]], 4)
  expect_true(variable_value(model, note)[[1]])
  train(model, input, steps = 3)
  expect_false(note %in% variable_names(model))
  # TensorFlow rejects a checkpoint without the record.
  train(model, input, steps = 3, hooks = stopping(model, function() FALSE))
  expect_equal(variable_value(model, "global_step")[[1]], 10)
  expect_false(variable_value(model, note)[[1]])
})

test_that("early stopping is reported by a message after the loop", {
  model <- mtcars_model()
  expect_message(
    train(
      model, mtcars_input(num_epochs = NULL), steps = 7, hooks = stopping(model, function() TRUE)
    ),
    "Training stopped early at step 1, as `should_stop_fn` said",
    class = "runhooks_message_early_stopping"
  )
})

test_that("early stopping reports bad functions and missing metrics", {
  model <- mtcars_model()
  expect_error(
    train(model, mtcars_input(), hooks = stopping(model, function() "yes")),
    "`should_stop_fn` must return TRUE or FALSE, not a string"
  )
  expect_warning(
    train(model, mtcars_input(), steps = 1, hooks = hook_stop_if_lower(model, "average_loss", 5)),
    paste0("never saw the metric \"average_loss\".*", basename(model_dir(model)), "/eval"),
    class = "runhooks_warning_early_stopping"
  )
})

# Returns TensorFlow's message for such a call. The class of the error differs.
golden_refusal <- function(call) {
  rows <- read_golden("hooks", "validation_errors.json")$scenarios[[1]]$table
  Filter(function(row) row$call == call, rows)[[1]]$raised$message
}

test_that("arguments of early stopping are validated with TensorFlow's messages", {
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

# Trains a model with a history of its weights and evaluations.
evaluated_model <- function(stop, steps, evaluator_last = FALSE, ..., frame = parent.frame()) {
  model <- mtcars_model(withr::local_tempdir(.local_envir = frame), ...)
  evaluator <- hook_in_memory_evaluator(model, mtcars_input(shuffle = FALSE), every_n_iter = 7)
  hooks <- list(evaluator, stop(model))
  if (evaluator_last) hooks <- rev(hooks)
  suppressMessages(
    train(model, mtcars_input(num_epochs = NULL), steps = steps, hooks = hooks)
  )
  events <- read_events(file.path(model_dir(model), "eval"))
  losses <- events[events$tag == "average_loss", ]
  now <- evaluate(model, mtcars_input(shuffle = FALSE))$average_loss
  list(model = model, losses = losses, now = now)
}

no_better <- function(patience) {
  function(model) {
    hook_stop_if_no_decrease(
      model, "average_loss", patience, min_steps = 1, restore_best_weights = TRUE
    )
  }
}

test_that("the best weights are restored whatever the order of hooks and whatever ends the run", {
  for (last in c(TRUE, FALSE)) {
    # The number of steps ends this run. With its learning rate, the last step is rarely the best.
    run <- evaluated_model(no_better(1e6), 60, evaluator_last = last, save_checkpoints_steps = 11)
    after <- run$losses[run$losses$step > 0, ]
    expect_equal(run$now, min(after$value), tolerance = 1e-5)
    run <- evaluated_model(no_better(14), 5000, evaluator_last = last, save_checkpoints_steps = 5)
    expect_lt(variable_value(run$model, "global_step")[[1]], 5000)
    after <- run$losses[run$losses$step > 0, ]
    expect_equal(run$now, min(after$value), tolerance = 1e-5)
  }
})

test_that("only the best checkpoint is on disk", {
  run <- evaluated_model(no_better(1e6), 60)
  best <- file.path(model_dir(run$model), "best")
  after <- run$losses[run$losses$step > 0, ]
  step <- after$step[which.min(after$value)]
  path <- latest_checkpoint(best)
  expect_equal(basename(path), paste0("model.ckpt-", step))
  expect_length(list.files(best, "index$"), 1)
  of_best <- evaluate(run$model, mtcars_input(shuffle = FALSE), checkpoint_path = path)
  expect_equal(of_best$average_loss, min(after$value), tolerance = 1e-5)
  expect_equal(of_best$global_step, step)
})

test_that("the defaults work in a short run: each evaluation is used as soon as it exists", {
  model <- mtcars_model()
  expect_message(
    train(model, mtcars_input(num_epochs = NULL), steps = 2000, hooks = list(
      hook_in_memory_evaluator(model, mtcars_input(), every_n_iter = 10),
      hook_stop_if_lower(model, "average_loss", 1e9, min_steps = 10)
    )),
    "since \"average_loss\" was .* at step 10, below 1e[+]09"
  )
  expect_equal(variable_value(model, "global_step")[[1]], 10)
})

test_that("early stopping warns at once if another folder gets the evaluations", {
  config <- run_config(save_checkpoints_steps = 20)
  model <- linear_regressor(column_numeric("wt"), withr::local_tempdir(), config = config)
  input <- function(...) input_fn(mtcars, "wt", "mpg", ...)
  run <- function(name, max_steps, ...) {
    at <- NULL
    stop <- hook_stop_if_no_decrease(
      model, "loss", 1000, ..., run_every_steps = 20, run_every_secs = NULL
    )
    steps <- 0
    count <- session_run_hook(after_run = function(context, values) steps <<- steps + 1)
    messages <- character()
    withCallingHandlers(
      train_and_evaluate(
        model,
        train_spec(input(num_epochs = NULL), max_steps = max_steps, hooks = list(stop, count)),
        eval_spec(input(num_epochs = 1), name = name, throttle_secs = 0)
      ),
      runhooks_warning_early_stopping = function(w) {
        at <<- steps
        messages <<- c(messages, conditionMessage(w))
        invokeRestart("muffleWarning")
      }
    )
    list(at = at, said = messages)
  }
  expect_length(run(NULL, 40)$said, 0)
  unlink(file.path(model_dir(model), "eval"), recursive = TRUE)
  missed <- run("0", 100)
  expect_length(missed$said, 1)
  expect_match(missed$said, "no evaluations in .*/eval, but in .*/eval_0")
  expect_match(missed$said, "eval_dir = \".*eval_0\"")
  expect_lt(missed$at, 60)
  expect_length(run("0", 140, eval_dir = file.path(model_dir(model), "eval_0"))$said, 0)
})
