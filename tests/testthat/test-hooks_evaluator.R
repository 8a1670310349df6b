# A hook of evaluations that notes their global steps.
step_noter <- function() {
  steps <- c()
  note <- session_run_hook(end = function(session) steps <<- c(steps, session$run("global_step:0")))
  list(hook = note, steps = function() steps)
}

test_that("hook_in_memory_evaluator() evaluates when TensorFlow does, the last step once", {
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

test_that("hook_in_memory_evaluator() sees the values of the training", {
  model <- mtcars_model(save_checkpoints_steps = 2)
  withr::defer(tf$logging$set_verbosity(tf$logging$WARN))
  tf$logging$set_verbosity(tf$logging$INFO)
  lines <- lines_of_log(train(
    model, mtcars_input(num_epochs = NULL), steps = 4,
    hooks = hook_in_memory_evaluator(model, mtcars_input(shuffle = FALSE), every_n_iter = 2)
  ))
  said <- grep("Saving dict for global step 4", lines, value = TRUE)
  expect_length(said, 1)
  loss <- as.numeric(sub(".* loss = ([0-9.e+]+).*", "\\1", said))
  tf$logging$set_verbosity(tf$logging$WARN)
  expect_equal(loss, evaluate(model, mtcars_input(shuffle = FALSE))$loss, tolerance = 1e-6)
})

test_that("hook_stop_if_*() read what the evaluator has written", {
  model <- mtcars_model()
  train(model, mtcars_input(num_epochs = NULL), steps = 20, hooks = list(
    hook_in_memory_evaluator(model, mtcars_input(), every_n_iter = 3),
    hook_stop_if_higher(model, "loss", 0, min_steps = 3, run_every_secs = NULL, run_every_steps = 1)
  ))
  expect_equal(variable_value(model, "global_step")[[1]], 3)
})

test_that("arguments of hook_in_memory_evaluator() are refused in TensorFlow's words", {
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
