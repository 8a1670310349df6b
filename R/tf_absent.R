# Members of TensorFlow that `tf` does not have, and what to use instead.

# The advice of the first pattern that matches the full name, or NULL.
advice_for_absent <- function(full_name) {
  for (entry in absent_members) if (grepl(entry[[1]], full_name)) return(entry[[2]])
  NULL
}

absent_members <- list(
  c(
    "^train[.](.*batch|.*input_producer|limit_epochs|.*[Qq]ueue_?[Rr]unner)$|Queue$|Reader$",
    "Datasets replace queues and readers: see {.fn tensor_slices_dataset},
     {.fn text_line_dataset}, {.fn tfrecord_dataset} and {.fn dataset_batch}."
  ),
  c(
    "^keras",
    "Keras is not part of this package. Build layers in a model function with {.code tf$layers}, and
     use {.code tf$losses} and {.code tf$train}."
  ),
  c(
    "eager|GradientTape|^function$|^wrap_function$|^autograph",
    "This package builds graphs: {.code tf$Session()} runs them, and {.code tf$gradients()}
     differentiates."
  ),
  c(
    "^saved_model[.](load|loader)|predictor|SavedModelEstimator",
    "Use {.fn load_savedmodel} to read a SavedModel."
  ),
  c(
    "^saved_model|export_(all_)?saved_model",
    "Use {.fn export_savedmodel} to write a SavedModel."
  ),
  c(
    "^(contrib[.])?lookup",
    "Use {.fn column_categorical_with_vocabulary_list}, or {.fn match} before the data become
     tensors."
  ),
  c(
    "^(contrib[.])?distribute|SyncReplicas|^train[.](Server|ClusterSpec|replica_device_setter)|tpu",
    "Use {.fn mpi_strategy} to train in several processes."
  ),
  c(
    "replicate_model_fn|TowerOptimizer|cluster_resolver",
    "Use {.fn mpi_strategy} to train in several processes."
  ),
  c(
    "read_file|decode_(jpeg|image|gif|bmp)|matching_files",
    "Read files with R: in {.fn dataset_map}, {.code on_values(function(path) ...)} calls an R
     function for each element."
  ),
  c(
    "write_file|serialize_tensor",
    "Write values with R, in a hook or after {.code session$run()}."
  ),
  c(
    "rnn|RNN|LSTM|GRU",
    "Recurrent layers are not available. {.code tf$while_loop()} and {.code tf$scan()} compute
     sequences."
  ),
  c(
    "boosted_trees_.*_in_memory",
    "{.fn boosted_trees_regressor} and {.fn boosted_trees_classifier} train in memory by default."
  ),
  c(
    "SessionManager|Supervisor|basic_train_loop|^contrib[.]training[.]train$",
    "Use {.code tf$train$MonitoredTrainingSession()} or {.fn train}."
  ),
  c(
    "evaluate_once|evaluate_repeatedly|early_stopping$|Experiment|learn_runner",
    "Use {.fn evaluate}, {.fn train_and_evaluate} and {.fn early_stopping}."
  ),
  c("^train[.]Checkpoint", "Use {.code tf$train$Saver()}."),
  c(
    "^train[.]warm_start",
    "Use the argument {.arg warm_start_from} of a model, or
     {.code tf$train$init_from_checkpoint()}."
  ),
  c("^flags|^app[.]run", "Use {.fn flags} for the arguments of a script."),
  c(
    "complex|^(math[.])?(real|imag|conj|angle)$|fft|^signal",
    "Complex numbers are not available."
  )
)
