# Whole processes that are killed, interrupted and restarted.

skip_on_cran()
skip_if_not_installed("processx")

# Starts a process that trains without end, saves every 20 steps, and writes its step to a file.
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

test_that("a killed run resumes from its last checkpoint", {
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

test_that("whenever a run is killed, the folder has a readable checkpoint", {
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

test_that("an interrupt in a hook's closure also saves a checkpoint", {
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

test_that("a forked child trains like its parent", {
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

run_script <- function(script, ..., seconds = 60) {
  result <- processx::run(
    child_rscript(), c("-e", script, ...), env = child_env(), error_on_status = FALSE,
    timeout = seconds, stderr_to_stdout = TRUE
  )
  if (result$timeout) paste(result$stdout, "TIMED OUT") else result$stdout
}

endless_training <- "
  library(runhooks)
  model <- linear_regressor(column_numeric('drat'), model_dir = tempfile())
  input <- input_fn(mpg ~ drat, mtcars, batch_size = 8, num_epochs = NULL)
"

test_that("a time limit is an error of train(), also in a batch process", {
  script <- paste(endless_training, "
    waiter <- session_run_hook(after_run = function(context, values) Sys.sleep(5))
    idle <- session_run_hook(after_run = function(context, values) NULL)
    for (hooks in list(NULL, idle, waiter)) {
      setTimeLimit(elapsed = 0.5, transient = TRUE)
      said <- tryCatch(train(model, input, steps = 1e9, hooks = hooks), error = conditionMessage)
      setTimeLimit()
      cat('said:', said, '\\n')
    }
    cat('alive\\n')")
  output <- run_script(script)
  expect_length(gregexpr("said: reached elapsed time limit", output)[[1]], 3)
  expect_match(output, "alive")
})

test_that("if saving fails at Ctrl-C, the interrupt and every on_error() are still delivered", {
  skip_on_os("windows")
  script <- paste(endless_training, "
    folder <- model_dir(model)
    told <- session_run_hook(on_error = function(session, condition) {
      cat('told of', class(condition), '\\n')
    })
    interrupting <- session_run_hook(
      before_run = function(context) session_run_args('global_step:0'),
      after_run = function(context, values) {
        if (values$results[[1]] != 3) return()
        unlink(folder, recursive = TRUE)
        file.create(folder)
        rlang::interrupt()
      }
    )
    saver <- hook_checkpoint_saver(folder, save_steps = 1e6)
    tryCatch(
      train(model, input, hooks = list(saver, told, interrupting, told)),
      interrupt = function(condition) cat('interrupted\\n'),
      error = function(condition) cat('error', conditionMessage(condition), '\\n')
    )
    cat('alive\\n')")
  output <- run_script(script)
  expect_match(output, "told of interrupt.*told of interrupt")
  expect_match(output, "\ninterrupted\n")
  expect_match(output, "on_error() of CheckpointSaverHook failed: Cannot", fixed = TRUE)
  expect_match(output, "alive")
})

test_that("a run whose folder was replaced by a file ends with an error", {
  script <- paste(endless_training, "
    folder <- model_dir(model)
    steps <- 0
    spoiler <- session_run_hook(after_run = function(context, values) {
      steps <<- steps + 1
      if (steps == 5) {
        unlink(folder, recursive = TRUE)
        file.create(folder)
      }
    })
    config <- run_config(model_dir = folder, save_checkpoints_steps = 10, save_summary_steps = 10)
    model <- linear_regressor(column_numeric('drat'), config = config)
    said <- tryCatch(
      train(model, input, steps = 1000, hooks = spoiler),
      error = function(condition) class(condition)[[1]]
    )
    cat('ended by', said, 'after', steps, '\\n')")
  expect_match(run_script(script), "ended by runhooks_error_[a-z_]+ after [0-9]{1,2} ")
})

test_that("a forked child ends by quit() even if threads of the parent sleep", {
  skip_on_os("windows")
  script <- "
    library(runhooks)
    options(runhooks.threads = 2)
    with(tf$Graph()$as_default(), {
      x <- tf$constant(matrix(1, 800, 800))
      y <- tf$matmul(x, x)
      session <- tf$Session()
      for (i in 1:5) session$run(y)
    })
    Sys.sleep(0.2) # idle threads go to sleep
    child <- parallel:::mcfork()
    if (inherits(child, 'masterProcess')) quit('no', 3, runLast = FALSE)
    # an ended child is a zombie until its parent waits
    is_alive <- function() {
      state <- suppressWarnings(system2('ps', c('-o', 'stat=', '-p', child$pid), stdout = TRUE))
      length(state) > 0 && !startsWith(state, 'Z')
    }
    deadline <- Sys.time() + 20
    while (is_alive() && Sys.time() < deadline) Sys.sleep(0.1)
    cat('child has left:', !is_alive(), '\\n')
    if (is_alive()) tools::pskill(child$pid, 9)"
  expect_match(run_script(script), "child has left: TRUE")
})

test_that("a batch that exceeds the memory is an error", {
  script <- "
    library(runhooks)
    for (batch_size in c(1e10, 1e12, 1e15)) {
      model <- linear_regressor(column_numeric('drat'))
      input <- input_fn(mpg ~ drat, mtcars, batch_size = batch_size, num_epochs = NULL)
      said <- tryCatch(train(model, input, steps = 1), error = function(e) class(e)[[1]])
      cat('said:', said, '\\n')
    }"
  output <- run_script(script)
  expect_length(gregexpr("said: runhooks_error_resource_exhausted", output)[[1]], 3)
})

test_that("Ctrl-C interrupts a single long run", {
  skip_on_os("windows")
  started <- withr::local_tempfile()
  script <- sprintf("
    library(runhooks)
    x <- tf$placeholder('float32', list(1000L, 1000L))
    y <- x
    for (i in 1:1000) y <- tf$matmul(y, x)
    session <- tf$Session()
    value <- matrix(0, 1000, 1000)
    file.create('%s')
    tryCatch(
      session$run(tf$reduce_sum(y), feed_dict = dict(x = value)),
      interrupt = function(condition) cat('interrupted\\n')
    )
    small <- session$run(tf$reduce_sum(x), feed_dict = dict(x = value))
    cat('and runs again:', small, '\\n')", started)
  process <- processx::process$new(
    child_rscript(), c("-e", script), stdout = "|", stderr = "2>&1", env = child_env()
  )
  wait_for(function() file.exists(started), process)
  Sys.sleep(1)
  at <- Sys.time()
  process$interrupt()
  output <- process$read_all_output()
  process$wait()
  expect_match(output, "interrupted\nand runs again: 0")
  # The whole run takes 20 seconds or more, one product 30 milliseconds.
  expect_lt(as.numeric(Sys.time() - at, units = "secs"), 10)
})
