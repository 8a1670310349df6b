# Early stopping: hooks that ask now and then whether training should go on.

#' Stop training when a function says so
#'
#' The function is asked after the first step and then at each interval. A stop ends [train()] after
#' the step at hand, with a last checkpoint; it is also noted in the variable
#' `signal_early_stopping/STOP`, which the checkpoints of such a model hold.
#'
#' @param estimator The estimator that is trained.
#' @param should_stop_fn A function of no argument that returns TRUE or FALSE.
#' @param run_every_secs Ask every so many seconds.
#' @param run_every_steps Ask every so many steps; then give `run_every_secs = NULL`.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where not exactly one interval is given;
#'   `runhooks_error_not_found` in [train()] where the checkpoint to go on from is of a model
#'   without such a hook.
#' @seealso `tf.estimator.experimental.make_early_stopping_hook` of TensorFlow 1.x;
#'   [hook_stop_if_higher()] and its like, which look at a metric.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' deadline <- Sys.time() + 5
#' model %>% train(
#'   input_fn(mpg ~ wt, mtcars, batch_size = 8),
#'   hooks = hook_early_stopping(model, function() Sys.time() > deadline)
#' )
hook_early_stopping <- function(
  estimator,
  should_stop_fn,
  run_every_secs = 60,
  run_every_steps = NULL
) {
  check_stopped_estimator(estimator)
  if (!is.function(should_stop_fn)) stop_plain("`should_stop_fn` must be callable.")
  check_method(should_stop_fn, "should_stop_fn", character())
  check_stop_interval(run_every_secs, run_every_steps)
  new_builtin_hook("EarlyStoppingHook",
    should_stop_fn = should_stop_fn, run_every_secs = run_every_secs,
    run_every_steps = run_every_steps
  )
}

check_stopped_estimator <- function(estimator, call = parent.frame()) {
  if (!is_estimator(estimator)) {
    stop_plain(
      sprintf(
        "`estimator` must have type `tf.estimator.Estimator`. Got: %s", describe(estimator)
      ),
      call = call
    )
  }
}

check_stop_interval <- function(run_every_secs, run_every_steps, call = parent.frame()) {
  check_number(run_every_secs, null = TRUE, arg = "run_every_secs", call = call)
  check_whole(run_every_steps, null = TRUE, arg = "run_every_steps", call = call)
  if (!is.null(run_every_secs) && !is.null(run_every_steps)) {
    stop_plain("Only one of `run_every_secs` and `run_every_steps` must be set.", call = call)
  }
  if (is.null(run_every_secs) && is.null(run_every_steps)) {
    stop_plain("Either every_secs or every_steps should be provided.", call = call)
  }
}

# A hook that looks at one metric: what the four of them share.
new_stop_if_hook <- function(
  type,
  estimator,
  metric_name,
  eval_dir,
  min_steps,
  run_every_secs,
  run_every_steps,
  restore_best_weights,
  ...,
  call = parent.frame()
) {
  check_stopped_estimator(estimator, call = call)
  check_string(metric_name, arg = "metric_name", call = call)
  check_string(eval_dir, null = TRUE, arg = "eval_dir", call = call)
  check_number(min_steps, arg = "min_steps", call = call)
  check_stop_interval(run_every_secs, run_every_steps, call = call)
  check_flag(restore_best_weights, arg = "restore_best_weights", call = call)
  if (is.null(eval_dir)) eval_dir <- file.path(model_dir(estimator), "eval")
  new_builtin_hook(type,
    metric_name = metric_name, eval_dir = absolute_path(eval_dir, "eval_dir"),
    min_steps = min_steps, run_every_secs = run_every_secs, run_every_steps = run_every_steps,
    restore_best_weights = restore_best_weights, model_dir = model_dir(estimator), ...
  )
}

