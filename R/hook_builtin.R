# Built-in hooks: lists that describe a hook and can be stored and reused. The core creates a hook
# from the description for each loop.

# Describes a hook. The core creates the hook once to validate the arguments.
new_builtin_hook <- function(type, ...) {
  args <- list(...)
  for (name in names(args)) {
    check_not_na(args[[name]], name, user_frame())
  }
  hook <- rebuild_hook(c(list(type = type), args))
  cpp_hook_check(hook)
  hook
}

#' Log the values of tensors
#'
#' Creates a hook that writes a line such as `INFO:tensorflow:loss = 12.5, step = 100 (0.512 sec)`
#' to stderr, at the first step and then at each interval. The line appears at any verbosity of the
#' log.
#'
#' @eval hook_params("LoggingTensorHook")
#' @return A hook for the argument `hooks` of [train()], [evaluate()] and
#'   [predict()][predict.tf_estimator].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: both intervals are given, or neither.
#'   * `runhooks_error_not_found`, at the start of the loop: a tensor is not in the graph.
#' @seealso The class `tf.train.LoggingTensorHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' model |> train(
#'   input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 2),
#'   hooks = hook_logging_tensor(
#'     list(bias = "linear/linear_model/bias_weights:0"), every_n_iter = 4
#'   )
#' )
hook_logging_tensor <- builtin_hook("LoggingTensorHook")

#' Stop after a number of steps or at a global step
#'
#' Creates a hook that stops the loop. You can reuse it: each loop counts its steps from zero,
#' unlike in TensorFlow.
#'
#' The hook assumes that a run adds one to the global step, as TensorFlow's does. If a run adds
#' more, the hook stops after the first run that started at global step `last_step - 1` or later:
#' with `last_step = 2` and runs that add 3, at step 6.
#'
#' @eval hook_params("StopAtStepHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: both arguments are given, or neither.
#' @seealso The class `tf.train.StopAtStepHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_stop_at_step(last_step = 1000)
hook_stop_at_step <- builtin_hook("StopAtStepHook")

#' Save checkpoints
#'
#' Creates a hook that saves a checkpoint after the session was created (`model.ckpt-0` for a new
#' model), at each interval, and after the loop has ended without an error. After an interrupt it
#' saves the current step. In [train()] it replaces the checkpoint hook of the run configuration.
#'
#' @eval hook_params("CheckpointSaverHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: both intervals are given, or neither.
#'   * An error that names the file: a checkpoint cannot be written.
#' @seealso The class `tf.train.CheckpointSaverHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_checkpoint_saver(tempdir(), save_steps = 100)
hook_checkpoint_saver <- builtin_hook("CheckpointSaverHook")

#' Log the number of steps per second
#'
#' Creates a hook that logs `global_step/sec` at level INFO and writes it to an event file, from the
#' second interval on. If the input is a dataset, the event file also contains `input/rows_per_sec`
#' and `input/waited`, the share of the time that steps waited for rows. The log shows these at
#' level DEBUG.
#'
#' The hook assumes that a run adds one to the global step, as TensorFlow's does. If a run adds
#' more, an interval can end a run later than its number of steps.
#'
#' @eval hook_params("StepCounterHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: both intervals are given, or neither.
#' @seealso The class `tf.train.StepCounterHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_step_counter(every_n_steps = 1000, output_dir = tempdir())
hook_step_counter <- function(every_n_steps = 100, every_n_secs = NULL, output_dir = NULL,
                              summary_writer = NULL) {
  abort_abbreviated_arguments()
  # an explicit time interval replaces the default step interval
  if (!is.null(every_n_secs) && missing(every_n_steps)) every_n_steps <- NULL
  abort_unsupported_argument(summary_writer, "summary_writer", environment())
  new_builtin_hook("StepCounterHook",
    every_n_steps = every_n_steps, every_n_secs = every_n_secs,
    output_dir = absolute_path(output_dir, "output_dir")
  )
}

