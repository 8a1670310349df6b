# A hook that evaluates the model during training.

#' Evaluate a model during training
#'
#' Creates a hook that evaluates the current variables of the training session, without a
#' checkpoint: at the start of training, after each `every_n_iter` steps, and at the end. It logs
#' the metrics at level INFO and writes them to an event file in the folder `eval` or `eval_<name>`
#' of the model directory, where [hook_stop_if_higher()] and similar hooks read them.
#'
#' For most purposes, `train(validation = )` is simpler.
#'
#' @param estimator The estimator to train.
#' @param input_fn Data for the evaluations, an [input_fn()].
#' @param steps Number of batches per evaluation. Default, `NULL`: until the input ends.
#' @param hooks Hooks for the evaluations: a hook or a list of hooks.
#' @param name Name of the evaluation, a string, for models with several evaluations. Default: no
#'   name.
#' @param every_n_iter Number of training steps between evaluations, a positive whole number.
#'   Default: 100.
#' @param every_n_steps Another name of `every_n_iter`, the same for all hooks.
#' @inherit hook_logging_tensor return
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid.
#'   * Any error of an evaluation. It ends the training.
#' @seealso The class `tf.estimator.experimental.InMemoryEvaluatorHook` of TensorFlow 1.x, which
#'   evaluates the last step twice; [read_events()].
#' @family hooks
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt"))
#' test <- input_fn(mpg ~ wt, mtcars[25:32, ])
#' model |> train(
#'   input_fn(mpg ~ wt, mtcars[1:24, ], batch_size = 8, num_epochs = 10),
#'   hooks = hook_in_memory_evaluator(model, test, every_n_iter = 10)
#' )
#' read_events(file.path(model_dir(model), "eval"))
hook_in_memory_evaluator <- function(estimator, input_fn, steps = NULL, hooks = NULL, name = NULL,
                                     every_n_iter = 100, every_n_steps = NULL) {
  abort_abbreviated_arguments()
  resolve_every_n_steps(environment(), "every_n_iter")
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

# Returns the subfolder of the model directory with the event files of an evaluation.
evaluation_folder <- function(name) if (nzchar(name)) paste0("eval_", name) else "eval"

# Creates the hook. `input` is the result of as_model_input() (R/input_fn.R).
new_evaluator_hook <- function(estimator, input, steps = NULL, hooks = NULL, name = "",
                               every_n_iter = 100) {
  hooks <- complete_hooks(as_hook_list(hooks), "eval", steps)
  # training already shows a progress bar
  hooks <- Filter(function(hook) !inherits(hook, "ProgressBarHook"), hooks)
  hook <- new_builtin_hook("InMemoryEvaluatorHook",
    spec = core_model(estimator), config = core_config(estimator), input_fn = input,
    steps = if (is.null(steps)) 0 else steps, hooks = lapply(hooks, hook_for_core), name = name,
    every_n_iter = every_n_iter
  )
  structure(hook, record = cpp_history_new())
}
