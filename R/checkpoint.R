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
    stop_runhooks(
      "{.fn latest_checkpoint} takes {.arg checkpoint_dir} and {.arg latest_filename}, and nothing
       more.",
      call = call
    )
  }
  check_file_name(latest_filename, "latest_filename", call)
  name <- if (is.null(latest_filename)) "checkpoint" else latest_filename
  cpp_latest_checkpoint_of(path.expand(checkpoint_dir), name)
}

#' The variables of a trained model
#'
#' @param object An estimator that has been trained.
#' @param variable Names of variables; `NULL` for all but slots of variables that a partitioner has
#'   cut, which a message names.
#' @return `variable_names()`: the names, sorted as in the checkpoint, the optimizer's slots and
#'   `global_step` among them. `variable_value()`: a named list of their values: plain numbers for
#'   scalars, arrays for others.
#' @section Errors: `runhooks_error_failed_precondition` for a model that has no checkpoint,
#'   `runhooks_error_not_found` for an unknown name.
#' @seealso `tf.estimator.Estimator.get_variable_names` and `get_variable_value` of TensorFlow 1.x.
#' @family inspecting
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model %>% train(input_fn(mpg ~ drat, mtcars))
#' variable_names(model)
#' variable_value(model, "linear/linear_model/drat/weights")
variable_names <- function(object) {
  check_estimator(object)
  checkpoint_names(trained_checkpoint(object, "variable_names"))
}

#' @rdname variable_names
#' @export
variable_value <- function(object, variable = NULL) {
  check_estimator(object)
  path <- trained_checkpoint(object, "variable_value")
  names <- checkpoint_names(path)
  wanted <- if (is.null(variable)) whole_variables(path) else strings_of(variable)
  unknown <- setdiff(wanted, names)
  if (length(unknown)) {
    text <- paste0("Variable not found: ", paste(unknown, collapse = ", "))
    stop_plain(c(text, near_hint(unknown[[1]], names, braces = FALSE)), kind = "not_found")
  }
  cpp_checkpoint_values(path, wanted)
}

# What tf$train$get_checkpoint_state() gives.
get_checkpoint_state <- function(checkpoint_dir, latest_filename = NULL) {
  check_string(checkpoint_dir)
  newest <- newest_by_state(checkpoint_dir, latest_filename)
  if (is.null(newest)) return(NULL)
  name <- if (is.null(latest_filename)) "checkpoint" else latest_filename
  text <- rawToChar(cpp_read_file(file.path(path.expand(checkpoint_dir), name)))
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  all <- grep("^all_model_checkpoint_paths:", lines, value = TRUE)
  all <- sub('^[^"]*"(.*)"[^"]*$', "\\1", all)
  is_absolute <- grepl("^(/|[A-Za-z]:)", all)
  all[!is_absolute] <- file.path(path.expand(checkpoint_dir), all[!is_absolute])
  list(model_checkpoint_path = newest, all_model_checkpoint_paths = all)
}

whole_variables <- function(path) {
  names <- checkpoint_names(path)
  whole <- intersect(cpp_checkpoint_whole_names(path), names)
  others <- setdiff(names, whole)
  if (length(others)) {
    cli::cli_inform("Left out, because the checkpoint has parts of them only: {.val {others}}.")
  }
  whole
}

check_estimator <- function(object, call = parent.frame()) {
  if (!is_estimator(object)) {
    stop_runhooks(
      "{.arg object} must be an estimator, not {kind_of(object)}.", call = call
    )
  }
}

trained_checkpoint <- function(object, what, call = parent.frame()) {
  path <- cpp_latest_checkpoint(model_dir(object))
  if (is.null(path)) {
    stop_plain(
      sprintf("'%s()' must be called on a trained model", what),
      kind = "failed_precondition",
      call = call
    )
  }
  path
}

# Variables; what a checkpoint keeps of hooks and iterators is none.
checkpoint_names <- function(path) {
  names <- cpp_checkpoint_names(path)
  names[!startsWith(names, "runhooks/")]
}
