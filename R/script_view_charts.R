# The charts of the HTML page that view_run() writes: metrics and histograms over steps.

# Returns the contents of the event files of a model directory: a list with one element for the
# training and one for each evaluation.
folder_events <- function(folder, histograms = FALSE) {
  lapply(event_folders(folder), function(dir) cpp_read_events(event_files(dir), histograms))
}

# Combines the numbers in `events`, the value of folder_events(), in one table.
event_series <- function(events) {
  no_numbers <- list(step = numeric(), tag = character(), value = numeric())
  tables <- Map(function(event_file, name) {
    numbers <- event_file$numbers
    data.frame(
      series = rep(name, length(numbers$step)), tag = numbers$tag, step = numbers$step,
      value = numbers$value
    )
  }, c(events, list(list(numbers = no_numbers))), c(names(events), ""))
  do.call(rbind, unname(tables))
}

event_folders <- function(folder) {
  folders <- list.dirs(folder, full.names = FALSE, recursive = FALSE)
  evaluations <- sort_bytewise(grep("^eval(_|$)", folders, value = TRUE))
  names <- ifelse(evaluations == "eval", "evaluation", sub("^eval_", "", evaluations))
  c(list(training = folder), stats::setNames(as.list(file.path(folder, evaluations)), names))
}

# Creates the section of charts by metric. It shows the metrics that measure the quality of a model.
# Other numbers that change are in a folded part. With several models, each model has a color, and
# its evaluations are dashed. `models`: the values of event_series() by model.
metric_charts <- function(models) {
  has_several <- length(models) > 1
  add_number <- function(table, i) cbind(table, model = rep_len(i, nrow(table)))
  models <- Map(add_number, models, seq_along(models))
  if (has_several) {
    models <- Map(function(table, name) {
      table$series <- rep_len(paste0(name, ": ", table$series), nrow(table))
      table
    }, models, names(models))
  }
  rows <- do.call(rbind, unname(models))
  rows <- rows[is.finite(rows$value), ]
  styles <- series_styles(unique(rows[c("series", "model")]), has_several)
  tags <- Filter(function(tag) !is_constant(rows$value[rows$tag == tag]), unique(rows$tag))
  if (length(tags) == 0) return(section("Metrics", paragraph("There are no event files.")))
  main_tags <- primary_tags(tags, rows)
  charts_of <- function(tags) {
    lapply(tags, function(tag) metric_chart(rows[rows$tag == tag, ], tag, styles))
  }
  other_tags <- setdiff(tags, main_tags)
  text <- paste(
    if (has_several) "Each model has a color; its evaluations are dashed.",
    "Drag to zoom in, double-click to zoom out."
  )
  section(
    "Metrics", paragraph(text), charts_of(main_tags),
    if (length(other_tags)) {
      collapsible_charts(sprintf("%d more curves", length(other_tags)), charts_of(other_tags))
    }
  )
}

# Creates a folded part with charts. It sends a resize event when it opens, because a chart that was
# drawn while hidden has no size until the window is resized.
collapsible_charts <- function(title, ...) {
  htmltools::tags$details(
    ontoggle = "window.dispatchEvent(new Event('resize'))", htmltools::tags$summary(title), ...
  )
}

is_constant <- function(values) length(values) > 1 && all(values == values[[1]])

# Returns the tags to show first: average losses, or else losses, and those metrics of evaluations
# that measure the quality of a model.
primary_tags <- function(tags, rows) {
  averages <- grep("^average_loss(/|$)", tags, value = TRUE)
  losses <- if (length(averages)) averages else grep("^loss(/|$)", tags, value = TRUE)
  is_training <- grepl("(^|: )training$", rows$series)
  evaluated <- intersect(tags, rows$tag[!is_training])
  about_data <- "^(loss|label/mean|prediction/mean|accuracy_baseline|learning_rate)(/|$)"
  main_tags <- unique(c(losses, grep(about_data, evaluated, value = TRUE, invert = TRUE)))
  if (length(main_tags)) main_tags else tags
}

line_colors <- c(
  "#1b9e77", "#d95f02", "#4f9be8", "#e7298a", "#66a61e", "#a97bf0", "#c99700", "#8c8c8c"
)

# Returns the color and the dashes of each series, which are the same in all charts.
series_styles <- function(series, has_several_models) {
  order <- if (has_several_models) series$model else seq_len(nrow(series))
  is_training <- grepl("(^|: )training$", series$series)
  is_validation <- grepl(paste0("(^|: )", validation_name, "$"), series$series)
  data.frame(
    color = line_colors[(order - 1) %% length(line_colors) + 1],
    dash = ifelse(
      !has_several_models | is_training, "solid", ifelse(is_validation, "dashed", "dotted")
    ),
    row.names = series$series
  )
}

