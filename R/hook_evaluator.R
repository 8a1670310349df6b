# Evaluation within training.

#' Evaluate in the middle of training
#'
#' Evaluates the variables as they are in the training session, without a checkpoint: when training
#' starts, after each `every_n_iter` steps, and at its end. The metrics are logged at level INFO and
#' written to the event file of `eval` (or `eval_<name>`) in the folder of the model, where
#' [hook_stop_if_higher()] and its like find them.
#'
#' @param estimator The estimator that is trained.
#' @param input_fn The data to evaluate on: an [input_fn()].
#' @param steps How many batches; `NULL`: until the input ends.
#' @param hooks Hooks of the evaluation: one or a list of them.
#' @param name A name for this evaluation where a model has several.
#' @param every_n_iter Evaluate every so many steps of the training loop.
#' @inherit hook_logging_tensor return
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold; whatever the
#'   evaluation raises ends the training.
#' @seealso The class `tf.estimator.experimental.InMemoryEvaluatorHook` of TensorFlow 1.x. Unlike
#'   that one it does not evaluate the last step a second time.
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' test <- input_fn(mpg ~ wt, mtcars[25:32, ])
#' model %>% train(
#'   input_fn(mpg ~ wt, mtcars[1:24, ], batch_size = 8, num_epochs = 10),
#'   hooks = hook_in_memory_evaluator(model, test, every_n_iter = 10)
#' )
#' list.files(file.path(model_dir(model), "eval"))
hook_in_memory_evaluator <- function(estimator, input_fn, steps = NULL, hooks = NULL, name = NULL,
                                     every_n_iter = 100) {
  check_stopped_estimator(estimator)
  if (is.null(every_n_iter)) abort_plain("invalid every_n_iter=NULL.")
  check_whole(every_n_iter)
  if (every_n_iter <= 0) abort_plain(sprintf("invalid every_n_iter=%.0f.", every_n_iter))
  check_steps(steps, "steps")
  check_string(name, null = TRUE)
  new_evaluator_hook(
    estimator, as_model_input(input_fn, estimator), steps, hooks, if (is.null(name)) "" else name,
    every_n_iter
  )
}

# `input` is what as_model_input() gives.
new_evaluator_hook <- function(estimator, input, steps = NULL, hooks = NULL, name = "",
                               every_n_iter = 100) {
  hooks <- complete_hooks(as_hook_list(hooks), "eval", steps)
  # the bar is the training's
  hooks <- Filter(function(hook) !inherits(hook, "ProgressBarHook"), hooks)
  hook <- new_builtin_hook("InMemoryEvaluatorHook",
    spec = core_model(estimator), config = core_config(estimator), input_fn = input,
    steps = if (is.null(steps)) 0 else steps, hooks = lapply(hooks, core_hook), name = name,
    every_n_iter = every_n_iter
  )
  structure(hook, record = cpp_history_new())
}
