# train_and_evaluate(): one training that evaluates each new checkpoint.

#' Train and evaluate a model
#'
#' `train_and_evaluate()` trains up to `max_steps`, evaluates each new checkpoint, and returns the
#' history of the training with the metrics of all evaluations. It always evaluates the last
#' checkpoint.
#'
#' The evaluations do not restart the training's input. [run_config()] sets how often the training
#' saves a checkpoint. Exporters, such as [best_exporter()], can export the model after each
#' evaluation.
#'
#' The checkpoint from which the training starts is not evaluated. A checkpoint is also skipped if
#' less than `throttle_secs` have passed since the last evaluation.
#'
#' @param object An estimator.
#' @param train_spec,eval_spec The values of `train_spec()` and `eval_spec()`.
#' @param input_fn An [input_fn()], or another input that [train()] accepts.
#' @param max_steps Global step at which training stops. `NULL` (the default): training stops at the
#'   end of the input, or when a tree model has all its trees. [final_exporter()] exports only if
#'   the last step is known in advance.
#' @param hooks A hook or a list of hooks, for the training or for the evaluations.
#' @param saving_listeners A [checkpoint_saver_listener()] or a list of them. They run before the
#'   evaluation.
#' @param steps Number of batches in an evaluation; 100 by default. `NULL`: until the input ends.
#' @param name A string, the name of the evaluation. Its events are in the folder `eval_<name>`.
#'   `NULL` (the default): in the folder `eval`.
#' @param exporters The value of [latest_exporter()], [final_exporter()] or [best_exporter()], or a
#'   list of such values.
#' @param start_delay_secs Accepted for compatibility with TensorFlow; has no effect.
#' @param throttle_secs Minimum number of seconds from the start of an evaluation to the start of
#'   the next one; 600 by default.
#' @param ... Must be empty.
#' @return `train_and_evaluate()` returns the history of the training, invisibly, as [train()] does,
#'   with three more fields: `evaluations`, a data frame of the metrics of all evaluations;
#'   `evaluation_metrics`, the losses of the last evaluation; and `exports`, the folders that the
#'   exporters wrote after the last evaluation. `train_spec()` and `eval_spec()` return an object of
#'   class `train_spec` or `eval_spec` with the field `args`.
#' @section Errors:
#'   * The errors of [train()] and [evaluate()].
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or the configuration disables
#'     checkpoints.
#'   * `runhooks_error_failed_precondition`: there was no new checkpoint to evaluate.
#' @seealso `tf.estimator.train_and_evaluate` of TensorFlow 1.x, in its local mode.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(
#'   column_numeric("wt"), config = run_config(save_checkpoints_steps = 10)
#' )
#' history <- train_and_evaluate(
#'   model,
#'   train_spec(input_fn(mpg ~ wt, mtcars[1:24, ], num_epochs = NULL), max_steps = 30),
#'   eval_spec(input_fn(mpg ~ wt, mtcars[25:32, ]), throttle_secs = 0)
#' )
#' history$evaluations
train_and_evaluate <- function(object, ...) UseMethod("train_and_evaluate")

#' @export
train_and_evaluate.default <- function(object, ...) {
  abort_plain(
    sprintf("`estimator` must have type `tf.estimator.Estimator`. Got: %s", describe(object))
  )
}

#' @rdname train_and_evaluate
#' @export
train_and_evaluate.tf_estimator <- function(object, train_spec, eval_spec, ...) {
  check_no_dots(...)
  invisible(run_train_and_evaluate(object, train_spec, eval_spec)$history)
}

#' @rdname train_and_evaluate
#' @export
train_spec <- function(input_fn, max_steps = NULL, hooks = NULL, saving_listeners = NULL) {
  abort_abbreviated_arguments()
  check_spec_input(input_fn)
  check_steps(max_steps, "max_steps")
  new_spec(
    "train_spec",
    list(
      input_fn = input_fn, max_steps = max_steps, hooks = as_hook_list(hooks),
      saving_listeners = as_listener_list(saving_listeners)
    )
  )
}

