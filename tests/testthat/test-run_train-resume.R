# Training that stops within a data frame and resumes there.

resume_data <- function(n = 30) data.frame(x = seq_len(n) / n, y = (seq_len(n) * 7) %% 11)

resume_model <- function(model_dir = withr::local_tempdir(.local_envir = parent.frame())) {
  linear_regressor(column_numeric("x"), model_dir = model_dir, optimizer = "Adagrad")
}

resume_input <- function(data = resume_data(), ..., batch_size = 7) {
  input_fn(data, features = "x", response = "y", batch_size = batch_size, ...)
}

# Returns the rows that each step of the training reads, identified by their feature.
rows_read <- function(model, input, ...) {
  rows <- list()
  spy <- session_run_hook(
    before_run = function(context) session_run_args(context$session$graph$get_tensor_by_name(
      "IteratorGetNext:0"
    )),
    after_run = function(context, values) rows[[length(rows) + 1]] <<- values$results[[1]]
  )
  train(model, input, hooks = spy, ...)
  lapply(rows, function(x) round(x * 30))
}

test_that("26 and 22 steps equal 48 steps, bit for bit, however the rows are read", {
  ways <- list(
    list(shuffle = TRUE, num_epochs = NULL), list(shuffle = TRUE, num_epochs = 40),
    list(shuffle = FALSE, num_epochs = NULL)
  )
  for (way in ways) {
    input <- do.call(resume_input, way)
    set.seed(4)
    whole <- resume_model()
    train(whole, input, steps = 48)
    set.seed(4)
    parts <- resume_model()
    train(parts, input, steps = 26)
    train(parts, input, steps = 22)
    expect_identical(variable_value(parts), variable_value(whole))
  }
})

test_that("another process and train(<data frame>) also resume bit for bit", {
  skip_if_not_installed("processx")
  directory <- withr::local_tempdir()
  script <- "
    library(runhooks)
    args <- commandArgs(TRUE)
    set.seed(as.integer(args[[2]]))
    data <- data.frame(x = seq_len(30) / 30, y = (seq_len(30) * 7) %% 11)
    model <- linear_regressor(y ~ x, data = data, model_dir = args[[1]])
    train(model, data, steps = as.integer(args[[3]]), batch_size = 7)
  "
  file <- file.path(directory, "train.R")
  writeLines(script, file)
  run <- function(dir, seed, steps) {
    processx::run(
      child_rscript(), c(file, file.path(directory, dir), seed, steps), env = child_env()
    )
  }
  run("whole", 1, 48)
  run("parts", 1, 26)
  run("parts", 99, 22)
  values <- function(dir) {
    path <- latest_checkpoint(file.path(directory, dir))
    cpp_checkpoint_values(path, checkpoint_names(path))
  }
  expect_identical(values("parts"), values("whole"))
})

test_that("a completed pass is followed by a new one, as in TensorFlow", {
  model <- resume_model()
  input <- resume_input(num_epochs = 3)
  steps <- function() variable_value(model, "global_step")[[1]]
  for (i in 1:3) train(model, input)
  expect_equal(steps(), 39)
  exact <- resume_model()
  for (i in 1:2) {
    rows <- rows_read(exact, resume_input(shuffle = FALSE, batch_size = 10), steps = 3)
    expect_equal(unlist(rows), 1:30)
  }
})

test_that("fewer remaining steps of a pass than requested are reported", {
  model <- resume_model()
  input <- resume_input(shuffle = FALSE)
  expect_equal(unlist(rows_read(model, input, steps = 2)), 1:14)
  expect_message(
    rows <- rows_read(model, input, steps = 100),
    "Training completed after 3 steps but 100 steps were specified", fixed = TRUE
  )
  expect_equal(unlist(rows), 15:30)
})

test_that("resume = FALSE and numpy_input_fn() begin at the first row, as in TensorFlow", {
  model <- resume_model()
  input <- resume_input(shuffle = FALSE, resume = FALSE)
  for (i in 1:2) expect_equal(unlist(rows_read(model, input, steps = 2)), 1:14)
  arrays <- numpy_input_fn(
    list(x = resume_data()$x), resume_data()$y, batch_size = 7, num_epochs = NULL, shuffle = FALSE
  )
  other <- resume_model()
  for (i in 1:2) expect_equal(unlist(rows_read(other, arrays, steps = 2)), 1:14)
  expect_error(resume_input(resume = "yes"), "`resume` must be TRUE or FALSE", fixed = TRUE)
})

