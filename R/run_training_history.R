# The history of a run: what the history saver recorded, as data to print, plot and tabulate.

# `record` is what cpp_history_read() gives; `last_step` the global step that was reached.
new_history <- function(record, last_step, evaluation_metrics = NULL, evaluations = NULL,
                        validation = NULL) {
  if (is.null(record)) {
    none <- numeric()
    record <- list(step = none, losses = list(mean_losses = none, total_losses = none))
  }
  history <- list(
    params = list(metrics = names(record$losses), steps = last_step),
    losses = record$losses,
    step = record$step,
    evaluation_metrics = evaluation_metrics,
    evaluations = evaluations
  )
  if (!is.null(record$input)) history$input <- input_table(record$step, record$input)
  if (!is.null(validation)) history$validation <- validation
  structure(history, class = "tf_estimator_history")
}

# What the history saver among `hooks` has recorded until now, which a run that has ended gives
# itself. Where the step is not known it is the last recorded one.
recorded_history <- function(hooks, record = read_record(hooks), last_step = NULL, folder = NULL,
                             started = NULL, validation = NULL) {
  saver <- history_saver(hooks)
  if (is.null(last_step)) last_step <- max(record$step, 0)
  evaluations <- if (isTRUE(saver$evaluations)) read_evaluations(folder, started)
  if (!is.null(validation)) validation <- validation_table(cpp_history_read(validation))
  history <- new_history(record, last_step, evaluations = evaluations, validation = validation)
  # where a plot finds what the run has left
  structure(history, folder = folder)
}

history_saver <- function(hooks) Find(function(hook) inherits(hook, "HistorySaverHook"), hooks)

read_record <- function(hooks) {
  saver <- history_saver(hooks)
  if (!is.null(saver)) cpp_history_read(attr(saver, "record"))
}

# How fast the rows came until each record, and what the steps have waited for them.
input_table <- function(step, input) {
  rate <- input$rows / input$seconds
  rate[input$seconds <= 0] <- NA
  table <- c(list(step = step), input[c("rows", "seconds", "waited")], list(rows_per_sec = rate))
  # what it costs to call data.frame() counts: every evaluation has such a table
  structure(table, class = "data.frame", row.names = .set_row_names(length(step)))
}

# One row an evaluation, one column a metric.
validation_table <- function(record) {
  metrics <- Filter(function(x) length(x) == length(record$step), record$losses)
  data.frame(step = record$step, metrics, check.names = FALSE)
}

#' The history of the last run
#'
#' What [train()] returned last, or would have returned had it not been interrupted or ended by an
#' error: after Ctrl-C at the prompt it has the losses until then.
#'
#' @return A [history][tf_estimator_history], or `NULL` where nothing was trained in this session.
#' @section Errors: none. After a training that failed before its first step, for a column that is
#'   not there, it is a history of no step.
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model %>% train(input_fn(mpg ~ drat, mtcars, batch_size = 8))
#' last_history()
last_history <- function() the$last_history

# The metrics of the evaluations of a model that were written since then.
read_evaluations <- function(folder, started) {
  folders <- sorted_words(list.files(folder, "^eval(_|$)", full.names = TRUE))
  tables <- lapply(folders, function(dir) {
    events <- as.data.frame(read_events(dir))
    # the clock of files may be coarser
    events <- events[events$wall_time >= as.numeric(started) - 0.001, ]
    name <- sub("^eval_?", "", basename(dir))
    data.frame(
      step = events$step,
      metric = paste0(if (nzchar(name)) paste0(name, "/") else "", events$tag, recycle0 = TRUE),
      value = events$value, stringsAsFactors = FALSE
    )
  })
  none <- data.frame(step = numeric(), metric = character(), value = numeric())
  do.call(rbind, c(list(none), tables))
}

