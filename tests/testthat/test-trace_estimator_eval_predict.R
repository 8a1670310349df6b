# Compares evaluate() and predict() with TensorFlow's traces.

goldens <- hook_goldens("estimator_eval_predict")

trained_model <- function(config = list(), steps = 3, .local_envir = parent.frame()) {
  model <- golden_model_of(config, .local_envir)
  train(model, toy_input(num_epochs = NULL), steps = steps)
  model
}

endless <- function() toy_input(num_epochs = NULL)

run_evaluate <- function(model, input, ..., rec = new_recorder()) {
  attempt(record_hook_calls(rec, evaluate(model, input, ..., simplify = FALSE)))
}

# Compares the loss and step of an evaluation, its error and its log.
compare_evaluation <- function(outcome, golden, model) {
  expect_surfaced(outcome$surfaced, golden$surfaced)
  expect_log(outcome$log, golden$log, c("<MODEL_DIR>" = model_dir(model)))
  for (name in intersect(c("loss", "global_step"), names(golden$returned))) {
    expect_equal(outcome$returned[[name]], golden$returned[[name]], tolerance = 1e-6)
  }
}

traced <- function(rec, ...) list(A = trace_hook(rec, "A", ...))

test_that("evaluate() calls hooks, logs and writes as in TensorFlow", {
  golden <- goldens$evaluate_steps_2
  model <- trained_model()
  rec <- new_recorder()
  outcome <- run_evaluate(model, endless(), steps = 2, hooks = traced(rec), rec = rec)
  expect_whole_trace(rec, golden, evaluation_names)
  compare_evaluation(outcome, golden, model)
  expect_files(model_dir(model), golden$files)
  expect_events(file.path(model_dir(model), "eval"), golden$eval_event_file)

  golden <- goldens$evaluate_to_end_of_data
  rec <- new_recorder()
  model <- trained_model()
  outcome <- run_evaluate(model, toy_batches(3), hooks = traced(rec), rec = rec)
  expect_whole_trace(rec, golden, evaluation_names)
  compare_evaluation(outcome, golden, model)
})

test_that("evaluate() uses the data available", {
  golden <- goldens$evaluate_steps_beyond_data
  model <- trained_model()
  compare_evaluation(run_evaluate(model, toy_batches(3), steps = 5), golden$three, model)
  compare_evaluation(run_evaluate(model, toy_batches(0), steps = 5), golden$none, model)
})

test_that("evaluate() logs its progress ten times", {
  model <- trained_model()
  for (row in goldens$evaluate_log_frequency$table) {
    log <- run_evaluate(model, endless(), steps = row$steps)$log
    lines <- sub("^INFO ", "", grep("Evaluation [", log, fixed = TRUE, value = TRUE))
    expect_equal(lines, unlist(row$lines))
  }
})

test_that("evaluate() supports a name and a checkpoint", {
  golden <- goldens$evaluate_name_and_checkpoint
  model <- trained_model(list(save_checkpoints_steps = 2), steps = 5)
  checkpoint <- function(step) file.path(model_dir(model), paste0("model.ckpt-", step))
  run <- function(...) run_evaluate(model, endless(), steps = 1, ...)
  compare_evaluation(run(name = "val"), golden$name_val, model)
  compare_evaluation(run(checkpoint_path = checkpoint(2)), golden$older_checkpoint, model)
  compare_evaluation(run(), golden$default, model)
  expect_files(model_dir(model), golden$files)
  expect_events(file.path(model_dir(model), "eval_val"), golden$eval_val_events)
  # TensorFlow writes both evaluations of one process to one file.
  is_summary <- function(event) event$what == "summary"
  actual <- Filter(is_summary, events_form(file.path(model_dir(model), "eval")))
  expected <- Filter(is_summary, golden_events(golden$eval_events))
  loss_of <- function(event) list(event$step, event$values$loss)
  expect_equal(lapply(actual, loss_of), lapply(expected, loss_of), tolerance = 1e-6)
  bad <- run(checkpoint_path = checkpoint(77))
  expected <- golden$bad_checkpoint_path$surfaced$message
  expected <- sub("<MODEL_DIR>", model_dir(model), expected, fixed = TRUE)
  expect_match(bad$surfaced$message, expected, fixed = TRUE)
})

test_that("evaluate() of an untrained model matches TensorFlow", {
  model <- golden_model_of()
  outcome <- untrained(run_evaluate(model, endless(), steps = 1))
  compare_evaluation(outcome, goldens$evaluate_untrained, model)
})

test_that("a hook can stop evaluate(), or fail it", {
  golden <- goldens$evaluate_hook_stop_and_errors
  model <- trained_model()
  act <- function(on, ...) {
    hooks <- traced(new_recorder(), on = list(after_run = on))
    run_evaluate(model, endless(), steps = 5, hooks = hooks, ...)
  }
  stopped <- act(function(hook, context, values, n) context$request_stop())
  compare_evaluation(stopped, golden$stopped, model)
  raised <- act(function(...) raise("ValueError", "raised by A"), name = "err")
  compare_evaluation(raised, golden$raised, model)
  expect_files(model_dir(model), golden$files)
})

