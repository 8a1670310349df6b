test_that("steps are relative to the current step, max_steps is absolute", {
  model <- mtcars_model()
  input <- mtcars_input(num_epochs = NULL)
  step <- function() variable_value(model, "global_step")[[1]]
  train(model, input, steps = 3)
  expect_equal(step(), 3)
  train(model, input, steps = 2)
  expect_equal(step(), 5)
  train(model, input, max_steps = 7)
  expect_equal(step(), 7)
  history <- train(model, input, max_steps = 7)
  expect_equal(step(), 7)
  expect_length(history$step, 0)
  expect_equal(history$params$steps, 7)
})

test_that("training ends with the input, and reports if more steps were requested", {
  model <- mtcars_model()
  history <- train(model, mtcars_input(num_epochs = 2))
  expect_equal(history$params$steps, 8)
  expect_message(
    train(model, mtcars_input(), steps = 100),
    "Training completed after 4 steps but 100 steps were specified",
    fixed = TRUE
  )
  expect_no_message(train(model, mtcars_input(), steps = 4))
})

test_that("a message names the hook that ended the training", {
  model <- mtcars_model()
  input <- mtcars_input(num_epochs = NULL)
  made <- 0
  third <- session_run_hook(after_run = function(context, values) {
    made <<- made + 1
    if (made == 3) context$request_stop()
  })
  messages <- capture_messages(train(model, input, steps = 10, hooks = list(mine = third)))
  expect_match(
    messages, "Training completed after 3 steps but 10 steps were specified", all = FALSE
  )
  expect_match(messages, sprintf("Hook `%s` ended it", run_history(model)$reason), all = FALSE)
  expect_no_match(messages, "num_epochs")
  lower <- hook_stop_if_higher(model, "loss", 0, run_every_secs = NULL, run_every_steps = 1)
  evaluated <- hook_in_memory_evaluator(model, mtcars_input(), every_n_iter = 1)
  messages <- capture_messages(train(model, input, steps = 10, hooks = list(evaluated, lower)))
  expect_match(messages, "Early stopping ended it, since \"loss\" was", all = FALSE)
})

test_that("train() returns the history invisibly and prints nothing", {
  out <- capture.output(
    result <- withVisible(train(mtcars_model(), mtcars_input(), hooks = list(hook_progress_bar())))
  )
  expect_equal(out, character())
  expect_false(result$visible)
  expect_s3_class(result$value, "tf_estimator_history")
})

test_that("a seed makes the run reproducible, and so does set.seed()", {
  weights <- function(seed) {
    model <- mtcars_model(seed = seed)
    train(model, mtcars_input(num_epochs = 3))
    variable_value(model)
  }
  expect_identical(weights(4), weights(4))
  expect_false(identical(weights(4), weights(5)))
  set.seed(9)
  first <- weights(NULL)
  expect_false(identical(first, weights(NULL)))
  set.seed(9)
  expect_identical(first, weights(NULL))
})

test_that("stopping and resuming gives the same result as one run", {
  whole <- mtcars_model()
  train(whole, mtcars_input(shuffle = FALSE, num_epochs = NULL), steps = 8)
  parts <- mtcars_model()
  for (i in 1:2) train(parts, mtcars_input(shuffle = FALSE, num_epochs = NULL), steps = 4)
  expect_identical(variable_value(whole), variable_value(parts))
})

test_that("checkpoints are saved as configured, and event files are in logs", {
  model <- mtcars_model(
    save_checkpoints_steps = 2, keep_checkpoint_max = 2, log_step_count_steps = 2
  )
  train(model, mtcars_input(num_epochs = NULL), steps = 7)
  files <- list.files(model_dir(model))
  expect_setequal(
    grep("index$", files, value = TRUE), c("model.ckpt-6.index", "model.ckpt-7.index")
  )
  expect_equal(
    readLines(file.path(model_dir(model), "checkpoint")),
    c(
      "model_checkpoint_path: \"model.ckpt-7\"", "all_model_checkpoint_paths: \"model.ckpt-6\"",
      "all_model_checkpoint_paths: \"model.ckpt-7\""
    )
  )
  expect_false(any(startsWith(files, "events")))
  expect_match(
    list.files(file.path(model_dir(model), "logs")), "^events\\.out\\.tfevents\\.[0-9]{10}\\."
  )
})

test_that("a run configuration can disable checkpoints, and a hook can replace them", {
  none <- mtcars_model(save_checkpoints_secs = NULL)
  train(none, mtcars_input(), steps = 1)
  expect_null(latest_checkpoint(model_dir(none)))
  own <- mtcars_model()
  train(
    own,
    mtcars_input(num_epochs = NULL),
    steps = 5,
    hooks = hook_checkpoint_saver(model_dir(own), save_steps = 2)
  )
  expect_setequal(
    list.files(model_dir(own), "index$"), paste0("model.ckpt-", c(0, 2, 4, 5), ".index")
  )
})

test_that("a user-defined input function without arguments is enough", {
  model <- mtcars_model()
  own <- function() {
    batch <- input_fn(mpg ~ drat + cyl, mtcars, batch_size = 4, shuffle = FALSE)(NULL)()
    expect_true(is.tensor(batch[[1]]$drat))
    batch
  }
  train(model, own, steps = 2)
  expect_equal(variable_value(model, "global_step")[[1]], 2)
})

