test_that("a relative model_dir is resolved when the model is constructed", {
  here <- withr::local_tempdir()
  there <- withr::local_tempdir()
  withr::local_dir(here)
  model <- mtcars_model(model_dir = "runs/one")
  expect_true(is_absolute_path(model_dir(model)))
  train(model, mtcars_input())
  withr::local_dir(there)
  train(model, mtcars_input())
  expect_length(dir(there), 0)
  expect_equal(variable_value(model, "global_step")[[1]], 8)
  expect_true(file.exists(file.path(here, "runs", "one", "checkpoint")))
})

test_that("every stored path is absolute", {
  here <- withr::local_tempdir()
  withr::local_dir(here)
  whole <- file.path(getwd(), "a")
  expect_equal(run_config(model_dir = "a")$model_dir, whole)
  expect_equal(run_config()$replace(model_dir = "./a")$model_dir, whole)
  expect_equal(hook_checkpoint_saver("a", save_steps = 1)$checkpoint_dir, whole)
  expect_equal(hook_step_counter(output_dir = "a")$output_dir, whole)
  saver <- hook_summary_saver(save_steps = 1, output_dir = "a", summary_op = "loss:0")
  expect_equal(saver$output_dir, whole)
  expect_equal(hook_profiler(save_steps = 1, output_dir = "a")$output_dir, whole)
  expect_equal(hook_stop_at_checkpoint_step("a", 1)$model_dir, whole)
  expect_equal(warm_start_settings("a")$ckpt_to_initialize_from, whole)
  writeLines(c("u", "v"), "a")
  file <- column_categorical_with_vocabulary_file("x", vocabulary_file = "a", vocabulary_size = 2)
  expect_equal(file$vocabulary_file, whole)
  stop_if <- hook_stop_if_higher(mtcars_model(), "loss", 1, eval_dir = "a")
  expect_equal(stop_if$eval_dir, whole)
  expect_equal(model_dir(linear_regressor(column_numeric("x"), config = run_config("a"))), whole)
  # Two spellings of the same folder do not conflict.
  both <- linear_regressor(column_numeric("x"), model_dir = "a", config = run_config(whole))
  expect_equal(model_dir(both), whole)
})

test_that("absolute paths are not changed", {
  for (path in c("/a/../b", "//server/share")) { # lint: allow path
    expect_identical(absolute_path(path), path)
  }
  on_windows_only <- c("C:/x", "c:\\x", "\\\\server\\share") # lint: allow path
  expect_true(all(is_absolute_path(on_windows_only, windows = TRUE)))
  # On systems other than Windows, these are names of files in the working directory.
  expect_false(any(is_absolute_path(on_windows_only, windows = FALSE)))
  expect_identical(absolute_path("~/x"), path.expand("~/x"))
  expect_null(absolute_path(NULL))
  withr::local_dir(withr::local_tempdir())
  expect_identical(absolute_path("."), getwd())
  expect_identical(absolute_path("../x"), file.path(getwd(), "../x"))
  expect_error(absolute_path(5), "`model_dir` must be a single string", fixed = TRUE)
})

test_that("a relative path in a deleted working directory is an informative error", {
  skip_on_os("windows") # a directory in use cannot be removed
  outer <- getwd()
  withr::defer(setwd(outer))
  gone <- withr::local_tempdir()
  setwd(gone)
  unlink(gone, recursive = TRUE)
  expect_error(run_config("a"), "working directory is gone", class = "runhooks_error")
  setwd(outer)
})
