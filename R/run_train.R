# train(): the loop over the data.

#' Train a model
#'
#' Runs steps of training until one of these: `steps` more steps are made, the global step is
#' `max_steps`, the input ends, or a hook asks to stop. A model whose folder has a checkpoint goes
#' on from there. Data of an [input_fn()] go on, too, where the training before stopped in the
#' middle of them: see there.
#'
#' @param object An estimator, such as [linear_regressor()].
#' @param input_fn An [input_fn()], or a function of no argument that returns `list(features,
#'   labels)` of tensors. For a model made from a formula a data frame, too, or nothing: the data
#'   that it was made of.
#' @param steps How many more steps; `NULL`: as many as the input gives.
#' @param hooks A hook or a list of hooks: [session_run_hook()], `hook_*()`. A
#'   [hook_history_saver()] and a [hook_progress_bar()] are added where there is none.
#' @param max_steps Up to which global step; where it is reached nothing is done, and a message of
#'   class `runhooks_message_skipped` says so. Give at most one of `steps` and `max_steps`.
#' @param saving_listeners A [checkpoint_saver_listener()] or a list of them.
#' @param validation Data to evaluate on while the model trains: an [input_fn()], or a data frame
#'   for a model made from a formula. They are evaluated before the first step, at intervals (those
#'   of `stop`, else twenty times in a run whose length is known, else every 100 steps) and at the
#'   end. The metrics are the field `validation` of the history, are shown by the progress bar, and
#'   are in the event file of the folder `eval_validation`.
#' @param stop [early_stopping()]: by which metric of `validation` to stop.
#' @param ... With a data frame: `batch_size`, `shuffle` and `num_epochs` of [input_fn()]. The data
#'   are read as often as `steps` or `max_steps` need; where nothing is given, as often as
#'   converges, see [linear_regressor()].
#' @return The history of the run, invisibly: an object of class `tf_estimator_history` to print,
#'   plot and make a data frame of. The state of the model is its folder.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, before
#'   anything is run or written; `runhooks_error_permission_denied` for a folder that cannot be
#'   written; `runhooks_error_data_loss` for a damaged checkpoint;
#'   `runhooks_error_nan_loss` for a loss that is NaN or infinite (with an infinite one TensorFlow
#'   goes on); whatever a hook raises.
#' @section Folders: `model_dir` is made absolute when the model is made, so that it means the same
#'   after `setwd()`. The folder remembers, in its file `runhooks.data`, what was trained in it:
#'   kind of model, head, layers, columns by their content, response and optimizer. A model that is
#'   another one is refused by these words (`runhooks_error_failed_precondition`); rates,
#'   regularization and the like may change, the optimizer too where the model only evaluates and
#'   predicts. Of models of one's own it has the order of the features in their matrix and the codes
#'   of a factor. Folders that TensorFlow wrote, which have no such file, are taken as they are. One
#'   process at a time trains in a folder; [run_history()] says what all runs came to.
#' @section Saving: `saveRDS()` saves the model as it is: its object names the checkpoint, and has small
#'   weights in itself (`options(runhooks.carried_mb = )`; those of a model in a temporary folder all).
#'   What is read predicts what was saved. Where the folder has gone on since, or is gone, it says so
#'   (`runhooks_message_saved_model`) and goes on in a temporary folder of its own, which the next
#'   `saveRDS()` saves; where the weights are neither in the folder nor in the object it is an error.
#'   Copies of an object in one process (`copy <- model`) are the same model.
#' @section Random numbers: Where dropout and all that a step draws stand is in every checkpoint: a
#'   training in parts draws what one in a piece does.
#' @section Messages: `runhooks_message_few_rows` where a new model has more weights than rows and no
#'   `validation`; `runhooks_message_other_data` where data in memory are others than those that
#'   the folder was trained on before; `runhooks_message_skipped`, see `max_steps`. Whatever reads
#'   the weights of an object that was trained says once (`runhooks_message_other_training`) where
#'   another object or process has trained in its folder since.
#' @section Warnings: `runhooks_warning_not_converged` where a linear model of a formula that was not
#'   told how long to train has not come to the least loss in 200 steps, with the norm of the gradient.
#'   What the core warns of (class `runhooks_warning`, and
#'   `runhooks_warning_checkpoint` and the like) is raised when the run has ended, so that
#'   `tryCatch(warning = )` cuts nothing off.
#' @section Interrupting: Ctrl-C ends the loop after the step at hand: a checkpoint of it is saved,
#'   the session is closed, and R's interrupt is raised. Its condition has the history so far:
#'   `tryCatch(train(...), interrupt = function(condition) condition$history)`; at the prompt
#'   [last_history()] has it. A message of class `runhooks_message_interrupted` says at which step
#'   it was. A time limit (`setTimeLimit()`) is an error like any other.
#' @seealso `tf.estimator.Estimator.train` of TensorFlow 1.x; [evaluate()],
#'   [predict()][predict.tf_estimator].
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' history <- model %>% train(input_fn(mpg ~ drat, mtcars, batch_size = 8, num_epochs = 5))
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
  if (missing(input_fn)) input_fn <- kept_data(object)
  input_fn <- baked_data(object, input_fn)
  validation <- baked_data(object, validation)
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
  own_end <- model_planned_steps(object)
  if (!is.null(own_end)) planned <- min(planned, max(own_end - folder$step, 0))
  ends_itself <- is.data.frame(input_fn) && !is_limited && is.null(list(...)$num_epochs) &&
    reads_all_rows(object, input)
  watched <- validation_hooks(object, validation, stop, as_hook_list(hooks), planned)
  hooks <- name_evaluations(watched$hooks, object)
  if (ends_itself) hooks <- with_convergence(hooks)
  may_stop <- ends_itself || !is.null(stop) || !is.null(own_end)
  watch <- list(
    planned = planned, rows = known_rows(input), suffix = validation_suffix(watched$record, watched$metric),
    folder = current_model_dir(object)$path
  )
  hooks <- complete_hooks(hooks, "train", limit, watch)
  history <- run_training(
    object, input_fn, input, steps, max_steps, hooks, as_listener_list(saving_listeners),
    watched$record,
    asked = list(validation = if (!is.null(validation)) TRUE, stop = if (!is_hook(stop)) unclass(stop)),
    notes_few_rows = is.null(validation), limit = if (!may_stop) limit
  )
  is_one_pass <- is.data.frame(input_fn) && !is_limited && isTRUE(list(...)$num_epochs == 1)
  if (is_one_pass) inform_one_pass(planned, nrow(input_fn))
  invisible(history)
}

