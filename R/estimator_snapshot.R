# Saving and restoring models. A restored model always has the weights that were saved. An object in
# use has a stand-in for the newest checkpoint, which serialization converts to a list of files; see
# r/files/snapshot_altrep.cpp. An object with such a list has been restored.

# For a user-specified directory, the snapshot includes only small weights.
checkpoint_snapshot <- function(engine, folder) {
  is_temporary <- isTRUE(engine$is_temporary) || is_within(folder, tempdir())
  cpp_files_to_carry(folder, tempfile("runhooks-now-"), is_temporary)
}

# A restored model uses its original directory while the saved checkpoint is the newest there, and a
# temporary directory otherwise. `trains`: the caller is about to train.
resolve_model_dir <- function(engine, trains = FALSE) {
  engine <- unclass(engine)
  shared_state <- engine$shared_state
  folder <- if (is.null(shared_state$model_dir)) engine$model_dir else shared_state$model_dir
  if (!is.list(shared_state$files)) return(folder)
  if (length(shared_state$files) == 0) {
      # saved without a checkpoint, so the model has the current state of its directory
    shared_state$files <- checkpoint_snapshot(engine, folder)
    return(folder)
  }
  if (!dir.exists(folder)) folder <- engine$model_dir
  found <- cpp_compare_snapshot(folder, shared_state$files)
  if (!found$is_newest) {
    folder <- unpack_snapshot_dir(engine, folder, found)
    shared_state$model_dir <- folder
  }
  # after training, the newest checkpoint replaces the restored snapshot
  if (trains || !found$is_newest) shared_state$files <- checkpoint_snapshot(engine, folder)
  folder
}

unpack_snapshot_dir <- function(engine, folder, found) {
  is_lost <- !found$has_values && !found$is_there
  if (is_lost) abort_lost_checkpoint(folder, found)
  made <- tempfile("runhooks-")
  dir.create(made)
  cpp_unpack_snapshot(made, engine$shared_state$files, folder)
  inform_other_folder(engine, folder, found, made)
  made
}

# The loss of a temporary directory after its session is normal and not reported.
inform_other_folder <- function(engine, folder, found, made) {
  is_gone <- found$newest_step < 0
  if (is_gone && isTRUE(engine$is_temporary)) return(invisible())
  was <- describe_saved(found$checkpoint) # nolint: used by cli
  cli::cli_inform(
    c(
      if (is_gone) {
        "The model directory {.path {folder}} no longer exists or has no checkpoint."
      } else if (identical(was, paste("at step", found$newest_step))) {
        "The model in {.path {folder}} differs from the saved one, although both are {was}."
      } else {
        "The model in {.path {folder}} is at step {found$newest_step}; the object was saved {was}."
      },
      i = "This object has the saved weights and continues in {.path {made}}.",
      i = "To use the model in the directory, create it again with the same {.arg model_dir}."
    ),
    class = "runhooks_message_saved_model"
  )
}

abort_lost_checkpoint <- function(folder, found) {
  abort_plain(
    c(
      paste0(
        "The model was saved ", describe_saved(found$checkpoint), ", and ", folder,
        if (found$newest_step < 0) " no longer has a checkpoint." else paste0(
          " is now at step ", found$newest_step, "."
        )
      ),
      x = paste0(
        "'", found$checkpoint, "' no longer exists, and its weights were too large for the object."
      ),
      i = "To use the model in the directory, create it again with the same `model_dir`.",
      i = paste(
        "`run_config(keep_checkpoint_max = )` keeps more checkpoints, and",
        "`options(runhooks.carried_mb = )` stores larger weights in the object."
      )
    ),
    kind = "failed_precondition", call = user_frame()
  )
}

describe_saved <- function(checkpoint) {
  step <- sub("^.*-", "", checkpoint)
  if (grepl("^[0-9]+$", step)) paste("at step", step) else paste0("with '", checkpoint, "'")
}
