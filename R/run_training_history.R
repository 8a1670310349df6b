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
  new_history(record, last_step, evaluations = evaluations, validation = validation)
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
#' @family history
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model %>% train(input_fn(mpg ~ drat, mtcars, batch_size = 8))
#' last_history()
last_history <- function() the$last_history

# The metrics of the evaluations of a model that were written since then.
read_evaluations <- function(folder, started) {
  folders <- list.files(folder, "^eval(_|$)", full.names = TRUE)
  tables <- lapply(folders, function(dir) {
    events <- as.data.frame(read_events(dir))
    # the clock of files may be coarser
    events <- events[events$wall_time >= as.numeric(started) - 0.001, ]
    name <- sub("^eval_?", "", basename(dir))
    data.frame(
      step = events$step, metric = paste0(if (nzchar(name)) paste0(name, "/"), events$tag),
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
#' [input_fn()] are, `input` is a data frame with a row a record: the `rows` that were read since the
#' run began, the `seconds` since then, how many of these the steps have `waited` for rows (the rest
#' they have computed), and `rows_per_sec`. With `train(validation =)` there is `validation`:
#' a data frame with a row for each evaluation, its `step`, and a column for each metric.
#'
#' @param x A history.
#' @param row.names,optional Not used.
#' @param y Not used.
#' @param metrics Which metrics to plot; `NULL` for all.
#' @param method `"ggplot2"`, `"base"`, or `"auto"`: ggplot2 where it is installed.
#' @param smooth Draw a loess line (from 10 records on)?
#' @param theme_bw Use `ggplot2::theme_bw()`?
#' @param ... Not used.
#' @return `as.data.frame()`: a data frame in long form with `step`, `metric` and `value`.
#'   Metrics of evaluations are called `eval/<metric>`, those of the validation data
#'   `validation/<metric>`.
#'   `print()`: the history, invisibly. `plot()`: the plot, or the history with base graphics.
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

#' @rdname tf_estimator_history
#' @export
plot.tf_estimator_history <- function(x, y, metrics = NULL, method = c("auto", "ggplot2", "base"),
                                      smooth = getOption("tf.estimator.plot.history.smooth", TRUE),
                                      theme_bw =
                                        getOption("tf.estimator.plot.history.theme_bw", FALSE),
                                      ...) {
  method <- match.arg(method)
  has_ggplot2 <- requireNamespace("ggplot2", quietly = TRUE)
  if (method == "auto") method <- if (has_ggplot2) "ggplot2" else "base"
  data <- as.data.frame(x)
  if (!is.null(metrics)) {
    known <- unique(data$metric)
    unknown <- setdiff(metrics, known)
    if (length(unknown)) {
      stop_runhooks(
        c(
          "{.arg metrics} has {.val {unknown}}; the history has {.val {known}}.",
          near_hint(unknown[[1]], known)
        ),
        kind = "not_found"
      )
    }
    data <- data[data$metric %in% metrics, ]
  }
  if (method == "ggplot2") return(plot_history_ggplot2(data, smooth, theme_bw))
  plot_history_base(data, smooth)
  invisible(x)
}

# As scatter.smooth() would refuse fewer.
has_smooth <- function(data, smooth) smooth && length(unique(data$step)) >= 10

plot_history_ggplot2 <- function(data, smooth, theme_bw) {
  whole_breaks <- function(limits) unique(floor(pretty(limits)))
  plot <- ggplot2::ggplot(data, ggplot2::aes(x = !!quote(step), y = !!quote(value))) +
    ggplot2::geom_point(shape = 21, fill = 1, na.rm = TRUE) +
    ggplot2::facet_grid(metric ~ ., switch = "y", scales = "free_y") +
    ggplot2::scale_x_continuous(breaks = whole_breaks) +
    ggplot2::theme(
      axis.title.y = ggplot2::element_blank(), strip.placement = "outside",
      strip.text = ggplot2::element_text(colour = "black", size = 11),
      strip.background = ggplot2::element_rect(fill = NA, color = NA)
    )
  if (theme_bw) plot <- plot + ggplot2::theme_bw()
  if (has_smooth(data, smooth)) {
    plot <- plot + ggplot2::geom_smooth(formula = y ~ x, method = "loess", se = FALSE, na.rm = TRUE)
  }
  plot
}

plot_history_base <- function(data, smooth) {
  metrics <- unique(data$metric)
  old <- graphics::par(mfrow = c(length(metrics), 1), mar = c(3, 4, 1, 1))
  on.exit(graphics::par(old))
  for (metric in metrics) {
    shown <- data[data$metric == metric, ]
    graphics::plot(shown$step, shown$value, xlab = "step", ylab = metric, pch = 21, bg = 1)
    if (has_smooth(shown, smooth)) graphics::lines(stats::loess.smooth(shown$step, shown$value))
  }
}