#' Save summaries for TensorBoard
#'
#' Creates a hook that computes summaries at the first step and then at each interval, and writes
#' them to an event file. It costs almost nothing in other steps. [train()] adds one for all
#' summaries of the model, every `save_summary_steps` steps of [run_config()].
#'
#' The hook assumes that a run adds one to the global step, as TensorFlow's does. If a run adds
#' more, an interval can end a run later than its number of steps.
#'
#' @eval hook_params("SummarySaverHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: both intervals are given, or neither, or `summary_op` is
#'     missing.
#'   * `runhooks_error_not_found`, at the start of the loop: a tensor is not in the graph.
#' @seealso The class `tf.train.SummarySaverHook` of TensorFlow 1.x; [read_events()].
#' @family hooks
#' @export
#' @examples
#' hook_summary_saver(save_steps = 10, output_dir = tempdir(), summary_op = "loss:0")
hook_summary_saver <- builtin_hook("SummarySaverHook")

#' Save summaries at the end of a loop
#'
#' Creates a hook that computes the summaries once after the last step and writes them as one event.
#' It does nothing if the loop ends by an error.
#'
#' @eval hook_params("SummaryAtEndHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `log_dir` is missing.
#'   * `runhooks_error_not_found`, at the end of the loop: a tensor is not in the graph.
#' @seealso The class `tf.contrib.training.SummaryAtEndHook` of TensorFlow 1.x;
#'   [hook_summary_saver()] for summaries at intervals; [read_events()].
#' @family hooks
#' @export
#' @examples
#' hook_summary_at_end(tempdir(), summary_op = "loss:0")
hook_summary_at_end <- builtin_hook("SummaryAtEndHook")

#' Stop when the loss is NaN
#'
#' Creates a hook that checks the loss after each step. If the loss is NaN, the hook raises an error
#' or requests a stop. [train()] adds one for the loss of the model.
#'
#' @eval hook_params("NanTensorHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_nan_loss`: the loss is NaN and `fail_on_nan_loss` is TRUE. The message is
#'     `NaN loss during training.`
#' @seealso The class `tf.train.NanTensorHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_nan_tensor("linear/head/weighted_loss/Sum:0", fail_on_nan_loss = FALSE)
hook_nan_tensor <- builtin_hook("NanTensorHook")

#' Record the losses of a run
#'
#' Creates a hook that records the global step and the mean and the sum of the losses. It reads the
#' first tensor of the collection `losses`, which for canned models contains the losses of the
#' examples. It records at the first step of the loop and at each multiple of `every_n_step`.
#'
#' [train()] returns the recorded values, and adds such a hook with `every_n_step = 10` if the list
#' has none. After an interrupt, they are in the field `history` of the condition.
#'
#' @eval hook_params("HistorySaverHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_not_found`, at the start of the loop: a tensor is not in the graph.
#'   * `runhooks_error_invalid_argument`: a tensor does not contain numbers.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' history <- model |> train(
#'   input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 2),
#'   hooks = hook_history_saver(
#'     every_n_step = 2, tensors = list(bias = "linear/linear_model/bias_weights:0")
#'   )
#' )
#' as.data.frame(history)
hook_history_saver <- function(every_n_step = 10, tensors = NULL, evaluations = FALSE,
                               every_n_steps = NULL) {
  abort_abbreviated_arguments()
  resolve_every_n_steps(environment(), "every_n_step")
  hook <- new_builtin_hook("HistorySaverHook",
    every_n_step = every_n_step, tensors = recorded_tensors(tensors), evaluations = evaluations
  )
  new_deferred_hook(
    "hook_history_saver", function(mode, steps) structure(hook, record = cpp_history_new())
  )
}

