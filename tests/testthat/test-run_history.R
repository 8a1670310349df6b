# run_history() has a row for each run, with the reason for its end.

last_run <- function(model) {
  rows <- run_history(model)
  rows[nrow(rows), ]
}

expect_end <- function(model, why, reason, steps = NULL) {
  run <- last_run(model)
  expect_identical(run$why, why)
  expect_match(run$reason, reason)
  if (!is.null(steps)) expect_equal(run$steps, steps)
  expect_false(is.na(run$ended))
}

endless <- function(...) mtcars_input(..., num_epochs = NULL)

test_that("a successful run records its end: the data or the number of steps", {
  model <- mtcars_model()
  expect_identical(nrow(run_history(model)), 0L)
  train(model, mtcars_input())
  expect_end(model, "data", "the input ended", 4)
  run <- last_run(model)
  expect_equal(run$rows, 32)
  expect_gt(run$rows_per_sec, 0)
  expect_gte(run$waited, 0)
  train(model, endless(), steps = 3)
  expect_end(model, "steps", "3 steps were requested", 3)
  train(model, endless(), max_steps = 9)
  expect_end(model, "steps", "max_steps = 9 was reached", 2)
  train(model, endless(), max_steps = 9)
  expect_end(model, "steps", "max_steps = 9 had been reached before", 0)
  runs <- run_history(model)
  expect_identical(runs$run, 1:4)
  expect_equal(runs$from_step, c(0, 4, 7, 9))
  expect_equal(runs$to_step, c(4, 7, 9, 9))
  expect_true(all(runs$began <= runs$ended))
  expect_false(is.unsorted(runs$began))
  expect_identical(run_history(model_dir(model)), runs)
})

test_that("a hook that stops a run is named, however it requests the stop", {
  model <- mtcars_model()
  asks <- session_run_hook(after_run = function(context, values) context$request_stop())
  train(model, endless(), hooks = list(quiet = session_run_hook(), enough = asks))
  expect_end(model, "hook", "^enough$", 1)
  before <- session_run_hook(before_run = function(context) {
    context$request_stop()
    NULL
  })
  train(model, endless(), hooks = list(early = before))
  expect_end(model, "hook", "^early$", 1)
  raises <- session_run_hook(before_run = function(context) stop_iteration())
  train(model, endless(), steps = 10, hooks = list(raises = raises))
  expect_end(model, "hook", "^raises$", 0)
  coordinated <- local({
    coordinator <- NULL
    session_run_hook(
      after_create_session = function(session, coord) coordinator <<- coord,
      after_run = function(context, values) coordinator$request_stop()
    )
  })
  train(model, endless(), hooks = list(coordinated = coordinated))
  expect_end(model, "hook", "^coordinated$", 1)
  train(model, endless(), hooks = hook_stop_at_step(num_steps = 2))
  expect_end(model, "hook", "^StopAtStepHook$", 2)
})

test_that("early stopping records the metric, and since when", {
  model <- mtcars_model()
  train(
    model, endless(), steps = 400, validation = mtcars_input(),
    stop = early_stopping("loss", patience = 20, every_n_steps = 5, min_delta = 1e9)
  )
  expect_end(model, "early_stopping", "\"loss\" has been no better for 20 steps")
  run <- last_run(model)
  expect_identical(run$arguments[[1]]$stop$metric_name, "loss")
  expect_true(run$arguments[[1]]$validation)
  seen <- run$evaluations[[1]]
  expect_setequal(seen$data, "validation")
  expect_true(all(c("loss", "average_loss") %in% seen$metric))
  expect_equal(unique(seen$step), seq(0, 20, by = 5))
})

