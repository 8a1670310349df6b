# train(): the method, the call of the C++ core, and the messages of a training.

#' Train a model
#'
#' Runs training steps and returns the history of the run. Training stops after `steps` steps, when
#' the global step reaches `max_steps`, at the end of the input, or when a hook requests it.
#'
#' Training resumes from the newest checkpoint in `model_dir`. If the previous training stopped
#' part-way through an [input_fn()], the data resume at the same row; see [input_fn()].
#'
#' @param object An estimator, such as [linear_regressor()].
#' @param input_fn An [input_fn()], or a function without arguments that returns `list(features,
#'   labels)` of tensors. A model from a formula also accepts a data frame, or nothing: it then uses
#'   the data from which it was created.
#' @param steps Number of additional steps. `NULL`: until the input ends.
#' @param hooks A hook or a list of hooks: [session_run_hook()], `hook_*()`. `train()` adds a
#'   [hook_history_saver()] and a [hook_progress_bar()] if the list has none.
#' @param max_steps Global step at which training stops. If the model has already reached it,
#'   `train()` does nothing and signals a message of class `runhooks_message_skipped`. Give at most
#'   one of `steps` and `max_steps`.
#' @param saving_listeners A [checkpoint_saver_listener()] or a list of them.
#' @param validation Data for evaluations during training: an [input_fn()], or a data frame for a
#'   model from a formula. `train()` evaluates before the first step, at intervals and at the end.
#'   The interval is that of `stop`, or else a twentieth of a run of known length, or else 100
#'   steps. The metrics are in the field `validation` of the history, in the progress bar, and in
#'   the event file of the folder `eval_validation`.
#' @param stop [early_stopping()], which selects the metric of `validation` that stops the training.
#' @param ... With a data frame: `batch_size`, `shuffle` and `num_epochs` of [input_fn()]. `train()`
#'   repeats the data until `steps` or `max_steps`. Without these arguments, it repeats them until
#'   the model converges; see [linear_regressor()].
#' @return The history of the run, invisibly: an object of class `tf_estimator_history`, which you
#'   can print, plot and convert to a data frame. The model changes in place; its state is in
#'   `model_dir`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid. Nothing has been run or written.
#'   * `runhooks_error_failed_precondition`: `model_dir` contains a different model.
#'   * `runhooks_error_permission_denied`: `model_dir` is not writable.
#'   * `runhooks_error_data_loss`: a checkpoint is damaged.
#'   * `runhooks_error_nan_loss`: the loss is NaN or infinite. TensorFlow continues after an
#'     infinite loss.
#'   * Any error of a hook, with its own class.
#' @section Model directory: `model_dir` becomes an absolute path when the model is created, so
#'   `setwd()` does not affect it. The file `runhooks.data` in this directory records the kind of
#'   model, the head, the layers, the columns, the response and the optimizer. For custom models it
#'   records the order of the features and the codes of factors. Training a different model in the
#'   same directory is an error that lists the differences. Learning rates and regularization may
#'   change. The optimizer may change if the model only evaluates and predicts. Directories that
#'   TensorFlow wrote have no such file and are always accepted. Only one process at a time can
#'   train in a directory. [run_history()] lists all runs.
#' @section Saving: `saveRDS()` saves a snapshot of the model: the path of the checkpoint and, up to
#'   `options(runhooks.carried_mb = )`, the weights. For a model in a temporary directory it saves
#'   all weights. The restored model makes the same predictions. If the directory has changed or
#'   disappeared since the model was saved, a message of class `runhooks_message_saved_model` says
#'   so and the restored model uses a temporary directory. If neither the directory nor the object
#'   has the weights, reading them is an error. Copies of an object in one process (`copy <- model`)
#'   are the same model.
#' @section Random numbers: Each checkpoint contains the state of the random number generators. Two
#'   consecutive trainings therefore draw the same numbers as one long training.
#' @section Messages:
#'   * `runhooks_message_few_rows`: a new model has more weights than rows, and no `validation`.
#'   * `runhooks_message_other_data`: the data in memory differ from those of the previous training.
#'   * `runhooks_message_skipped`: the model has already reached `max_steps`.
#'   * `runhooks_message_other_training`: another object or process has trained in `model_dir` since
#'     this object did. Functions that read the weights signal this message once.
#' @section Warnings:
#'   * `runhooks_warning_not_converged`: a linear model from a formula, trained without `steps` or
#'     `num_epochs`, did not converge within 200 iterations. The message has the norm of the
#'     gradient.
#'   * `runhooks_warning`, `runhooks_warning_checkpoint` and other classes: warnings of the C++
#'     core. They are raised after the run has ended, so `tryCatch(warning = )` does not interrupt
#'     the training.
#' @section Interrupting: Ctrl-C ends the loop after the current step. `train()` then saves a
#'   checkpoint, closes the session, signals a message of class `runhooks_message_interrupted`, and
#'   raises R's interrupt. The condition contains the history: `tryCatch(train(...), interrupt =
#'   function(condition) condition$history)`. At the prompt, [last_history()] returns it. A time
#'   limit (`setTimeLimit()`) is an ordinary error.
#' @seealso `tf.estimator.Estimator.train` of TensorFlow 1.x; [evaluate()],
#'   [predict()][predict.tf_estimator].
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' history <- model |> train(input_fn(mpg ~ drat, mtcars, batch_size = 8, num_epochs = 5))
#' history
train <- function(object, ...) UseMethod("train")

