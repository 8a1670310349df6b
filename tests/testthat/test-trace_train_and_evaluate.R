# Compares train_and_evaluate() with TensorFlow's traces.

goldens <- hook_goldens("train_and_evaluate")

model_with_mae <- function(config = list(), .local_envir = parent.frame()) {
  defaults <- list(save_checkpoints_steps = 2)
  defaults[names(config)] <- config
  add_metrics(golden_model_of(defaults, .local_envir), function(labels, predictions) {
    list(mae = tf$metrics$mean_absolute_error(labels, predictions$predictions))
  })
}

# Replays tae() of g_misc.py. Returns list(returned, surfaced, log, values), where `values` are the
# results of evaluate(). Events go to `rec`.
tae <- function(rec, model, max_steps = 5, train = toy_input(num_epochs = NULL),
                evaluate = toy_input(num_epochs = NULL), train_args = list(),
                eval_args = list(), secs = 0.25) {
  values <- list()
  real_run <- run_training
  real_evaluate <- runhooks::evaluate
  dir <- model_dir(model)
  local_replaced(
    run_training = function(object, input_fn, input, steps, max_steps, hooks, listeners, ...) {
      names <- c(rep("TraceListener", length(listeners) - 1), "_NewCheckpointListenerForEvaluate")
      rec$add("estimator", "train", max_steps = max_steps, listeners = as.list(names))
      real_run(object, input_fn, input, steps, max_steps, hooks, listeners, ...)
    },
    evaluate = function(object, input_fn, steps, checkpoint_path, name, ...) {
      rec$add(
        "estimator", "evaluate", steps = steps, name = name,
        checkpoint = sub(dir, "<MODEL_DIR>", checkpoint_path, fixed = TRUE)
      )
      value <- real_evaluate(
        object, input_fn, steps = steps, checkpoint_path = checkpoint_path, name = name, ...
      )
      values <<- c(values, list(value))
      rec$add("estimator", "evaluate_returned")
      value
    }
  )
  spec <- do.call(train_spec, c(list(train, max_steps = max_steps), train_args))
  defaults <- list(steps = 2, throttle_secs = 0, start_delay_secs = 0)
  defaults[names(eval_args)] <- eval_args
  check <- do.call(eval_spec, c(list(evaluate), defaults))
  clock <- local_clock()
  outcome <- attempt(record_hook_calls(
    rec, tf$estimator$train_and_evaluate(model, spec, check),
    each_run = function() clock$advance(secs)
  ))
  outcome$values <- values
  rec$events <- Filter(is_of_caller, rec$events)
  outcome
}

# Events that the goldens contain: calls of the estimator, sessions and tracing hooks.
is_of_caller <- function(event) event$hook %in% c("estimator", "session", "L", "A", "EA", "caller")

without_sessions <- function(rec) {
  rec$events <- Filter(function(event) event$hook != "session", rec$events)
  rec
}

log_lines <- "Skip|Exiting|Running training|Start train|export|Saving dict|There was|Loss for final"

expect_outcome <- function(outcome, golden, model, names = c("loss", "mae", "global_step")) {
  expect_surfaced(outcome$surfaced, golden$surfaced)
  if (is.null(golden$surfaced)) {
    expect_equal(outcome$returned[[1]][names], golden$returned[[1]][names], tolerance = 1e-6)
    expect_equal(lengths(outcome$returned[2]), lengths(golden$returned[2]))
  }
  if (!is.null(golden$log)) {
    expect_log(
      grep(log_lines, outcome$log, value = TRUE), golden$log, c("<MODEL_DIR>" = model_dir(model))
    )
  }
  if (!is.null(golden$files)) expect_files(model_dir(model), golden$files)
  if (!is.null(golden$checkpoint_state)) {
    expect_equal(state_form(model_dir(model), "<MODEL_DIR>"), golden$checkpoint_state)
  }
}