# Few steps, each of which is worth a line of the history, until nothing is left to do.
with_convergence <- function(hooks) {
  is_saver <- vapply(hooks, function(hook) {
    is_deferred_hook(hook) && hook$type == "hook_history_saver"
  }, NA)
  if (!any(is_saver)) hooks <- c(hooks, list(hook_history_saver(every_n_step = 1)))
  c(hooks, list(hook_stop_when_converged()))
}

# What the core makes of it, and what is remembered of it. `input` is what as_model_input() makes of
# `input_fn`, `hooks` are complete; `leaves_events`: the event files stay in the folder itself;
# `asked`: further arguments, for the record of the run; `notes_few_rows`: of a new model; `limit`: as
# many steps are expected.
run_training <- function(object, input_fn, input, steps, max_steps, hooks, listeners,
                         validation = NULL, leaves_events = FALSE, asked = list(),
                         notes_few_rows = FALSE, limit = NULL, call = parent.frame()) {
  folder <- current_model_dir(object)
  notes_few_rows <- notes_few_rows && !folder$has_checkpoint
  check_model_dir(folder, call)
  check_model_compatible(object, "train", call)
  inform_lost_folder(object, folder)
  # where the loop is left by an error or an interrupt
  is_done <- FALSE
  on.exit(if (!is_done) record_aborted_training(object, input_fn))
  on.exit(for (hook in hooks) finish_hook(hook), add = TRUE)
  config <- core_config(object)
  inform_own_saver(hooks, config)
  started <- Sys.time()
  history <- function(step = NULL, record = read_record(hooks)) {
    made <- recorded_history(hooks, record, step, folder$path, started, validation)
    the$last_history <- made
    made
  }
  result <- in_all_processes(object, with_loop_conditions(
    cpp_estimator_train(
      core_model(object), config, remembering_input(input, object, folder),
      if (is.null(steps)) 0 else steps, if (is.null(max_steps)) 0 else max_steps,
      lapply(hooks, core_hook), listeners, leaves_events, run_about(steps, max_steps, input, asked)
    ),
    history = history, interrupted = function() inform_interrupted(folder$path)
  ))
  is_done <- TRUE
  if (result$was_skipped) inform_skipped(folder, max_steps)
  check_reached("train", result$global_step - folder$step, limit, result$why, result$reason)
  history <- history(result$global_step, result$history)
  if (notes_few_rows) inform_few_rows(object, result$num_weights, attr(input, "about")$rows)
  if (result$has_checkpoint) {
    if (!result$was_skipped) remember_model(object, folder)
    record_training(object, input_fn, folder, result$mark)
    remember_training(object, input_fn, input, history, folder)
    finish_training(object, folder)
  }
  history
}

