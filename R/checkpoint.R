# Lists checkpoints and the variables in them.

#' Find the newest checkpoint in a directory
#'
#' Returns the path of the newest checkpoint that the directory's state file lists.
#'
#' @param checkpoint_dir Path of a directory, a string.
#' @param ... `latest_filename`: name of the state file that lists the checkpoints. Default:
#'   `"checkpoint"`.
#' @return The path of the checkpoint without file extensions, a string, or `NULL` if there is no
#'   checkpoint.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is not a single string, or is unknown.
#' @family inspecting
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' train(model, input_fn(mpg ~ wt, mtcars, batch_size = 8))
#' basename(latest_checkpoint(model_dir(model)))
latest_checkpoint <- function(checkpoint_dir, ...) {
  check_string(checkpoint_dir)
  latest_listed_checkpoint(checkpoint_dir, ...)
}

latest_listed_checkpoint <- function(
  checkpoint_dir,
  latest_filename = NULL,
  ...,
  call = parent.frame()
) {
  if (...length()) {
    abort_runhooks(
      "{.fn latest_checkpoint} has only the arguments {.arg checkpoint_dir} and
       {.arg latest_filename}.",
      call = call
    )
  }
  check_file_name(latest_filename, "latest_filename", call)
  name <- if (is.null(latest_filename)) "checkpoint" else latest_filename
  cpp_latest_checkpoint_of(path.expand(checkpoint_dir), name)
}

get_checkpoint_state <- function(checkpoint_dir, latest_filename = NULL) {
  check_string(checkpoint_dir)
  newest <- latest_listed_checkpoint(checkpoint_dir, latest_filename)
  if (is.null(newest)) return(NULL)
  name <- if (is.null(latest_filename)) "checkpoint" else latest_filename
  all <- cpp_listed_checkpoints(path.expand(checkpoint_dir), name)
  list(model_checkpoint_path = newest, all_model_checkpoint_paths = all)
}

check_estimator <- function(object, call = parent.frame()) {
  if (!is_estimator(object)) {
    abort_runhooks(
      "{.arg object} must be an estimator, not {describe_type(object)}.", call = call
    )
  }
}

# Returns the names of the variables in a checkpoint, without the states of hooks and iterators.
checkpoint_names <- function(path) {
  names <- cpp_checkpoint_names(path)
  names[!startsWith(names, "runhooks/")]
}
