step_noter <- function() {
  steps <- c()
  note <- session_run_hook(end = function(session) steps <<- c(steps, session$run("global_step:0")))
  list(hook = note, steps = function() steps)
}

test_that("hook_in_memory_evaluator() evaluates at TensorFlow's steps, the last step once", {
  table <- read_golden("hooks", "in_memory_evaluator.json")$scenarios[[2]]$table
  for (row in table) {
    model <- mtcars_model()
    note <- step_noter()
    train(model, mtcars_input(num_epochs = NULL), steps = row$steps, hooks = list(
      hook_in_memory_evaluator(
        model, mtcars_input(), steps = 1, every_n_iter = row$every_n_iter, name = "mem",
        hooks = note$hook
      )
    ))
    expect_equal(note$steps(), unique(unlist(row$evaluated_at)), info = paste(row))
    expect_length(list.files(file.path(model_dir(model), "eval_mem"), "tfevents"), 1)
  }
})

test_that("hook_in_memory_evaluator() uses the current training weights", {
  model <- mtcars_model(save_checkpoints_steps = 2)
  withr::defer(tf$logging$set_verbosity(tf$logging$WARN))
  tf$logging$set_verbosity(tf$logging$INFO)
  lines <- lines_of_log(train(
    model, mtcars_input(num_epochs = NULL), steps = 4,
    hooks = hook_in_memory_evaluator(model, mtcars_input(shuffle = FALSE), every_n_iter = 2)
  ))
  messages <- grep("Saving dict for global step 4", lines, value = TRUE)
  expect_length(messages, 1)
  loss <- as.numeric(sub(".* loss = ([0-9.e+]+).*", "\\1", messages))
  tf$logging$set_verbosity(tf$logging$WARN)
  expect_equal(loss, evaluate(model, mtcars_input(shuffle = FALSE))$loss, tolerance = 1e-6)
})

test_that("an in-memory evaluation reads its own data, independent of the training's position", {
  # Iterators of the training and the evaluation graph have the same names, and both save their
  # positions.
  input <- function(times) {
    function() {
      rows <- dataset_repeat(tensor_slices_dataset(list(x = 1:6 / 6, y = 1:6)), times)
      iterator <- make_iterator_one_shot(dataset_batch(rows, 2))
      tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
      batch <- iterator$get_next()
      list(list(x = tf$reshape(batch$x, c(-1L, 1L))), tf$reshape(batch$y, c(-1L, 1L)))
    }
  }
  model <- linear_regressor(
    feature_columns(column_numeric("x")), model_dir = withr::local_tempdir(),
    config = run_config(tf_random_seed = 1)
  )
  rows <- c()
  note <- session_run_hook(after_run = function(context, values) rows <<- c(rows, context$rows))
  train(model, input(NULL), steps = 5, hooks = hook_in_memory_evaluator(
    model, input(1), every_n_iter = 5, hooks = note
  ))
  expect_equal(rows, c(2, 4, 6, 2, 4, 6))
  # The position of the training's iterator is saved although the evaluation uses the same name.
  saved <- cpp_checkpoint_names(latest_checkpoint(model_dir(model)))
  expect_true(any(grepl("runhooks/iterator/IteratorV2", saved)))
})

test_that("hook_stop_if_*() read the evaluations that the evaluator has written", {
  model <- mtcars_model()
  train(model, mtcars_input(num_epochs = NULL), steps = 20, hooks = list(
    hook_in_memory_evaluator(model, mtcars_input(), every_n_iter = 3),
    hook_stop_if_higher(model, "loss", 0, min_steps = 3, run_every_secs = NULL, run_every_steps = 1)
  ))
  expect_equal(variable_value(model, "global_step")[[1]], 3)
})

