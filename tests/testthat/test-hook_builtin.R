test_that("hook_logging_tensor() prints its tensors at any verbosity", {
  input <- mtcars_input(num_epochs = NULL)
  lines <- lines_of_log(train(mtcars_model(), input, steps = 5, hooks = hook_logging_tensor(
    list(step = "global_step:0", bias = "linear/linear_model/bias_weights"), every_n_iter = 2
  )))
  expect_length(lines, 3)
  expect_equal(lines[[1]], "INFO:tensorflow:bias = [0.], step = 0")
  expect_match(
    lines[[2]], "^INFO:tensorflow:bias = \\[0\\.[0-9]+\\], step = 2 \\([0-9]\\.[0-9]{3} sec\\)$"
  )
  names <- lines_of_log(
    train(
      mtcars_model(), input, steps = 1, hooks = hook_logging_tensor("global_step", at_end = TRUE)
    )
  )
  expect_equal(names, "INFO:tensorflow:global_step = 1")
  formatted <- lines_of_log(train(mtcars_model(), input, steps = 1, hooks = hook_logging_tensor(
    list(s = "global_step:0"), every_n_iter = 1, formatter = function(values) paste("at", values$s)
  )))
  expect_equal(formatted, "INFO:tensorflow:at 0")
})

test_that("the loop's own log lines appear at INFO only", {
  withr::defer(tf$logging$set_verbosity(tf$logging$WARN))
  model <- mtcars_model(log_step_count_steps = 2)
  expect_equal(lines_of_log(train(model, mtcars_input(num_epochs = NULL), steps = 4)), character())
  tf$logging$set_verbosity(tf$logging$INFO)
  lines <- lines_of_log(train(model, mtcars_input(num_epochs = NULL), steps = 4))
  expect_equal(lines[1:5], paste0("INFO:tensorflow:", c(
    "Calling model_fn.", "Done calling model_fn.", "Create CheckpointSaverHook.",
    "Graph was finalized.",
    paste("Restoring parameters from", file.path(model_dir(model), "model.ckpt-4"))
  )))
  expect_match(lines, "^INFO:tensorflow:global_step/sec: ", all = FALSE)
  expect_match(lines, "^INFO:tensorflow:loss = [0-9.]+, step = 4$", all = FALSE)
  expect_match(lines[[length(lines)]], "^INFO:tensorflow:Loss for final step: [0-9.]+\\.$")
})

test_that("hook_stop_at_step() stops the loop, and can be reused", {
  model <- mtcars_model()
  hook <- hook_stop_at_step(num_steps = 3)
  train(model, mtcars_input(num_epochs = NULL), hooks = hook)
  train(model, mtcars_input(num_epochs = NULL), hooks = list(hook))
  expect_equal(variable_value(model, "global_step")[[1]], 6)
  train(model, mtcars_input(num_epochs = NULL), hooks = hook_stop_at_step(last_step = 10))
  expect_equal(variable_value(model, "global_step")[[1]], 10)
})

test_that("hook_nan_tensor() raises an error or stops", {
  diverging <- function() {
    linear_regressor(
      column_numeric("drat"), model_dir = withr::local_tempdir(.local_envir = parent.frame(2)),
      optimizer = tf$train$GradientDescentOptimizer(1e30)
    )
  }
  input <- mtcars_input(num_epochs = NULL)
  loss <- "linear/head/weighted_loss/Sum:0"
  lines <- lines_of_log(expect_error(
    train(
      diverging(), input, steps = 50, hooks = hook_nan_tensor(loss)
    ), class = "runhooks_error_nan_loss"
  ))
  expect_equal(lines, "ERROR:tensorflow:Model diverged with loss = NaN.")
})

test_that("hook_step_counter() writes to an event file", {
  folder <- withr::local_tempdir()
  train(
    mtcars_model(),
    mtcars_input(num_epochs = NULL),
    steps = 6,
    hooks = hook_step_counter(every_n_steps = 2, output_dir = folder)
  )
  file <- list.files(folder, full.names = TRUE)
  expect_length(file, 1)
  bytes <- readBin(file, "raw", file.size(file))
  expect_length(grepRaw("global_step/sec", bytes, fixed = TRUE, all = TRUE), 2)
})

test_that("deferred hooks are a list of hook_fn and type", {
  expect_named(hook_history_saver(), c("hook_fn", "type"))
  expect_equal(hook_progress_bar()$type, "hook_progress_bar")
})

test_that("arguments are validated as in TensorFlow", {
  expect_snapshot_text({
    hook_logging_tensor("loss")
    hook_logging_tensor("loss", every_n_iter = 1, every_n_secs = 1)
    hook_logging_tensor("loss", every_n_iter = 0)
    hook_logging_tensor(3, every_n_iter = 1)
    hook_logging_tensor("loss", every_n_iter = 1, formatter = "x")
    hook_stop_at_step()
    hook_stop_at_step(1, 2)
    hook_stop_at_step("ten")
    hook_checkpoint_saver(tempdir())
    hook_checkpoint_saver(tempdir(), save_secs = 1, save_steps = 1)
    hook_checkpoint_saver(NULL, save_steps = 1)
    hook_step_counter(every_n_steps = NULL)
    hook_step_counter(every_n_steps = 1, every_n_secs = 1)
    hook_nan_tensor(NULL)
    hook_history_saver(every_n_step = 0)
    checkpoint_saver_listener(after_save = function() TRUE)
  })
})

test_that("names that are not in the graph are errors at the start of the loop", {
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook_logging_tensor("nope", every_n_iter = 1)),
    "The name 'nope:0' refers to a Tensor which does not exist", class = "runhooks_error_not_found"
  )
})

test_that("built-in hooks print and survive saveRDS()", {
  hook <- hook_stop_at_step(2)
  expect_output(print(hook), "StopAtStepHook")
  file <- withr::local_tempfile()
  saveRDS(hook, file)
  model <- mtcars_model()
  train(model, mtcars_input(), hooks = readRDS(file))
  expect_equal(variable_value(model, "global_step")[[1]], 2)
})

test_that("hooks that run at the end name themselves when the data have ended", {
  batch <- "linear/head/weighted_loss/Sum:0"
  at_end <- list(
    LoggingTensorHook = hook_logging_tensor(batch, every_n_iter = 100, at_end = TRUE),
    LoggingTensorHook = hook_logging_tensor(list(loss = "loss"), at_end = TRUE)
  )
  for (i in seq_along(at_end)) {
    model <- mtcars_model()
    lines <- lines_of_log(expect_error(
      train(model, mtcars_input(num_epochs = 1), hooks = at_end[[i]]),
      class = "runhooks_error_out_of_range"
    ))
    expect_match(
      lines, paste("The data have ended, but the operations of", names(at_end)[[i]]), all = FALSE
    )
    expect_false(is.null(latest_checkpoint(model_dir(model))))
  }
})