#' The history of a run
#'
#' What [train()] returns: the losses that a [hook_history_saver()] recorded. A list with `params`
#' (the names of the metrics and `steps`, the global step reached), `losses` (`mean_losses` and
#' `total_losses`, one number a record: mean and sum over the examples of the batch), `step` (the
#' global step of each record), `evaluation_metrics`, and `evaluations`, a data frame of `step`,
#' `metric` and `value` where [hook_history_saver()] was asked for it, else `NULL`. Tensors that the
#' hook was asked to record are further `losses`. After [train()] on a dataset, as those of
#' [input_fn()] are, `input` is a data frame with a row a record: the `rows` that were read since
#' the run began, the `seconds` since then, how many of these the steps have `waited` for rows (the
#' rest they have computed), and `rows_per_sec`. With `train(validation =)` there is `validation`:
#' a data frame with a row for each evaluation, its `step`, and a column for each metric.
#'
#' @param x A history.
#' @param row.names,optional Not used.
#' @param y Not used.
#' @param metrics Which metrics to plot, as `as.data.frame()` names them; without `validation/` or
#'   `eval/` a metric of evaluations is shown with what training records of it (`"average_loss"`
#'   with `mean_losses`, `"loss"` with `total_losses`). `NULL`: all but those that never change.
#' @param method `"ggplot2"`, `"base"`, or `"auto"`: ggplot2 where it is installed.
#' @param smooth Draw a smooth line over each series of 20 records and more? It is made of local
#'   means of running medians, so that it stays among the values.
#' @param theme_bw Use `ggplot2::theme_bw()`?
#' @param ... Not used.
#' @return `as.data.frame()`: a data frame in long form with `step`, `metric` and `value`.
#'   Metrics of evaluations are called `eval/<metric>`, those of the validation data
#'   `validation/<metric>`.
#'   `print()`: the history, invisibly. `plot()`: the plot, or the history with base graphics.
#' @section Plots: A panel for each metric, with training and evaluations in colours of their own,
#'   on a logarithmic scale where values span decades. While the model's folder is there, ticks
#'   below are checkpoints, a dashed line is the best step of the validation (as early stopping saw
#'   it, else the least loss), and the words below say why the run ended.
#' @section Errors: `runhooks_error_not_found` for `metrics` that the history does not have.
#' @name tf_estimator_history
#' @family history
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' history <- model %>% train(input_fn(mpg ~ drat, mtcars, batch_size = 8, num_epochs = 5))
#' history
#' as.data.frame(history)
#' plot(history)
NULL

#' @rdname tf_estimator_history
#' @export
as.data.frame.tf_estimator_history <- function(x, row.names = NULL, optional = FALSE, ...) {
  metrics <- x$params$metrics
  recorded <- data.frame(
    step = rep(x$step, times = length(metrics)),
    metric = rep(metrics, each = length(x$step)),
    value = as.numeric(unlist(x$losses[metrics], use.names = FALSE)),
    stringsAsFactors = FALSE
  )
  evaluated <- x$evaluations
  if (NROW(evaluated)) {
    evaluated$metric <- paste0("eval/", evaluated$metric)
    recorded <- rbind(recorded, evaluated)
  }
  validated <- x$validation
  for (metric in setdiff(names(validated), "step")) {
    recorded <- rbind(recorded, data.frame(
      step = validated$step, metric = paste0("validation/", metric), value = validated[[metric]]
    ))
  }
  recorded
}

#' @rdname tf_estimator_history
#' @export
print.tf_estimator_history <- function(x, ...) {
  steps <- format(x$params$steps, big.mark = ",", scientific = FALSE)
  # lint: allow stdout
  cat("Trained for ", steps, " steps. \n", "Final step (plot to see history):\n", sep = "")
  cat(history_lines(lapply(x$losses, last_of)), sep = "\n") # lint: allow stdout
  cat(waiting_line(x$input)) # lint: allow stdout
  validated <- x$validation
  if (NROW(validated)) {
    step <- last_of(validated$step)
    cat(sprintf("Validation (step %.0f):", step), sep = "\n") # lint: allow stdout
    metrics <- lapply(validated[setdiff(names(validated), "step")], last_of)
    cat(history_lines(metrics), sep = "\n") # lint: allow stdout
  }
  evaluated <- x$evaluation_metrics
  if (!is.null(evaluated)) {
    cat(sprintf("Evaluation metrics (step %.0f):", evaluated$step), sep = "\n") # lint: allow stdout
    cat(history_lines(evaluated[c("mean_losses", "total_losses")]), sep = "\n") # lint: allow stdout
  }
  invisible(x)
}

# A word where it was the input that took the time.
waiting_line <- function(input) {
  last <- utils::tail(input, 1)
  if (NROW(last) == 0 || last$seconds < 1 || last$waited < last$seconds / 2) return(character())
  sprintf(
    "%.0f%% of the time went into waiting for input (%s rows/s): see vignette(\"input-pipelines\").\n",
    100 * min(last$waited / last$seconds, 1), short_count(last$rows_per_sec)
  )
}

# "metric: value", the names right-aligned, 4 digits.
history_lines <- function(values) {
  shown <- vapply(
    values,
    function(value) format(signif(value, 4), big.mark = ",", scientific = FALSE, digits = 4),
    ""
  )
  paste0(format(names(values), justify = "right"), ": ", shown)
}