# Compares the events and the results of evaluate(), with float32 precision.
expect_calls <- function(rec, outcome, golden, names = toy_names) {
  is_value <- vapply(golden$events, function(e) e$method == "evaluate_returned", NA)
  for (i in seq_along(outcome$values)) {
    value <- golden$events[is_value][[i]]$value
    expect_equal(outcome$values[[i]][names(value)], value, tolerance = 1e-6, info = i)
  }
  golden$events <- lapply(golden$events, function(event) {
    event$value <- NULL
    event
  })
  expect_whole_trace(rec, golden, names)
}

test_that("each new checkpoint is evaluated, with TensorFlow's calls, lines, files and events", {
  golden <- goldens$evaluate_at_each_checkpoint
  model <- model_with_mae()
  rec <- new_recorder()
  outcome <- tae(rec, model)
  expect_calls(rec, outcome, golden)
  expect_null(outcome$surfaced)
  expect_equal(outcome$returned[[1]][c("loss", "mae", "global_step")], golden$returned[[1]],
    tolerance = 1e-6)
  expect_equal(outcome$returned[[2]], golden$returned[[2]])
  dir <- model_dir(model)
  expect_log(outcome$log, golden$log, c("<MODEL_DIR>" = dir))
  expect_files(dir, golden$files)
  # Next to the checkpoints; train() alone would write to logs.
  expect_false(dir.exists(file.path(dir, "logs")))
  expect_equal(state_form(dir), golden$checkpoint_state)
  expect_events(file.path(dir, "eval"), golden$eval_event_file, tags = c("loss", "mae"))
  steps <- lapply(events_form(dir), function(event) list(event$what, event$step))
  expect_equal(json_form(steps), json_form(golden$event_file_steps))
})

test_that("checkpoints within throttle_secs are skipped with a log line, except for the last one", {
  for (row in goldens$throttle_secs$table) {
    model <- model_with_mae(list(save_checkpoints_steps = 1))
    outcome <- tae(
      new_recorder(), model, max_steps = row$max_steps,
      eval_args = list(throttle_secs = row$throttle_secs), secs = 1
    )
    evaluated <- vapply(outcome$values, `[[`, 0, "global_step")
    expect_equal(evaluated, as.numeric(unlist(row$evaluated)))
    skips <- sub("^INFO ", "", grep("Skip the current", outcome$log, value = TRUE))
    expect_equal(length(skips), row$skips)
    if (row$skips) expect_equal(unique(skips), row$skip_line)
  }
})

test_that("exporters export at TensorFlow's steps, and keep as many exports", {
  golden <- goldens$exporters
  model <- model_with_mae()
  rec <- new_recorder()
  dir <- model_dir(model)
  local_replaced(saved_model_export = fake_export(rec, dir))
  exporters <- list(
    tf$estimator$FinalExporter("fin"), tf$estimator$LatestExporter("lat", exports_to_keep = 2),
    tf$estimator$BestExporter("best")
  )
  outcome <- tae(rec, model, eval_args = list(exporters = exporters))
  expect_calls(without_sessions(rec), outcome, golden)
  exported <- sub("[0-9]{10}$", "<EXPORT_SECS>", unlist(outcome$returned[[2]]))
  expect_equal(sub(dir, "<MODEL_DIR>", exported, fixed = TRUE), unlist(golden$returned[[2]]))
  own <- grepl("Signatures|SavedModel written|already exists", golden_log(golden$log))
  expect_log(
    grep(log_lines, outcome$log, value = TRUE), golden$log[!own], c("<MODEL_DIR>" = dir)
  )
  files <- sub("[0-9]{10}", "<EXPORT_SECS>", list.files(file.path(dir, "export"), recursive = TRUE))
  expected <- sub("^export/", "", grep("^export/", unlist(golden$files), value = TRUE))
  expect_equal(sort(files), sort(expected))
})

test_that("a named evaluation has its own folder", {
  golden <- goldens$named_eval
  model <- model_with_mae()
  rec <- new_recorder()
  outcome <- tae(
    rec, model, evaluate = toy_batches(3), eval_args = list(name = "dev", steps = NULL)
  )
  expect_calls(without_sessions(rec), outcome, golden)
  expect_outcome(outcome, golden, model)
})

