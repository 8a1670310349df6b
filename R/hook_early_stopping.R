# Early stopping: hooks that check at intervals whether to stop the training.

#' Stop training when a function returns TRUE
#'
#' Creates a hook that calls a function after the first step and then at each interval. If the
#' function returns TRUE, [train()] ends after the current step, saves a checkpoint, and signals a
#' message of class `runhooks_message_early_stopping`.
#'
#' The variable `signal_early_stopping/STOP` also records the stop, so checkpoints of such a model
#' contain it. Unlike in TensorFlow, training can resume from a checkpoint without this variable.
#'
#' @param estimator The estimator to train.
#' @eval hook_params("EarlyStoppingHook")
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: both intervals are given, or neither.
#' @seealso `tf.estimator.experimental.make_early_stopping_hook` of TensorFlow 1.x;
#'   [hook_stop_if_higher()] and similar hooks, which check a metric.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' deadline <- Sys.time() + 5
#' model |> train(
#'   input_fn(mpg ~ wt, mtcars, batch_size = 8),
#'   hooks = hook_early_stopping(model, function() Sys.time() > deadline)
#' )
hook_early_stopping <- function(
  estimator,
  should_stop_fn,
  run_every_secs = 60,
  run_every_steps = NULL,
  every_n_steps = NULL
) {
  abort_abbreviated_arguments()
  resolve_every_n_steps(environment(), "run_every_steps", "run_every_secs")
  check_stopped_estimator(estimator)
  if (!is.function(should_stop_fn)) abort_plain("`should_stop_fn` must be callable.")
  check_method(should_stop_fn, "should_stop_fn", character())
  new_builtin_hook("EarlyStoppingHook",
    should_stop_fn = should_stop_fn, run_every_secs = run_every_secs,
    run_every_steps = run_every_steps, notify = inform_early_stopping
  )
}

# Signals a message or a warning about early stopping: `kind` is "message" or "warning". Called by
# the core when the loop ends.
inform_early_stopping <- function(kind, text) inform_in_loop(kind, text, "early_stopping")

# Signals a message or a warning from a loop, after the progress line has ended. In distributed
# training, only the chief signals it.
inform_in_loop <- function(kind, text, topic) {
  if (isFALSE(the$strategy$is_chief)) return(invisible())
  end_progress_line()
  class <- paste0("runhooks_", kind, "_", topic)
  if (kind == "warning") {
    rlang::warn(text, class = class)
  } else {
    rlang::inform(text, class = class)
  }
}

check_stopped_estimator <- function(estimator, call = parent.frame()) {
  if (!is_estimator(estimator)) {
    abort_plain(
      sprintf(
        "`estimator` must have type `tf.estimator.Estimator`. Got: %s", describe(estimator)
      ),
      call = call
    )
  }
}

# Constructs the four hooks that check a metric. `frame` contains the arguments of the constructor.
new_stop_if_hook <- function(type, frame) {
  resolve_every_n_steps(frame, "run_every_steps", "run_every_secs")
  args <- argument_values(names(formals(sys.function(sys.parent()))), frame)
  check_stopped_estimator(args$estimator, call = frame)
  dir <- model_dir(args$estimator)
  if (is.null(args$eval_dir)) args$eval_dir <- file.path(dir, "eval")
  args$eval_dir <- absolute_path(args$eval_dir, "eval_dir", frame)
  args$estimator <- NULL
  own <- list(model_dir = dir, notify = inform_early_stopping)
  do.call(new_builtin_hook, c(list(type), args, own), quote = TRUE)
}

