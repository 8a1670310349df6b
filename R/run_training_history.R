# Histories of training runs. A history contains the losses that a history saver hook recorded. It
# can be printed, plotted and converted.

# Creates a history. `record` is the value of cpp_history_read(), the list of recorded losses, or
# NULL; `last_step` is the final global step.
new_history <- function(record, last_step, evaluation_metrics = NULL, evaluations = NULL,
                        validation = NULL) {
  if (is.null(record)) {
    no_values <- numeric()
    losses <- list(loss = no_values, mean_losses = no_values, total_losses = no_values)
    record <- list(step = no_values, losses = losses)
  }
  metrics <- setdiff(names(record$losses), tfestimators_metrics)
  history <- list(
    params = list(metrics = metrics, steps = last_step),
    losses = record$losses,
    step = record$step,
    evaluation_metrics = evaluation_metrics,
    evaluations = rbind_values(validation_values(validation), evaluations)
  )
  if (!is.null(record$input)) history$input <- input_table(record$step, record$input)
  if (!is.null(validation)) history$validation <- validation
  structure(history, class = "tf_estimator_history")
}

#' @export
`$.tf_estimator_history` <- function(x, name) {
  if (name %in% names(x) || name %in% c("input", "validation")) return(.subset2(x, name))
  metrics <- c(names(.subset2(x, "losses")), unique(.subset2(x, "evaluations")$metric))
  abort_runhooks(
    c(
      "A history has no member {.code ${name}}.",
      i = if (name %in% names(.subset2(x, "losses"))) "Use {.code history$losses${name}}.",
      i = if (name %in% c("metrics", metrics)) {
        "{.code as.data.frame(history)} has all metrics, of training and validation."
      },
      did_you_mean(name, names(x))
    ),
    kind = "not_found", call = parent.frame()
  )
}

# Returns the history that the hooks of a run recorded. `last_step`: the final global step; by
# default the last recorded step.
recorded_history <- function(hooks, record = read_record(hooks), last_step = NULL, folder = NULL,
                             started = NULL, validation = NULL) {
  saver <- history_saver(hooks)
  if (is.null(last_step)) last_step <- max(record$step, 0)
  evaluations <- if (isTRUE(saver$evaluations)) {
    read_evaluations(folder, started, !is.null(validation))
  }
  if (!is.null(validation)) validation <- validation_table(cpp_history_read(validation))
  history <- new_history(record, last_step, evaluations = evaluations, validation = validation)
  # plot() reads the checkpoints, and the reason why the run ended, from this folder
  structure(history, folder = folder)
}

# The names that tfestimators uses for the losses of training.
tfestimators_metrics <- c("mean_losses", "total_losses")

# Creates a table of metrics in long form. Does not call tibble(), which would be slow for each
# evaluation.
metric_values <- function(step = numeric(), data = character(), metric = character(),
                          value = numeric()) {
  structure(
    list(
      step = as.numeric(step), data = rep_len(data, length(step)), metric = metric,
      value = as.numeric(value)
    ),
    class = c("tbl_df", "tbl", "data.frame"), row.names = .set_row_names(length(step))
  )
}

rbind_values <- function(...) {
  tables <- Filter(NROW, list(...))
  if (length(tables) == 0) return(metric_values())
  column <- function(name) unlist(lapply(tables, `[[`, name), use.names = FALSE)
  metric_values(column("step"), column("data"), column("metric"), column("value"))
}

# Returns the text for the column `data` of an evaluation with this `name`, or "evaluation".
evaluation_data <- function(name) if (is.null(name) || !nzchar(name)) "evaluation" else name

validation_values <- function(validation) {
  metrics <- setdiff(names(validation), "step")
  if (length(metrics) == 0) return(NULL)
  metric_values(
    rep(validation$step, times = length(metrics)), validation_name,
    rep(metrics, each = nrow(validation)), unlist(validation[metrics], use.names = FALSE)
  )
}

history_saver <- function(hooks) Find(function(hook) inherits(hook, "HistorySaverHook"), hooks)

