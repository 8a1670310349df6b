# What a trained model holds.

#' The newest checkpoint of a folder
#'
#' @param checkpoint_dir A folder.
#' @param ... `latest_filename`: the name of the file that lists the folder's checkpoints, where it
#'   is not `"checkpoint"`.
#' @return The path without its endings, or `NULL` where there is none.
#' @section Errors: `runhooks_error_invalid_argument` for what is no single string.
#' @family inspecting
#' @export
#' @examples
#' latest_checkpoint(tempdir())
latest_checkpoint <- function(checkpoint_dir, ...) {
  check_string(checkpoint_dir)
  newest_by_state(checkpoint_dir, ...)
}

newest_by_state <- function(checkpoint_dir, latest_filename = NULL, ..., call = parent.frame()) {
  if (...length()) {
    abort_runhooks(
      "{.fn latest_checkpoint} takes {.arg checkpoint_dir} and {.arg latest_filename}, and nothing
       more.",
      call = call
    )
  }
  check_file_name(latest_filename, "latest_filename", call)
  name <- if (is.null(latest_filename)) "checkpoint" else latest_filename
  cpp_latest_checkpoint_of(path.expand(checkpoint_dir), name)
}

# What tf$train$get_checkpoint_state() gives.
get_checkpoint_state <- function(checkpoint_dir, latest_filename = NULL) {
  check_string(checkpoint_dir)
  newest <- newest_by_state(checkpoint_dir, latest_filename)
  if (is.null(newest)) return(NULL)
  name <- if (is.null(latest_filename)) "checkpoint" else latest_filename
  all <- cpp_listed_checkpoints(path.expand(checkpoint_dir), name)
  list(model_checkpoint_path = newest, all_model_checkpoint_paths = all)
}

check_estimator <- function(object, call = parent.frame()) {
  if (!is_estimator(object)) {
    abort_runhooks(
      "{.arg object} must be an estimator, not {kind_of(object)}.", call = call
    )
  }
}

# Variables; what a checkpoint keeps of hooks and iterators is none.
checkpoint_names <- function(path) {
  names <- cpp_checkpoint_names(path)
  names[!startsWith(names, "runhooks/")]
}