test_that("the last log lines of a run and its hooks are stored", {
  model <- mtcars_model()
  logs <- hook_logging_tensor("global_step", every_n_iter = 1)
  suppressMessages(train(model, endless(), steps = 3, hooks = logs))
  expect_match(last_run(model)$log[[1]], "global_step = [0-3]", all = FALSE)
  shown <- testthat::capture_messages(train(model, endless(), steps = 150, hooks = logs))
  lines <- last_run(model)$log[[1]]
  expect_length(lines, 100)
  expect_equal(lines, sub("\n$", "", sub("^INFO:tensorflow:", "", utils::tail(
    grep("^INFO:tensorflow", shown, value = TRUE), 100
  ))))
})

test_that("an error is recorded with the hook that raised it, including NaN losses", {
  model <- mtcars_model()
  train(model, mtcars_input())
  fails <- session_run_hook(after_run = function(context, values) stop("no more of this"))
  expect_error(train(model, endless(), hooks = list(mine = fails)), "no more of this")
  expect_end(model, "error", "no more of this.*in after_run\\(\\) of hook `mine` at global step 5", 1)
  expect_error(train(model, function() stop("no data today")), "no data today")
  expect_end(model, "error", "no data today", 0)
  nan <- mtcars_model()
  expect_error(
    train(nan, mtcars_input(data = transform(mtcars, mpg = mpg * 1e30))),
    class = "runhooks_error_nan_loss"
  )
  expect_end(nan, "error", "NaN loss during training.*NanTensorHook")
})

test_that("a run records arguments, configuration, hooks, seeds, version and machine", {
  model <- mtcars_model(seed = 17, save_checkpoints_steps = 3)
  train(model, mtcars_input(shuffle = FALSE), steps = 2, hooks = list(mine = session_run_hook()))
  run <- last_run(model)
  given <- run$arguments[[1]]
  expect_equal(given$steps, 2)
  expect_equal(given$batch_size, 8)
  expect_identical(given$features, c("cyl", "drat"))
  expect_identical(given$response, "mpg")
  expect_false(given$shuffle)
  expect_equal(run$config[[1]]$save_checkpoints_steps, 3)
  expect_true(all(c("mine", "CheckpointSaverHook", "StopAtStepHook") %in% run$hooks[[1]]))
  expect_equal(run$seed, 17)
  expect_identical(run$version, as.character(utils::packageVersion("runhooks")))
  expect_equal(run$process, Sys.getpid())
  expect_match(run$machine, "processor")
  # If the user gave no seed, the seeds that were drawn are recorded.
  drawn <- mtcars_model(seed = NULL)
  train(drawn, mtcars_input(), steps = 1)
  expect_true(is.na(last_run(drawn)$seed))
  expect_gt(length(last_run(drawn)$seeds[[1]]), 0)
})

test_that("evaluations are recorded in the row of their run", {
  model <- mtcars_model(save_checkpoints_steps = 5)
  evaluate_untrained <- untrained(evaluate(model, mtcars_input()))
  expect_identical(nrow(run_history(model)), 0L)
  train_and_evaluate(
    model, train_spec(endless(), max_steps = 10),
    eval_spec(mtcars_input(), name = "test", throttle_secs = 0)
  )
  run <- last_run(model)
  expect_identical(run$why, "steps")
  expect_equal(unique(run$evaluations[[1]]$step), c(5, 10))
  expect_setequal(run$evaluations[[1]]$data, "test")
  metrics <- evaluate(model, mtcars_input())
  seen <- last_run(model)$evaluations[[1]]
  expect_equal(seen$value[seen$data == "evaluation" & seen$metric == "loss"], metrics$loss)
  train(model, endless(), steps = 1)
  expect_identical(nrow(last_run(model)$evaluations[[1]]), 0L)
})

test_that("formula models and custom models record runs", {
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(model, steps = 2)
  expect_end(model, "steps", "2 steps", 2)
  own <- estimator(function(features, labels, mode) {
    output <- tf$layers$dense(features, 1L)
    if (mode == "infer") return(estimator_spec(mode, predictions = output))
    loss <- tf$losses$mean_squared_error(labels, tf$squeeze(output, 1L))
    step <- tf$train$get_global_step()
    train_op <- tf$train$GradientDescentOptimizer(1e-4)$minimize(loss, global_step = step)
    estimator_spec(mode, loss = loss, train_op = train_op)
  }, model_dir = withr::local_tempdir())
  train(own, mtcars_input())
  expect_end(own, "data", "the input ended", 4)
})

