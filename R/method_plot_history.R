# plot() of a training history, with ggplot2 or base graphics. Each metric has a panel with the
# values of training, validation and evaluations. The default is the average losses only, because
# other losses are sums, which depend on the size of the batches.

#' @rdname tf_estimator_history
#' @export
plot.tf_estimator_history <- function(x, y, metrics = NULL, method = c("auto", "ggplot2", "base"),
                                      smooth = getOption("tf.estimator.plot.history.smooth", TRUE),
                                      theme_bw =
                                        getOption("tf.estimator.plot.history.theme_bw", FALSE),
                                      ...) {
  method <- check_one_of(method, c("auto", "ggplot2", "base"))
  check_flag(smooth)
  check_flag(theme_bw)
  if (!missing(y) && is.null(metrics)) metrics <- y
  if (method == "auto") {
    method <- if (requireNamespace("ggplot2", quietly = TRUE)) "ggplot2" else "base"
  }
  series <- history_series(x, metrics, environment())
  series <- add_panel_scales(series)
  marks <- history_marks(x, series)
  smoothed <- if (smooth) smooth_series(series)
  if (method == "ggplot2") return(plot_history_ggplot2(series, smoothed, marks, theme_bw))
  plot_history_base(series, smoothed, marks)
  invisible(x)
}

history_series <- function(history, metrics, call) {
  data <- as.data.frame(history)
  for (name in intersect(tfestimators_metrics, metrics)) {
    values <- history$losses[[name]]
    data <- rbind(data, data.frame(
      step = history$step, data = rep_len("training", length(values)),
      metric = rep_len(name, length(values)), value = values
    ))
  }
  data <- data[is_in_finite_series(data), ]
  available <- unique(data$metric)
  if (is.null(metrics)) metrics <- default_metrics(available)
  unknown <- setdiff(metrics, available)
  if (length(available) == 0 || length(unknown)) abort_unknown_metric(unknown, available, call)
  data <- data[data$metric %in% metrics, ]
  data$panel <- factor(data$metric, metrics)
  data$series <- factor(data$data, unique(c("training", "validation", data$data)))
  data$series <- droplevels(data$series)
  data[order(data$panel, data$series, data$step), c("step", "value", "panel", "series")]
}

# TRUE for the rows of a series that has a finite value. Other series would be empty panels.
is_in_finite_series <- function(data) {
  stats::ave(is.finite(data$value) + 0, paste(data$data, data$metric), FUN = max) > 0
}

# Returns the metrics to plot: average losses, or else losses, or else all metrics. Each named head
# of a multi_head() has an average loss, such as "average_loss/size".
default_metrics <- function(available) {
  averages <- grep("^average_loss(/|$)", available, value = TRUE)
  losses <- grep("^loss$", available, value = TRUE)
  if (length(averages)) averages else if (length(losses)) losses else available
}

abort_unknown_metric <- function(unknown, available, call) {
  if (length(available) == 0) {
    abort_runhooks("The history has no values to plot.", kind = "not_found", call = call)
  }
  abort_runhooks(
    c(
      "{.arg metrics} has {.val {unknown}}; the history has {.val {available}}.",
      did_you_mean(unknown[[1]], available)
    ),
    kind = "not_found", call = call
  )
}

# Adds the values to plot as the column `y`: logarithms in panels with more than two decades.
add_panel_scales <- function(series) {
  is_log <- vapply(split(series$value, series$panel), function(values) {
    values <- values[is.finite(values)]
    length(values) > 0 && all(values > 0) && max(values) / min(values) > 100
  }, NA)
  series$y <- series$value
  is_log_row <- is_log[as.character(series$panel)]
  series$y[is_log_row] <- log10(series$value[is_log_row])
  attr(series, "is_log") <- is_log
  series
}

