test_that("absent members of TensorFlow name what replaces them", {
  says <- function(expr, pattern) {
    expect_error(expr, pattern, class = "runhooks_error_not_found")
  }
  says(tf$train$shuffle_batch, "tensor_slices_dataset")
  says(tf$FIFOQueue, "tensor_slices_dataset")
  says(tf$keras$layers$Dense, "tf\\$layers")
  says(tf$saved_model$loader, "export_savedmodel")
  says(tf$contrib$predictor$from_saved_model, "load_savedmodel")
  says(tf$contrib$lookup, "column_categorical_with_vocabulary_list")
  says(tf$distribute$MirroredStrategy, "mpi_strategy")
  says(tf$enable_eager_execution, "tf\\$Session")
  says(tf$io$decode_jpeg, "on_values")
  says(tf$nn$rnn_cell, "Recurrent")
  says(tf$train$CheckpointManager, "Saver")
  expect_no_match(conditionMessage(expect_error(tf$nosuch)), "Use ")
})
