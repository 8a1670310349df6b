# The built-in hooks. They live in the core; what is made here is their specification, which is
# plain data: it can be stored, and used again.

new_builtin_hook <- function(type, ...) {
  rebuild_hook(list(type = type, ...))
}

#' @export
print.runhooks_builtin_hook <- function(x, ...) {
  cat("A built-in hook: ", x$type, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

#' Log values of tensors now and then
#'
#' Writes a line such as `INFO:tensorflow:loss = 12.5, step = 100 (0.512 sec)` to stderr at the
#' first step, then at each interval. What is asked for by this hook is shown whatever the verbosity
#' of the log.
#'
#' @param tensors A named list, tag = tensor or name of one (printed in the order of the sorted
#'   tags), or names of tensors (printed in their order).
#' @param every_n_iter Log every so many local steps.
#' @param every_n_secs Log every so many seconds. Give one of the two, or none with `at_end`.
#' @param formatter A function of a named list of values that returns the line, or `NULL`.
#' @param at_end Log once more when the loop has ended well?
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
hook_logging_tensor <- function(
  tensors,
  every_n_iter = NULL,
  every_n_secs = NULL,
  formatter = NULL,
  at_end = FALSE
) {
  intervals <- sum(!is.null(every_n_iter), !is.null(every_n_secs))
  if (intervals > 1 || (intervals == 0 && !at_end)) {
    stop_runhooks(
      "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
    )
  }
  check_whole(every_n_iter, null = TRUE)
  if (!is.null(every_n_iter) && every_n_iter <= 0) {
    stop_runhooks("invalid every_n_iter={every_n_iter}.")
  }
  check_number(every_n_secs, null = TRUE)
  check_flag(at_end)
  check_function(formatter, null = TRUE)
  check_tensors(tensors)
  new_builtin_hook("LoggingTensorHook",
    tensors = tensors, every_n_iter = every_n_iter, every_n_secs = every_n_secs,
    formatter = formatter, at_end = at_end
  )
}

check_tensors <- function(tensors, call = parent.frame()) {
  is_one <- function(x) is.character(x) || is_graph_element(x)
  good <- is.character(tensors) || is_graph_element(tensors) ||
    (is.list(tensors) && all(vapply(tensors, is_one, logical(1))))
  if (!good) {
    stop_runhooks(
      "{.arg tensors} must be names of tensors or a named list of tensors,
       not {.obj_type_friendly {tensors}}.",
      call = call
    )
  }
}

#' Stop after a number of steps, or at a global step
#'
#' @param num_steps Stop after so many steps of this loop.
#' @param last_step Stop when the global step has reached this. Give one of the two. At least one
#'   step is made.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where both or none are given.
#' @seealso The class `tf.train.StopAtStepHook` of TensorFlow 1.x. Unlike that one the object may be
#'   used again: steps are counted anew in each loop.
#' @family hooks
#' @export
#' @examples
#' hook_stop_at_step(last_step = 1000)
hook_stop_at_step <- function(num_steps = NULL, last_step = NULL) {
  check_whole(num_steps, null = TRUE)
  check_whole(last_step, null = TRUE)
  if (!is.null(num_steps) && !is.null(last_step)) {
    # tfestimators' words, leading blank included
    stop_plain(" Only one of num_steps or last_step can be specified")
  }
  if (is.null(num_steps) && is.null(last_step)) {
    stop_runhooks("One of num_steps or last_step must be specified.")
  }
  new_builtin_hook("StopAtStepHook", num_steps = num_steps, last_step = last_step)
}

#' Save checkpoints
#'
#' Saves when the session is made (`model.ckpt-0` for a fresh model), then at each interval, and
#' when the loop has ended well; after an interrupt it saves the step that was reached. Given to
#' [train()] it takes the place of the hook that the run configuration asks for.
#'
#' @param checkpoint_dir The folder; made when needed.
#' @param save_secs Save every so many seconds.
#' @param save_steps Save every so many global steps. Give one of the two.
#' @param saver,scaffold For sessions made by hand: one of `tf$train$Saver()` and
#'   `tf$train$Scaffold()`; the session's by default.
#' @param checkpoint_basename The first part of the files' names.
#' @param listeners A [checkpoint_saver_listener()] or a list of them.
#' @param save_graph_def Whether the graph is written to `graph.pbtxt` and beside each checkpoint.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where both or no intervals are given; an error
#'   that names the file where one cannot be written.
#' @seealso The class `tf.train.CheckpointSaverHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_checkpoint_saver(tempdir(), save_steps = 100)
hook_checkpoint_saver <- function(checkpoint_dir, save_secs = NULL, save_steps = NULL, saver = NULL,
                                  checkpoint_basename = "model.ckpt", scaffold = NULL,
                                  listeners = NULL, save_graph_def = TRUE) {
  check_string(checkpoint_dir)
  check_number(save_secs, null = TRUE)
  check_whole(save_steps, null = TRUE)
  check_string(checkpoint_basename)
  if (!is.null(save_secs) && !is.null(save_steps)) {
    stop_plain(" Only one of save_secs or save_steps can be specified")
  }
  if (is.null(save_secs) && is.null(save_steps)) {
    stop_runhooks("Either every_secs or every_steps should be provided.")
  }
  if (!is.null(saver) && !is.null(scaffold)) {
    stop_plain("You cannot provide both saver and scaffold.")
  }
  check_saver(saver)
  check_scaffold(scaffold)
  check_flag(save_graph_def)
  new_builtin_hook("CheckpointSaverHook",
    checkpoint_dir = path.expand(checkpoint_dir), save_secs = save_secs, save_steps = save_steps,
    checkpoint_basename = checkpoint_basename, listeners = as_listener_list(listeners),
    saver = saver, scaffold = scaffold, save_graph_def = save_graph_def
  )
}

#' Count steps per second
#'
#' Logs `global_step/sec` at level INFO and writes it to the event file of a folder, from the second
#' interval on.
#'
#' @param every_n_steps Every so many global steps.
#' @param every_n_secs Every so many seconds; then give `every_n_steps = NULL`.
#' @param output_dir Folder of the event file, or `NULL` for none.
#' @param summary_writer Not used: give `output_dir`.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where not exactly one interval is given.
#' @seealso The class `tf.train.StepCounterHook` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' hook_step_counter(every_n_steps = 1000, output_dir = tempdir())
hook_step_counter <- function(
  every_n_steps = 100,
  every_n_secs = NULL,
  output_dir = NULL,
  summary_writer = NULL
) {
  check_whole(every_n_steps, null = TRUE)
  check_number(every_n_secs, null = TRUE)
  check_string(output_dir, null = TRUE)
  if (!is.null(every_n_secs) && missing(every_n_steps)) every_n_steps <- NULL
  if (is.null(every_n_steps) == is.null(every_n_secs)) {
    stop_runhooks("exactly one of every_n_steps and every_n_secs should be provided.")
  }
  if (!is.null(summary_writer)) {
    stop_runhooks(
      "{.arg summary_writer} is not supported; give {.arg output_dir}.", kind = "unimplemented"
    )
  }
  new_builtin_hook("StepCounterHook",
    every_n_steps = every_n_steps, every_n_secs = every_n_secs,
    output_dir = if (!is.null(output_dir)) path.expand(output_dir)
  )
}

#' Save summaries
#'
#' Computes summaries at the first step and then at each interval, and writes them to the event file
#' of a folder. In the other steps it costs next to nothing. [train()] adds one for all summaries of
#' the model, every `save_summary_steps` of [run_config()].
#'
#' @param save_steps Save every so many global steps.
#' @param save_secs Save every so many seconds. Give one of the two.
#' @param output_dir Folder of the event file, or `NULL` for none.
#' @param summary_writer Not used: give `output_dir`.
#' @param scaffold For sessions made by hand: a `tf$train$Scaffold()`, whose summaries are saved
#'   where there is no `summary_op`.
#' @param summary_op The summary: a tensor of `tf$summary`, the name of one (`"loss:0"`,
#'   `"Merge/MergeSummary:0"` for all), or a list of these.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` where not exactly one interval is given, or no
#'   `summary_op`; `runhooks_error_not_found` at the start of the loop for a name that is not in the
#'   graph.
#' @seealso The class `tf.train.SummarySaverHook` of TensorFlow 1.x; [read_events()].
#' @family hooks
#' @export
#' @examples
#' hook_summary_saver(save_steps = 10, output_dir = tempdir(), summary_op = "loss:0")
hook_summary_saver <- function(
  save_steps = NULL,
  save_secs = NULL,
  output_dir = NULL,
  summary_writer = NULL,
  scaffold = NULL,
  summary_op = NULL
) {
  check_whole(save_steps, null = TRUE)
  check_number(save_secs, null = TRUE)
  check_string(output_dir, null = TRUE)
  if (!is.null(save_steps) && !is.null(save_secs)) {
    # tfestimators' words, leading blank included
    stop_plain(" Only one of save_secs or save_steps can be specified")
  }
  if (is.null(scaffold) == is.null(summary_op)) {
    stop_runhooks("Exactly one of scaffold or summary_op must be provided.")
  }
  if (is.null(save_steps) && is.null(save_secs)) {
    stop_runhooks("Either every_secs or every_steps should be provided.")
  }
  check_scaffold(scaffold)
  if (!is.null(summary_writer)) {
    stop_runhooks(
      "{.arg summary_writer} is not supported; give {.arg output_dir}.", kind = "unimplemented"
    )
  }
  new_builtin_hook("SummarySaverHook",
    save_steps = save_steps, save_secs = save_secs,
    output_dir = if (!is.null(output_dir)) path.expand(output_dir),
    summary_op = if (!is.null(summary_op)) check_summary_op(summary_op), scaffold = scaffold
  )
}

# A list of tensors or names of them.
check_summary_op <- function(summary_op, call = parent.frame()) {
  ops <- if (is_graph_element(summary_op)) list(summary_op) else as.list(summary_op)
  is_one <- function(x) (is.character(x) && length(x) == 1) || is_graph_element(x)
  if (!length(ops) || !all(vapply(ops, is_one, NA))) {
    stop_runhooks(
      "{.arg summary_op} must be a summary, the name of one or a list of these,
       not {.obj_type_friendly {summary_op}}.",
      call = call
    )
  }
  unname(ops)
}

#' Watch the loss for NaN
#'
#' @param loss_tensor The loss: a tensor or the name of one (`"linear/head/weighted_loss/Sum:0"`).
#' @param fail_on_nan_loss TRUE: an error; FALSE: a logged warning, and the loop stops.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_nan_loss` with the text `NaN loss during training.`
#' @seealso The class `tf.train.NanTensorHook` of TensorFlow 1.x. [train()] adds one for the model's
#'   loss.
#' @family hooks
#' @export
#' @examples
#' hook_nan_tensor("linear/head/weighted_loss/Sum:0", fail_on_nan_loss = FALSE)
hook_nan_tensor <- function(loss_tensor, fail_on_nan_loss = TRUE) {
  check_flag(fail_on_nan_loss)
  if (!is_graph_element(loss_tensor) && !(is.character(loss_tensor) && length(loss_tensor) == 1)) {
    stop_runhooks(
      "{.arg loss_tensor} must be a tensor or the name of one,
       not {.obj_type_friendly {loss_tensor}}."
    )
  }
  new_builtin_hook("NanTensorHook", loss_tensor = loss_tensor, fail_on_nan_loss = fail_on_nan_loss)
}

#' Record the losses of a run
#'
#' Records mean and sum of the first tensor of the collection `losses` (the losses of the examples,
#' for a canned model) and the global step: at the first step of the loop and at each multiple of
#' `every_n_step`. [train()] returns what the hook has recorded; it adds one with `every_n_step =
#' 10` where none is given. What a run that was interrupted has recorded is the field `history` of
#' the interrupt's condition.
#'
#' @param every_n_step A positive whole number.
#' @param tensors More to record: a named list, name = tensor or name of one, or names of tensors.
#'   Of a tensor with several elements the mean is recorded.
#' @param evaluations TRUE: the metrics of evaluations that were made while the model trained (by
#'   [hook_in_memory_evaluator()], or by [evaluate()] in a hook) join the history, as
#'   `history$evaluations`.
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
  check_whole(every_n_step)
  if (every_n_step < 1) stop_runhooks("{.arg every_n_step} must be 1 or more, not {every_n_step}.")
  check_flag(evaluations)
  tensors <- recorded_tensors(tensors)
  new_deferred_hook("hook_history_saver", function(mode, steps) {
    hook <- new_builtin_hook("HistorySaverHook",
      every_n_step = every_n_step, tensors = tensors, evaluations = evaluations
    )
    structure(hook, record = cpp_history_new())
  })
}

# By name: a name of a tensor stands for itself.
recorded_tensors <- function(tensors, call = parent.frame()) {
  if (is.null(tensors)) return(NULL)
  if (is_graph_element(tensors)) tensors <- list(tensors)
  tensors <- as.list(tensors)
  good <- vapply(tensors, function(x) is_graph_element(x) || is_string(x), NA)
  check_arg(all(good) && length(good), tensors, "tensors or names of tensors", "tensors", call)
  own <- vapply(tensors, function(x) if (is_string(x)) x else x$name, "")
  if (is.null(names(tensors))) names(tensors) <- own
  names(tensors) <- ifelse(nzchar(names(tensors)), names(tensors), own)
  taken <- c("mean_losses", "total_losses", "step")
  wrong <- c(intersect(names(tensors), taken), names(tensors)[duplicated(names(tensors))])
  if (length(wrong)) {
    stop_runhooks(
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
    "hook_history_saver", "hook_progress_bar"
  )
}

# Adds the two hooks that every loop has, where they are missing, and finishes them. `watch` is what
# else the bar is to know, see progress_bar().
complete_hooks <- function(hooks, mode, steps = NULL, watch = list()) {
  types <- vapply(hooks, function(hook) if (is_deferred_hook(hook)) hook$type else "", "")
  if (!"hook_history_saver" %in% types) hooks <- c(hooks, list(hook_history_saver()))
  if (!"hook_progress_bar" %in% types) hooks <- c(hooks, list(hook_progress_bar()))
  lapply(hooks, function(hook) {
    if (!is_deferred_hook(hook)) return(hook)
    if (hook$type == "hook_progress_bar") return(hook$hook_fn(mode, steps, watch))
    hook$hook_fn(mode, steps)
  })
}
