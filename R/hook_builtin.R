# The built-in hooks. They live in the core; what is made here is their specification, which is
# plain data: it can be stored, and used again.

# The core makes one to see whether it can.
new_builtin_hook <- function(type, ...) {
  given <- list(...)
  for (name in names(given)) {
    check_arg(!is_missing_value(given[[name]]), NA, "a value that is there", name, user_frame())
  }
  hook <- rebuild_hook(c(list(type = type), given))
  cpp_hook_check(hook)
  hook
}

#' Log values of tensors now and then
#'
#' Writes a line such as `INFO:tensorflow:loss = 12.5, step = 100 (0.512 sec)` to stderr at the
#' first step, then at each interval. What is asked for by this hook is shown whatever the verbosity
#' of the log.
#'
#' @eval hook_params("LoggingTensorHook")
#' @return A hook for the argument `hooks` of [train()], [evaluate()] and
#'   [predict()][predict.tf_estimator].
#' @section Errors: `runhooks_error_invalid_argument` where not exactly one interval is given;
#'   `runhooks_error_not_found` at the start of the loop for a name that is not in the graph.
#' @seealso The class `tf.train.LoggingTensorHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' model %>% train(
#'   input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 2),
#'   hooks = hook_logging_tensor(
#'     list(bias = "linear/linear_model/bias_weights:0"), every_n_iter = 4
#'   )
#' )
hook_logging_tensor <- builtin_hook("LoggingTensorHook")

#' Stop after a number of steps, or at a global step
#'
#' @eval hook_params("StopAtStepHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where both or none are given.
#' @seealso The class `tf.train.StopAtStepHook` of TensorFlow 1.x. Unlike that one the object may be
#'   used again: steps are counted anew in each loop.
#' @family hooks
#' @export
#' @examples
#' hook_stop_at_step(last_step = 1000)
hook_stop_at_step <- builtin_hook("StopAtStepHook")

#' Save checkpoints
#'
#' Saves when the session is made (`model.ckpt-0` for a fresh model), then at each interval, and
#' when the loop has ended well; after an interrupt it saves the step that was reached. Given to
#' [train()] it takes the place of the hook that the run configuration asks for.
#'
#' @eval hook_params("CheckpointSaverHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where both or no intervals are given; an error
#'   that names the file where one cannot be written.
#' @seealso The class `tf.train.CheckpointSaverHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_checkpoint_saver(tempdir(), save_steps = 100)
hook_checkpoint_saver <- builtin_hook("CheckpointSaverHook")

#' Count steps per second
#'
#' Logs `global_step/sec` at level INFO and writes it to the event file of a folder, from the second
#' interval on. Where the input is a dataset the event file also gets `input/rows_per_sec` and
#' `input/waited`, the share of the time in which steps waited for rows; a line at level DEBUG says
#' the same.
#'
#' @eval hook_params("StepCounterHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where not exactly one interval is given.
#' @seealso The class `tf.train.StepCounterHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_step_counter(every_n_steps = 1000, output_dir = tempdir())
hook_step_counter <- function(every_n_steps = 100, every_n_secs = NULL, output_dir = NULL,
                              summary_writer = NULL) {
  # the default gives way
  if (!is.null(every_n_secs) && missing(every_n_steps)) every_n_steps <- NULL
  abort_argument(summary_writer, "summary_writer", environment())
  new_builtin_hook("StepCounterHook",
    every_n_steps = every_n_steps, every_n_secs = every_n_secs,
    output_dir = absolute_path(output_dir, "output_dir")
  )
}

#' Save summaries
#'
#' Computes summaries at the first step and then at each interval, and writes them to the event file
#' of a folder. In the other steps it costs next to nothing. [train()] adds one for all summaries of
#' the model, every `save_summary_steps` of [run_config()].
#'
#' @eval hook_params("SummarySaverHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where not exactly one interval is given, or no
#'   `summary_op`; `runhooks_error_not_found` at the start of the loop for a name that is not in the
#'   graph.
#' @seealso The class `tf.train.SummarySaverHook` of TensorFlow 1.x; [read_events()].
#' @family hooks
#' @export
#' @examples
#' hook_summary_saver(save_steps = 10, output_dir = tempdir(), summary_op = "loss:0")
hook_summary_saver <- builtin_hook("SummarySaverHook")

#' Save summaries when a loop has ended well
#'
#' Computes the summaries once more at the end and writes them as one event of the last step.
#'
#' @eval hook_params("SummaryAtEndHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` without `log_dir`; `runhooks_error_not_found`
#'   at the end of the loop for a name that is not in the graph.
#' @seealso The class `tf.contrib.training.SummaryAtEndHook` of TensorFlow 1.x;
#'   [hook_summary_saver()] for summaries at intervals; [read_events()].
#' @family hooks
#' @export
#' @examples
#' hook_summary_at_end(tempdir(), summary_op = "loss:0")
hook_summary_at_end <- builtin_hook("SummaryAtEndHook")

#' Watch the loss for NaN
#'
#' @eval hook_params("NanTensorHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_nan_loss` with the text `NaN loss during training.`
#' @seealso The class `tf.train.NanTensorHook` of TensorFlow 1.x. [train()] adds one for the model's
#'   loss.
#' @family hooks
#' @export
#' @examples
#' hook_nan_tensor("linear/head/weighted_loss/Sum:0", fail_on_nan_loss = FALSE)
hook_nan_tensor <- builtin_hook("NanTensorHook")

