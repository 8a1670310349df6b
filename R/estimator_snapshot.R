# Saves and restores models with saveRDS() and readRDS(). A restored model always has the weights
# that were saved. `files` of a model in use is an ALTREP object that stands for the newest
# checkpoint. Serialization converts it to a list of files (src/r/files/snapshot_altrep.cpp). So if
# `files` is a list, the model has been restored.

# Creates the snapshot of the newest checkpoint in `dir`. If the user has specified the directory,
# saving includes the weights only if they are small.
checkpoint_snapshot <- function(handle, dir) {
  is_temporary <- isTRUE(handle$is_temporary) || is_within(dir, tempdir())
  cpp_snapshot_files(dir, tempfile("runhooks-now-"), is_temporary)
}

# Returns the directory of a model. A restored model uses its original directory as long as the
# saved checkpoint is the newest one there. Otherwise it uses a temporary directory. `trains`: the
# caller is about to train.
resolve_model_dir <- function(handle, trains = FALSE) {
  handle <- unclass(handle)
  shared_state <- handle$shared_state
  dir <- if (is.null(shared_state$model_dir)) handle$model_dir else shared_state$model_dir
  if (!is.list(shared_state$files)) return(dir)
  if (length(shared_state$files) == 0) {
    # the model was saved without a checkpoint, so it uses the current state of its directory
    shared_state$files <- checkpoint_snapshot(handle, dir)
    return(dir)
  }
  if (!dir.exists(dir)) dir <- handle$model_dir
  comparison <- cpp_compare_snapshot(dir, shared_state$files)
  if (!comparison$is_newest) {
    dir <- unpack_snapshot_dir(handle, dir, comparison)
    shared_state$model_dir <- dir
  }
  # after training, the newest checkpoint replaces the restored snapshot
  if (trains || !comparison$is_newest) shared_state$files <- checkpoint_snapshot(handle, dir)
  dir
}

unpack_snapshot_dir <- function(handle, dir, comparison) {
  is_lost <- !comparison$has_values && !comparison$is_there
  if (is_lost) abort_lost_checkpoint(dir, comparison)
  new_dir <- tempfile("runhooks-")
  dir.create(new_dir)
  cpp_unpack_snapshot(new_dir, handle$shared_state$files, dir)
  inform_new_model_dir(handle, dir, comparison, new_dir)
  new_dir
}

# Reports that a restored model uses a new directory. The loss of a temporary directory at the end
# of an R session is not reported.
inform_new_model_dir <- function(handle, dir, comparison, new_dir) {
  is_gone <- comparison$newest_step < 0
  if (is_gone && isTRUE(handle$is_temporary)) return(invisible())
  saved <- describe_saved(comparison$checkpoint) # nolint: used by cli
  cli::cli_inform(
    c(
      if (is_gone) {
        "The model directory {.path {dir}} no longer exists or has no checkpoint."
      } else if (identical(saved, paste("at step", comparison$newest_step))) {
        "The model in {.path {dir}} differs from the saved one, although both are {saved}."
      } else {
        "The model in {.path {dir}} is at step {comparison$newest_step}; the object was saved
         {saved}."
      },
      i = "This object has the saved weights and continues in {.path {new_dir}}.",
      i = "To use the model in the directory, create it again with the same {.arg model_dir}."
    ),
    class = "runhooks_message_saved_model"
  )
}

abort_lost_checkpoint <- function(dir, comparison) {
  abort_plain(
    c(
      paste0(
        "The model was saved ", describe_saved(comparison$checkpoint), ", and ", dir,
        if (comparison$newest_step < 0) " no longer has a checkpoint." else paste0(
          " is now at step ", comparison$newest_step, "."
        )
      ),
      x = paste0(
        "'", comparison$checkpoint,
        "' no longer exists, and its weights were too large for the object."
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