test_that("without max_steps training ends with the data, without a last export", {
  golden <- goldens$max_steps_null_data_end
  model <- model_with_mae()
  rec <- new_recorder()
  local_replaced(saved_model_export = fake_export(rec, model_dir(model)))
  outcome <- tae(
    rec, model, max_steps = NULL, train = toy_batches(3),
    eval_args = list(exporters = final_exporter("fin"))
  )
  expect_calls(without_sessions(rec), outcome, golden)
  expect_outcome(outcome, golden, model)
  expect_equal(outcome$returned[[2]], list(NULL))
})

test_that("a second call does nothing if max_steps is reached, and otherwise resumes", {
  golden <- goldens$called_again
  model <- model_with_mae()
  rec <- new_recorder()
  first <- tae(rec, model, max_steps = 3)
  rec$add("caller", "second_call")
  second <- tae(rec, model, max_steps = 3)
  rec$add("caller", "third_call_max_steps_5")
  third <- tae(rec, model, max_steps = 5)
  outcome <- list(values = c(first$values, second$values, third$values))
  expect_calls(without_sessions(rec), outcome, golden)
  expect_outcome(first, golden$first, model)
  expect_equal(second$returned, list(NULL, NULL))
  expect_log(grep(log_lines, second$log, value = TRUE), golden$second$log)
  expect_outcome(third, golden$third, model)
})

test_that("the user's listeners come first, and hooks are called as in TensorFlow", {
  golden <- goldens$saving_listeners_and_hooks
  model <- model_with_mae()
  rec <- new_recorder()
  outcome <- tae(
    rec, model, max_steps = 3,
    train_args = list(
      hooks = list(A = trace_hook(rec, "A")), saving_listeners = trace_listener(rec, "L")
    ),
    eval_args = list(hooks = list(EA = trace_hook(rec, "EA")), steps = 1)
  )
  expect_calls(without_sessions(rec), outcome, golden, c(toy_names, evaluation_names))
  expect_outcome(outcome, golden, model)
})

test_that("early stopping uses the evaluations", {
  golden <- goldens$early_stopping
  model <- estimator(
    function(features, labels, mode) {
      w <- tf$get_variable("w", initializer = tf$constant(0))
      x <- tf$cast(features$x, tf$float32)
      loss <- tf$reduce_mean(tf$square(tf$cast(labels, tf$float32) - w * x))
      train <- tf$train$GradientDescentOptimizer(0)$minimize(
        loss, global_step = tf$train$get_global_step()
      )
      estimator_spec(mode, loss = loss, train_op = train)
    },
    model_dir = withr::local_tempdir(),
    config = run_config(tf_random_seed = 1, save_checkpoints_steps = 2)
  )
  rec <- new_recorder()
  hook <- hook_stop_if_no_decrease(model, "loss", 4, run_every_secs = NULL, run_every_steps = 1)
  outcome <- tae(rec, model, max_steps = 20, train = toy_batches(30), evaluate = toy_batches(30),
    train_args = list(hooks = hook))
  expect_calls(without_sessions(rec), outcome, golden)
  outcome$log <- grep("metric|topping|Saving checkpoints|Saving dict", outcome$log, value = TRUE)
  expect_log(outcome$log, golden$log, c("<MODEL_DIR>" = model_dir(model)))
  golden$log <- NULL
  expect_outcome(outcome, golden, model, c("loss", "global_step"))
})

test_that("without checkpoints there is nothing to evaluate", {
  golden <- goldens$no_checkpoint_saver
  model <- model_with_mae(list(save_checkpoints_steps = NULL, save_checkpoints_secs = NULL))
  rec <- new_recorder()
  outcome <- tae(rec, model)
  expect_calls(without_sessions(rec), outcome, golden)
  expect_match(outcome$surfaced$message, golden$surfaced$message, fixed = TRUE)
  expect_log(grep(log_lines, outcome$log, value = TRUE), golden$log)
  expect_length(list.files(model_dir(model)), 0)
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