#' @rdname train_and_evaluate
#' @export
eval_spec <- function(input_fn, steps = 100, name = NULL, hooks = NULL, exporters = NULL,
                      start_delay_secs = 120, throttle_secs = 600) {
  abort_abbreviated_arguments()
  check_spec_input(input_fn)
  check_steps(steps, "steps")
  check_string(name, null = TRUE)
  check_not_negative(start_delay_secs, "start_delay_secs")
  check_not_negative(throttle_secs, "throttle_secs")
  new_spec(
    "eval_spec",
    list(
      input_fn = input_fn, steps = steps, name = name, hooks = as_hook_list(hooks),
      exporters = as_exporter_list(exporters), start_delay_secs = start_delay_secs,
      throttle_secs = throttle_secs
    )
  )
}

# Creates a specification. Its second class is the one that tfestimators uses.
new_spec <- function(class, args) {
  structure(list(args = args), class = c(paste0("runhooks_", class), class))
}

check_spec_input <- function(input_fn, call = parent.frame()) {
  if (!is.function(input_fn) && !is_formula_data(input_fn)) {
    abort_plain(
      sprintf("`input_fn` must be callable, given: %s", describe(input_fn)), call = call
    )
  }
}

check_not_negative <- function(x, arg, call = parent.frame()) {
  check_number(x, arg = arg, call = call)
  if (x < 0) abort_plain(sprintf("Must specify %s >= 0, given: %s", arg, format(x)), call = call)
}

check_no_dots <- function(..., call = parent.frame()) {
  if (...length() == 0) return(invisible())
  names <- names(list(...)) # nolint: used by cli
  abort_runhooks(
    "{.fn train_and_evaluate} accepts only a model, a {.fn train_spec} and an
     {.fn eval_spec}{if (!is.null(names)) ', not '}{.arg {names}}.",
    call = call
  )
}

check_spec <- function(spec, class, type, call) {
  if (inherits(spec, class)) return(invisible())
  description <- if (inherits(spec, c("train_spec", "eval_spec"))) {
    paste0("the value of ", class(spec)[[2]], "()")
  } else {
    describe(spec)
  }
  abort_plain(
    sprintf("`%s` must have type `tf.estimator.%s`. Got: %s", class, type, description), call = call
  )
}

# Trains and evaluates. Returns list(history, metrics, exports). Called by the method
# train_and_evaluate() and by tf$estimator$train_and_evaluate().
run_train_and_evaluate <- function(object, train_spec, eval_spec, call = parent.frame()) {
  check_spec(eval_spec, "eval_spec", "EvalSpec", call)
  check_spec(train_spec, "train_spec", "TrainSpec", call)
  tf_log("Not using Distribute Coordinator.")
  tf_log("Running training and evaluation locally (non-distributed).")
  config <- core_config(object)
  tf_log(
    "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint ",
    "frequency is determined based on RunConfig arguments: save_checkpoints_steps ",
    number_or_none(config$save_checkpoints_steps), " or save_checkpoints_secs ",
    number_or_none(config$save_checkpoints_secs), "."
  )
  # a tree model stops by itself at model_planned_steps(), which can be before `max_steps`
  last_step <- min(train_spec$args$max_steps, model_planned_steps(object), Inf)
  evaluator <- checkpoint_evaluator(object, eval_spec$args, last_step)
  history <- train_with_evaluator(object, train_spec$args, evaluator$listener, call)
  results <- evaluator$results()
  history$evaluations <- results$evaluations
  history$evaluation_metrics <- results$losses
  history$exports <- results$exports
  the$last_history <- history
  list(history = history, metrics = results$metrics, exports = results$exports)
}

# Logs a line at the level INFO.
tf_log <- function(...) {
  level <- log_levels[["INFO"]]
  if (level >= cpp_log_verbosity(NULL)) show_line(level, paste0(...))
}

number_or_none <- function(x) if (is.null(x)) "None" else format(x, scientific = FALSE)

# Trains with the arguments of a train_spec() and a listener that evaluates. The event files stay in
# the model directory.
train_with_evaluator <- function(object, args, listener, call) {
  max_steps <- args$max_steps
  begin_collective(object, "train_and_evaluate()", lasts = TRUE)
  folder <- local_model_dir(object, writes = TRUE)
  input <- as_model_input(args$input_fn, object, is_limited = !is.null(max_steps), call = call)
  planned <- planned_steps(input)
  model_end <- model_planned_steps(object)
  limit <- NULL
  if (!is.null(max_steps)) {
    planned <- limit <- max(max_steps - folder$step, 0)
  }
  if (!is.null(model_end)) planned <- min(planned, max(model_end - folder$step, 0))
  hooks <- connect_to_evaluations(args$hooks, object, call)
  hooks <- complete_hooks(hooks, "train", limit, list(planned = planned, rows = num_total_rows(input)))
  run_training(
    object, args$input_fn, input, NULL, max_steps, hooks,
    c(args$saving_listeners, list(listener)),
    leaves_events = TRUE, limit = if (is.null(model_end)) limit, call = call
  )
}

