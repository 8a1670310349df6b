# The folder of a model as a call finds it: asked of the core once, when the call begins. What a
# call adds to what was trained there stands in `memory` at once and is written by the core, while the
# graph is built, or at the end.

# An environment of what the core says of the folder. `writes`: a training is to be made in it.
open_folder <- function(path, writes = FALSE) {
  folder <- list2env(cpp_run_folder(path, writes), parent = emptyenv())
  folder$path <- path
  folder
}

# Opens the folder of the model for all that the caller's frame calls, until it is left.
local_model_dir <- function(object, writes = FALSE, frame = parent.frame()) {
  outer <- the$folder
  leave <- function() the$folder <- outer
  do.call(on.exit, list(as.call(list(leave)), TRUE), envir = frame)
  path <- if (writes) resolve_model_dir(object$estimator, trains = TRUE) else model_dir(object)
  the$folder <- if (!is.null(path)) open_folder(path, writes)
  the$folder
}

# The one that the call has opened. A function that no call of ours has called opens it itself, as
# an iterator does that is read later.
current_model_dir <- function(object) {
  path <- model_dir(object)
  if (is.null(path)) return(NULL)
  folder <- the$folder
  if (!is.null(folder) && identical(folder$path, path)) folder else open_folder(path)
}

# --- what was trained there: the kind of each feature, the levels of factors, the words of the
# classes; and what model it is (R/model_dir_compat.R). A file beside the checkpoints, so that a
# model that is made again on the same folder knows it too.

record_file <- "runhooks.data"

# NULL where nothing is known.
training_record <- function(estimator) {
  if (!is_estimator(estimator)) return(NULL)
  folder <- current_model_dir(estimator)
  if (!is.null(folder)) folder_memory(folder)
}

folder_memory <- function(folder) {
  if (isTRUE(folder$is_checked)) return(folder$memory)
  if (!folder$has_metadata) {
    inform_unread_record(folder$path)
  } else if (!is_sound_record(folder$memory)) {
    path <- file.path(folder$path, record_file) # nolint: used by cli
    abort_runhooks(
      c(
        "The file {.path {path}} is damaged, or was written by another version of runhooks.",
        i = "It holds the levels of factors. Without the file, the model takes those of new data."
      ),
      kind = "data_loss"
    )
  }
  folder$is_checked <- TRUE
  folder$memory
}

# What a training adds; it is written where the core says that it is time.
update_metadata <- function(folder, memory) {
  folder$has_metadata <- folder$is_checked <- TRUE
  folder$is_changed <- !identical(memory, folder$memory) || isTRUE(folder$is_changed)
  folder$memory <- memory
}

# After a training that has left a checkpoint.
finish_training <- function(object, folder) {
  memory <- pending_metadata(folder)
  if (!is.null(memory)) write_record(memory, folder$path)
}

# For the core, which writes it: NULL where nothing was added.
pending_metadata <- function(folder) {
  if (!isTRUE(folder$is_changed)) return(NULL)
  folder$is_changed <- FALSE
  folder$memory
}

write_record <- function(record, folder) cpp_remember(folder, record)
