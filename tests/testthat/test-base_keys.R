test_that("keys are TensorFlow's strings", {
  expect_equal(mode_keys()$PREDICT, "infer")
  expect_equal(prediction_keys()$CLASS_IDS, "class_ids")
  expect_equal(metric_keys()$LOSS_MEAN, "average_loss")
  expect_equal(graph_keys()$LOSSES, "losses")
  expect_equal(task_type()$WORKER, "worker")
  expect_length(graph_keys(), 33)
})

test_that("key objects print their values in the order of the names", {
  expect_output(print(mode_keys()), "Available mode keys: eval, infer, train", fixed = TRUE)
})