# Smooths the training series only. Its values vary between batches; evaluations use all rows.
smooth_series <- function(series) {
  training <- series[series$series == "training", ]
  panels <- lapply(split(training, training$panel, drop = TRUE), function(panel) {
    # a value that is not finite interrupts the line
    segments <- split(panel, cumsum(!is.finite(panel$y)))
    segments <- lapply(segments, function(segment) smooth_segment(segment[is.finite(segment$y), ]))
    segments <- Filter(NROW, segments)
    for (i in seq_along(segments)[-1]) {
      segments[[i]] <- rbind(replace(segments[[i]][1, ], "y", NA), segments[[i]])
    }
    do.call(rbind, unname(segments))
  })
  do.call(rbind, unname(panels))
}

# Smooths a segment by Gaussian means of running medians, at no more than 400 points. The windows
# shrink near both ends, so the line begins at the first value and ends at the last one.
smooth_segment <- function(segment) {
  n <- nrow(segment)
  if (length(unique(segment$step)) < 20) return(NULL)
  radius <- n %/% 20 + 1
  medians <- vapply(seq_len(n), function(i) {
    r <- min(radius, i - 1, n - i)
    stats::median(segment$y[(i - r):(i + r)])
  }, 0)
  x <- segment$step
  bandwidth <- 0.75 * radius * stats::median(diff(sort(unique(x))))
  rows <- unique(round(seq(1, n, length.out = min(n, 400))))
  segment <- segment[rows, ]
  segment$y <- vapply(rows, function(i) {
    local_bandwidth <- min(bandwidth, (x[[i]] - x[[1]]) / 3, (x[[n]] - x[[i]]) / 3)
    if (local_bandwidth <= 0) return(medians[[i]])
    nearby <- which(abs(x - x[[i]]) <= 3 * local_bandwidth)
    weights <- stats::dnorm(x[nearby], x[[i]], local_bandwidth)
    sum(weights * medians[nearby]) / sum(weights)
  }, 0)
  segment
}

# Returns checkpoints, the best step and the end of the run, from the model directory.
history_marks <- function(history, series) {
  folder <- attr(history, "folder")
  marks <- list(checkpoints = numeric(), best = numeric(), end = NULL)
  if (is.null(folder) || !dir.exists(folder)) return(marks)
  runs <- run_history(folder)
  run <- utils::tail(runs[runs$to_step %in% history$params$steps, ], 1)
  if (nrow(run) == 0) return(marks)
  saved <- saved_steps(folder)
  marks$checkpoints <- saved[saved >= run$from_step & saved <= run$to_step]
  marks$best <- best_validation_step(history$validation, run$arguments[[1]]$stop)
  marks$end <- paste0(
    if (run$why == "early_stopping") "Stopped early at step " else "Ended at step ",
    format_with_commas(run$to_step), if (run$why == "early_stopping") ", " else ": ",
    describe_end(run$why, run$reason)
  )
  marks
}

describe_end <- function(why, reason) {
  if (why != "hook") return(reason)
  switch(reason,
    StopAtTreesHook = "all trees have grown",
    StopWhenConvergedHook = "the model has converged",
    paste("stopped by", hook_constructor(reason))
  )
}

# Converts names of metrics to titles: "auc_precision_recall" becomes "AUC precision recall".
metric_titles <- function(metrics) {
  words <- gsub("_", " ", metrics, fixed = TRUE)
  words <- sub("^label/mean$", "mean of the labels", words)
  words <- sub("^prediction/mean$", "mean of the predictions", words)
  words <- gsub("\\bauc\\b", "AUC", words)
  paste0(ascii_upper(substr(words, 1, 1)), substring(words, 2))
}

# Converts the C++ class name of a built-in hook to the name of the R function that creates it.
# Returns other names unchanged.
hook_constructor <- function(name) {
  specs <- registered("hook", name)
  if (length(specs)) paste0(endpoints_of(specs[[1]])[[1]], "()") else name
}

saved_steps <- function(folder) {
  paths <- get_checkpoint_state(folder)$all_model_checkpoint_paths
  as.numeric(sub("^.*-", "", grep("-[0-9]+$", paths, value = TRUE)))
}

