# Plots of histories with ggplot2 or base graphics. Each metric has a panel with the values of
# training, validation and evaluations.

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
  if (method == "auto") {
    method <- if (requireNamespace("ggplot2", quietly = TRUE)) "ggplot2" else "base"
  }
  series <- history_series(x, metrics, environment())
  series <- with_panel_scales(series)
  marks <- history_marks(x, series)
  smoothed <- if (smooth) smooth_series(series)
  if (method == "ggplot2") return(plot_history_ggplot2(series, smoothed, marks, theme_bw))
  plot_history_base(series, smoothed, marks)
  invisible(x)
}

# The evaluation metrics of the recorded losses. Some heads record only the sum, as both losses.
evaluated_names <- function(losses) {
  has_mean <- !identical(losses$mean_losses, losses$total_losses)
  c(mean_losses = if (has_mean) "average_loss", total_losses = "loss")
}

history_series <- function(history, metrics, call) {
  data <- as.data.frame(history)
  is_evaluated <- grepl("^(validation|eval)/", data$metric)
  own <- sub("^(validation|eval)/", "", data$metric)
  twin <- unname(evaluated_names(history$losses)[own])
  has_twin <- !is_evaluated & !is.na(twin) & twin %in% own[is_evaluated]
  data$panel <- ifelse(has_twin, twin, own)
  data$series <- ifelse(
    is_evaluated, ifelse(grepl("^eval/", data$metric), "evaluation", "validation"), "training"
  )
  if (is.null(metrics)) {
    data <- data[!data$panel %in% constant_panels(data), ]
    is_twice <- is.na(evaluated_names(history$losses)["mean_losses"])
    if (is_twice && any(is_evaluated)) data <- data[data$metric != "mean_losses", ]
  } else {
    known <- unique(c(data$metric, data$panel))
    unknown <- setdiff(metrics, known)
    if (length(unknown)) abort_unknown_metric(unknown, known, call)
    data <- data[data$metric %in% metrics | data$panel %in% metrics, ]
  }
  data$panel <- factor(data$panel, unique(data$panel))
  data$series <- factor(data$series, intersect(c("training", "validation", "evaluation"), data$series))
  data[order(data$panel, data$series, data$step), c("step", "value", "panel", "series")]
}

abort_unknown_metric <- function(unknown, known, call) {
  abort_runhooks(
    c(
      "{.arg metrics} has {.val {unknown}}; the history has {.val {known}}.",
      did_you_mean(unknown[[1]], known)
    ),
    kind = "not_found", call = call
  )
}

# Panels with constant values, such as label/mean of the same data. None if all are constant.
constant_panels <- function(data) {
  is_constant <- vapply(split(data$value, data$panel), function(values) {
    values <- values[is.finite(values)]
    length(values) > 1 && all(values == values[[1]])
  }, NA)
  if (all(is_constant)) character() else names(is_constant)[is_constant]
}

with_panel_scales <- function(series) {
  is_log <- vapply(split(series$value, series$panel), function(values) {
    values <- values[is.finite(values)]
    length(values) > 0 && all(values > 0) && max(values) / min(values) > 100
  }, NA)
  series$y <- series$value
  at <- is_log[as.character(series$panel)]
  series$y[at] <- log10(series$value[at])
  attr(series, "is_log") <- is_log
  series
}

smooth_series <- function(series) {
  parts <- split(series, list(series$panel, series$series), drop = TRUE)
  smoothed <- lapply(parts, function(part) {
    part <- part[is.finite(part$y), ]
    if (length(unique(part$step)) < 20) return(NULL)
    width <- 2 * (nrow(part) %/% 20) + 3
    part$y <- as.vector(stats::runmed(part$y, min(width, 2 * ((nrow(part) - 1) %/% 2) + 1)))
    spread <- width * stats::median(diff(sort(unique(part$step))))
    part$y <- stats::ksmooth(part$step, part$y, "normal", spread, x.points = part$step)$y
    part
  })
  do.call(rbind, unname(smoothed))
}

# Checkpoints, the best step and the end of the run, from the model directory.
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
    big_number(run$to_step), switch(run$why, early_stopping = ", ", hook = " by ", ": "),
    if (run$why == "hook") hook_maker(run$reason) else run$reason
  )
  marks
}

# The R function of a built-in hook; hooks written in R have their own names.
hook_maker <- function(name) {
  known <- registered("hook", name)
  if (length(known)) paste0(endpoints_of(known[[1]])[[1]], "()") else name
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
  best <- if (identical(stop$mode, "max")) which.max(values) else which.min(values)
  validation$step[[best]]
}