#' @export
train.default <- function(object, ...) abort_no_model("train", object, list(...), environment())

#' @rdname train
#' @export
train.tf_estimator <- function(
  object,
  input_fn,
  steps = NULL,
  hooks = NULL,
  max_steps = NULL,
  saving_listeners = NULL,
  validation = NULL,
  stop = NULL,
  ...
) {
  abort_abbreviated_arguments()
  if (missing(input_fn)) input_fn <- training_data(object)
  input_fn <- bake_new_data(object, input_fn)
  validation <- bake_new_data(object, validation)
  check_steps(steps, "steps")
  check_steps(max_steps, "max_steps")
  if (!is.null(steps) && !is.null(max_steps)) {
    abort_runhooks(
      c(
        "Can not provide both steps and max_steps.",
        i = "Given are steps = {steps} and max_steps = {max_steps}."
      )
    )
  }
  is_limited <- !is.null(steps) || !is.null(max_steps)
  input_fn <- as_formula_data(input_fn, object)
  begin_collective(object, "train()", lasts = TRUE)
  folder <- local_model_dir(object, writes = TRUE)
  input <- as_model_input(input_fn, object, ..., is_limited = is_limited)
  limit <- steps
  if (!is.null(max_steps)) limit <- max(max_steps - folder$step, 0)
  planned <- if (is.null(limit)) planned_steps(input) else limit
  model_end <- model_planned_steps(object)
  if (!is.null(model_end)) planned <- min(planned, max(model_end - folder$step, 0))
  trains_to_convergence <- is.data.frame(input_fn) && !is_limited &&
    is.null(list(...)$num_epochs) && is_full_batch_input(object, input)
  evaluation <- validation_hooks(object, validation, stop, as_hook_list(hooks), planned)
  hooks <- connect_to_evaluations(evaluation$hooks, object)
  if (trains_to_convergence) hooks <- add_convergence_hooks(hooks)
  may_stop <- trains_to_convergence || !is.null(stop) || !is.null(model_end)
  run_info <- list(
    planned = planned, rows = num_total_rows(input),
    suffix = validation_suffix(evaluation$record, evaluation$metric),
    folder = current_model_dir(object)$path
  )
  hooks <- complete_hooks(hooks, "train", limit, run_info)
  has_warned <- FALSE
  first_step <- folder$step
  history <- withCallingHandlers(
    run_training(
      object, input_fn, input, steps, max_steps, hooks, as_listener_list(saving_listeners),
      evaluation$record,
      run_args = list(
        validation = if (!is.null(validation)) TRUE, stop = if (!is_hook(stop)) unclass(stop)
      ),
      notes_few_rows = is.null(validation), limit = if (!may_stop) limit
    ),
    runhooks_warning_not_converged = function(w) has_warned <<- TRUE
  )
  is_cut_short <- trains_to_convergence &&
    cpp_saved_global_step(run_info$folder) - first_step >= max_iterations
  if (is_cut_short && !has_warned && nrow(input_fn) <= 1e5) warn_unfinished_fit(object)
  is_one_pass <- is.data.frame(input_fn) && !is_limited && isTRUE(list(...)$num_epochs == 1)
  if (is_one_pass) inform_one_pass(planned, nrow(input_fn))
  invisible(history)
}

# Adds the hooks of full-batch training: one stops at the optimum, the other records every step in
# the history, which is cheap because full-batch training takes few steps.
add_convergence_hooks <- function(hooks) {
  is_history_saver <- vapply(hooks, function(hook) {
    is_deferred_hook(hook) && hook$type == "hook_history_saver"
  }, NA)
  if (!any(is_history_saver)) hooks <- c(hooks, list(hook_history_saver(every_n_step = 1)))
  c(hooks, list(hook_stop_when_converged()))
}