#' Record the losses of a run
#'
#' Records mean and sum of the first tensor of the collection `losses` (the losses of the examples,
#' for a canned model) and the global step: at the first step of the loop and at each multiple of
#' `every_n_step`. [train()] returns what the hook has recorded; it adds one with `every_n_step =
#' 10` where none is given. What a run that was interrupted has recorded is the field `history` of
#' the interrupt's condition.
#'
#' @eval hook_params("HistorySaverHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_not_found` at the start of the loop for a name that is not in
#'   the graph, `runhooks_error_invalid_argument` for a tensor that holds no numbers.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' history <- model %>% train(
#'   input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 2),
#'   hooks = hook_history_saver(
#'     every_n_step = 2, tensors = list(bias = "linear/linear_model/bias_weights:0")
#'   )
#' )
#' as.data.frame(history)
hook_history_saver <- function(every_n_step = 10, tensors = NULL, evaluations = FALSE) {
  hook <- new_builtin_hook("HistorySaverHook",
    every_n_step = every_n_step, tensors = recorded_tensors(tensors), evaluations = evaluations
  )
  new_deferred_hook(
    "hook_history_saver", function(mode, steps) structure(hook, record = cpp_history_new())
  )
}

# By name: a name of a tensor stands for itself.
recorded_tensors <- function(tensors, call = parent.frame()) {
  if (is.null(tensors)) return(NULL)
  if (is_graph_element(tensors)) tensors <- list(tensors)
  is_flat <- is.list(tensors) || is_atomic(tensors)
  check_arg(is_flat, tensors, "tensors or names of tensors", "tensors", call)
  tensors <- as.list(tensors)
  good <- vapply(tensors, function(x) is_graph_element(x) || is_string(x), NA)
  check_arg(all(good) && length(good), tensors, "tensors or names of tensors", "tensors", call)
  own <- vapply(tensors, function(x) if (is_string(x)) x else x$name, "")
  if (is.null(names(tensors))) names(tensors) <- own
  names(tensors) <- ifelse(nzchar(names(tensors)), names(tensors), own)
  taken <- c("mean_losses", "total_losses", "step")
  wrong <- c(intersect(names(tensors), taken), names(tensors)[duplicated(names(tensors))])
  if (length(wrong)) {
    abort_runhooks(
      "{.arg tensors} cannot be named {.val {wrong[[1]]}}: a history has that already.",
      call = call
    )
  }
  tensors
}

# Hooks that are finished when the loop's mode and steps are known: a list with exactly these two
# names, as in tfestimators.
new_deferred_hook <- function(type, hook_fn) list(hook_fn = hook_fn, type = type)

is_deferred_hook <- function(x) {
  is.list(x) && identical(names(x), c("hook_fn", "type")) && x$type %in% c(
    "hook_history_saver", "hook_progress_bar", "hook_view_run"
  )
}

# With its defaults, which need no check by the core.
usual_history_saver <- function() {
  make <- function(mode, steps) {
    hook <- rebuild_hook(list(type = "HistorySaverHook", every_n_step = 10, evaluations = FALSE))
    attr(hook, "record") <- cpp_history_new()
    hook
  }
  new_deferred_hook("hook_history_saver", make)
}

# Adds the two hooks that every loop has, where they are missing, and finishes them. `watch` is what
# else the bar is to know, see progress_bar().
complete_hooks <- function(hooks, mode, steps = NULL, watch = list()) {
  types <- vapply(hooks, function(hook) if (is_deferred_hook(hook)) hook$type else "", "")
  if (!"hook_history_saver" %in% types) hooks <- c(hooks, list(usual_history_saver()))
  if (!"hook_progress_bar" %in% types) hooks <- c(hooks, list(hook_progress_bar()))
  lapply(hooks, function(hook) {
    if (!is_deferred_hook(hook)) return(hook)
    if (hook$type == "hook_history_saver") return(hook$hook_fn(mode, steps))
    hook$hook_fn(mode, steps, watch)
  })
}

#' Stop an evaluation after a number of batches
#'
#' For a [monitored_session] that evaluates; [evaluate()] has its argument `steps`.
#'
#' @eval hook_params("StopAfterNEvalsHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where `num_evals` is no positive whole number.
#' @seealso The class `tf.contrib.training.StopAfterNEvalsHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' cars <- input_fn(mpg ~ wt, mtcars, batch_size = 4)
#' model %>% train(cars, steps = 2)
#' model %>% evaluate(cars, hooks = hook_stop_after_n_evals(2))
hook_stop_after_n_evals <- builtin_hook("StopAfterNEvalsHook")

#' Stop when the optimizer has nothing left to do
#'
#' An optimizer that sees all rows in each step, such as `tf$train$LBFGSOptimizer()`, knows when it has
#' converged. [train()] adds this hook to the training of a linear model that was made from a formula,
#' where it is not told how long. A loop that ends before warns with class
#' `runhooks_warning_not_converged`, and says how long the gradient still is.
#'
#' @eval hook_params("StopWhenConvergedHook")
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_failed_precondition` where the optimizer does not know, as where a
#'   batch is a part of the rows.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(mpg ~ wt, mtcars)
#' history <- train(model, mtcars, steps = 100, hooks = hook_stop_when_converged())
#' history$params$steps
hook_stop_when_converged <- builtin_hook("StopWhenConvergedHook")