read_record <- function(hooks) {
  saver <- history_saver(hooks)
  if (!is.null(saver)) cpp_history_read(attr(saver, "record"))
}

input_table <- function(step, input) {
  rate <- input$rows / input$seconds
  rate[input$seconds <= 0] <- NA
  table <- c(list(step = step), input[c("rows", "seconds", "waited")], list(rows_per_sec = rate))
  # created without data.frame(), which would be slow for each evaluation
  structure(table, class = "data.frame", row.names = .set_row_names(length(step)))
}

validation_table <- function(record) {
  metrics <- Filter(function(x) length(x) == length(record$step), record$losses)
  data.frame(step = record$step, metrics, check.names = FALSE)
}

#' Get the history of the last run
#'
#' `last_history()` returns the history of the last [train()] call, even if an error or Ctrl-C ended
#' the call.
#'
#' @return A [history][tf_estimator_history], or `NULL` if nothing was trained in this R session. If
#'   the training failed before its first step, the history has no steps.
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars, batch_size = 8))
#' last_history()
last_history <- function() the$last_history

# Reads the metrics of the evaluations since `started` from the event files of the model. With
# `has_validation`, omits the validation of train(), which a hook records.
read_evaluations <- function(folder, started, has_validation) {
  folders <- sort_bytewise(list.files(folder, "^eval(_|$)", full.names = TRUE))
  if (has_validation) folders <- folders[basename(folders) != paste0("eval_", validation_name)]
  tables <- lapply(folders, function(dir) {
    events <- as.data.frame(read_events(dir))
    # 1 ms of tolerance, because the clock of the events may be coarser than Sys.time()
    events <- events[events$wall_time >= as.numeric(started) - 0.001, ]
    data <- evaluation_data(sub("^eval_?", "", basename(dir)))
    metric_values(events$step, data, events$tag, events$value)
  })
  do.call(rbind_values, tables)
}

#' The history of a training run
#'
#' [train()] returns a history: a list of the losses that a [hook_history_saver()] recorded. It can
#' be printed, plotted and converted to a data frame. The list has these elements:
#'
#' * `params`: the names of the `metrics`, and `steps`, the final global step.
#' * `step`: the global step of each record.
#' * `losses`: the metrics of training, with one number for each record and the names that
#'   [evaluate()] uses. `average_loss` is the mean loss of the examples of a batch, as in
#'   evaluations; most custom models have none. `loss` is the loss of the model. Tensors that the
#'   hook also records are further elements. `mean_losses` and `total_losses` are the names of
#'   tfestimators: mean and sum of the first tensor of the collection `losses`.
#' * `evaluations`: a tibble of the metrics of evaluations during training: the validation of
#'   `train(validation =)`, the evaluations of [train_and_evaluate()], and others if the
#'   [hook_history_saver()] records evaluations. It has the columns `step`, `data`, `metric` and
#'   `value`.
#' * `evaluation_metrics`: the losses of the last evaluation of [train_and_evaluate()].
#' * `input`: only for datasets, such as those of [input_fn()]. A data frame with one row for each
#'   record: `rows` and `seconds` since the run began, the seconds that steps `waited` for data, and
#'   `rows_per_sec`.
#' * `validation`: only with `train(validation =)`. A data frame with one row for each evaluation:
#'   `step` and a column for each metric.
#'
#' @param x A history.
#' @param row.names,optional Not used.
#' @param y Not used.
#' @param metrics Names of the metrics to plot, as in the column `metric` of `as_tibble()`. `NULL`
#'   (the default): `"average_loss"`, or `"loss"` if the history has no average. The `loss` of most
#'   models is a sum over the batch, so that batches of different sizes cannot be compared.
#' @param method `"ggplot2"`, `"base"`, or `"auto"` (the default), which uses ggplot2 if it is
#'   installed.
#' @param smooth If `TRUE` (the default), draws a smooth line for each metric of training with at
#'   least 20 records. It consists of local means of running medians and lies within their range.
#' @param theme_bw If `TRUE`, uses `ggplot2::theme_bw()`.
#' @param ... Not used.
#' @return `as_tibble()` and `as.data.frame()`: a table in long form with the columns `step`,
#'   `data`, `metric` and `value`. `data` is `"training"`, `"validation"`, the name of an
#'   evaluation, or `"evaluation"` if it has none.
#'   `print()`: the history, invisibly. `plot()`: a ggplot2 object, or the history with base
#'   graphics.
#' @section Plots: Each metric has a panel, with different colours for training and evaluations. The
#'   scale is logarithmic if the values span more than two decades. If the model directory still
#'   exists, ticks mark the checkpoints, a dashed line marks the best step of the validation, and
#'   the caption tells why the run ended. The best step is that of early stopping, or else the one
#'   with the smallest loss.
#' @section Errors:
#'   * `runhooks_error_not_found`: the history does not have one of the `metrics`, or no values.
#' @name tf_estimator_history
#' @family history
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' history <- model |> train(input_fn(mpg ~ drat, mtcars, batch_size = 8, num_epochs = 5))
#' history
#' as.data.frame(history)
#' plot(history)
#' plot(history, metrics = "loss")
NULL

