# The model directory during a call. The core reads it once when the call begins. Changes of the
# metadata stay in memory until the core writes them while it builds the graph, or at the end.

# An environment with the state of the directory. `writes` announces a training.
open_folder <- function(path, writes = FALSE) {
  folder <- list2env(cpp_run_folder(path, writes), parent = emptyenv())
  folder$path <- path
  folder
}

# Opens the directory of the model for all functions that the caller's frame calls, until it exits.
local_model_dir <- function(object, writes = FALSE, frame = parent.frame()) {
  outer <- the$folder
  leave <- function() the$folder <- outer
  do.call(on.exit, list(as.call(list(leave)), TRUE), envir = frame)
  path <- if (writes) resolve_model_dir(object$estimator, trains = TRUE) else model_dir(object)
  the$folder <- if (!is.null(path)) open_folder(path, writes)
  the$folder
}

# Functions outside of a call, such as an iterator that is read later, open the directory again.
current_model_dir <- function(object) {
  path <- model_dir(object)
  if (is.null(path)) return(NULL)
  folder <- the$folder
  if (!is.null(folder) && identical(folder$path, path)) folder else open_folder(path)
}

# The directory of the checkpoint of a warm start, or NULL if there is none.
warm_start_folder <- function(x) {
  path <- if (inherits(x, "WarmStartSettings")) x$ckpt_to_initialize_from else if (is_string(x)) x
  if (is.null(path)) return(NULL)
  if (!dir.exists(path)) path <- dirname(path)
  folder <- if (dir.exists(path)) open_folder(absolute_path(path, "warm_start_from"))
  if (isTRUE(folder$has_checkpoint)) folder
}

# --- metadata: kinds of features, levels of factors, class labels and the model itself
# (R/model_dir_compat.R). They are stored next to the checkpoints, for models that are created
# again.

record_file <- "runhooks.data"

training_record <- function(estimator) {
  if (!is_estimator(estimator)) return(NULL)
  folder <- current_model_dir(estimator)
  if (!is.null(folder)) read_metadata(folder)
}

read_metadata <- function(folder) {
  if (isTRUE(folder$is_checked)) return(folder$metadata)
  if (!folder$has_metadata) {
    inform_unread_record(folder$path)
  } else if (!is_sound_record(folder$metadata)) {
    path <- file.path(folder$path, record_file) # nolint: used by cli
    abort_runhooks(
      c(
        "The file {.path {path}} is damaged, or was written by another version of runhooks.",
        i = "It contains the levels of factors and the scales of numbers. Restore it from a copy, or
             train the model in another directory."
      ),
      kind = "data_loss", call = user_frame()
    )
  }
  folder$is_checked <- TRUE
  folder$metadata
}

update_metadata <- function(folder, metadata) {
  folder$has_metadata <- folder$is_checked <- TRUE
  folder$is_changed <- !identical(metadata, folder$metadata) || isTRUE(folder$is_changed)
  folder$metadata <- metadata
}

finish_training <- function(object, folder) {
  metadata <- pending_metadata(folder)
  if (was_removed(folder) && replicas_of(engine_config(object)) == 1) {
    warn_removed_directory(folder$path)
    metadata <- folder$metadata
  }
  if (!is.null(metadata)) write_metadata(metadata, folder$path)
}

# Whether the metadata that the core wrote when the training began have disappeared.
was_removed <- function(folder) {
  isTRUE(folder$is_recorded) && !file.exists(file.path(folder$path, record_file))
}

warn_removed_directory <- function(path) {
  rlang::warn(
    c(
      paste0("The model directory ", path, " was removed, renamed or emptied during the training."),
      x = "Its event files, earlier checkpoints and the record of this run are lost.",
      i = "The checkpoint of the last step was saved, so the model can be used."
    ),
    class = c("runhooks_warning_removed_directory", "runhooks_warning"), call = user_frame()
  )
}

pending_metadata <- function(folder) {
  if (!isTRUE(folder$is_changed)) return(NULL)
  folder$is_changed <- FALSE
  folder$metadata
}

write_metadata <- function(record, folder) cpp_write_metadata(folder, record)
