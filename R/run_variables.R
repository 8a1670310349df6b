# The variables of a trained model, as its folder has them.

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
    abort_plain(c(text, did_you_mean(unknown[[1]], names, braces = FALSE)), kind = "not_found")
  }
  cpp_checkpoint_values(path, wanted)
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

trained_checkpoint <- function(object, what, call = parent.frame()) {
  path <- cpp_latest_checkpoint(model_dir(object))
  if (is.null(path)) {
    abort_plain(
      sprintf("'%s()' must be called on a trained model", what),
      kind = "failed_precondition",
      call = call
    )
  }
  inform_other_training(object, current_model_dir(object))
  path
}