#' @rdname tf_estimator_history
#' @export
as.data.frame.tf_estimator_history <- function(x, row.names = NULL, optional = FALSE, ...) {
  table <- as_tibble.tf_estimator_history(x)
  class(table) <- "data.frame"
  table
}

#' @rdname tf_estimator_history
#' @rawNamespace S3method(tibble::as_tibble, tf_estimator_history)
as_tibble.tf_estimator_history <- function(x, ...) {
  metrics <- x$params$metrics
  training <- metric_values(
    rep(x$step, times = length(metrics)), "training", rep(metrics, each = length(x$step)),
    unlist(x$losses[metrics], use.names = FALSE)
  )
  rbind_values(training, x$evaluations)
}

#' @rdname tf_estimator_history
#' @export
print.tf_estimator_history <- function(x, ...) {
  steps <- format(x$params$steps, big.mark = ",", scientific = FALSE)
  cat("Trained for ", steps, " steps. \n", sep = "") # lint: allow stdout
  last_losses <- lapply(x$losses[x$params$metrics], last_or_na)
  if (length(last_losses)) {
    # lint: allow stdout
    cat("Final step (plot to see history):", history_lines(last_losses), sep = "\n")
  } else {
    cat("No step was recorded.\n") # lint: allow stdout
  }
  cat(waiting_line(x$input)) # lint: allow stdout
  validation <- x$validation
  if (NROW(validation)) {
    step <- last_or_na(validation$step)
    cat(sprintf("Validation (step %.0f):", step), sep = "\n") # lint: allow stdout
    metrics <- lapply(validation[setdiff(names(validation), "step")], last_or_na)
    cat(history_lines(metrics), sep = "\n") # lint: allow stdout
  }
  evaluation_metrics <- x$evaluation_metrics
  if (!is.null(evaluation_metrics)) {
    step <- evaluation_metrics$step
    cat(sprintf("Evaluation metrics (step %.0f):", step), sep = "\n") # lint: allow stdout
    metrics <- evaluation_metrics[setdiff(names(evaluation_metrics), c(tfestimators_metrics, "step"))]
    cat(history_lines(metrics), sep = "\n") # lint: allow stdout
  }
  invisible(x)
}

# Returns a line for print() if the run took at least 1 second and waited for input half of the
# time.
waiting_line <- function(input) {
  last <- utils::tail(input, 1)
  if (NROW(last) == 0 || last$seconds < 1 || last$waited < last$seconds / 2) return(character())
  sprintf(
    "%.0f%% of the time went into waiting for input (%s rows/s): see vignette(\"input-pipelines\").\n",
    100 * min(last$waited / last$seconds, 1), short_count(last$rows_per_sec)
  )
}

history_lines <- function(values) {
  shown <- vapply(
    values,
    function(value) format(signif(value, 4), big.mark = ",", scientific = FALSE, digits = 4),
    ""
  )
  paste0(format(names(values), justify = "right"), ": ", shown)
}