# Runs a training for train() and train_and_evaluate(), and returns its history. `input`: the value
# of as_model_input() for `input_fn`. `leaves_events`: the event files stay in the model directory.
# `run_args`: arguments for the record of the run. `notes_few_rows`: inform if there are more
# weights than rows. `limit`: the expected number of steps.
run_training <- function(object, input_fn, input, steps, max_steps, hooks, listeners,
                         validation = NULL, leaves_events = FALSE, run_args = list(),
                         notes_few_rows = FALSE, limit = NULL, call = parent.frame()) {
  folder <- current_model_dir(object)
  notes_few_rows <- notes_few_rows && !folder$has_checkpoint
  check_model_dir(folder, call)
  check_model_compatible(object, "train", call)
  inform_lost_folder(object, folder)
  folder$is_recorded <- folder$has_metadata
  # record the training also after an error or an interrupt
  is_done <- FALSE
  on.exit(if (!is_done) record_aborted_training(object, input_fn))
  on.exit(for (hook in hooks) run_hook_cleanup(hook), add = TRUE)
  config <- core_config(object)
  inform_saver_replaced(hooks, config)
  started <- Sys.time()
  description <- list(model = model_title(object), hyperparameters = hyperparameters(object))
  run_args <- c(run_args, description)
  history <- function(step = NULL, record = read_record(hooks)) {
    result_history <- recorded_history(hooks, record, step, folder$path, started, validation)
    the$last_history <- result_history
    result_history
  }
  result <- in_all_processes(object, with_loop_conditions(
    cpp_estimator_train(
      core_model(object), config, recording_input(input, object, folder),
      if (is.null(steps)) 0 else steps, if (is.null(max_steps)) 0 else max_steps,
      lapply(hooks, hook_for_core), listeners, leaves_events,
      run_description(steps, max_steps, input, run_args)
    ),
    history = history, interrupted = function() inform_interrupted(folder$path)
  ))
  is_done <- TRUE
  if (result$was_skipped) inform_skipped(folder, max_steps)
  trained <- result$global_step - folder$step
  check_all_steps_ran(
    "train", trained, limit, result$why, result$reason, trained == 0 && is_custom(object)
  )
  history <- history(result$global_step, result$history)
  if (notes_few_rows) inform_few_rows(object, result$num_weights, attr(input, "about")$rows)
  if (result$has_checkpoint) {
    if (!result$was_skipped) record_model(object, folder)
    record_training(object, input_fn, folder, result$checkpoint_id)
    record_fit(object, input_fn, input, history, folder)
    finish_training(object, folder)
  }
  history
}

# Informs that `num_epochs = 1` gives only a few steps for a data frame.
inform_one_pass <- function(steps, rows) {
  cli::cli_inform(
    c(
      "One pass: {steps} step{?s} for {rows} row{?s} of data.",
      i = "Without {.arg num_epochs}, the data are repeated as often as such a model needs."
    ),
    class = "runhooks_message_one_pass"
  )
}

inform_skipped <- function(folder, max_steps) {
  cli::cli_inform(
    c(
      "Nothing was trained: the model in {.path {folder$path}} is at step {folder$step}, and
       {.code max_steps = {max_steps}}.",
      i = "Use {.arg steps} or a larger {.arg max_steps} to continue, or another {.arg model_dir} to
           start again."
    ),
    class = "runhooks_message_skipped"
  )
}

inform_interrupted <- function(folder) {
  end_progress_line()
  is_saved <- !is.null(cpp_latest_checkpoint(folder))
  step <- format(cpp_saved_global_step(folder), big.mark = ",", scientific = FALSE)
  rlang::inform(
    if (is_saved) {
      sprintf("Stopped at step %s and saved a checkpoint; train() continues from it.", step)
    } else {
      "Stopped without saving, because the configuration disables checkpoints."
    },
    class = "runhooks_message_interrupted"
  )
}

# Calls the function in the attribute `finish` of a hook, if there is one. This happens after the
# core has recorded the run.
run_hook_cleanup <- function(hook) {
  finish <- attr(hook, "finish")
  if (is.function(finish)) finish()
}

# Converts a built-in hook to a plain list for the C++ core; returns other hooks unchanged.
hook_for_core <- function(hook) {
  if (!inherits(hook, "runhooks_builtin_hook")) return(hook)
  present <- hook[!vapply(hook, is.null, NA)]
  attributes(present) <- list(
    names = names(present), class = class(hook), record = attr(hook, "record")
  )
  present
}

# Informs that a hook replaces the checkpoint saver of the configuration. Two savers would save each
# checkpoint twice.
inform_saver_replaced <- function(hooks, config) {
  is_saver <- vapply(hooks, inherits, NA, "CheckpointSaverHook")
  has_own_saver <- !is.null(config$save_checkpoints_steps) ||
    !is.null(config$save_checkpoints_secs)
  if (any(is_saver) && has_own_saver) {
    cli::cli_inform(
      "{.fn hook_checkpoint_saver} replaces the saver that {.arg config} requests."
    )
  }
}

# Records the data of a formula model and the last loss, for later calls without data and for
# print().
record_fit <- function(object, data, input, history, folder) {
  if (is.null(object$blueprint)) return(invisible())
  shared_state <- handle_fields(object)$shared_state
  # a recipe derives the columns of the formula from the columns of the data
  columns <- if (is.null(object$recipe)) object$blueprint$columns else names(object$data)
  if (is.data.frame(data)) {
    shared_state$data <- structure(
      data[intersect(names(data), columns)], is_baked = attr(data, "is_baked", exact = TRUE)
    )
  }
  if (is_streamed(data)) shared_state$data <- data
  record <- read_metadata(folder)
  if (is.null(record)) return(invisible()) # nothing was saved
  losses <- history$losses
  loss <- last_or_na(if (is.null(losses$average_loss)) losses$loss else losses$average_loss)
  rows <- if (is_formula_data(data)) attr(input, "about")$rows
  last <- list(rows = rows, loss = if (!is.na(loss)) loss)
  record$last <- last[lengths(last) > 0]
  update_metadata(folder, record)
}
