# A model that is saved, by saveRDS() or for another process, and read: it is what was saved. The
# object that is at work goes by its folder. It has a stand-in for its newest checkpoint
# (r/files/snapshot_altrep.cpp) that becomes files where it is serialized, and not before; so an
# object with such files is one that was read.

# Of a folder that the user has named small weights are carried, of a temporary one all.
checkpoint_snapshot <- function(engine, folder) {
  is_temporary <- isTRUE(engine$is_temporary) || startsWith(folder, tempdir())
  cpp_files_to_carry(folder, tempfile("runhooks-now-"), is_temporary)
}

# The folder of the model. One that was read is in the folder only as long as that has what was saved
# as its newest checkpoint; afterwards in a folder of its own. `trains`: that is about to change.
resolve_model_dir <- function(engine, trains = FALSE) {
  engine <- unclass(engine)
  kept <- engine$kept
  folder <- if (is.null(kept$model_dir)) engine$model_dir else kept$model_dir
  if (!is.list(kept$files)) return(folder)
  if (length(kept$files) == 0) {
    # it was saved without a checkpoint, and is whatever its folder has
    kept$files <- checkpoint_snapshot(engine, folder)
    return(folder)
  }
  if (!dir.exists(folder)) folder <- engine$model_dir
  found <- cpp_compare_carried(folder, kept$files)
  if (!found$is_newest) {
    folder <- unpack_snapshot_dir(engine, folder, found)
    kept$model_dir <- folder
  }
  # from now on the object goes with the folder that it trains in
  if (trains || !found$is_newest) kept$files <- checkpoint_snapshot(engine, folder)
  folder
}

# A temporary folder with what was saved: from the files that the object carries, or from its folder.
unpack_snapshot_dir <- function(engine, folder, found) {
  is_lost <- !found$has_values && !found$is_there
  if (is_lost) abort_lost_checkpoint(folder, found)
  made <- tempfile("runhooks-")
  dir.create(made)
  cpp_write_carried_files(made, engine$kept$files, folder)
  inform_other_folder(engine, folder, found, made)
  made
}

# Which object is meant. Of a temporary folder that has ended with its session nobody needs a word.
inform_other_folder <- function(engine, folder, found, made) {
  is_gone <- found$newest_step < 0
  if (is_gone && isTRUE(engine$is_temporary)) return(invisible())
  was <- saved_words(found$checkpoint) # nolint: used by cli
  cli::cli_inform(
    c(
      if (is_gone) {
        "The folder of the model, {.path {folder}}, is gone or has no checkpoint any more."
      } else if (identical(was, paste("at step", found$newest_step))) {
        "The model in {.path {folder}} is another one by now than the one that was saved, both {was}."
      } else {
        "The model in {.path {folder}} is at step {found$newest_step} by now; the object was saved {was}."
      },
      i = "This object is what was saved, and goes on in {.path {made}}.",
      i = "A model that is made again on a {.arg model_dir} is what stands there."
    ),
    class = "runhooks_message_saved_model"
  )
}

abort_lost_checkpoint <- function(folder, found) {
  abort_plain(
    c(
      paste0(
        "The model was saved ", saved_words(found$checkpoint), ", and ", folder,
        if (found$newest_step < 0) " has no checkpoint any more." else paste0(
          " has gone on to step ", found$newest_step, "."
        )
      ),
      x = paste0("'", found$checkpoint, "' is not there any more, and was too large for the object."),
      i = "A model that is made again on the folder is what stands there now.",
      i = paste(
        "`run_config(keep_checkpoint_max = )` keeps more checkpoints, `options(runhooks.carried_mb = )`",
        "larger weights in the object."
      )
    ),
    kind = "failed_precondition", call = user_frame()
  )
}

saved_words <- function(checkpoint) {
  step <- sub("^.*-", "", checkpoint)
  if (grepl("^[0-9]+$", step)) paste("at step", step) else paste0("with '", checkpoint, "'")
}
