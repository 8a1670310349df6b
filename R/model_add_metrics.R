# Metrics of the user's own.

#' Add metrics to a model
#'
#' The metrics are computed by [evaluate()], [train_and_evaluate()] and `train(validation =)` beside
#' the model's own, and [early_stopping()] and its like may go by them. One of the same name takes
#' the place of the model's.
#'
#' @param estimator A model, such as [linear_regressor()].
#' @param metric_fn A function of one or more of the arguments `features` (the tensors by name),
#'   `labels` (of the shape that the input function gives them, `[batch]`; float64 as the float32 of the
#'   predictions), `predictions` (the tensors
#'   by name: those of [predict()][predict.tf_estimator], of a regressor `[batch, 1]`) and `config`. It returns a named list of what functions of `tf$metrics` give.
#' @return The model with these metrics; it has the same folder.
#' @section Errors: `runhooks_error_invalid_argument` for a function of other arguments, and in
#'   [evaluate()] for what is not such a list.
#' @seealso `tf.contrib.estimator.add_metrics` of TensorFlow 1.x, which is
#'   `tf$contrib$estimator$add_metrics()` here.
#' @family estimator methods
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("wt")) %>%
#'   add_metrics(function(labels, predictions) {
#'     list(mae = tf$metrics$mean_absolute_error(labels, predictions$predictions))
#'   })
#' model %>% train(input_fn(mpg ~ wt, mtcars, num_epochs = 5))
#' model %>% evaluate(input_fn(mpg ~ wt, mtcars))
add_metrics <- function(estimator, metric_fn) {
  check_stopped_estimator(estimator)
  check_function(metric_fn)
  own <- names(formals(args(metric_fn)))
  possible <- c("features", "labels", "predictions", "config")
  wrong <- setdiff(own, c(possible, "..."))
  if (length(wrong)) {
    abort_runhooks(
      c(
        "{.arg metric_fn} has an argument {.arg {wrong[[1]]}} that nothing is given for.",
        did_you_mean(wrong[[1]], possible),
        i = "Its arguments may be {.arg {possible}}."
      )
    )
  }
  given <- if ("..." %in% own) possible else intersect(possible, own)
  config <- unclass(estimator$estimator)$config
  call <- function(features, labels, predictions) {
    labels <- as_precise_as(labels, predictions)
    all <- list(features = features, labels = labels, predictions = predictions, config = config)
    before <- length(tf$get_default_graph()$get_operations())
    metrics <- withCallingHandlers(
      as_users_code(do.call(metric_fn, all[given], quote = TRUE)),
      error = function(e) {
        if (is.null(steering_kind(e))) stop(add_note(e, metric_input_words(labels, predictions)))
      }
    )
    if (is_tensor(labels)) warn_outer_labels(labels, before)
    as_metric_pairs(metrics)
  }
  estimator$metric_fns <- c(estimator$metric_fns, list(call))
  estimator
}

# Labels of a data frame are float64 beside predictions in float32: they are what heads make of them.
as_precise_as <- function(labels, predictions) {
  if (is.list(labels)) return(lapply(labels, as_precise_as, predictions))
  types <- vapply(Filter(is_tensor, as.list(predictions)), function(x) x$dtype$name, "")
  is_single <- "float32" %in% types && !"float64" %in% types
  if (is_tensor(labels) && labels$dtype$name == "float64" && is_single) {
    labels <- tf$cast(labels, tf$float32)
  }
  labels
}

metric_input_words <- function(labels, predictions) {
  words <- function(x) if (is_tensor(x)) paste(x$dtype$name, x$shape$text) else "no tensor"
  each <- vapply(as.list(predictions), words, "")
  paste0(
    "in metric_fn of add_metrics(): `labels` is ",
    if (is_tensor(labels)) words(labels) else kind_of(labels),
    ", predictions are ", paste0(names(each), ": ", each, collapse = ", ")
  )
}

# Labels are [batch] as an input function gives them, predictions [batch, 1]: `labels - predictions` is
# [batch, batch], each label with each prediction.
warn_outer_labels <- function(labels, before) {
  made <- tf$get_default_graph()$get_operations()
  for (op in made[-seq_len(before)]) {
    inputs <- op$inputs
    if (length(inputs) != 2 || length(op$outputs) != 1) next
    is_label <- vapply(inputs, function(x) identical(x$name, labels$name), NA)
    if (sum(is_label) != 1) next
    other <- dim(inputs[!is_label][[1]])
    is_outer <- length(dim(labels)) == 1 && length(other) == 2 && identical(other[[2]], 1L) &&
      length(dim(op$outputs[[1]])) == 2
    if (!is_outer) next
    rlang::warn(
      c(
        paste0(
          "A metric takes `labels`, of shape [batch], with ", inputs[!is_label][[1]]$name,
          ", of shape [batch, 1], and makes [batch, batch] of them."
        ),
        i = "`tf$squeeze(predictions$predictions, 1L)` has the shape of `labels`."
      ),
      class = c("runhooks_warning_broadcast", "runhooks_warning")
    )
    return(invisible())
  }
}

# A named list of list(tensor, tensor or operation).
as_metric_pairs <- function(metrics) {
  example <- "{.code list(mae = tf$metrics$mean_absolute_error(labels, predictions$predictions))}"
  is_pair <- function(x) {
    is.list(x) && !is.object(x) && length(x) == 2 && is_tensor(x[[1]]) && is_graph_element(x[[2]])
  }
  if (is_pair(metrics) && is.null(names(metrics))) metrics <- list(metrics)
  good <- is.list(metrics) && !is.object(metrics)
  if (!good || (length(metrics) && (is.null(names(metrics)) || !all(nzchar(names(metrics)))))) {
    abort_runhooks(
      c(
        "{.arg metric_fn} of {.fn add_metrics} must return a named list of metrics, not
         {kind_of(metrics)}{if (good) ' without names'}.",
        i = paste0("For example ", example, ".")
      ),
      call = NULL
    )
  }
  bad <- Filter(function(x) !is_pair(x), metrics)
  if (length(bad)) {
    abort_runhooks(
      c(
        "{.arg metric_fn} of {.fn add_metrics} has returned {kind_of(bad[[1]])} for
         {.val {names(bad)[[1]]}}.",
        i = "A metric adds up over batches: functions of {.code tf$metrics} give such ones.",
        i = paste0("For example ", example, ".")
      ),
      call = NULL
    )
  }
  metrics
}
