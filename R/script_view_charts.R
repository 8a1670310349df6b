# Charts of the page of view_run(): curves of numbers and histograms over steps.

# Reads each event file once.
folder_events <- function(folder, histograms = FALSE) {
  lapply(event_folders(folder), function(dir) cpp_read_events(event_files(dir), histograms))
}

event_series <- function(events) {
  none <- list(step = numeric(), tag = character(), value = numeric())
  tables <- Map(function(part, name) {
    numbers <- part$numbers
    data.frame(
      series = rep(name, length(numbers$step)), tag = numbers$tag, step = numbers$step,
      value = numbers$value
    )
  }, c(events, list(list(numbers = none))), c(names(events), ""))
  do.call(rbind, unname(tables))
}

event_folders <- function(folder) {
  folders <- list.dirs(folder, full.names = FALSE, recursive = FALSE)
  evaluations <- sorted_words(grep("^eval(_|$)", folders, value = TRUE))
  parts <- c(list(training = folder), stats::setNames(file.path(folder, evaluations), evaluations))
  names(parts)[-1] <- ifelse(evaluations == "eval", "evaluation", sub("^eval_", "", evaluations))
  parts
}

curves <- function(models, several) {
  if (several) {
    models <- Map(function(table, name) {
      table$series <- rep_len(paste0(name, ": ", table$series), nrow(table))
      table
    }, models, names(models))
  }
  all <- do.call(rbind, unname(models))
  tags <- unique(all$tag)
  is_evaluated <- tags %in% c("loss", "average_loss", all$tag[!grepl("training$", all$series)])
  names <- unique(all$series)
  colors <- stats::setNames(rep_len(line_colors, length(names)), names)
  charts <- lapply(tags[order(!is_evaluated)], function(tag) chart(all[all$tag == tag, ], tag, colors))
  if (length(charts) == 0) return(section("Scalars", paragraph("No event files.")))
  words <- paste(
    "Drag to zoom in, double-click to zoom out. The number in the corner is the number of points in",
    "a moving average."
  )
  section("Scalars", paragraph(words), charts)
}

line_colors <- c(
  "#1b9e77", "#d95f02", "#4f9be8", "#e7298a", "#66a61e", "#a97bf0", "#c99700", "#8c8c8c"
)

# `colors` has a color for each series, which is the same in all charts.
chart <- function(series, tag, colors) {
  series <- series[is.finite(series$value), ]
  steps <- sort(unique(series$step))
  names <- unique(series$series)
  columns <- lapply(names, function(name) {
    own <- series[series$series == name, ]
    own$value[match(steps, rev(own$step), nomatch = NA) * -1 + nrow(own) + 1]
  })
  data <- data.frame(step = steps, columns)
  # dygraphs renders labels as HTML
  names(data) <- c("step", htmltools::htmlEscape(names))
  spans <- length(series$value) > 0 && all(series$value > 0) &&
    max(series$value) / min(series$value) > 100
  widget <- dygraphs::dygraph(data, xlab = "step", height = 240, width = "100%")
  widget <- dygraphs::dyOptions(
    widget, connectSeparatedPoints = TRUE, colors = unname(colors[names]), logscale = spans,
    drawPoints = length(steps) < 30, pointSize = 2, strokeWidth = 1.5
  )
  if (length(steps) > 1000) widget$x$plotter <- "thinned"
  widget <- dygraphs::dyLegend(widget, show = "always", hideOnMouseOut = FALSE)
  widget <- dygraphs::dyRoller(dygraphs::dyRangeSelector(widget, height = 20), rollPeriod = 1)
  box <- htmltools::tags$label(
    htmltools::tags$input(type = "checkbox", checked = if (spans) NA, onchange = "logscale(this)"),
    "logarithmic"
  )
  chart_box(tag, box, widget)
}

# --- histograms: the distribution of a tensor's values in each step with a summary

# TensorBoard's quantiles: extremes, median, and 0.5, 1 and 1.5 standard deviations of a normal.
shown_shares <- c(0, stats::pnorm(c(-1.5, -1, -0.5, 0, 0.5, 1, 1.5)), 1)

most_histograms <- 60L

histograms <- function(events) {
  tables <- Map(function(part, name) {
    table <- histogram_shares(part$histograms)
    if (name != "training") table$tag <- sprintf("%s (%s)", table$tag, name)
    table
  }, events, names(events))
  all <- do.call(rbind, unname(tables))
  tags <- unique(all$tag)
  if (length(tags) == 0) return(NULL)
  charts <- lapply(utils::head(tags, most_histograms), function(tag) {
    histogram_chart(all[all$tag == tag, ], tag)
  })
  words <- paste(
    "The line is the median. The bands contain half, two thirds, nine tenths and all of the values."
  )
  rest <- if (length(tags) > most_histograms) {
    paragraph(sprintf("%d more are not shown.", length(tags) - most_histograms))
  }
  section("Histograms", paragraph(words), charts, rest)
}

histogram_shares <- function(read) {
  shares <- vapply(seq_along(read$step), function(i) {
    shares_of(read$limits[[i]], read$counts[[i]], read$min[[i]], read$max[[i]])
  }, numeric(length(shown_shares)))
  table <- data.frame(tag = read$tag, step = read$step)
  table$shares <- t(matrix(shares, nrow = length(shown_shares)))
  table
}

# Quantiles of a histogram, with linear interpolation within buckets. Skips empty buckets.
shares_of <- function(limits, counts, lowest, highest) {
  total <- sum(counts)
  if (total == 0 || !is.finite(lowest) || !is.finite(highest)) return(rep(NA_real_, length(shown_shares)))
  ends <- pmax(pmin(c(lowest, limits), highest), lowest)
  wanted <- shown_shares * total
  below <- c(0, cumsum(counts))
  # the bucket of each quantile, which must not be empty
  at <- pmin(findInterval(wanted, below, left.open = TRUE), length(counts))
  at <- pmax(at, match(TRUE, counts > 0))
  shares <- ends[at] + (wanted - below[at]) / counts[at] * (ends[at + 1] - ends[at])
  replace(shares, c(1, length(shares)), c(lowest, highest))
}

histogram_chart <- function(table, tag) {
  table <- table[!duplicated(table$step, fromLast = TRUE), ]
  table <- table[order(table$step), ]
  n <- length(shown_shares)
  middle <- (n + 1) / 2
  bands <- seq_len(middle - 1)
  triples <- lapply(bands, function(i) c(i, middle, n + 1 - i))
  data <- data.frame(table$step, table$shares[, unlist(triples), drop = FALSE])
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
