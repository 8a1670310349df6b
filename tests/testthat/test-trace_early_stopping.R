# Compares the early stopping hooks with TensorFlow's traces.

goldens <- hook_goldens("early_stopping")

# Writes evaluations to an event file. Each of the `rows` has a step and its metrics.
write_evaluations <- function(dir, rows, suffix = "") {
  steps <- vapply(rows, function(row) as.numeric(row[[1]]), 0)
  metrics <- lapply(rows, function(row) vapply(row[[2]], as.numeric, 0))
  cpp_write_events(dir, suffix, steps, metrics)
}

# Trains the toy model, 0.25 s per step, and returns list(global_step, log, surfaced).
train_with <- function(model, hook, steps = 7, rec = new_recorder()) {
  clock <- local_clock()
  outcome <- attempt(record_hook_calls(
    rec, train(model, toy_input(num_epochs = NULL), steps = steps, hooks = hook),
    each_run = function() clock$advance(0.25)
  ))
  outcome$global_step <- variable_value(model, "global_step")[[1]]
  outcome$rec <- rec
  outcome
}

stop_note <- "signal_early_stopping/STOP"

test_that("the metrics of all files of a folder are combined", {
  golden <- goldens$read_eval_metrics
  dir <- withr::local_tempdir()
  for (file in golden$files_in) write_evaluations(dir, file$rows, file$suffix)
  # Each step has its metrics, sorted by their names.
  expect_equal(json_form(cpp_read_eval_metrics(dir)), json_form(golden$read))

  file <- list.files(dir, "[.]b$", full.names = TRUE)
  bytes <- readBin(file, "raw", file.size(file))
  place <- length(bytes) - 2
  bytes[[place]] <- xor(bytes[[place]], as.raw(255))
  writeBin(bytes, file)
  outcome <- attempt(cpp_read_eval_metrics(dir))
  expect_equal(json_form(outcome$returned), json_form(golden$read_with_last_record_of_b_broken))
  expect_length(outcome$log, 1)
  expect_match(outcome$log, "^WARN Skipping rest of the file due to encountering data corruption")
  expect_match(outcome$log, basename(file), fixed = TRUE)
  expect_equal(cpp_read_eval_metrics(file.path(dir, "nope")), list())
})

stop_if <- list(
  stop_if_higher_hook = hook_stop_if_higher, stop_if_lower_hook = hook_stop_if_lower,
  stop_if_no_increase_hook = hook_stop_if_no_increase,
  stop_if_no_decrease_hook = hook_stop_if_no_decrease
)

test_that("hook_stop_if_*() stop at TensorFlow's steps", {
  golden <- goldens$hooks_on_prepared_metrics
  dir <- withr::local_tempdir()
  write_evaluations(dir, golden$eval_metrics)
  for (row in golden$table) {
    model <- golden_model_of()
    hook <- do.call(stop_if[[row$hook]], c(
      list(model), row$args, list(eval_dir = dir, run_every_secs = NULL, run_every_steps = 2),
      row$kwargs
    ))
    outcome <- train_with(model, hook)
    lines <- sub("^[A-Z]+ ", "", grep("stopping|metric", outcome$log, value = TRUE))
    info <- paste(row$hook, one_line(row$args), one_line(row$kwargs))
    if (!is.null(row$surfaced)) {
      # TensorFlow raises KeyError.
      expect_equal(outcome$surfaced$class, "runhooks_error_not_found", info = info)
      expect_match(outcome$surfaced$message, "nope", info = info)
    }
    expect_equal(is.null(outcome$surfaced), is.null(row$surfaced), info = info)
    expect_equal(outcome$global_step, row$global_step, info = info)
    expect_equal(
      as.logical(variable_value(model, stop_note)[[1]]), row$STOP_in_checkpoint, info = info
    )
    expect_equal(lines, as.character(unlist(row$log)), info = info)
  }
})

test_that("hook_early_stopping() calls its function at TensorFlow's steps", {
  for (row in goldens$make_early_stopping_hook_calls$table) {
    rec <- new_recorder()
    calls <- list()
    asks <- function() {
      hook_call <- rec$events[[length(rec$events)]]
      expect_equal(hook_call$hook, "_StopOnPredicateHook")
      call <- list(
        call = length(calls) + 1, global_step_after_the_run = hook_call$global_step
      )
      calls <<- c(calls, list(call))
      length(calls) == 3
    }
    model <- golden_model_of()
    hook <- hook_early_stopping(
      model, asks, run_every_secs = NULL, run_every_steps = row$run_every_steps
    )
    outcome <- train_with(model, hook, rec = rec)
    expect_equal(json_form(calls), json_form(row$calls))
    expect_equal(outcome$global_step, row$global_step)
    lines <- sub("^[A-Z]+ ", "", grep("stopping", outcome$log, value = TRUE))
    expect_equal(lines, as.character(unlist(row$log)))
  }
})

test_that("hook_early_stopping() calls its function at TensorFlow's times", {
  rec <- new_recorder()
  steps <- list()
  asks <- function() {
    steps <<- c(steps, rec$events[[length(rec$events)]]$global_step)
    FALSE
  }
  model <- golden_model_of()
  train_with(model, hook_early_stopping(model, asks, run_every_secs = 1), steps = 11, rec = rec)
  golden <- goldens$make_early_stopping_hook_secs$called_after_run_of_global_step
  expect_equal(json_form(steps), json_form(golden))
})

test_that("training resumes after an early stop, with the hook or without", {
  golden <- goldens$train_again_after_early_stop
  model <- golden_model_of()
  stopping <- function(answer) {
    hook_early_stopping(model, function() answer, run_every_secs = NULL, run_every_steps = 1)
  }
  state <- function(outcome) {
    list(
      global_step = outcome$global_step, STOP = as.logical(variable_value(model, stop_note)[[1]])
    )
  }
  expect_equal(json_form(state(train_with(model, stopping(TRUE)))), json_form(golden$after_stop))
  again <- train_with(model, stopping(FALSE), steps = 3)
  expect_null(again$surfaced)
  expect_equal(json_form(state(again)), json_form(golden$again_with_hook[c("global_step", "STOP")]))
  without <- train_with(model, NULL, steps = 3)
  expect_equal(without$global_step, golden$again_without_hook$global_step)
  expect_false(stop_note %in% variable_names(model))
  # TensorFlow fails to find the key signal_early_stopping/STOP; here the hook can be added.
  added <- train_with(model, stopping(FALSE), steps = 3)
  expect_null(added$surfaced)
  expect_equal(added$global_step, without$global_step + 3)
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