best_validation_step <- function(validation, stop) {
  metric <- stop$metric_name
  if (is.null(metric)) metric <- "average_loss"
  if (!metric %in% names(validation)) metric <- "loss"
  values <- validation[[metric]]
  if (!any(is.finite(values))) return(numeric())
  best_row <- if (identical(stop$mode, "max")) which.max(values) else which.min(values)
  validation$step[[best_row]]
}

plot_history_ggplot2 <- function(series, smoothed, marks, theme_bw) {
  has_smooth <- paste(series$panel, series$series) %in% paste(smoothed$panel, smoothed$series)
  has_legend <- nlevels(series$series) > 1
  aes <- if (has_legend) {
    ggplot2::aes(x = !!quote(step), y = !!quote(y), colour = !!quote(series))
  } else {
    ggplot2::aes(x = !!quote(step), y = !!quote(y), group = !!quote(series))
  }
  plot <- ggplot2::ggplot(series, aes)
  # only series with a smooth line are transparent
  for (alpha in c(if (any(has_smooth)) 0.35, if (!all(has_smooth)) 1)) {
    lines <- series[has_smooth == (alpha < 1) & values_per_series(series) > 1, ]
    if (nrow(lines)) plot <- plot + ggplot2::geom_line(data = lines, alpha = alpha, na.rm = TRUE)
  }
  if (any(has_smooth)) {
    plot <- plot + ggplot2::geom_line(data = smoothed, linewidth = 0.8, na.rm = TRUE)
  }
  points <- values_as_points(series)
  if (nrow(points)) plot <- plot + ggplot2::geom_point(data = points, size = 1, na.rm = TRUE)
  if (length(marks$best)) {
    plot <- plot + ggplot2::geom_vline(xintercept = marks$best, linetype = "dashed", colour = "grey40")
  }
  if (length(marks$checkpoints)) {
    plot <- plot + ggplot2::geom_rug(
      ggplot2::aes(x = !!quote(step)), data.frame(step = marks$checkpoints),
      sides = "b", inherit.aes = FALSE
    )
  }
  is_log <- attr(series, "is_log")
  title <- if (length(is_log) == 1) metric_titles(names(is_log))
  plot +
    history_facets(is_log) +
    ggplot2::scale_x_continuous(
      breaks = function(limits) unique(floor(pretty(limits))), labels = format_with_commas
    ) +
    ggplot2::labs(
      x = "Step", y = NULL, colour = NULL, title = title, caption = describe_marks(marks)
    ) +
    (if (theme_bw) ggplot2::theme_bw() else ggplot2::theme_gray()) +
    history_theme(is_single = !is.null(title))
}

history_theme <- function(is_single) {
  strip <- ggplot2::element_text(colour = "black", size = 11, hjust = 0)
  ggplot2::theme(
    plot.title = ggplot2::element_text(size = 12),
    plot.margin = ggplot2::margin(6, 18, 6, 6),
    strip.text = if (is_single) ggplot2::element_blank() else strip,
    strip.background = ggplot2::element_rect(fill = NA, color = NA),
    legend.position = "top", legend.justification = "left"
  )
}

# Returns the values that are drawn as points: series of one value, and evaluations if there are at
# most 50.
values_as_points <- function(series) {
  count <- values_per_series(series)
  series[count == 1 | series$series != "training" & count <= 50, ]
}

values_per_series <- function(series) {
  stats::ave(seq_len(nrow(series)), series$panel, series$series, FUN = length)
}

# Arranges panels in one column, or in two columns if there are more than four. ggplot2 applies one
# transformation to all panels. So logarithmic panels plot logarithms, and their labels show the
# original values.
history_facets <- function(is_log) {
  facets <- ggplot2::facet_wrap(
    ggplot2::vars(!!quote(panel)), ncol = if (length(is_log) > 4) 2 else 1, scales = "free_y",
    labeller = function(labels) lapply(labels, function(label) metric_titles(as.character(label)))
  )
  ggplot2::ggproto(
    NULL, facets,
    init_scales = function(layout, x_scale = NULL, y_scale = NULL, params) {
      scales <- facets$init_scales(layout, x_scale, y_scale, params)
      for (i in which(is_log[as.character(layout$panel)])) {
        scales$y[[layout$SCALE_Y[[i]]]] <- decade_scale()
      }
      scales
    }
  )
}

