test_that("hook_global_step_waiter() returns if the step has been reached", {
  model <- mtcars_model()
  hooks <- list(hook_global_step_waiter(0), hook_global_step_waiter(-3))
  train(model, mtcars_input(num_epochs = NULL), steps = 2, hooks = hooks)
  train(
    model, mtcars_input(num_epochs = NULL), steps = 2,
    hooks = tf$train$GlobalStepWaiterHook(wait_until_step = 2)
  )
  expect_equal(variable_value(model, "global_step")[[1]], 4)
})

test_that("hook_stop_at_checkpoint_step() waits for a checkpoint of the last step", {
  model <- mtcars_model(save_checkpoints_steps = 3)
  hook <- hook_stop_at_checkpoint_step(
    model_dir(model), last_step = 5, wait_after_file_check_secs = 0
  )
  train(model, mtcars_input(num_epochs = NULL), steps = 20, hooks = hook)
  expect_equal(variable_value(model, "global_step")[[1]], 6)
  # Given a model instead of a directory, the process that saves checkpoints stops at the step
  # itself, as in TensorFlow.
  expect_s3_class(hook_stop_at_checkpoint_step(model, 7), "StopAtStepHook")
})