# Returns `listener`, which evaluates each new checkpoint, and `results()`, which returns the
# results of the last evaluation and a table of all evaluations.
checkpoint_evaluator <- function(object, args, last_step) {
  timer <- NULL
  is_first <- TRUE
  evaluated <- NULL
  last_results <- list()
  tables <- list()
  evaluate_now <- function(step) {
    timer$update_last_triggered_step(step)
    checkpoint <- cpp_latest_checkpoint(model_dir(object))
    if (is.null(checkpoint) || identical(checkpoint, evaluated)) {
      abort_plain(
        "There was no new checkpoint after the training. Eval status: no new checkpoint",
        kind = "failed_precondition", call = NULL
      )
    }
    evaluated <<- checkpoint
    metrics <- barrier(object, evaluate(
      object, args$input_fn, steps = args$steps, checkpoint_path = checkpoint, name = args$name,
      hooks = add_silent_progress_bar(args$hooks), simplify = FALSE
    ))
    tables <<- c(tables, list(evaluation_rows(metrics, args$name)))
    losses <- c(
      metrics[intersect(c("average_loss", "loss"), names(metrics))],
      lapply(attr(metrics, "history")$losses[tfestimators_metrics], last_or_na)
    )
    last_results <<- list(losses = c(losses, step = metrics$global_step))
    attr(metrics, "history") <- NULL
    last_results$metrics <<- metrics
    is_final <- metrics$global_step >= last_step
    last_results$exports <<- call_exporters(args$exporters, object, checkpoint, metrics, is_final)
  }
  listener <- checkpoint_saver_listener(
    begin = function() {
      timer <<- second_or_step_timer(every_secs = args$throttle_secs)
      is_first <<- TRUE
    },
    after_save = function(session, global_step) {
      # skip the first save, which is the checkpoint from which the training starts
      if (is_first) {
        is_first <<- FALSE
        return(FALSE)
      }
      if (broadcast_from_chief(object, timer$should_trigger_for_step(global_step))) {
        evaluate_now(global_step)
      } else {
        tf_log(
          "Skip the current checkpoint eval due to throttle secs (",
          format(args$throttle_secs, scientific = FALSE), " secs)."
        )
      }
      FALSE
    },
    end = function(session, global_step) {
      if (!identical(timer$last_triggered_step(), global_step)) evaluate_now(global_step)
    }
  )
  list(listener = listener, results = function() {
    c(last_results, list(evaluations = do.call(rbind_values, tables)))
  })
}

# Adds a progress bar that does not warn about missing batches. `steps` of eval_spec() has a
# default, so data with fewer batches are no reason for a warning.
add_silent_progress_bar <- function(hooks) {
  types <- vapply(hooks, function(hook) if (is_deferred_hook(hook)) hook$type else "", "")
  if ("hook_progress_bar" %in% types) return(hooks)
  create_bar <- hook_progress_bar()$hook_fn
  create_silent_bar <- function(mode, steps, watch = list()) {
    create_bar(mode, steps, c(watch, list(may_stop = TRUE)))
  }
  c(hooks, list(new_deferred_hook("hook_progress_bar", create_silent_bar)))
}

evaluation_rows <- function(metrics, name) {
  values <- Filter(is_number_or_nan, metrics[names(metrics) != "global_step"])
  metric_values(
    rep(metrics$global_step, length(values)), evaluation_data(name), names(values),
    unlist(values, use.names = FALSE)
  )
}

is_number_or_nan <- function(x) is.numeric(x) && length(x) == 1

train_and_evaluate_symbols <- function() {
  symbols <- list(
    estimator.train_and_evaluate = function(estimator, train_spec, eval_spec) {
      if (!is_estimator(estimator)) train_and_evaluate.default(estimator)
      results <- run_train_and_evaluate(estimator, train_spec, eval_spec)
      list(results$metrics, if (!is.null(results$metrics)) unname(results$exports))
    },
    estimator.TrainSpec = train_spec,
    estimator.EvalSpec = eval_spec
  )
  c(symbols, registered_tf_members("exporter"))
}