decade_scale <- function() {
  ggplot2::scale_y_continuous(breaks = decade_breaks, labels = decade_labels)
}

decade_breaks <- function(limits) {
  decades <- seq(ceiling(limits[[1]]), floor(limits[[2]]))
  if (diff(limits) > 3) decades else sort(c(decades, decades + log10(3)))
}

decade_labels <- function(logarithms) {
  label <- function(x) format(signif(x, 1), scientific = abs(log10(x)) > 4.5)
  vapply(10^logarithms, label, "")
}

describe_marks <- function(marks) {
  sentences <- c(
    if (length(marks$best)) paste0("Dashed: best step, ", format_with_commas(marks$best), "."),
    if (length(marks$checkpoints)) "Ticks: checkpoints.",
    if (!is.null(marks$end)) paste0(sub("\n.*", "", marks$end), ".")
  )
  if (length(sentences)) paste(strwrap(paste(sentences, collapse = " "), 90), collapse = "\n")
}

format_with_commas <- function(x) format(x, big.mark = ",", scientific = FALSE, trim = TRUE)

plot_history_base <- function(series, smoothed, marks) {
  is_log <- attr(series, "is_log")
  columns <- if (length(is_log) > 4) 2 else 1
  old <- graphics::par(
    mfrow = c(ceiling(length(is_log) / columns), columns), mar = c(3, 4, 2, 1.5), mgp = c(2, 0.7, 0)
  )
  on.exit(graphics::par(old))
  for (panel in levels(series$panel)) {
    draw_panel(
      series[series$panel == panel, ], smoothed[smoothed$panel == panel, ], marks, panel,
      is_log[[panel]]
    )
    if (panel == levels(series$panel)[[1]]) draw_legend(levels(series$series))
  }
}

series_colours <- function(names) grDevices::palette()[seq_along(names)]

draw_legend <- function(names, place = "topright") {
  if (length(names) < 2) return(invisible())
  graphics::legend(place, names, col = series_colours(names), lty = 1, lwd = 2, bty = "n")
}

draw_panel <- function(panel_series, smoothed, marks, panel, is_log) {
  colours <- series_colours(levels(panel_series$series))
  graphics::plot(
    range(panel_series$step),
    range(if (any(is.finite(panel_series$y))) panel_series$y else 0, finite = TRUE),
    type = "n", xlab = "Step", ylab = "", yaxt = "n", main = metric_titles(panel), font.main = 1
  )
  breaks <- if (is_log) decade_breaks(graphics::par("usr")[3:4]) else graphics::axTicks(2)
  graphics::axis(2, breaks, if (is_log) decade_labels(breaks) else format(breaks), las = 1)
  graphics::abline(v = marks$best, lty = 2, col = "grey40")
  if (length(marks$checkpoints)) graphics::rug(marks$checkpoints, quiet = TRUE)
  for (i in seq_along(colours)) {
    name <- levels(panel_series$series)[[i]]
    line <- panel_series[panel_series$series == name, ]
    smooth <- smoothed[smoothed$series == name, ]
    colour <- if (NROW(smooth)) grDevices::adjustcolor(colours[[i]], 0.35) else colours[[i]]
    has_points <- nrow(line) == 1 || name != "training" && nrow(line) <= 50
    graphics::lines(line$step, line$y, col = colour)
    if (has_points) graphics::points(line$step, line$y, col = colour, pch = 20)
    if (NROW(smooth)) graphics::lines(smooth$step, smooth$y, col = colours[[i]], lwd = 2)
  }
}
