#' Save the position of the input in separate files
#'
#' Creates a hook that saves the position of the input pipeline, so that an interrupted run resumes
#' with the next element. It saves the positions of all iterators, including buffers and random
#' number generators. The files are next to the checkpoints of the model: `input.ckpt-<step>.*` and
#' the state file `checkpoint_input`. The hook saves at the first step, at the intervals of the run
#' configuration and at the end. It keeps the newest five states, and restores the newest one when a
#' loop starts.
#'
#' The state includes elements that the pipeline has produced but not delivered, so a large
#' `dataset_shuffle()` makes large files. A state is valid for a pipeline with the same
#' transformations and the same data, at any location. It contains a fingerprint of rows in memory,
#' of the sizes and bytes of files, or of a query. See `on_other_data`.
#'
#' If you do not need TensorFlow's files, use `run_config(checkpoint_input_pipeline = TRUE)`
#' instead. It stores the same state in the checkpoints of the model, so that model and data always
#' match, together with the random numbers of dropout.
#'
#' @param estimator The estimator to train with the hook.
#' @param external_state_policy Accepted for compatibility: `"fail"`, `"warn"` or `"ignore"`. It has
#'   no effect, because random operations in dataset functions are saved too.
#' @inheritParams make_saveable_from_iterator
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument` ("No variables to save"): the input has no iterator.
#'   * `runhooks_error_failed_precondition`: the state belongs to another pipeline, or a
#'     [generator_dataset()] has no `save` function.
#'   * `runhooks_error_data_loss`: all saved states are damaged. If only the newest is damaged, a
#'     warning names its file, and the input continues from the state before it.
#' @seealso The class `tf.data.experimental.CheckpointInputPipelineHook` of TensorFlow.
#' @family hooks
#' @family datasets
#' @export
#' @examples
#' data <- tensor_slices_dataset(mtcars) |>
#'   dataset_shuffle(32) |>
#'   dataset_repeat() |>
#'   dataset_batch(8)
#' model <- linear_regressor(column_numeric("wt"))
#' hook <- hook_checkpoint_input_pipeline(model)
#' train(model, input_fn(data, wt, mpg), steps = 5, hooks = hook)
#' train(model, input_fn(data, wt, mpg), steps = 5, hooks = hook) # starts with the sixth batch
#' list.files(model_dir(model), "input")
hook_checkpoint_input_pipeline <- function(estimator, external_state_policy = NULL,
                                           on_other_data = c("stop", "begin")) {
  abort_abbreviated_arguments()
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
      "The position of the input would be saved twice.",
      i = "The configuration has {.code checkpoint_input_pipeline = TRUE}, which saves it in the
           model's checkpoints. Remove this hook."
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