# Returns the predictions, whose counterparts are the values `pred` of the goldens. A linear model
# has no counterpart of their values `twice`.
predictions_of <- function(items) {
  lapply(items, function(item) as.list(as.numeric(item$predictions)))
}
golden_predictions <- function(items) lapply(items, function(item) as.list(item$pred))

# A golden fetches two predictions by name; the linear model has one.
with_our_fetches <- function(golden) {
  golden$events <- lapply(golden$events, function(event) {
    fetches <- event$original_fetches
    if (!is.null(fetches)) event$original_fetches <- list(fetches$pred)
    event$value <- NULL # compared at the end, as numbers
    event
  })
  golden
}

# Takes `n` elements (all if NULL) as the goldens' caller does, and records them.
take_predictions <- function(rec, iterator, n = NULL) {
  taken <- list()
  while (is.null(n) || length(taken) < n) {
    item <- iter_next(iterator)
    if (is.null(item)) break
    rec$add("caller", "got_element")
    taken <- c(taken, list(item))
  }
  taken
}

test_that("predict() creates its session at the first element, and makes one run per batch", {
  golden <- with_our_fetches(goldens$predict)
  golden$events[[1]]$type <- NULL # Python's generator type
  model <- trained_model()
  rec <- new_recorder()
  outcome <- attempt(record_hook_calls(rec, {
    iterator <- predict(model, toy_batches(2), hooks = traced(rec), as_iterable = TRUE)
    rec$add("caller", "predict_returned")
    taken <- take_predictions(rec, iterator)
    rec$add("caller", "exhausted")
    taken
  }))
  expect_whole_trace(rec, golden, prediction_names)
  expect_surfaced(outcome$surfaced, golden$surfaced)
  expect_log(outcome$log, golden$log, c("<MODEL_DIR>" = model_dir(model)))
  expect_equal(
    predictions_of(outcome$returned), golden_predictions(golden$returned), tolerance = 1e-6
  )
})

test_that("predict() returns whole batches, and the requested keys", {
  golden <- goldens$predict_whole_batches
  model <- trained_model()
  dirs <- c("<MODEL_DIR>" = model_dir(model))
  outcome <- attempt(iterate(
    predict(model, toy_batches(2), as_iterable = TRUE, yield_single_examples = FALSE)
  ))
  expected <- golden$batches
  expect_log(outcome$log, expected$log, dirs)
  expect_equal(
    predictions_of(outcome$returned), golden_predictions(expected$returned), tolerance = 1e-6
  )
  for (keys in list("predictions", list("predictions"))) {
    outcome <- attempt(
      predict(model, toy_batches(1), predict_keys = keys, simplify = FALSE)
    )
    expected <- golden$keys_list
    expect_log(outcome$log, expected$log, dirs)
    expect_equal(
      predictions_of(outcome$returned), golden_predictions(expected$returned), tolerance = 1e-6
    )
  }
  bad <- attempt(predict(model, toy_batches(1), predict_keys = "nope"))
  expect_log(bad$log, golden$bad_keys$log, dirs)
  expect_match(bad$surfaced$message, "Expected to run at least one output from .*, provided nope")
})

test_that("hooks of an iterator that is closed early get end(): a departure from TensorFlow", {
  golden <- with_our_fetches(goldens$predict_abandoned)
  end <- list(hook = "A", method = "end", global_step = 3, session_is_null = FALSE)
  closed <- length(golden$events)
  golden$events <- append(golden$events, list(end), closed - 1)
  model <- trained_model()
  rec <- new_recorder()
  outcome <- attempt(record_hook_calls(rec, {
    iterator <- predict(model, endless(), hooks = traced(rec), as_iterable = TRUE)
    take_predictions(rec, iterator, 1)
    iterator$close()
    rec$add("caller", "closed")
  }))
  expect_whole_trace(rec, golden, prediction_names)
  expect_null(outcome$surfaced)
  expect_log(outcome$log, golden$log, c("<MODEL_DIR>" = model_dir(model)))
  expect_null(iter_next(iterator))
})

test_that("a hook can stop predict(), or fail it", {
  golden <- goldens$predict_stop_and_errors
  compare <- function(model, expected, input = endless(), on = list()) {
    hooks <- traced(new_recorder(), on = on)
    outcome <- attempt(predict(model, input, hooks = hooks, simplify = FALSE))
    expect_surfaced(outcome$surfaced, expected$surfaced)
    expect_log(outcome$log, expected$log, c("<MODEL_DIR>" = model_dir(model)))
    expect_equal(
      predictions_of(outcome$returned), golden_predictions(expected$returned), tolerance = 1e-6
    )
  }
  model <- trained_model()
  stops <- function(hook, context, values, n) context$request_stop()
  compare(model, golden$stopped, on = list(after_run = stops))
  raises <- function(...) raise("ValueError", "raised by A")
  compare(model, golden$raised, on = list(before_run = raises))
  untrained(compare(golden_model_of(), golden$untrained, input = toy_batches(1)))
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
