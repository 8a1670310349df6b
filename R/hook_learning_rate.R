# The learning rate while a model trains.

#' Set the learning rate of each step
#'
#' Before each step of [train()] the rate that the optimizer uses is set, whatever optimizer and
#' model it is; of a model with two optimizers (wide and deep) both rates are. Neither the model nor
#' its checkpoints change by it. The rate is in the event file as `learning_rate`, and any hook may
#' ask for it by `session_run_args("learning_rate")`.
#'
#' @param schedule A function of one or more of the arguments `step`, `epoch` and `rate` (in this
#'   order, where the names are others) that returns the rate of the step to come: `step` is the
#'   global step, 0 before the first one; `epoch` is the pass through the data that the last row
#'   read belongs to, from 1; `rate` is the rate that the optimizer was made with. Or
#'   `reduce_on_plateau()`.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` for a schedule that is none, or that returns
#'   something else than a number of 0 or more; `runhooks_error_failed_precondition` in [evaluate()]
#'   and [predict()][predict.tf_estimator], where nothing is learned.
#' @seealso [optimizers], whose `learning_rate` may be a decay of the global step instead, as
#'   `tf$train$exponential_decay()`.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"), optimizer = tf$train$AdamOptimizer(0.5))
#' halve <- hook_learning_rate(function(epoch, rate) rate * 0.5^(epoch - 1))
#' input <- input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 3)
#' model %>% train(input, hooks = list(halve, hook_history_saver(1, tensors = "learning_rate")))
#'
#' # needs evaluations: those of `validation`
#' model %>% train(
#'   input, validation = input_fn(mpg ~ wt, mtcars),
#'   hooks = hook_learning_rate(reduce_on_plateau("average_loss", patience = 100))
#' )
hook_learning_rate <- function(schedule) {
  if (inherits(schedule, "runhooks_plateau")) {
    # checked when the folder of its evaluations is known
    return(rebuild_hook(c(list(type = "LearningRateHook"), unclass(schedule))))
  }
  if (!is.function(schedule)) {
    abort_runhooks(
      c(
        "{.arg schedule} must be a function or {.fn reduce_on_plateau}, not {describe(schedule)}.",
        i = if (is_number(schedule)) "A rate that stays is the optimizer's: for example
             {.code tf$train$AdamOptimizer({schedule})}.",
        i = if (!is_number(schedule)) "For example {.code function(step) 0.1 / (1 + step / 100)}."
      )
    )
  }
  new_builtin_hook("LearningRateHook", schedule = schedule_call(schedule))
}

# The schedule as a function of all three arguments.
schedule_call <- function(schedule, call = parent.frame()) {
  all <- c("step", "epoch", "rate")
  own <- names(formals(args(schedule)))
  if ("..." %in% own) own <- all
  needed <- names(Filter(function(x) identical(x, quote(expr = )), formals(args(schedule))))
  if (length(own) == 0 || length(setdiff(needed, c(all, "..."))) && length(needed) > 3) {
    abort_runhooks(
      c(
        "{.arg schedule} must be a function of {.arg step}, {.arg epoch} or {.arg rate}.",
        i = "For example {.code function(step) 0.1 / (1 + step / 100)}."
      ),
      call = call
    )
  }
  # arguments by their names, or, where these are others, by their places
  wanted <- intersect(own, all)
  by_name <- length(setdiff(needed, all)) == 0 && length(wanted)
  given <- if (by_name) wanted else utils::head(all, length(own))
  labels <- if (by_name) given else NULL
  function(step, epoch, rate) {
    values <- list(step = step, epoch = epoch, rate = rate)[given]
    names(values) <- labels
    do.call(schedule, values)
  }
}

#' @rdname hook_learning_rate
#' @param metric_name A metric of the evaluations that are made while the model trains, such as
#'   `"average_loss"`.
#' @param factor By what the rate is multiplied, between 0 and 1.
#' @param patience After how many steps without a better value.
#' @param mode `"min"`, `"max"` or `"auto"`, as in [early_stopping()].
#' @param min_delta By how much a value must be better to count.
#' @param min_rate The rate gets no lower than this.
#' @export
reduce_on_plateau <- function(metric_name = "loss", factor = 0.1, patience,
                              mode = c("auto", "min", "max"), min_delta = 0, min_rate = 0) {
  check_string(metric_name)
  check_number(factor)
  if (factor <= 0 || factor >= 1) {
    abort_runhooks("{.arg factor} must be between 0 and 1, not {factor}.")
  }
  if (missing(patience)) {
    abort_runhooks(
      c(
        "{.arg patience} is missing: after how many steps without a better {.val {metric_name}}?",
        i = "For example {.code reduce_on_plateau({.val {metric_name}}, patience = 200)}."
      )
    )
  }
  check_positive_whole(patience)
  check_number(min_delta)
  check_number(min_rate)
  mode <- metric_mode(metric_name, check_one_of(mode, c("auto", "min", "max")))
  structure(
    list(
      metric_name = metric_name, factor = factor, patience = patience, higher = mode == "max",
      min_delta = min_delta, min_rate = min_rate, say = inform_learning_rate
    ),
    class = "runhooks_plateau"
  )
}

inform_learning_rate <- function(kind, text) inform_in_loop(kind, text, "learning_rate")

# A rate that follows a metric looks at the evaluations of the same loop.
name_evaluations <- function(hooks, object, call = parent.frame()) {
  evaluator <- Find(function(hook) inherits(hook, "InMemoryEvaluatorHook"), hooks)
  lapply(hooks, function(hook) {
    if (!inherits(hook, "LearningRateHook") || is.null(hook$metric_name)) return(hook)
    if (is.null(evaluator)) {
      abort_runhooks(
        c(
          "{.fn reduce_on_plateau} needs evaluations while the model trains, to see
           {.val {hook$metric_name}}.",
          i = "Give {.code validation = } data to {.fn train}."
        ),
        call = call
      )
    }
    folder <- if (nzchar(evaluator$name)) paste0("eval_", evaluator$name) else "eval"
    hook$eval_dir <- file.path(model_dir(object), folder)
    hook
  })
}
