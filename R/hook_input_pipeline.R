#' Save where the input stands
#'
#' A run that is interrupted goes on with the next element instead of the first. The hook saves the
#' positions of all iterators of the input, buffers and random generators included, in files of
#' their own beside the model's checkpoints: `input.ckpt-<step>.*` and the state file
#' `checkpoint_input`. It saves at the first step, at the intervals of the estimator's run
#' configuration and at the end, keeps the newest five, and restores the newest when a loop begins.
#'
#' Elements that a pipeline has made and not delivered are part of its state, so a large
#' `dataset_shuffle()` makes large files. The state is good for a pipeline of the same steps on the
#' same data, wherever these lie: it carries a fingerprint of rows in memory, of the sizes and bytes
#' of files, of a query. See `on_other_data`.
#'
#' `run_config(checkpoint_input_pipeline = TRUE)` is better where no files of TensorFlow's are
#' wanted: it puts the same into the model's own checkpoints, so that model and data cannot get out
#' of step, and keeps the random numbers of dropout, too.
#'
#' @param estimator The estimator that is trained with the hook.
#' @param external_state_policy Accepted as in TensorFlow: `"fail"`, `"warn"` or `"ignore"`. There
#'   is no state outside: that of random operations in functions of datasets is saved, too.
#' @inheritParams make_saveable_from_iterator
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` ("No variables to save") where the input has
#'   no iterator; `runhooks_error_failed_precondition` for the state of another pipeline, and for a
#'   [generator_dataset()] that cannot be saved; `runhooks_error_data_loss` for a damaged state.
#' @seealso The class `tf.data.experimental.CheckpointInputPipelineHook` of TensorFlow.
#' @family hooks
#' @family datasets
#' @export
#' @examples
#' data <- tensor_slices_dataset(mtcars) %>%
#'   dataset_shuffle(32) %>%
#'   dataset_repeat() %>%
#'   dataset_batch(8)
#' model <- linear_regressor(column_numeric("wt"))
#' hook <- hook_checkpoint_input_pipeline(model)
#' train(model, input_fn(data, wt, mpg), steps = 5, hooks = hook)
#' train(model, input_fn(data, wt, mpg), steps = 5, hooks = hook) # with the sixth batch
hook_checkpoint_input_pipeline <- function(estimator, external_state_policy = NULL,
                                           on_other_data = c("stop", "begin")) {
  check_stopped_estimator(estimator)
  policies <- c("fail", "warn", "ignore")
  good <- is.null(external_state_policy) || is.character(external_state_policy) &&
    length(external_state_policy) == 1 && external_state_policy %in% policies
  if (!good) {
    abort_runhooks(
      "{.arg external_state_policy} must be one of {.val {policies}}, not
       {describe(external_state_policy)}."
    )
  }
  on_other_data <- check_one_of(on_other_data, c("stop", "begin"))
  config <- core_config(estimator)
  if (isTRUE(config$checkpoint_input_pipeline)) {
    abort_runhooks(c(
      "The input's position would be saved twice.",
      i = "The configuration of the model says {.code checkpoint_input_pipeline = TRUE}, which puts
           it into the model's own checkpoints: leave the hook out."
    ))
  }
  if (is.null(config$save_checkpoints_secs) && is.null(config$save_checkpoints_steps)) {
    abort_runhooks("Either every_secs or every_steps should be provided.")
  }
  new_builtin_hook("CheckpointInputPipelineHook",
    checkpoint_dir = config$model_dir, save_secs = config$save_checkpoints_secs,
    save_steps = config$save_checkpoints_steps, on_other_data = on_other_data
  )
}
