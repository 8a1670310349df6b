# Built-in hooks that wait for the global step or for checkpoints of other processes.

#' Wait for a global step
#'
#' Creates a hook that delays the first step of a loop until the global step is `wait_until_step`.
#' It checks every half second. In a single process no other loop increases the step. The hook then
#' continues if the restored step is large enough, and otherwise waits until you interrupt it.
#'
#' @eval hook_params("GlobalStepWaiterHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_failed_precondition`, at the start of the loop: the graph has no global step.
#' @seealso The class `tf.train.GlobalStepWaiterHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_global_step_waiter(wait_until_step = 0)
hook_global_step_waiter <- builtin_hook("GlobalStepWaiterHook")

#' Stop when a checkpoint of the last step exists
#'
#' Creates a hook for a loop whose checkpoints another process writes. When the global step reaches
#' `last_step`, the hook looks for a checkpoint of this step after each step, and waits before it
#' looks again.
#'
#' @eval hook_params("StopAtCheckpointStepHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_failed_precondition`, at the start of the loop: the graph has no global step.
#' @seealso `tf.estimator.experimental.make_stop_at_checkpoint_step_hook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_stop_at_checkpoint_step("models/wt", last_step = 1000)
hook_stop_at_checkpoint_step <- function(model_dir, last_step, wait_after_file_check_secs = 30) {
  abort_abbreviated_arguments()
  if (is.null(last_step)) abort_plain("last_step must be specified.")
  if (is.null(model_dir)) abort_plain("model_dir must be specified.")
  if (is_estimator(model_dir)) return(hook_stop_at_step(last_step = last_step))
  new_builtin_hook("StopAtCheckpointStepHook",
    model_dir = absolute_path(model_dir),
    last_step = last_step, wait_after_file_check_secs = wait_after_file_check_secs
  )
}
