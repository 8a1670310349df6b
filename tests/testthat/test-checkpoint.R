test_that("the variables of a checkpoint are sorted and include the optimizer's", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 1)
  expect_equal(variable_names(model), c(
    "global_step", "linear/linear_model/bias_weights",
    "linear/linear_model/bias_weights/part_0/Ftrl",
    "linear/linear_model/bias_weights/part_0/Ftrl_1", "linear/linear_model/cyl/weights",
    "linear/linear_model/cyl/weights/part_0/Ftrl", "linear/linear_model/cyl/weights/part_0/Ftrl_1",
    "linear/linear_model/drat/weights", "linear/linear_model/drat/weights/part_0/Ftrl",
    "linear/linear_model/drat/weights/part_0/Ftrl_1"
  ))
  expect_identical(variable_value(model, "global_step"), list(global_step = 1))
  expect_equal(dim(variable_value(model)[["linear/linear_model/drat/weights"]]), c(1L, 1L))
  expect_equal(model$estimator$get_variable_names(), variable_names(model))
  expect_equal(model$estimator$get_variable_value("global_step"), 1)
})

test_that("an untrained model and unknown variables are errors", {
  model <- mtcars_model()
  expect_error(
    variable_names(model), "'variable_names()' must be called on a trained model", fixed = TRUE
  )
  expect_error(
    variable_value(model), "'variable_value()' must be called on a trained model", fixed = TRUE
  )
  train(model, mtcars_input(), steps = 1)
  expect_error(variable_value(model, c("foo", "bar")), "Variable not found: foo, bar", fixed = TRUE)
  expect_error(variable_names(3), "must be an estimator", class = "runhooks_error_invalid_argument")
})

test_that("latest_checkpoint() agrees with TensorFlow on unusual state files", {
  folder <- withr::local_tempdir()
  expect_null(latest_checkpoint(folder))
  model <- mtcars_model(folder, save_checkpoints_steps = 1)
  train(model, mtcars_input(), steps = 2)
  expect_equal(latest_checkpoint(folder), file.path(folder, "model.ckpt-2"))
  writeLines("this is no state", file.path(folder, "checkpoint"))
  expect_null(latest_checkpoint(folder)) |>
    expect_warning("no field named") |>
    expect_warning("Checkpoint ignored")
  file.create(file.path(folder, "checkpoint"))
  expect_error(
    train(model, mtcars_input(), steps = 1),
    "Invalid checkpoint state loaded from",
    class = "runhooks_error"
  )
  writeLines("model_checkpoint_path: \"model.ckpt-99\"", file.path(folder, "checkpoint"))
  expect_error(train(model, mtcars_input(), steps = 1), "model.ckpt-99") |>
    expect_warning("Couldn't match files")
})

test_that("a checkpoint of TensorFlow can be read and trained further", {
  folder <- withr::local_tempdir()
  golden_checkpoint("lin_reg_adam", folder)
  model <- linear_regressor(
    list(
      column_numeric("drat"), column_numeric("cyl")
    ), model_dir = folder, optimizer = tf$train$AdamOptimizer(0.05)
  )
  train(model, mtcars_input(), steps = 1)
  expect_equal(variable_value(model, "linear/head/beta1_power")[[1]], 0.9^2, tolerance = 1e-6)
})