test_that("a training in a hook has its own record", {
  model <- mtcars_model()
  other <- mtcars_model()
  inner <- session_run_hook(after_create_session = function(session, coord) {
    rows <- run_history(model)
    expect_identical(rows$why, "running")
    train(other, mtcars_input(), steps = 1)
  })
  train(model, mtcars_input(), hooks = inner)
  expect_identical(run_history(model)$why, "data")
  expect_identical(run_history(other)$why, "steps")
})

test_that("a training that fails before its first step leaves no record", {
  folder <- withr::local_tempdir()
  failing <- session_run_hook(begin = function() stop("no"))
  expect_error(train(mtcars_model(folder), mtcars_input(), hooks = failing), "no")
  expect_false(any(c(runs_file, record_file, ".runhooks.lock") %in% dir(folder, all.files = TRUE)))
})

test_that("a saved model does not contain the record of its runs", {
  model <- linear_regressor(column_numeric("drat"))
  train(model, input_fn(mpg ~ drat, mtcars), steps = 1)
  saved <- withr::local_tempfile()
  saveRDS(model, saved)
  expect_identical(run_history(readRDS(saved))$why, "steps")
  unlink(model_dir(model), recursive = TRUE)
  expect_identical(nrow(suppressMessages(run_history(readRDS(saved)))), 0L)
})

test_that("the record of a directory keeps the last 50 runs when it grows long", {
  model <- mtcars_model(withr::local_tempdir())
  log <- file.path(model_dir(model), runs_file)
  for (i in 1:3) suppressMessages(train(model, mtcars_input(), steps = 1))
  once <- readBin(log, "raw", file.size(log))
  while (file.size(log) < 2e5) {
    con <- file(log, "ab")
    writeBin(once, con)
    close(con)
  }
  suppressMessages(train(model, mtcars_input(), steps = 1))
  expect_lt(file.size(log), 1e5)
  expect_identical(nrow(run_history(model)), 51L)
  expect_identical(tail(run_history(model)$to_step, 1), 4)
})

# --- files that other programs have modified

test_that("truncated and changed records are skipped with a warning", {
  model <- mtcars_model()
  for (i in 1:3) train(model, endless(), steps = 1)
  path <- file.path(model_dir(model), runs_file)
  bytes <- readBin(path, "raw", file.size(path))
  writeBin(utils::head(bytes, -5), path)
  expect_warning(runs <- run_history(model), "damaged", class = "runhooks_warning")
  expect_identical(runs$why, c("steps", "steps", "killed"))
  # Records that are written after the damage can be read.
  train(model, endless(), steps = 1)
  expect_warning(runs <- run_history(model), "damaged")
  expect_identical(runs$why, c("steps", "steps", "killed", "steps"))
  expect_equal(runs$to_step[[4]], 4)
  changed <- bytes
  changed[[100]] <- xor(changed[[100]], as.raw(255))
  writeBin(changed, path)
  expect_warning(runs <- run_history(model), "damaged")
  expect_identical(nrow(runs), 2L)
})

test_that("changed bytes never crash R, and never give anything but rows", {
  model <- mtcars_model()
  train(model, endless(), steps = 1)
  evaluate(model, mtcars_input())
  path <- file.path(model_dir(model), runs_file)
  bytes <- readBin(path, "raw", file.size(path))
  set.seed(property_seed("run_history"))
  for (i in 1:50) {
    changed <- bytes
    at <- sample(length(changed), 3)
    changed[at] <- as.raw(sample(0:255, 3, replace = TRUE))
    writeBin(changed, path)
    expect_s3_class(suppressWarnings(run_history(model)), "tbl_df")
  }
})