metric_chart <- function(series, tag, styles) {
  steps <- sort(unique(series$step))
  names <- unique(series$series)
  columns <- lapply(names, function(name) {
    rows <- series[series$series == name, ]
    # the last value of each step
    rows$value[nrow(rows) + 1 - match(steps, rev(rows$step))]
  })
  data <- data.frame(step = steps, columns)
  # dygraphs renders labels as HTML
  labels <- htmltools::htmlEscape(names)
  names(data) <- c("step", labels)
  is_log <- all(series$value > 0) && max(series$value) / min(series$value) > 100
  widget <- dygraphs::dygraph(data, xlab = "step", height = 240, width = "100%")
  widget <- dygraphs::dyOptions(
    widget, connectSeparatedPoints = TRUE, colors = styles[names, "color"], logscale = is_log,
    drawPoints = length(steps) < 30, pointSize = 2, strokeWidth = 1.5
  )
  # call dySeries() for all series, because it moves a series to the end: this keeps their order
  for (i in seq_along(names)) {
    dash <- styles[names[[i]], "dash"]
    widget <- dygraphs::dySeries(
      widget, labels[[i]], strokePattern = if (dash != "solid") dash,
      color = styles[names[[i]], "color"]
    )
  }
  if (length(steps) > 1000) widget$x$plotter <- "thinned"
  widget <- dygraphs::dyLegend(widget, show = "always", hideOnMouseOut = FALSE, width = 600)
  box <- htmltools::tags$label(
    htmltools::tags$input(type = "checkbox", checked = if (is_log) NA, onchange = "logscale(this)"),
    "logarithmic"
  )
  chart_box(tag, box, widget)
}

# --- histograms: the distribution of a tensor's values in each step with a summary

# The probabilities of the quantiles that TensorBoard shows: the extremes, the median, and those at
# 0.5, 1 and 1.5 standard deviations of a normal distribution.
histogram_probs <- c(0, stats::pnorm(c(-1.5, -1, -0.5, 0, 0.5, 1, 1.5)), 1)

max_histograms <- 60L

histogram_charts <- function(events) {
  tables <- Map(function(event_file, name) {
    table <- histogram_quantiles(event_file$histograms)
    if (name != "training") table$tag <- sprintf("%s (%s)", table$tag, name)
    table
  }, events, names(events))
  rows <- do.call(rbind, unname(tables))
  tags <- unique(rows$tag)
  if (length(tags) == 0) return(NULL)
  charts <- lapply(utils::head(tags, max_histograms), function(tag) {
    histogram_chart(rows[rows$tag == tag, ], tag)
  })
  text <- paste(
    "The line is the median. The bands contain half, two thirds, nine tenths and all of the values."
  )
  omitted <- if (length(tags) > max_histograms) {
    paragraph(sprintf("%d more are not shown.", length(tags) - max_histograms))
  }
  suffix <- if (length(charts) == 1) "" else "s"
  title <- sprintf("%d distribution%s by step", length(charts), suffix)
  section("Histograms", collapsible_charts(title, paragraph(text), charts, omitted))
}

histogram_quantiles <- function(histograms) {
  quantiles <- vapply(seq_along(histograms$step), function(i) {
    h <- lapply(histograms[c("limits", "counts", "min", "max")], `[[`, i)
    quantiles_of_histogram(h$limits, h$counts, h$min, h$max)
  }, numeric(length(histogram_probs)))
  table <- data.frame(tag = histograms$tag, step = histograms$step)
  table$quantiles <- t(matrix(quantiles, nrow = length(histogram_probs)))
  table
}

# Computes quantiles of a histogram by linear interpolation within its buckets. Skips empty buckets.
quantiles_of_histogram <- function(limits, counts, lowest, highest) {
  total <- sum(counts)
  if (total == 0 || !is.finite(lowest) || !is.finite(highest)) {
    return(rep(NA_real_, length(histogram_probs)))
  }
  bucket_limits <- pmax(pmin(c(lowest, limits), highest), lowest)
  target_counts <- histogram_probs * total
  cumulative <- c(0, cumsum(counts))
  # the bucket of each quantile; the minimum is in the first bucket that is not empty
  buckets <- pmin(findInterval(target_counts, cumulative, left.open = TRUE), length(counts))
  buckets <- pmax(buckets, match(TRUE, counts > 0))
  position <- (target_counts - cumulative[buckets]) / counts[buckets]
  widths <- bucket_limits[buckets + 1] - bucket_limits[buckets]
  quantiles <- bucket_limits[buckets] + position * widths
  replace(quantiles, c(1, length(quantiles)), c(lowest, highest))
}

histogram_chart <- function(table, tag) {
  table <- table[!duplicated(table$step, fromLast = TRUE), ]
  table <- table[order(table$step), ]
  n <- length(histogram_probs)
  middle <- (n + 1) / 2
  bands <- seq_len(middle - 1)
  band_columns <- lapply(bands, function(i) c(i, middle, n + 1 - i))
  data <- data.frame(table$step, table$quantiles[, unlist(band_columns), drop = FALSE])
  columns <- lapply(bands, function(i) paste(c("low", "median", "high"), i))
  names(data) <- c("step", unlist(columns))
  widget <- dygraphs::dygraph(data, xlab = "step", height = 200, width = "100%")
  labels <- c("all", "9 of 10", "2 of 3", "half")
  for (i in bands) widget <- dygraphs::dySeries(widget, columns[[i]], label = labels[[i]])
  widget <- dygraphs::dyOptions(
    widget, colors = rep("#d95f02", length(bands)), fillAlpha = 0.2, drawPoints = nrow(data) < 30,
    pointSize = 2
  )
  widget <- dygraphs::dyLegend(widget, show = "never")
  chart_box(tag, NULL, widget)
}

chart_box <- function(tag, control, widget) {
  htmltools::tags$div(class = "chart", htmltools::tags$h3(tag), control, widget)
}
