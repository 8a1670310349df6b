# A hook that sets the learning rate.

#' Set the learning rate of each step
#'
#' Creates a hook that sets the learning rate before each step of [train()]. It works with any
#' optimizer and model. In a wide and deep model it sets the rates of both optimizers. The model and
#' its checkpoints do not change. The event file contains the rate as `learning_rate`, and any hook
#' can request it by `session_run_args("learning_rate")`.
#'
#' @param schedule `reduce_on_plateau()`, or a function of one or more of the arguments `step`,
#'   `epoch` and `rate`, which returns the rate of the next step. `step` is the global step,
#'   starting at 0. `epoch` is the pass of the last row read, starting at 1. `rate` is the rate of
#'   the optimizer. If the arguments have other names, they are passed in this order.
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `schedule` is invalid, or returns a value that is not a
#'     number of 0 or more.
#'   * `runhooks_error_failed_precondition`: the hook is used in [evaluate()] or
#'     [predict()][predict.tf_estimator].
#' @seealso [optimizers], whose `learning_rate` can be a function of the global step, such as
#'   `tf$train$exponential_decay()`.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"), optimizer = tf$train$AdamOptimizer(0.5))
#' halve <- hook_learning_rate(function(epoch, rate) rate * 0.5^(epoch - 1))
#' input <- input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 3)
#' saver <- hook_history_saver(every_n_step = 4, tensors = "learning_rate")
#' history <- model |> train(input, hooks = list(halve, saver))
#' as.data.frame(history)
#'
#' # reduce_on_plateau() needs evaluations, such as those of `validation`
#' model |> train(
#'   input, validation = input_fn(mpg ~ wt, mtcars),
#'   hooks = hook_learning_rate(reduce_on_plateau("average_loss", patience = 100))
#' )
hook_learning_rate <- function(schedule) {
  if (inherits(schedule, "runhooks_plateau")) {
    # validated later, when the directory of its evaluations is known
    return(rebuild_hook(c(list(type = "LearningRateHook"), unclass(schedule))))
  }
  if (!is.function(schedule)) {
    abort_runhooks(
      c(
        "{.arg schedule} must be a function or {.fn reduce_on_plateau}, not {describe(schedule)}.",
        i = if (is_number(schedule)) "A constant rate is an argument of the optimizer:
             {.code tf$train$AdamOptimizer({schedule})}.",
        i = if (!is_number(schedule)) "Example: {.code function(step) 0.1 / (1 + step / 100)}."
      )
    )
  }
  new_builtin_hook("LearningRateHook", schedule = adapt_schedule(schedule))
}

# Converts the user's schedule to a function of step, epoch and rate.
adapt_schedule <- function(schedule, call = parent.frame()) {
  schedule_args <- c("step", "epoch", "rate")
  arg_names <- names(formals(args(schedule)))
  if ("..." %in% arg_names) arg_names <- schedule_args
  required <- names(Filter(is_absent, formals(args(schedule))))
  has_other_args <- length(setdiff(required, c(schedule_args, "..."))) > 0
  if (length(arg_names) == 0 || has_other_args && length(required) > 3) {
    abort_runhooks(
      c(
        "{.arg schedule} must be a function of {.arg step}, {.arg epoch} or {.arg rate}.",
        i = "Example: {.code function(step) 0.1 / (1 + step / 100)}."
      ),
      call = call
    )
  }
  # arguments are passed by name, or by position if they have other names
  matching <- intersect(arg_names, schedule_args)
  is_by_name <- length(setdiff(required, schedule_args)) == 0 && length(matching)
  passed <- if (is_by_name) matching else utils::head(schedule_args, length(arg_names))
  labels <- if (is_by_name) passed else NULL
  function(step, epoch, rate) {
    values <- list(step = step, epoch = epoch, rate = rate)[passed]
    names(values) <- labels
    do.call(schedule, values)
  }
}

#' @rdname hook_learning_rate
#' @param metric_name A metric of the evaluations during training. Default: `"average_loss"`, or
#'   `"loss"` if the model has no such metric.
#' @param factor Multiplier of the rate, a number between 0 and 1. Default: 0.1.
#' @param patience Number of steps without an improvement after which the rate is reduced.
#' @param mode `"min"`, `"max"` or `"auto"`, as in [early_stopping()].
#' @param min_delta Smallest change that counts as an improvement. Default: 0.
#' @param min_rate Lower limit of the rate. Default: 0.
#' @export
reduce_on_plateau <- function(metric_name = "average_loss", factor = 0.1, patience,
                              mode = c("auto", "min", "max"), min_delta = 0, min_rate = 0) {
  abort_abbreviated_arguments()
  check_string(metric_name)
  check_number(factor)
  if (factor <= 0 || factor >= 1) {
    abort_runhooks("{.arg factor} must be between 0 and 1, not {factor}.")
  }
  if (missing(patience)) {
    abort_runhooks(
      c(
        "{.arg patience} is missing: the number of steps without a better {.val {metric_name}}.",
        i = "Example: {.code reduce_on_plateau({.val {metric_name}}, patience = 200)}."
      )
    )
  }
  check_positive_whole(patience)
  check_number(min_delta)
  check_number(min_rate)
  mode <- metric_mode(metric_name, check_one_of(mode, c("auto", "min", "max")))
  structure(
    list(
      metric_name = metric_name, fallback_metric = if (missing(metric_name)) "loss" else "",
      factor = factor, patience = patience, higher = mode == "max",
      min_delta = min_delta, min_rate = min_rate, notify = inform_learning_rate
    ),
    class = "runhooks_plateau"
  )
}

inform_learning_rate <- function(kind, text) inform_in_loop(kind, text, "learning_rate")

# Connects reduce_on_plateau() to the evaluations of the same loop.
connect_to_evaluations <- function(hooks, object, call = parent.frame()) {
  evaluator <- Find(function(hook) inherits(hook, "InMemoryEvaluatorHook"), hooks)
  lapply(hooks, function(hook) {
    if (!inherits(hook, "LearningRateHook") || is.null(hook$metric_name)) return(hook)
    if (is.null(evaluator)) {
      abort_runhooks(
        c(
          "{.fn reduce_on_plateau} needs evaluations of {.val {hook$metric_name}} during training.",
          i = "Give {.code validation = } data to {.fn train}."
        ),
        call = call
      )
    }
    hook$eval_dir <- file.path(model_dir(object), evaluation_folder(evaluator$name))
    hook
  })
}