test_that("other rows or other reading options restart the input with a message", {
  model <- resume_model()
  train(model, resume_input(shuffle = FALSE), steps = 2)
  changed <- resume_data()
  changed$y[[30]] <- -1
  expect_message(
    rows <- rows_read(model, resume_input(changed, shuffle = FALSE), steps = 2),
    "belongs to other data. The input starts at the first element. Saved: .* Now: "
  )
  expect_equal(unlist(rows), 1:14)
  more <- resume_data(40)
  expect_message(train(model, resume_input(more), steps = 1), "other data")
  expect_message(
    train(model, resume_input(more, batch_size = 8), steps = 1),
    "to another input pipeline. .* Saved: .*batch_size = 7.* Now: .*batch_size = 8"
  )
  stopping_input <- resume_input(more, batch_size = 8, on_other_data = "stop")
  train(model, stopping_input, steps = 1)
  expect_error(
    train(model, resume_input(changed, batch_size = 8, on_other_data = "stop"), steps = 1),
    "to other data.*Saved: .*Now: ", class = "runhooks_error_failed_precondition"
  )
  ended <- resume_model()
  train(ended, resume_input())
  expect_equal(lines_of_log(train(ended, resume_input(changed))), character())
})

test_that("strings are compared by content, whatever the process has read before", {
  data <- data.frame(g = rep(c("b", "a", "c"), 10), y = 1:30)
  column <- column_categorical_with_vocabulary_list("g", vocabulary_list = c("a", "b", "c"))
  folder <- withr::local_tempdir()
  model <- linear_regressor(column, model_dir = folder)
  input <- function(data) input_fn(data, features = "g", response = "y", batch_size = 7)
  train(model, input(data), steps = 1)
  expect_equal(lines_of_log(train(model, input(data), steps = 1)), character())
  data$g[[30]] <- "a"
  lines <- lines_of_log(train(model, input(data), steps = 1))
  expect_match(lines, "other data")
})

test_that("the position is in the model's checkpoint, where TensorFlow ignores it", {
  model <- resume_model()
  train(model, resume_input(), steps = 2)
  path <- latest_checkpoint(model_dir(model))
  own <- grep("^runhooks/", cpp_checkpoint_names(path), value = TRUE)
  expect_true(all(startsWith(own, "runhooks/iterator/")))
  expect_gt(length(own), 0)
  expect_false(any(startsWith(variable_names(model), "runhooks/")))
  left <- dir(model_dir(model), pattern = "input")
  expect_length(left, 0)
})

test_that("a session that replaces a lost one resumes at its checkpoint", {
  model <- linear_regressor(
    column_numeric("x"), model_dir = withr::local_tempdir(),
    config = run_config(save_checkpoints_steps = 1)
  )
  has_failed <- FALSE
  fails <- session_run_hook(after_run = function(context, values) {
    if (has_failed || variable_value(model, "global_step")[[1]] < 2) return()
    has_failed <<- TRUE
    stop(tf$errors$AbortedError(NULL, NULL, "lost"))
  })
  seen <- integer()
  spy <- session_run_hook(
    before_run = function(context) session_run_args("IteratorGetNext:0"),
    after_run = function(context, values) seen <<- c(seen, round(values$results[[1]] * 30))
  )
  train(model, resume_input(shuffle = FALSE), hooks = list(spy, fails))
  expect_true(has_failed)
  expect_equal(sort(unique(seen)), 1:30)
  expect_equal(utils::tail(seen, 2), 29:30)
})

# --- checkpoints that are damaged, or that a killed run has written

saving_model <- function(model_dir) {
  linear_regressor(
    column_numeric("x"), model_dir = model_dir,
    config = run_config(tf_random_seed = 1, save_checkpoints_steps = 2, keep_checkpoint_max = 3)
  )
}

