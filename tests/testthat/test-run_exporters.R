# Returns the steps, out of `steps`, at which the exporter exported the model.
exported_steps <- function(exporter, model, steps) {
  Filter(function(step) {
    result <- list(loss = 1, global_step = step)
    path <- file.path(model_dir(model), "export", exporter$name)
    !is.null(exporter$export(model, path, "ckpt", result, FALSE))
  }, steps)
}

test_that("steps_exporter() exports at the first evaluation at or after each step", {
  model <- toy_model()
  local_replaced(saved_model_export = fake_export(new_recorder(), model_dir(model)))
  expect_equal(exported_steps(steps_exporter(c(20, 10)), model, c(5, 8, 11, 19, 20, 30)), c(11, 20))
  expect_equal(exported_steps(steps_exporter(c(2, 3, 9)), model, c(4, 8, 9, 10)), c(4, 9))
  expect_equal(steps_exporter(1)$name, "steps_exporter")
})

test_that("steps_exporter() does not repeat exports of earlier runs", {
  model <- toy_model()
  local_replaced(saved_model_export = fake_export(new_recorder(), model_dir(model)))
  cpp_write_events(file.path(model_dir(model), "eval"), "", c(5, 12), list(c(loss = 5), c(loss = 2)))
  exporter <- steps_exporter(c(10, 20), event_file_pattern = "eval/*.tfevents.*")
  expect_equal(exported_steps(exporter, model, c(13, 21)), 21)
})

test_that("steps_exporter() writes models during training, and rejects invalid steps", {
  model <- toy_model(save_checkpoints_steps = 2)
  train_and_evaluate(
    model, train_spec(toy_input(num_epochs = NULL), max_steps = 6),
    eval_spec(toy_input(), exporters = steps_exporter(c(3, 6)), throttle_secs = 0)
  )
  expect_length(dir(file.path(model_dir(model), "export", "steps_exporter")), 2)
  for (steps in list(0, -1, numeric(), 1.5, "a")) {
    expect_error(
      tf$contrib$estimator$StepsExporter(steps), "steps_to_keep",
      class = "runhooks_error_invalid_argument"
    )
  }
})