test_that("invalid arguments are errors before anything is written", {
  model <- mtcars_model(model_dir = file.path(withr::local_tempdir(), "new"))
  expect_snapshot_text({
    train(model, mtcars_input(), steps = 2, max_steps = 3)
    train(model, mtcars_input(), steps = 0)
    train(model, mtcars_input(), steps = 1.5)
    train(model, mtcars_input(), max_steps = -1)
    train(model, 3)
    train(model, function(a, b) NULL)
    train(model, function() 5)
    train(model, function() list(1, 2, 3))
    train(model, mtcars_input(), saving_listeners = list("l"))
  })
  expect_false(dir.exists(model_dir(model)))
})

test_that("an unwritable folder is an error", {
  file <- withr::local_tempfile(lines = "not a folder")
  model <- mtcars_model(model_dir = file.path(file, "model"))
  expect_error(
    train(model, mtcars_input()), "is a file, not a directory",
    class = "runhooks_error_permission_denied"
  )
})

test_that("a checkpoint of another model is an error that names the variable and the shapes", {
  folder <- withr::local_tempdir()
  train(linear_regressor(column_numeric("drat"), model_dir = folder), mtcars_input(), steps = 1)
  # Simulates a folder of TensorFlow, which has no metadata.
  unlink(file.path(folder, record_file))
  wide <- linear_regressor(column_numeric("drat", shape = 2), model_dir = folder)
  data <- list(mpg = mtcars$mpg, drat = cbind(mtcars$drat, 1))
  input <- input_fn(data, features = drat, response = mpg)
  expect_error(train(wide, input, steps = 1), "drat/weights.*shape \\(2, 1\\).*shape \\(1, 1\\)")
  other <- linear_regressor(column_numeric("cyl"), model_dir = folder)
  expect_error(
    train(other, mtcars_input(), steps = 1), "cyl/weights", class = "runhooks_error_not_found"
  )
})

cut_off <- function(bytes) bytes[seq_len(length(bytes) %/% 2)]
flip <- function(bytes) replace(bytes, 5, xor(bytes[[5]], as.raw(1)))
damage <- function(files, change) {
  for (file in files) writeBin(change(readBin(file, "raw", file.size(file))), file)
}

test_that("if every checkpoint is damaged, the error names the file", {
  for (ending in c(".index", ".data-00000-of-00001")) {
    for (change in list(cut_off, flip)) {
      model <- mtcars_model()
      train(model, mtcars_input(), steps = 1)
      files <- list.files(model_dir(model), paste0(ending, "$"), full.names = TRUE)
      damage(files, change)
      expect_error(
        suppressWarnings(train(model, mtcars_input(), steps = 1)),
        paste0("model.ckpt-[01]", ending),
        class = "runhooks_error_data_loss"
      )
    }
  }
})

test_that("if the newest checkpoint is damaged, the previous one is used with a warning", {
  for (ending in c(".index", ".data-00000-of-00001")) {
    model <- mtcars_model()
    train(model, mtcars_input(), steps = 3)
    damage(paste0(latest_checkpoint(model_dir(model)), ending), flip)
    suppressWarnings(expect_warning(
      train(model, mtcars_input(), steps = 2), "model.ckpt-3.*model.ckpt-0.*is used"
    ))
    expect_equal(variable_value(model, "global_step")[[1]], 2)
  }
})

test_that("NaN losses stop the training with an error", {
  model <- linear_regressor(
    column_numeric(
      "drat"
    ), model_dir = withr::local_tempdir(), optimizer = tf$train$GradientDescentOptimizer(1e30)
  )
  expect_error(
    suppressMessages(
      train(model, mtcars_input(num_epochs = NULL), steps = 50)
    ), "NaN loss during training.",
    class = "runhooks_error_nan_loss"
  )
})

test_that("listeners are called at each checkpoint and can stop the loop", {
  calls <- character()
  listener <- checkpoint_saver_listener(
    begin = function() calls <<- c(calls, "begin"),
    before_save = function(session, global_step) calls <<- c(calls, paste("before", global_step)),
    after_save = function(session, global_step) {
      calls <<- c(calls, paste("after", global_step))
      global_step == 4
    },
    end = function(session, global_step) calls <<- c(calls, paste("end", global_step))
  )
  model <- mtcars_model(save_checkpoints_steps = 2)
  train(model, mtcars_input(num_epochs = NULL), saving_listeners = listener)
  expect_equal(
    calls, c("begin", "before 0", "after 0", "before 2", "after 2", "before 4", "after 4", "end 4")
  )
})

test_that("a hook cannot train its own model", {
  folder <- withr::local_tempdir()
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder)
  other <- linear_regressor(mpg ~ hp, mtcars, model_dir = withr::local_tempdir())
  hook <- function(inner) {
    session_run_hook(after_run = function(context, values) train(inner, steps = 1))
  }
  expect_error(
    train(model, steps = 2, hooks = hook(linear_regressor(mpg ~ wt, mtcars, model_dir = folder))),
    "A training in .* is running in this process", class = "runhooks_error_failed_precondition"
  )
  train(model, steps = 2, hooks = hook(other))
  expect_identical(variable_value(other, "global_step")[[1]], 2)
})