plot_history_ggplot2 <- function(series, smoothed, marks, theme_bw) {
  has_smooth <- paste(series$panel, series$series) %in% paste(smoothed$panel, smoothed$series)
  several <- nlevels(series$series) > 1
  aes <- if (several) {
    ggplot2::aes(x = !!quote(step), y = !!quote(y), colour = !!quote(series))
  } else {
    ggplot2::aes(x = !!quote(step), y = !!quote(y), group = !!quote(series))
  }
  plot <- ggplot2::ggplot(series, aes)
  # series without a smooth line are drawn opaque
  for (alpha in c(if (any(has_smooth)) 0.35, if (!all(has_smooth)) 1)) {
    own <- series[has_smooth == (alpha < 1), ]
    plot <- plot + ggplot2::geom_line(data = own, alpha = alpha, na.rm = TRUE)
  }
  if (any(has_smooth)) plot <- plot + ggplot2::geom_line(data = smoothed, linewidth = 0.8)
  single <- single_values(series)
  if (nrow(single)) plot <- plot + ggplot2::geom_point(data = single, na.rm = TRUE)
  if (length(marks$best)) {
    plot <- plot + ggplot2::geom_vline(xintercept = marks$best, linetype = "dashed", colour = "grey40")
  }
  if (length(marks$checkpoints)) {
    plot <- plot + ggplot2::geom_rug(
      ggplot2::aes(x = !!quote(step)), data.frame(step = marks$checkpoints),
      sides = "b", inherit.aes = FALSE
    )
  }
  plot +
    history_facets(attr(series, "is_log")) +
    ggplot2::scale_x_continuous(breaks = function(limits) unique(floor(pretty(limits)))) +
    ggplot2::labs(y = NULL, colour = NULL, caption = mark_words(marks)) +
    (if (theme_bw) ggplot2::theme_bw() else ggplot2::theme_gray()) +
    ggplot2::theme(
      strip.text = ggplot2::element_text(colour = "black", size = 11, hjust = 0),
      strip.background = ggplot2::element_rect(fill = NA, color = NA),
      legend.position = "top", legend.justification = "left"
    )
}

single_values <- function(series) {
  count <- stats::ave(seq_len(nrow(series)), series$panel, series$series, FUN = length)
  series[count == 1, ]
}

# One panel below the other, or two columns for many panels. ggplot2 has the same transformation for
# all panels, so logarithmic panels plot logarithms and only their labels show the values.
history_facets <- function(is_log) {
  facets <- ggplot2::facet_wrap(
    ggplot2::vars(!!quote(panel)), ncol = if (length(is_log) > 4) 2 else 1, scales = "free_y"
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
  ggplot2::scale_y_continuous(
    breaks = function(limits) decade_breaks(limits), labels = function(at) decade_labels(at)
  )
}

decade_breaks <- function(limits) {
  whole <- seq(ceiling(limits[[1]]), floor(limits[[2]]))
  if (diff(limits) > 3) whole else sort(c(whole, whole + log10(3)))
}

decade_labels <- function(at) {
  vapply(10^at, function(value) format(signif(value, 1), scientific = abs(log10(value)) > 4.5), "")
}

mark_words <- function(marks) {
  words <- c(
    if (length(marks$best)) paste0("Dashed: best step, ", big_number(marks$best), "."),
    if (length(marks$checkpoints)) "Ticks: checkpoints.",
    if (!is.null(marks$end)) paste0(sub("\n.*", "", marks$end), ".")
  )
  if (length(words)) paste(strwrap(paste(words, collapse = " "), 90), collapse = "\n")
}

big_number <- function(x) format(x, big.mark = ",", scientific = FALSE)

plot_history_base <- function(series, smoothed, marks) {
  is_log <- attr(series, "is_log")
  columns <- if (length(is_log) > 4) 2 else 1
  old <- graphics::par(
    mfrow = c(ceiling(length(is_log) / columns), columns), mar = c(3, 4, 2, 1), mgp = c(2, 0.7, 0)
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

draw_panel <- function(shown, smoothed, marks, panel, is_log) {
  colours <- series_colours(levels(shown$series))
  graphics::plot(
    range(shown$step), range(if (any(is.finite(shown$y))) shown$y else 0, finite = TRUE),
    type = "n", xlab = "step", ylab = "", yaxt = "n", main = panel, font.main = 1
  )
  at <- if (is_log) decade_breaks(graphics::par("usr")[3:4]) else graphics::axTicks(2)
  graphics::axis(2, at, if (is_log) decade_labels(at) else format(at), las = 1)
  graphics::abline(v = marks$best, lty = 2, col = "grey40")
  if (length(marks$checkpoints)) graphics::rug(marks$checkpoints)
  for (i in seq_along(colours)) {
    own <- levels(shown$series)[[i]]
    line <- shown[shown$series == own, ]
    smooth <- smoothed[smoothed$series == own, ]
    colour <- if (NROW(smooth)) grDevices::adjustcolor(colours[[i]], 0.35) else colours[[i]]
    graphics::lines(line$step, line$y, col = colour, type = if (nrow(line) == 1) "p" else "l")
    if (NROW(smooth)) graphics::lines(smooth$step, smooth$y, col = colours[[i]], lwd = 2)
  }
}