#' Stop training by a metric of evaluations
#'
#' `hook_stop_if_higher()` and `hook_stop_if_lower()` create hooks that stop when the metric of any
#' evaluation is beyond the threshold. `hook_stop_if_no_increase()` and `hook_stop_if_no_decrease()`
#' stop if the metric has not improved for a number of steps. [early_stopping()] is the short form
#' for `train(validation = )`.
#'
#' The hooks read the metrics from event files in a directory. They read after the first step, after
#' each evaluation in this process ([hook_in_memory_evaluator()], or [evaluate()] in a hook), and at
#' the end of the loop. They also read at each interval, to find evaluations by other processes.
#' Values in event files are float32 numbers: 0.9 is read as 0.8999999761581421, which is not higher
#' than 0.9.
#'
#' A stop signals a message of class `runhooks_message_early_stopping`. If the loop ends without an
#' evaluation of this metric, the hook gives a warning of class `runhooks_warning_early_stopping`.
#'
#' @param estimator The estimator to train.
#' @eval hook_params("StopIfHigherHook")
#' @param max_steps_without_increase,max_steps_without_decrease Number of global steps without an
#'   improvement after which training stops.
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * The errors of [hook_early_stopping()].
#'   * `runhooks_error_not_found`, in [train()]: there are evaluations, but not of this metric.
#' @seealso `tf.estimator.experimental.stop_if_higher_hook` and similar functions of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"), model_dir = "models/wt")
#' hook_stop_if_lower(model, "average_loss", 10, run_every_secs = NULL, run_every_steps = 100)
#' hook_stop_if_no_decrease(model, "average_loss", max_steps_without_decrease = 1000)
#' hook_stop_if_higher(model, "accuracy", 0.95, run_every_secs = 10)
#' hook_stop_if_no_increase(model, "accuracy", max_steps_without_increase = 1000)
hook_stop_if_higher <- function(estimator, metric_name, threshold, eval_dir = NULL, min_steps = 0,
                                run_every_secs = 60, run_every_steps = NULL,
                                restore_best_weights = FALSE, every_n_steps = NULL) {
  abort_abbreviated_arguments()
  new_stop_if_hook("StopIfHigherHook", environment())
}

#' @rdname hook_stop_if_higher
#' @export
hook_stop_if_lower <- function(estimator, metric_name, threshold, eval_dir = NULL, min_steps = 0,
                               run_every_secs = 60, run_every_steps = NULL,
                                restore_best_weights = FALSE, every_n_steps = NULL) {
  abort_abbreviated_arguments()
  new_stop_if_hook("StopIfLowerHook", environment())
}

#' @rdname hook_stop_if_higher
#' @export
hook_stop_if_no_increase <- function(estimator, metric_name, max_steps_without_increase,
                                     eval_dir = NULL, min_steps = 0, run_every_secs = 60,
                                     run_every_steps = NULL, restore_best_weights = FALSE,
                                     every_n_steps = NULL) {
  abort_abbreviated_arguments()
  new_stop_if_hook("StopIfNoIncreaseHook", environment())
}

#' @rdname hook_stop_if_higher
#' @export
hook_stop_if_no_decrease <- function(estimator, metric_name, max_steps_without_decrease,
                                     eval_dir = NULL, min_steps = 0, run_every_secs = 60,
                                     run_every_steps = NULL, restore_best_weights = FALSE,
                                     every_n_steps = NULL) {
  abort_abbreviated_arguments()
  new_stop_if_hook("StopIfNoDecreaseHook", environment())
}

