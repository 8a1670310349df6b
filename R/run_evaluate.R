# evaluate(), and the state of R's random number generator during an evaluation.

#' Evaluate a model
#'
#' Computes the loss and the metrics of a model on the given data and returns them as a tibble of
#' one row.
#'
#' @inheritParams train
#' @param steps Number of batches. `NULL`: until the input ends.
#' @param checkpoint_path Checkpoint to evaluate. `NULL`: the newest. A model that was never trained
#'   is evaluated with its initial weights, with a warning of class `runhooks_warning_untrained`. In
#'   a hook of the model's own training, the current weights are used.
#' @param name Name of this evaluation, if a model has several. The metrics are also written to an
#'   event file in the folder `eval` or `eval_<name>` of `model_dir`; see [read_events()].
#' @param simplify TRUE: a tibble of one row. A metric that is a vector becomes a matrix column, and
#'   a metric that is a matrix becomes an element of a list column. FALSE: a named list.
#' @return The metrics, sorted by name, with `global_step` last. `loss` is the mean of the losses of
#'   the batches; for canned models the loss of a batch is the sum over its examples. `average_loss`
#'   is the mean over the examples. The attribute `history` contains the losses of the batches.
#' @section Errors: The errors of [train()].
#' @seealso `tf.estimator.Estimator.evaluate` of TensorFlow 1.x.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars, num_epochs = 5))
#' model |> evaluate(input_fn(mpg ~ drat, mtcars))
evaluate <- function(object, ...) UseMethod("evaluate")

#' @export
evaluate.default <- function(object, ...) {
  abort_no_model("evaluate", object, list(...), environment())
}

#' @rdname evaluate
#' @export
evaluate.tf_estimator <- function(object, input_fn, steps = NULL, checkpoint_path = NULL,
                                  name = NULL, hooks = NULL, simplify = TRUE, ...) {
  abort_abbreviated_arguments()
  if (missing(input_fn)) input_fn <- training_data(object)
  input_fn <- bake_new_data(object, input_fn)
  check_steps(steps, "steps")
  check_string(checkpoint_path, null = TRUE)
  check_string(name, null = TRUE)
  check_flag(simplify)
  is_collective <- begin_collective(object, "evaluate()")
  local_model_dir(object)
  restore_random_state <- save_random_state()
  on.exit(restore_random_state(), add = TRUE)
  if (is.data.frame(input_fn) && has_recorded_features(object)) {
    abort_unknown_reading_args(list(...), environment())
    input_fn <- recorded_input_fn(object, input_fn, environment())
    input <- as_model_input(input_fn, object)
  } else {
    must_end <- is.null(steps) && is.null(hooks)
    input <- as_model_input(input_fn, object, ..., must_end = must_end)
  }
  sharded_input <- if (is_collective) as_model_input(input_fn, object, ..., shards = TRUE)
  watch <- list(planned = planned_steps(input))
  hooks <- complete_hooks(as_hook_list(hooks), "eval", steps, watch)
  check_model_compatible(object, "eval")
  check_checkpoint(object, checkpoint_path, environment())
  if (is.null(checkpoint_path)) check_has_weights(object, "it is evaluated")
  weights <- current_weights(object, checkpoint_path)
  on.exit(weights$forget(), add = TRUE)
  result <- run_collective(is_collective, "evaluate()", with_loop_conditions(cpp_estimator_evaluate(
    core_model(object), core_config(object), if (is_collective) sharded_input else input,
    if (is_collective) input, if (is.null(steps)) 0 else steps, weights$path,
    if (is.null(name)) "" else name, lapply(hooks, hook_for_core)
  )))
  metrics <- result$metrics
  # omit `input`, which contains times, so that equal evaluations give equal results
  record <- result$history[names(result$history) != "input"]
  history <- recorded_history(hooks, record, metrics$global_step)
  warn_evaluated_loss(metrics$loss)
  if (simplify) metrics <- fast_tibble(lapply(metrics, metric_cell), 1L)
  attr(metrics, "history") <- history
  metrics
}

warn_evaluated_loss <- function(loss) {
  if (!is_number_or_nan(loss) || is.finite(loss)) return(invisible())
  rlang::warn(
    c(
      paste0("The loss of the evaluation is ", loss, ", so other metrics may be wrong."),
      i = paste(
        "A value of the data, or a number computed from it and the weights, is too large for",
        "float32, whose largest number is 3.4e38."
      )
    ),
    class = c("runhooks_warning_infinite", "runhooks_warning")
  )
}

# Converts a metric to a cell of a tibble. A vector becomes a matrix of one row. Larger arrays are
# put in a list, because data frames cannot bind their rows.
metric_cell <- function(x) {
  if (is.null(dim(x))) return(x)
  if (length(dim(x)) == 1) matrix(as.vector(x), 1) else list(x)
}

# Returns a function that restores the present state of R's random number generator. An evaluation
# draws from the generator, but it must not change the numbers that the user draws later.
save_random_state <- function() {
  global <- globalenv()
  seed <- global$.Random.seed
  function() {
    if (!is.null(seed)) {
      assign(".Random.seed", seed, envir = global)
    } else if (exists(".Random.seed", global, inherits = FALSE)) {
      rm(".Random.seed", envir = global)
    }
  }
}
