# The model directory during a call of train(), evaluate() or predict(). The core reads the
# directory once, when the call begins. Changes of the metadata stay in memory until training writes
# them: when it has built the graph, or at the end.

# Reads the state of a model directory into an environment. `writes`: the caller is going to train.
read_model_dir <- function(path, writes = FALSE) {
  folder <- list2env(cpp_run_folder(path, writes), parent = emptyenv())
  folder$path <- path
  folder
}

# Reads the model directory and keeps its state for current_model_dir() until `frame` exits.
local_model_dir <- function(object, writes = FALSE, frame = parent.frame()) {
  previous <- the$folder
  restore <- function() the$folder <- previous
  do.call(on.exit, list(as.call(list(restore)), TRUE), envir = frame)
  path <- if (writes) resolve_model_dir(.subset2(object, "estimator"), trains = TRUE) else model_dir(object)
  the$folder <- if (!is.null(path)) read_model_dir(path, writes)
  the$folder
}

# Returns the state that local_model_dir() has read, or else reads the directory again. The latter
# happens outside of a call, for example in an iterator that is read later.
current_model_dir <- function(object) {
  path <- model_dir(object)
  if (is.null(path)) return(NULL)
  folder <- the$folder
  if (!is.null(folder) && identical(folder$path, path)) folder else read_model_dir(path)
}

# Returns the directory of the checkpoint of a warm start, or NULL if none exists.
warm_start_folder <- function(x) {
  path <- if (inherits(x, "WarmStartSettings")) x$ckpt_to_initialize_from else if (is_string(x)) x
  if (is.null(path)) return(NULL)
  if (!dir.exists(path)) path <- dirname(path)
  folder <- if (dir.exists(path)) read_model_dir(absolute_path(path, "warm_start_from"))
  if (isTRUE(folder$has_checkpoint)) folder
}

# --- metadata: kinds of features, levels of factors, class labels and the signature of the model
# (R/model_dir_compat.R). A file next to the checkpoints contains them, for models that are created
# again with the same directory.

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
  } else if (!is_valid_record(folder$metadata)) {
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

write_pending_metadata <- function(folder) {
  metadata <- pending_metadata(folder)
  if (!is.null(metadata)) cpp_write_metadata(folder$path, metadata)
}

# Writes the metadata after a training. Warns if the directory has been removed in the meantime.
finish_training <- function(object, folder) {
  if (was_removed(folder) && replicas_of(config_of_model(object)) == 1) {
    warn_removed_directory(folder$path)
    folder$is_changed <- TRUE
  }
  write_pending_metadata(folder)
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

# Returns the metadata if they have changed since the last call, or NULL.
pending_metadata <- function(folder) {
  if (!isTRUE(folder$is_changed)) return(NULL)
  folder$is_changed <- FALSE
  folder$metadata
}
