test_that("fields have TensorFlow's defaults and can be replaced in a copy", {
  config <- run_config()
  expect_equal(config$save_summary_steps, 100)
  expect_equal(config$keep_checkpoint_max, 5)
  expect_equal(config$save_checkpoints_secs, 600)
  expect_true(config$is_chief)
  changed <- config$replace(tf_random_seed = 11L, save_summary_steps = 12L)
  expect_equal(changed$tf_random_seed, 11)
  expect_null(config$tf_random_seed)
  expect_true("log_step_count_steps" %in% names(config))
})

test_that("setting one checkpoint interval clears the other", {
  expect_null(run_config(save_checkpoints_steps = 5)$save_checkpoints_secs)
  expect_equal(run_config()$replace(save_checkpoints_steps = 5)$save_checkpoints_steps, 5)
  both_off <- run_config(save_checkpoints_secs = NULL)
  expect_null(both_off$save_checkpoints_steps)
  expect_null(both_off$save_checkpoints_secs)
})

test_that("a configuration prints on one line", {
  expect_snapshot_text(run_config(tf_random_seed = 1))
})

test_that("invalid configurations are errors", {
  expect_snapshot_text({
    run_config(save_checkpoints_steps = 1, save_checkpoints_secs = 2)
    run_config()$replace(speed = 3)
    run_config(keep_checkpoint_max = -1)
    run_config(tf_random_seed = "one")
    run_config(log_step_count_steps = 1.5)
  })
})

test_that("model_dir comes from the argument or the configuration", {
  expect_equal(
    model_dir(linear_regressor(column_numeric("a"), config = run_config(model_dir = "/x/y"))),
    "/x/y"
  )
  expect_equal(
    model_dir(linear_regressor(column_numeric("a"), model_dir = "~/z")), path.expand("~/z")
  )
})

test_that("a model_dir that is empty or marked as bytes is refused", {
  bytes <- "m\xfc"
  Encoding(bytes) <- "bytes"
  for (folder in list("", bytes)) {
    expect_error(
      linear_regressor(mpg ~ wt, mtcars, model_dir = folder), "`model_dir` must be",
      class = "runhooks_error_invalid_argument"
    )
  }
})

test_that("mistakes in names of properties are explained", {
  expect_error(
    run_config(save_checkpoint_steps = 2), "Did you mean .*save_checkpoints_steps",
    class = "runhooks_error_invalid_argument"
  )
  for (run in list(function() run_config()$replace(5), function() run_config()$replace(1, 2))) {
    expect_error(run(), "need names", class = "runhooks_error_invalid_argument")
  }
})

test_that("assignments to a configuration are checked as in replace()", {
  config <- run_config()
  config$save_checkpoints_steps <- 10
  expect_equal(config$save_checkpoints_steps, 10)
  expect_null(config$save_checkpoints_secs)
  config[["tf_random_seed"]] <- 3
  expect_equal(config$tf_random_seed, 3)
  expect_error(config$tf_random_sed <- 1, "Did you mean", class = "runhooks_error_invalid_argument")
  expect_error(config$tf_random_seed <- "a", class = "runhooks_error_invalid_argument")
})
