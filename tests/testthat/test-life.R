# Whole processes: killed, interrupted, started again.

skip_on_cran()
skip_if_not_installed("processx")

# A process that trains for ever, saving every 20 steps, and writes its step to a file.
start_training <- function(folder, steps = "NULL", hook = "NULL") {
  script <- sprintf(
    "library(runhooks)
     model <- linear_regressor(
       list(column_numeric('drat'), column_numeric('cyl')), model_dir = '%s',
       config = run_config(save_checkpoints_steps = 20, tf_random_seed = 1)
     )
     input <- input_fn(
       mtcars, features = c('drat', 'cyl'), response = 'mpg', batch_size = 8, num_epochs = NULL
     )
     slow <- session_run_hook(after_run = function(context, values) Sys.sleep(0.002))
     own <- %s
     result <- tryCatch(
       train(model, input, steps = %s, hooks = c(list(slow), if (!is.null(own)) list(own))),
       interrupt = function(cnd) cat('interrupted\\n')
     )
     cat('step', variable_value(model, 'global_step')[[1]], '\\n')", folder, hook, steps
  )
  processx::process$new(
    child_rscript(), c("-e", script), stdout = "|", stderr = "2>&1", env = child_env()
  )
}

wait_for <- function(condition, process, seconds = 30) {
  deadline <- Sys.time() + seconds
  while (!condition()) {
    if (Sys.time() > deadline || !process$is_alive()) {
      stop("waited in vain: ", process$read_all_output())
    }
    Sys.sleep(0.02)
  }
}

saved_step <- function(folder) {
  path <- latest_checkpoint(folder)
  if (is.null(path)) 0 else as.numeric(sub(".*-", "", path))
}

model_step <- function(folder) {
  model <- linear_regressor(list(column_numeric("drat"), column_numeric("cyl")), model_dir = folder)
  variable_value(model, "global_step")[[1]]
}

test_that("a killed run goes on from its last checkpoint", {
  folder <- withr::local_tempdir()
  process <- start_training(folder)
  wait_for(function() saved_step(folder) >= 40, process)
  process$signal(9)
  process$wait()
  at <- saved_step(folder)
  expect_equal(at %% 20, 0)
  again <- start_training(folder, steps = 10)
  output <- again$read_all_output()
  again$wait()
  expect_match(output, paste("step", at + 10))
})

test_that("killed at any moment, the folder holds a checkpoint that can be read", {
  folder <- withr::local_tempdir()
  for (pause in c(0.05, 0.11, 0.17)) {
    process <- start_training(folder)
    before <- saved_step(folder)
    wait_for(function() saved_step(folder) > before, process)
    Sys.sleep(pause)
    process$signal(9)
    process$wait()
    expect_gt(model_step(folder), 0)
  }
})

test_that("Ctrl-C ends the run with a checkpoint of the step and R's interrupt", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  process <- start_training(folder)
  wait_for(function() saved_step(folder) >= 20, process)
  process$interrupt()
  output <- process$read_all_output()
  process$wait()
  expect_match(output, "interrupted")
  step <- as.numeric(sub(".*step ([0-9]+).*", "\\1", output))
  expect_equal(saved_step(folder), step)
})

test_that("an interrupt inside a hook's closure does the same", {
  folder <- withr::local_tempdir()
  hook <- "session_run_hook(
    before_run = function(context) session_run_args('global_step:0'),
    after_run = function(context, values) if (values$results[[1]] == 30) rlang::interrupt())"
  process <- start_training(folder, hook = hook)
  output <- process$read_all_output()
  process$wait()
  expect_match(output, "interrupted")
  expect_match(output, "step 31")
  expect_equal(saved_step(folder), 31)
})

test_that("a forked child trains as its parent does", {
  skip_on_os("windows")
  run <- function(i) {
    model <- mtcars_model(model_dir = tempfile())
    train(model, mtcars_input(), steps = 3)
    variable_value(model)
  }
  children <- in_forks(2, run)
  expect_equal(children[[1]], run(1))
  expect_equal(children[[2]], run(1))
})