test_that("an invalid folder is an error; one without runs has no rows", {
  expect_error(run_history(1), class = "runhooks_error_invalid_argument")
  empty <- run_history(withr::local_tempdir())
  expect_identical(nrow(empty), 0L)
  expect_output(print(empty), "^0 runs in ")
})

test_that("it prints one line per run, and a selection is a tibble", {
  model <- mtcars_model()
  train(model, mtcars_input())
  train(model, endless(), steps = 1)
  lines <- utils::capture.output(print(run_history(model)))
  expect_match(lines[[1]], "^2 runs in ")
  expect_match(lines[[2]], "run +began +took +steps +rows/s +ended by")
  expect_match(lines[[3]], "1 .* 0 to 4 .*data: the input ended")
  expect_match(lines[[4]], "2 .* 4 to 5 .*steps: 1 step")
  expect_output(print(run_history(model)[c("run", "why")]), "tibble")
})

run_child <- function(folder) {
  script <- normalizePath(test_path("run_child.R"))
  processx::process$new(
    child_rscript(), c(script, folder), stdout = "|", stderr = "2>&1", env = child_env()
  )
}

# Waits until the child prints `line`. Other output is a failure.
expect_said <- function(child, line) {
  said <- character()
  while (child$is_alive() || child$is_incomplete_output()) {
    child$poll_io(1000)
    said <- c(said, child$read_output_lines())
    if (line %in% said) return(invisible())
  }
  stop("the child has ended: ", paste(said, collapse = "\n"))
}

skip_without_signals <- function() {
  skip_if_not_installed("processx")
  skip_on_os("windows") # no signals there
}

test_that("Ctrl-C is recorded as an interrupt", {
  skip_without_signals()
  folder <- withr::local_tempdir()
  child <- run_child(folder)
  expect_said(child, "training")
  child$interrupt()
  expect_said(child, "interrupted")
  child$wait()
  expect_end(folder, "interrupt", "the user stopped it")
  expect_gte(last_run(folder)$to_step, 20)
  expect_equal(last_run(folder)$to_step, cpp_saved_global_step(folder))
})

test_that("a second training of the folder is an error; a killed one does not block others", {
  skip_without_signals()
  folder <- withr::local_tempdir()
  child <- run_child(folder)
  expect_said(child, "training")
  expect_identical(run_history(folder)$why, "running")
  # Checkpoints are not compared: while the other process trains, it deletes old ones and adds new
  # ones.
  before <- grep("ckpt|[.]saving[.]", list.files(folder), invert = TRUE, value = TRUE)
  expect_gt(length(before), 2)
  error <- expect_error(
    train(mtcars_model(folder), mtcars_input()), class = "runhooks_error_failed_precondition"
  )
  expect_match(conditionMessage(error), folder, fixed = TRUE)
  expect_match(conditionMessage(error), paste("Process", child$get_pid()), fixed = TRUE)
  expect_true(all(before %in% list.files(folder)))
  expect_s3_class(evaluate(mtcars_model(folder), mtcars_input()), "tbl_df")
  expect_true(child$is_alive())
  child$signal(tools::SIGKILL)
  child$wait()
  runs <- run_history(folder)
  expect_identical(runs$why, "killed")
  expect_true(is.na(runs$ended) && is.na(runs$steps))
  expect_gt(nrow(runs$evaluations[[1]]), 0)
  train(mtcars_model(folder), mtcars_input())
  expect_identical(run_history(folder)$why, c("killed", "data"))
})

test_that("a forked child does not hold its parent's lock", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  model <- mtcars_model(folder)
  messages <- NULL
  hook <- session_run_hook(after_create_session = function(session, coord) {
    messages <<- in_forks(1, function(i) {
      tryCatch(train(model, mtcars_input()), error = function(e) conditionMessage(e))
    })
  })
  train(model, mtcars_input(), hooks = hook)
  expect_match(messages[[1]], paste("Process", Sys.getpid()))
  expect_identical(run_history(folder)$why, "data")
})
