# The variables in the newest checkpoint of a model.

#' Get the variables of a trained model
#'
#' `variable_names()` returns the names of all variables in the newest checkpoint of a model.
#' `variable_value()` returns their values.
#'
#' @param object A trained estimator.
#' @param variable Names of variables. `NULL` (the default): all variables except the slots of
#'   partitioned variables. A message lists these slots.
#' @return `variable_names()`: a character vector in the order of the checkpoint. It includes the
#'   slots of the optimizer and `global_step`. `variable_value()`: a named list of values. Scalars
#'   are plain numbers, other variables are arrays.
#' @section Errors:
#'   * `runhooks_error_failed_precondition`: the model has no checkpoint.
#'   * `runhooks_error_not_found`: a name is unknown.
#' @seealso `tf.estimator.Estimator.get_variable_names` and `get_variable_value` of TensorFlow 1.x.
#' @family inspecting
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars))
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
  selected <- if (is.null(variable)) merged_variables(path) else as_strings(variable)
  unknown <- setdiff(selected, names)
  if (length(unknown)) {
    text <- paste0("Variable not found: ", paste(unknown, collapse = ", "))
    abort_plain(c(text, did_you_mean(unknown[[1]], names, braces = FALSE)), kind = "not_found")
  }
  cpp_checkpoint_values(path, selected)
}

# Returns the names of the variables that the checkpoint contains as a whole. A message lists the
# others, which are stored in parts.
merged_variables <- function(path) {
  names <- checkpoint_names(path)
  complete <- intersect(cpp_checkpoint_whole_names(path), names)
  partial <- setdiff(names, complete)
  if (length(partial)) {
    cli::cli_inform("Omitted, because the checkpoint has only parts of them: {.val {partial}}.")
  }
  complete
}

trained_checkpoint <- function(object, function_name, call = parent.frame()) {
  path <- cpp_newest_weights(model_dir(object))
  if (is.null(path)) {
    abort_plain(
      sprintf("'%s()' must be called on a trained model", function_name),
      kind = "failed_precondition",
      call = call
    )
  }
  inform_other_training(object, current_model_dir(object))
  path
}