#' Stop training when a metric is good enough, or gets no better
#'
#' The metrics are those that evaluations have written to the event files of a folder. They are read
#' after the first step of training, and again at each interval.
#'
#' `hook_stop_if_higher()` and `hook_stop_if_lower()` stop when the metric of any evaluation is
#' beyond the threshold; `hook_stop_if_no_increase()` and `hook_stop_if_no_decrease()` when its best
#' value is so many global steps old. Values in event files are float32 numbers: 0.9 is read as
#' 0.8999999761581421, which is not higher than 0.9.
#'
#' A loop that has ended without an evaluation of this metric says so in a warning of the log.
#'
#' @inheritParams hook_early_stopping
#' @param metric_name A name such as `"average_loss"`.
#' @param threshold A number.
#' @param max_steps_without_increase,max_steps_without_decrease A whole number of steps.
#' @param eval_dir The folder; `NULL`: `eval` in the folder of the model.
#' @param min_steps Evaluations before this global step are left out.
#' @param restore_best_weights TRUE: when the hook stops the training, all variables but the global
#'   step get back the values that they had at the best evaluation, and the last checkpoint holds
#'   these. They are kept in memory from when the hook sees the evaluation: at its own step where
#'   the evaluation is made in the same loop before this hook ([hook_in_memory_evaluator()], listed
#'   earlier), else from the checkpoint of that step, as long as there is one. Checkpoint savers
#'   come after all other hooks then. TensorFlow has no such argument.
#' @inherit hook_logging_tensor return
#' @section Errors: As for [hook_early_stopping()]; `runhooks_error_not_found` in [train()] where
#'   there are evaluations, but not of this metric.
#' @seealso `tf.estimator.experimental.stop_if_higher_hook` and its like, of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"), model_dir = "models/wt")
#' hook_stop_if_lower(model, "average_loss", 10, run_every_secs = NULL, run_every_steps = 100)
#' hook_stop_if_no_decrease(model, "average_loss", max_steps_without_decrease = 1000)
hook_stop_if_higher <- function(estimator, metric_name, threshold, eval_dir = NULL, min_steps = 0,
                                run_every_secs = 60, run_every_steps = NULL,
                                restore_best_weights = FALSE) {
  check_number(threshold)
  new_stop_if_hook("StopIfHigherHook", estimator, metric_name, eval_dir, min_steps, run_every_secs,
    run_every_steps, restore_best_weights,
    threshold = threshold
  )
}

#' @rdname hook_stop_if_higher
#' @export
hook_stop_if_lower <- function(estimator, metric_name, threshold, eval_dir = NULL, min_steps = 0,
                               run_every_secs = 60, run_every_steps = NULL,
                                restore_best_weights = FALSE) {
  check_number(threshold)
  new_stop_if_hook("StopIfLowerHook", estimator, metric_name, eval_dir, min_steps, run_every_secs,
    run_every_steps, restore_best_weights,
    threshold = threshold
  )
}

#' @rdname hook_stop_if_higher
#' @export
hook_stop_if_no_increase <- function(estimator, metric_name, max_steps_without_increase,
                                     eval_dir = NULL, min_steps = 0, run_every_secs = 60,
                                     run_every_steps = NULL, restore_best_weights = FALSE) {
  check_whole(max_steps_without_increase)
  new_stop_if_hook("StopIfNoIncreaseHook", estimator, metric_name, eval_dir, min_steps,
    run_every_secs, run_every_steps, restore_best_weights,
    max_steps_without_improvement = max_steps_without_increase
  )
}

#' @rdname hook_stop_if_higher
#' @export
hook_stop_if_no_decrease <- function(estimator, metric_name, max_steps_without_decrease,
                                     eval_dir = NULL, min_steps = 0, run_every_secs = 60,
                                     run_every_steps = NULL, restore_best_weights = FALSE) {
  check_whole(max_steps_without_decrease)
  new_stop_if_hook("StopIfNoDecreaseHook", estimator, metric_name, eval_dir, min_steps,
    run_every_secs, run_every_steps, restore_best_weights,
    max_steps_without_improvement = max_steps_without_decrease
  )
}