damage <- list(
  "its files are missing|Couldn't match files" = function(path) unlink(paste0(path, ".index")),
  "data-00000" = function(path) unlink(paste0(path, ".data-00000-of-00001")),
  "truncated" = function(path) {
    file <- paste0(path, ".data-00000-of-00001")
    writeBin(readBin(file, "raw", file.size(file) - 1), file)
  },
  "checksum" = function(path) {
    file <- paste0(path, ".data-00000-of-00001")
    bytes <- readBin(file, "raw", file.size(file))
    bytes[[1]] <- xor(bytes[[1]], as.raw(1))
    writeBin(bytes, file)
  }
)

test_that("only training falls back to the checkpoint before a damaged one", {
  directory <- withr::local_tempdir()
  whole <- file.path(directory, "whole")
  train(saving_model(whole), resume_input(num_epochs = NULL), steps = 6)
  expect_equal(basename(latest_checkpoint(whole)), "model.ckpt-6")
  for (problem in names(damage)) {
    folder <- file.path(directory, "damaged")
    unlink(folder, recursive = TRUE)
    dir.create(folder)
    file.copy(list.files(whole, full.names = TRUE), folder)
    damage[[problem]](file.path(folder, "model.ckpt-6"))
    model <- saving_model(folder)
    expect_unreadable <- function(expr) {
      error <- expect_error(expr, "model.ckpt-6, cannot be read", class = "runhooks_error_data_loss")
      expect_match(conditionMessage(error), problem)
      expect_match(conditionMessage(error), "The checkpoint before it, .*model.ckpt-4, can be read")
    }
    expect_unreadable(evaluate(model, resume_input()))
    expect_unreadable(predict(model, resume_input()))
    expect_unreadable(export_savedmodel(model, file.path(directory, "export")))
    if (problem != "checksum") expect_unreadable(variable_value(model))
    before <- file.path(folder, "model.ckpt-4")
    expect_equal(evaluate(model, resume_input(), checkpoint_path = before)$global_step, 4)
    warnings <- capture_warnings(train(model, resume_input(num_epochs = NULL), steps = 2))
    expect_match(warnings, "The checkpoint before it, .*model.ckpt-4, is used", all = FALSE)
    expect_match(warnings, problem, all = FALSE)
    expect_silent(result <- evaluate(model, resume_input()))
    expect_equal(result$global_step, 6)
    state <- readLines(file.path(folder, "checkpoint"))
    expect_equal(sum(grepl("model.ckpt-6", state)), 2)
  }
})

test_that("a model whose checkpoints were all deleted does not predict by its initial weights", {
  folder <- withr::local_tempdir()
  train(saving_model(folder), resume_input(), steps = 1)
  unlink(list.files(folder, "^model.ckpt", full.names = TRUE))
  model <- saving_model(folder)
  for (use in list(predict, evaluate)) {
    expect_error(
      use(model, resume_input()), "its files are missing", class = "runhooks_error_data_loss"
    )
  }
})

test_that("an unchanged step is not saved again, and no existing data file is overwritten", {
  folder <- withr::local_tempdir()
  model <- saving_model(folder)
  train(model, resume_input(num_epochs = NULL), steps = 2)
  files <- function() sort(list.files(folder, "^model.ckpt"))
  times <- function() file.info(list.files(folder, "^model.ckpt-2", full.names = TRUE))$mtime
  before <- times()
  Sys.sleep(0.01)
  train(model, resume_input(num_epochs = NULL), max_steps = 2)
  seen <- session_run_hook()
  train(model, resume_input(num_epochs = NULL), steps = 1, hooks = seen)
  expect_identical(times(), before)
  # A hook that has state is added at a step that has already been saved.
  keeper <- session_run_hook(
    save_state = function() list(at = 1), restore_state = function(state) NULL
  )
  train(model, resume_input(num_epochs = NULL), max_steps = 3, hooks = list(keeper = keeper))
  train(model, resume_input(num_epochs = NULL), steps = 1, hooks = list(keeper = keeper))
  expect_true(all(c(
    "model.ckpt-3.data-00000-of-00002", "model.ckpt-3.data-00001-of-00002", "model.ckpt-3.index"
  ) %in% files()))
  expect_false("model.ckpt-3.data-00000-of-00001" %in% files())
  path <- file.path(folder, "model.ckpt-3")
  expect_true(any(grepl("hook_state.*keeper", cpp_checkpoint_names(path))))
})
