# Built-in hooks that wait: for the global step of other processes, or for their checkpoints.

#' Wait until the global step has come far enough
#'
#' Before its first run the loop looks at the global step every half second until it is
#' `wait_until_step`. The loop of one process is the only one that raises its step: there the hook
#' lets it pass where the step is reached, as after restoring a checkpoint, and else waits until the
#' user interrupts it.
#'
#' @eval hook_params("GlobalStepWaiterHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_failed_precondition` at the start of the loop in a graph without
#'   global step.
#' @seealso The class `tf.train.GlobalStepWaiterHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_global_step_waiter(wait_until_step = 0)
hook_global_step_waiter <- builtin_hook("GlobalStepWaiterHook")

#' Stop when a checkpoint of the last step is on disk
#'
#' For a loop whose checkpoints another process writes: once the global step is `last_step` the hook
#' looks for a checkpoint of it after each step, and waits a while where there is none.
#'
#' @eval hook_params("StopAtCheckpointStepHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_failed_precondition` at the start of the loop in a graph without
#'   global step.
#' @seealso `tf.estimator.experimental.make_stop_at_checkpoint_step_hook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_stop_at_checkpoint_step("models/wt", last_step = 1000)
hook_stop_at_checkpoint_step <- function(model_dir, last_step, wait_after_file_check_secs = 30) {
  if (is.null(last_step)) abort_plain("last_step must be specified.")
  if (is.null(model_dir)) abort_plain("model_dir must be specified.")
  if (is_estimator(model_dir)) return(hook_stop_at_step(last_step = last_step))
  new_builtin_hook("StopAtCheckpointStepHook",
    model_dir = absolute_path(model_dir),
    last_step = last_step, wait_after_file_check_secs = wait_after_file_check_secs
  )
}
