# add_metrics(): adds metrics that users define to a model.

#' Add metrics to a model
#'
#' `add_metrics()` returns a model that computes further metrics in [evaluate()],
#' [train_and_evaluate()] and `train(validation =)`. [early_stopping()] and similar hooks can use
#' them. A new metric replaces a metric of the model with the same name.
#'
#' @param estimator A model, such as [linear_regressor()].
#' @param metric_fn A function with some of these arguments:
#'   * `features`: a named list of tensors.
#'   * `labels`: the labels of the input function, with shape `[batch]`. float64 labels are cast to
#'     float32 if the predictions are float32.
#'   * `predictions`: a named list of the tensors that [predict()][predict.tf_estimator] returns.
#'     For regressors the shape is `[batch, 1]`.
#'   * `config`: the [run_config()].
#'
#'   It returns a named list of values of `tf$metrics` functions.
#' @return The model with these metrics; it has the same model directory.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the function has other arguments, or in [evaluate()] it
#'     does not return such a list.
#' @seealso `tf$contrib$estimator$add_metrics()`, as in TensorFlow 1.x.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt")) |>
#'   add_metrics(function(labels, predictions) {
#'     list(mae = tf$metrics$mean_absolute_error(labels, predictions$predictions))
#'   })
#' model |> train(input_fn(mpg ~ wt, mtcars, num_epochs = 5))
#' model |> evaluate(input_fn(mpg ~ wt, mtcars))
add_metrics <- function(estimator, metric_fn) {
  check_stopped_estimator(estimator)
  check_function(metric_fn)
  arguments <- names(formals(args(metric_fn)))
  allowed <- c("features", "labels", "predictions", "config")
  unknown <- setdiff(arguments, c(allowed, "..."))
  if (length(unknown)) {
    abort_runhooks(
      c(
        "{.arg metric_fn} has an unknown argument {.arg {unknown[[1]]}}.",
        did_you_mean(unknown[[1]], allowed),
        i = "Its arguments may be {.arg {allowed}}."
      )
    )
  }
  passed <- if ("..." %in% arguments) allowed else intersect(allowed, arguments)
  config <- handle_fields(estimator)$config
  compute_metrics <- function(features, labels, predictions) {
    labels <- match_label_precision(labels, predictions)
    values <- list(features = features, labels = labels, predictions = predictions, config = config)
    num_operations <- length(tf$get_default_graph()$get_operations())
    metrics <- withCallingHandlers(
      eval_user_code(do.call(metric_fn, values[passed], quote = TRUE)),
      error = function(e) {
        if (is.null(control_error_kind(e))) {
          stop(add_note(e, describe_metric_inputs(labels, predictions)))
        }
      }
    )
    if (is_tensor(labels)) warn_broadcast_labels(labels, num_operations)
    as_metric_pairs(metrics)
  }
  estimator$metric_fns <- c(estimator$metric_fns, list(compute_metrics))
  estimator
}

# Casts float64 labels, as from a data frame, to float32 if the predictions are float32, as heads
# do.
match_label_precision <- function(labels, predictions) {
  if (is.list(labels)) return(lapply(labels, match_label_precision, predictions))
  types <- vapply(Filter(is_tensor, as.list(predictions)), function(x) x$dtype$name, "")
  is_single <- "float32" %in% types && !"float64" %in% types
  if (is_tensor(labels) && labels$dtype$name == "float64" && is_single) {
    labels <- tf$cast(labels, tf$float32)
  }
  labels
}

describe_metric_inputs <- function(labels, predictions) {
  describe_tensor <- function(x) {
    if (is_tensor(x)) paste(x$dtype$name, x$shape$text) else "no tensor"
  }
  texts <- vapply(as.list(predictions), describe_tensor, "")
  paste0(
    "in metric_fn of add_metrics(): `labels` is ",
    if (is_tensor(labels)) describe_tensor(labels) else describe_type(labels),
    ", predictions are ", paste0(names(texts), ": ", texts, collapse = ", ")
  )
}

# Warns if a new operation combines `labels` of shape [batch] with a tensor of shape [batch, 1],
# which gives [batch, batch]. The graph had `num_operations` operations before metric_fn() was
# called.
warn_broadcast_labels <- function(labels, num_operations) {
  operations <- tf$get_default_graph()$get_operations()
  for (op in operations[-seq_len(num_operations)]) {
    inputs <- op$inputs
    if (length(inputs) != 2 || length(op$outputs) != 1) next
    is_label <- vapply(inputs, function(x) identical(x$name, labels$name), NA)
    if (sum(is_label) != 1) next
    other_dims <- dim(inputs[!is_label][[1]])
    is_column <- length(other_dims) == 2 && identical(other_dims[[2]], 1L)
    is_outer <- length(dim(labels)) == 1 && is_column && length(dim(op$outputs[[1]])) == 2
    if (!is_outer) next
    rlang::warn(
      c(
        paste0(
          "A metric combines `labels`, of shape [batch], with ", inputs[!is_label][[1]]$name,
          ", of shape [batch, 1]. The result has shape [batch, batch]."
        ),
        i = "Use `tf$squeeze(predictions$predictions, 1L)`, which has the shape of `labels`."
      ),
      class = c("runhooks_warning_broadcast", "runhooks_warning")
    )
    return(invisible())
  }
}

as_metric_pairs <- function(metrics) {
  example <- "{.code list(mae = tf$metrics$mean_absolute_error(labels, predictions$predictions))}"
  is_pair <- function(x) {
    is.list(x) && !is.object(x) && length(x) == 2 && is_tensor(x[[1]]) && is_graph_element(x[[2]])
  }
  if (is_pair(metrics) && is.null(names(metrics))) metrics <- list(metrics)
  is_plain_list <- is.list(metrics) && !is.object(metrics)
  is_named <- !is.null(names(metrics)) && all(nzchar(names(metrics)))
  if (!is_plain_list || length(metrics) && !is_named) {
    abort_runhooks(
      c(
        "{.arg metric_fn} of {.fn add_metrics} must return a named list of metrics, not
         {describe_type(metrics)}{if (is_plain_list) ' without names'}.",
        i = paste0("For example ", example, ".")
      ),
      call = NULL
    )
  }
  invalid <- Filter(function(x) !is_pair(x), metrics)
  if (length(invalid)) {
    abort_runhooks(
      c(
        "{.arg metric_fn} of {.fn add_metrics} has returned {describe_type(invalid[[1]])} for
         {.val {names(invalid)[[1]]}}.",
        i = "A metric accumulates over batches. Use a function of {.code tf$metrics}.",
        i = paste0("For example ", example, ".")
      ),
      call = NULL
    )
  }
  metrics
}