test_that("arguments of hook_in_memory_evaluator() are validated with TensorFlow's messages", {
  est <- mtcars_model()
  expect_error(
    hook_in_memory_evaluator(est, mtcars_input(), every_n_iter = 0), "invalid every_n_iter=0.",
    fixed = TRUE, class = "runhooks_error_invalid_argument"
  )
  expect_error(
    hook_in_memory_evaluator(est, mtcars_input(), steps = 0), "Must specify steps > 0, given: 0",
    fixed = TRUE
  )
  expect_error(hook_in_memory_evaluator(est, mtcars_input(), hooks = list("h")), "must be a hook")
  expect_error(hook_in_memory_evaluator("e", mtcars_input()), "must have type")
})

# Writes an evaluation of the step `step`, as another process would.
fake_evaluation <- function(model, step, loss) {
  dir <- file.path(model_dir(model), "eval")
  dir.create(dir, showWarnings = FALSE, recursive = TRUE)
  cpp_write_events(dir, paste0(".", step), step, list(c(average_loss = loss)))
}

# Records the weights after each step, and writes fake evaluations with these losses.
weights_by_step <- function(model, losses) {
  weights <- list()
  hook <- session_run_hook(after_run = function(context, values) {
    step <- context$session$run("global_step:0")
    weights[[step]] <<- context$session$run("linear/linear_model/cyl/weights:0")
    if (step <= length(losses)) fake_evaluation(model, step, losses[[step]])
  })
  structure(hook, weights = function() weights)
}

test_that("early stopping restores and saves the weights of the best evaluation", {
  model <- mtcars_model(save_checkpoints_steps = 3)
  watch <- weights_by_step(model, c(9, 5, 6, 7, 8, 9, 9, 9))
  train(model, mtcars_input(num_epochs = NULL), steps = 20, hooks = list(
    watch,
    hook_stop_if_no_decrease(
      model, "average_loss", max_steps_without_decrease = 4, run_every_secs = NULL,
      run_every_steps = 1, restore_best_weights = TRUE
    )
  ))
  weights <- attr(watch, "weights")()
  expect_length(weights, 6) # the 6th evaluation is 4 steps after the best one
  expect_equal(variable_value(model, "global_step")[[1]], 6)
  expect_equal(
    variable_value(model, "linear/linear_model/cyl/weights")[[1]], weights[[2]],
    tolerance = 1e-7
  )
  expect_false(isTRUE(all.equal(weights[[2]], weights[[6]])))
  resumed <- weights_by_step(model, numeric())
  train(model, mtcars_input(num_epochs = NULL), steps = 1, hooks = resumed)
  expect_length(attr(resumed, "weights")(), 7)
})

test_that("the best weights come from a checkpoint if their step has passed", {
  for (every in c(2, 100)) {
    model <- mtcars_model(save_checkpoints_steps = every)
    first <- weights_by_step(model, numeric())
    stops <- hook_stop_if_no_decrease(
      model, "average_loss", 3, run_every_secs = NULL, run_every_steps = 1,
      restore_best_weights = TRUE
    )
    expect_warning(
      train(model, mtcars_input(num_epochs = NULL), steps = 4, hooks = list(first, stops)),
      "never saw the metric"
    )
    fake_evaluation(model, 2, 1)
    fake_evaluation(model, 9, 5)
    run <- function() train(model, mtcars_input(num_epochs = NULL), steps = 1, hooks = stops)
    if (every == 2) {
      message <- expect_message(run(), class = "runhooks_message_early_stopping")
      expected <- "has the weights of step 2 again|stopped early at step 5"
      expect_match(conditionMessage(message), expected)
    } else {
      expect_warning(
        run(), "weights of step 2, .* cannot be restored", class = "runhooks_warning_early_stopping"
      )
    }
    weights <- variable_value(model, "linear/linear_model/cyl/weights")[[1]]
    if (every == 2) {
      expect_equal(weights, attr(first, "weights")()[[2]], tolerance = 1e-7)
    } else {
      expect_false(isTRUE(all.equal(weights, attr(first, "weights")()[[2]])))
    }
  }
})