#' Stop early by a validation metric
#'
#' Creates the argument `stop` of [train()]. Training stops if a metric of the `validation` data has
#' not improved for `patience` steps, and the model gets back the weights of its best evaluation.
#' Only evaluations of the same [train()] call count.
#'
#' @param metric_name A metric of [evaluate()], such as `"accuracy"`. Default: `"average_loss"`, the
#'   mean loss of the examples, or `"loss"` if the model has no such metric, like most custom
#'   models.
#' @param patience Number of steps without an improvement after which training stops.
#' @param min_delta Smallest change that counts as an improvement.
#' @param mode `"min"`: lower is better. `"max"`: higher is better. `"auto"`: derived from the name
#'   of the metric, for losses, errors, accuracies, areas under curves, precision and recall.
#' @param every_n_steps Number of steps between evaluations. Default, `NULL`: a fifth of `patience`.
#' @param restore_best_weights TRUE: the model gets the best weights, which are also saved in the
#'   folder `best` of `model_dir`. FALSE: the model keeps the weights of its last step.
#' @param ... Not used; unknown arguments are an error.
#' @return An object of class `runhooks_early_stopping`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or `mode = "auto"` does not know
#'     the metric.
#'   * `runhooks_error_invalid_argument`, in [train()]: `validation` is missing.
#'   * `runhooks_error_not_found`, in [train()]: the evaluations do not have the metric.
#' @seealso [hook_stop_if_no_decrease()] for evaluations by another process.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(mpg ~ wt + hp, data = mtcars[1:24, ])
#' history <- model |> train(
#'   mtcars[1:24, ], steps = 2000, validation = mtcars[25:32, ],
#'   stop = early_stopping("average_loss", patience = 500)
#' )
#' tail(history$validation)
early_stopping <- function(metric_name = "average_loss", patience, min_delta = 0,
                           mode = c("auto", "min", "max"), every_n_steps = NULL,
                           restore_best_weights = TRUE, ...) {
  abort_abbreviated_arguments()
  abort_stopping_arguments(names(list(...)), parent.frame())
  check_string(metric_name)
  if (missing(patience)) {
    abort_runhooks(
      c(
        "{.arg patience} is missing: the number of steps without a better {.val {metric_name}}.",
        i = "Example: {.code early_stopping({.val {metric_name}}, patience = 500)}."
      )
    )
  }
  check_positive_whole(patience)
  check_number(min_delta)
  if (min_delta < 0) abort_runhooks("{.arg min_delta} must be 0 or more, not {min_delta}.")
  check_positive_whole(every_n_steps, null = TRUE)
  check_flag(restore_best_weights)
  mode <- metric_mode(metric_name, check_one_of(mode, c("auto", "min", "max")))
  structure(
    list(
      metric_name = metric_name, patience = patience, min_delta = min_delta, mode = mode,
      every_n_steps = every_n_steps, restore_best_weights = restore_best_weights,
      fallback_metric = if (missing(metric_name)) "loss" else ""
    ),
    class = "runhooks_early_stopping"
  )
}

abort_stopping_arguments <- function(names, call) {
  if (length(names) == 0) return(invisible())
  name <- names[[1]]
  advice <- if (name %in% c("monitor", "metric")) {
    "Use {.arg metric_name}. Metrics of the validation data have no prefix: {.val average_loss}."
  } else {
    "Its arguments are {.arg {setdiff(names(formals(early_stopping)), \"...\")}}."
  }
  abort_runhooks(c("{.fn early_stopping} has no argument {.arg {name}}.", i = advice), call = call)
}

#' @export
print.runhooks_early_stopping <- function(x, ...) {
  better <- if (x$mode == "min") "lower" else "higher"
  # lint: allow stdout
  cat(sprintf(
    "Early stopping when \"%s\" has been no %s for %.0f steps\n",
    x$metric_name, better, x$patience
  ))
  invisible(x)
}

# Patterns of names of metrics for which lower or higher values are better. Names without a match,
# such as "err2", are ambiguous, and so are reversed ones, such as "neg_accuracy".
lower_is_better_pattern <- paste0(
  "(^|_)(loss|errors?|mse|mae|rmse|mape|deviance|perplexity|false_positives|false_negatives|",
  "mean_cosine_distance)$"
)
higher_is_better_pattern <- paste0(
  "(^|_)(accuracy|auc|auc_precision_recall|precision|recall|f1|f1_score|specificity|sensitivity|",
  "true_positives|true_negatives|r2|iou)$|",
  "^(precision|recall|sensitivity|specificity)_at_",
  "(precision|recall|sensitivity|specificity|k|top_k)$"
)
reversed_metric_pattern <- "(^|_)(neg|negative|negated|minus|inverse|inverted)(_|$)"

# Returns "min" if lower values of a metric are better, and "max" if higher values are.
metric_mode <- function(metric_name, mode, call = parent.frame()) {
  if (mode != "auto") return(mode)
  # metrics of a single head or class: "auc/head", "probability_mean/class0"
  parts <- strsplit(metric_name, "/", fixed = TRUE)[[1]]
  prefers_lower <- any(grepl(lower_is_better_pattern, parts))
  prefers_higher <- any(grepl(higher_is_better_pattern, parts))
  if (prefers_lower != prefers_higher && !any(grepl(reversed_metric_pattern, parts))) {
    return(if (prefers_higher) "max" else "min")
  }
  abort_runhooks(
    c(
      "Cannot determine whether a higher or a lower {.val {metric_name}} is better.",
      i = "Give {.code mode = \"min\"} or {.code mode = \"max\"}."
    ),
    call = call
  )
}