# A pass through a small data frame is a few steps, which train little.
inform_one_pass <- function(steps, rows) {
  cli::cli_inform(
    c(
      "One pass: {steps} step{?s} for {rows} row{?s} of data.",
      i = "Without {.arg num_epochs} the data are read as often as such a model needs."
    ),
    class = "runhooks_message_one_pass"
  )
}

# The folder of a script that is run again, perhaps with other data or another rate.
inform_skipped <- function(folder, max_steps) {
  cli::cli_inform(
    c(
      "Nothing was trained: the model in {.path {folder$path}} has reached step {folder$step}, and
       {.code max_steps = {max_steps}} asks for no more.",
      i = "{.code steps = } makes so many more steps, a larger {.arg max_steps} goes on to there,
           another {.arg model_dir} begins anew."
    ),
    class = "runhooks_message_skipped"
  )
}

# One line after Ctrl-C.
inform_interrupted <- function(folder) {
  end_progress_line()
  is_saved <- !is.null(cpp_latest_checkpoint(folder))
  step <- format(cpp_saved_global_step(folder), big.mark = ",", scientific = FALSE)
  rlang::inform(
    if (is_saved) {
      sprintf("Stopped at step %s, saved; train() goes on from there.", step)
    } else {
      "Stopped; nothing was saved, because the configuration asks for no checkpoints."
    },
    class = "runhooks_message_interrupted"
  )
}

# What a hook does when the run is recorded, however it has ended.
finish_hook <- function(hook) {
  finish <- attr(hook, "finish")
  if (is.function(finish)) finish()
}

# A hook as the core reads it: built-in ones as plain lists, the tensors and functions in them as
# they are.
core_hook <- function(hook) {
  if (!inherits(hook, "runhooks_builtin_hook")) return(hook)
  present <- hook[!vapply(hook, is.null, NA)]
  attributes(present) <- list(
    names = names(present), class = class(hook), record = attr(hook, "record")
  )
  present
}

# Two savers would save everything twice.
inform_own_saver <- function(hooks, config) {
  is_saver <- vapply(hooks, inherits, NA, "CheckpointSaverHook")
  saves <- !is.null(config$save_checkpoints_steps) || !is.null(config$save_checkpoints_secs)
  if (any(is_saver) && saves) {
    cli::cli_inform(
      "{.fn hook_checkpoint_saver} takes the place of the saver that {.arg config} asks for."
    )
  }
}

# Rows, and the last average loss, in the object and in the folder, for a model that is made again.
remember_training <- function(object, data, input, history, folder) {
  if (is.null(object$blueprint)) return(invisible())
  kept <- unclass(object$estimator)$kept
  # a recipe makes the formula's columns of others
  columns <- if (is.null(object$recipe)) object$blueprint$columns else names(object$data)
  if (is.data.frame(data)) {
    kept$data <- structure(
      data[intersect(names(data), columns)], is_baked = attr(data, "is_baked", exact = TRUE)
    )
  }
  if (is_streamed(data)) kept$data <- data
  record <- folder_memory(folder)
  if (is.null(record)) return(invisible()) # nothing was saved
  loss <- last_of(history$losses$mean_losses)
  rows <- if (is_formula_data(data)) attr(input, "about")$rows
  last <- list(rows = rows, loss = if (!is.na(loss)) loss)
  record$last <- last[lengths(last) > 0]
  update_metadata(folder, record)
}
