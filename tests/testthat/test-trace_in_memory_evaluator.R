# Compares hook_in_memory_evaluator() with TensorFlow's traces.

goldens <- hook_goldens("in_memory_evaluator")

test_that("evaluations during training are called and logged as in TensorFlow", {
  golden <- goldens$every_2_of_5
  model <- golden_model_of()
  rec <- new_recorder()
  clock <- local_clock()
  evaluator <- hook_in_memory_evaluator(
    model, toy_input(num_epochs = NULL), steps = 2, every_n_iter = 2,
    hooks = list(EA = trace_hook(rec, "EA"))
  )
  outcome <- attempt(record_hook_calls(
    rec, train(model, toy_input(num_epochs = NULL), steps = 5, hooks = evaluator),
    each_run = function() clock$advance(0.25)
  ))
  expect_whole_trace(rec, golden, evaluation_names)
  expect_null(outcome$surfaced)
  expect_log(outcome$log, golden$log, c("<MODEL_DIR>" = model_dir(model)))
  expect_files(model_dir(model), golden$files)
  expect_events(file.path(model_dir(model), "eval"), golden$eval_event_file)
})

test_that("the last step is not evaluated twice: a departure from TensorFlow", {
  for (row in goldens$every_n_iter_table$table) {
    model <- golden_model_of()
    evaluator <- hook_in_memory_evaluator(
      model, toy_input(num_epochs = NULL), steps = 1, every_n_iter = row$every_n_iter, name = "mem"
    )
    train(model, toy_input(num_epochs = NULL), steps = row$steps, hooks = evaluator)
    events <- events_form(file.path(model_dir(model), "eval_mem"))
    is_summary <- vapply(events, function(event) event$what == "summary", NA)
    steps <- vapply(events[is_summary], function(event) event$step, 0)
    expect_equal(steps, unique(as.numeric(unlist(row$evaluated_at))), info = one_line(row))
  }
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