# Converts tensors or names of tensors to a list with unique names.
recorded_tensors <- function(tensors, call = parent.frame()) {
  if (is.null(tensors)) return(NULL)
  if (is_graph_element(tensors)) tensors <- list(tensors)
  is_flat <- is.list(tensors) || is_atomic(tensors)
  check_arg(is_flat, tensors, "tensors or names of tensors", "tensors", call)
  tensors <- as.list(tensors)
  good <- vapply(tensors, function(x) is_graph_element(x) || is_string(x), NA)
  check_arg(all(good) && length(good), tensors, "tensors or names of tensors", "tensors", call)
  tensor_names <- vapply(tensors, function(x) if (is_string(x)) x else x$name, "")
  if (is.null(names(tensors))) names(tensors) <- tensor_names
  names(tensors) <- ifelse(nzchar(names(tensors)), names(tensors), tensor_names)
  reserved <- c("average_loss", "loss", tfestimators_metrics, "step")
  invalid <- c(intersect(names(tensors), reserved), names(tensors)[duplicated(names(tensors))])
  if (length(invalid)) {
    abort_runhooks(
      "{.arg tensors} cannot be named {.val {invalid[[1]]}}: the history already has this column.",
      call = call
    )
  }
  tensors
}

# Describes a hook that `hook_fn()` creates when the mode and the number of steps are known. As in
# tfestimators, the description is a list with exactly these two names.
new_deferred_hook <- function(type, hook_fn) list(hook_fn = hook_fn, type = type)

is_deferred_hook <- function(x) {
  is.list(x) && identical(names(x), c("hook_fn", "type")) && x$type %in% c(
    "hook_history_saver", "hook_progress_bar", "hook_view_run"
  )
}

# Describes the default hook that records the history. Its fixed arguments need no validation by the
# core.
default_history_saver <- function() {
  create <- function(mode, steps) {
    hook <- rebuild_hook(list(type = "HistorySaverHook", every_n_step = 10, evaluations = FALSE))
    attr(hook, "record") <- cpp_history_new()
    hook
  }
  new_deferred_hook("hook_history_saver", create)
}

# Adds the default hooks and creates deferred hooks. `watch` contains settings of the progress bar
# (R/hook_progress.R).
complete_hooks <- function(hooks, mode, steps = NULL, watch = list()) {
  types <- vapply(hooks, function(hook) if (is_deferred_hook(hook)) hook$type else "", "")
  if (!"hook_history_saver" %in% types) hooks <- c(hooks, list(default_history_saver()))
  if (!"hook_progress_bar" %in% types) hooks <- c(hooks, list(hook_progress_bar()))
  lapply(hooks, function(hook) {
    if (!is_deferred_hook(hook)) return(hook)
    if (hook$type == "hook_history_saver") return(hook$hook_fn(mode, steps))
    hook$hook_fn(mode, steps, watch)
  })
}

#' Stop an evaluation after a number of batches
#'
#' Creates a hook that stops a [monitored_session] which evaluates a model. [evaluate()] does not
#' need it, because it has the argument `steps`.
#'
#' @eval hook_params("StopAfterNEvalsHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `num_evals` is not a positive whole number.
#' @seealso The class `tf.contrib.training.StopAfterNEvalsHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' cars <- input_fn(mpg ~ wt, mtcars, batch_size = 4)
#' model |> train(cars, steps = 2)
#' model |> evaluate(cars, hooks = hook_stop_after_n_evals(2))
hook_stop_after_n_evals <- builtin_hook("StopAfterNEvalsHook")

#' Stop when the optimizer has converged
#'
#' Creates a hook for optimizers that use all rows in each step, such as
#' `tf$train$LBFGSOptimizer()`, and can therefore detect convergence. [train()] adds it for a linear
#' model from a formula if it has no `steps` and no `num_epochs`. If the loop ends before
#' convergence, a warning of class `runhooks_warning_not_converged` has the norm of the gradient.
#'
#' @eval hook_params("StopWhenConvergedHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_failed_precondition`: the optimizer cannot detect convergence, for example
#'     because a batch contains only some of the rows.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(mpg ~ wt, mtcars)
#' history <- train(model, mtcars, steps = 100, hooks = hook_stop_when_converged())
#' history$params$steps
hook_stop_when_converged <- builtin_hook("StopWhenConvergedHook")