# Adds the hooks for `validation` and `stop` of train(). Returns the hooks, the record of the
# evaluations, and the metric that the progress bar shows.
validation_hooks <- function(
  object,
  validation,
  stop,
  hooks,
  planned_steps,
  call = parent.frame()
) {
  stop <- check_stop(stop, call)
  stop_hook <- if (is_hook(stop)) list(stop)
  if (!is.null(stop_hook)) stop <- NULL
  if (is.null(validation)) {
    if (!is.null(stop)) stop_hook <- list(stop_hook_of_user_evaluator(object, stop, hooks, call))
    return(list(hooks = c(hooks, stop_hook)))
  }
  if (!is_formula_data(validation) && !is.function(validation)) {
    abort_runhooks(
      c(
        "{.arg validation} must be an {.fn input_fn}, or a data frame for a model from a formula,
         not {describe_type(validation)}.",
        i = if (is.numeric(validation)) "Split the data yourself; a fraction is not supported."
      ),
      call = call
    )
  }
  if (is_formula_data(validation) && is.null(object$blueprint)) {
    abort_runhooks(
      c(
        "{.arg validation} must be an {.fn input_fn}: only models from a formula accept a data
         frame.",
        i = "Example: {.code validation = input_fn(data, features = ..., response = ...)}."
      ),
      call = call
    )
  }
  evaluator <- new_evaluator_hook(
    object, as_model_input(validation, object, must_end = TRUE, arg = "validation", call = call),
    name = validation_name, every_n_iter = validation_interval(stop, planned_steps)
  )
  if (!is.null(stop)) stop_hook <- list(new_stop_hook(object, stop, validation_name))
  list(
    hooks = c(hooks, list(evaluator), stop_hook), record = attr(evaluator, "record"),
    metric = stop$metric_name
  )
}

validation_name <- "validation"

check_stop <- function(stop, call) {
  if (is.null(stop) || inherits(stop, "runhooks_early_stopping") || is_hook(stop)) return(stop)
  abort_runhooks(
    c(
      "{.arg stop} must be an object from {.fn early_stopping}, not {describe(stop)}.",
      i = "Example: {.code stop = early_stopping(\"average_loss\", patience = 500)}. For a number of
           steps, use {.arg steps}."
    ),
    call = call
  )
}

# Returns the number of steps between evaluations: a fifth of the patience, or a twentieth of a run
# of known length.
validation_interval <- function(stop, planned_steps) {
  if (!is.null(stop$every_n_steps)) return(stop$every_n_steps)
  if (!is.null(stop)) return(max(1, stop$patience %/% 5))
  if (!is.null(planned_steps)) max(1, planned_steps %/% 20) else 100
}

new_stop_hook <- function(object, stop, evaluation_name) {
  type <- if (stop$mode == "min") "StopIfNoDecreaseHook" else "StopIfNoIncreaseHook"
  change <- if (stop$mode == "min") "decrease" else "increase"
  patience <- setNames(list(stop$patience), paste0("max_steps_without_", change))
  dir <- model_dir(object)
  do.call(new_builtin_hook, c(list(type), patience, list(
    metric_name = stop$metric_name, fallback_metric = stop$fallback_metric,
    min_delta = stop$min_delta, of_this_loop = TRUE,
    eval_dir = file.path(dir, evaluation_folder(evaluation_name)),
    restore_best_weights = stop$restore_best_weights,
    # the interval only concerns evaluations of other processes; the hook sees those of this loop at
    # once
    run_every_secs = 60, model_dir = dir, notify = inform_early_stopping
  )))
}

# Creates the stop hook for a call without `validation`. It uses the evaluations of the user's
# evaluator hook; without one, the function aborts.
stop_hook_of_user_evaluator <- function(object, stop, hooks, call) {
  evaluator <- Find(function(hook) inherits(hook, "InMemoryEvaluatorHook"), hooks)
  if (is.null(evaluator)) {
    abort_runhooks(
      c(
        "{.arg stop} needs {.arg validation}: data for computing {.val {stop$metric_name}}.",
        i = "Give a data frame or an {.fn input_fn}: {.code train(model, data, validation = test,
             stop = early_stopping(...))}."
      ),
      call = call
    )
  }
  new_stop_hook(object, stop, evaluator$name)
}
