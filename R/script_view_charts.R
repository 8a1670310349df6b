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
  evaluations <- sort_bytewise(grep("^eval(_|$)", folders, value = TRUE))
  parts <- c(list(training = folder), stats::setNames(file.path(folder, evaluations), evaluations))
  names(parts)[-1] <- ifelse(evaluations == "eval", "evaluation", sub("^eval_", "", evaluations))
  parts
}

# Charts of the metrics by which models are judged, and, folded, those of all other numbers that
# change. With several models, the color is the model and the dashes are its evaluations.
curves <- function(models) {
  several <- length(models) > 1
  models <- Map(function(table, i) cbind(table, model = rep_len(i, nrow(table))), models, seq_along(models))
  if (several) {
    models <- Map(function(table, name) {
      table$series <- rep_len(paste0(name, ": ", table$series), nrow(table))
      table
    }, models, names(models))
  }
  all <- do.call(rbind, unname(models))
  all <- all[is.finite(all$value), ]
  styles <- series_styles(unique(all[c("series", "model")]), several)
  tags <- Filter(function(tag) !is_constant(all$value[all$tag == tag]), unique(all$tag))
  if (length(tags) == 0) return(section("Metrics", paragraph("There are no event files.")))
  main <- primary_tags(tags, all)
  charts_of <- function(tags) {
    lapply(tags, function(tag) chart(all[all$tag == tag, ], tag, styles))
  }
  rest <- setdiff(tags, main)
  words <- paste(
    if (several) "Each model has a color; its evaluations are dashed.",
    "Drag to zoom in, double-click to zoom out."
  )
  section(
    "Metrics", paragraph(words), charts_of(main),
    if (length(rest)) collapsible_charts(sprintf("%d more curves", length(rest)), charts_of(rest))
  )
}

# Charts that were drawn while hidden have no size until the window is resized.
collapsible_charts <- function(title, ...) {
  htmltools::tags$details(
    ontoggle = "window.dispatchEvent(new Event('resize'))", htmltools::tags$summary(title), ...
  )
}

is_constant <- function(values) length(values) > 1 && all(values == values[[1]])

# Average losses, or losses without them, and the metrics of evaluations that measure the quality.
primary_tags <- function(tags, all) {
  averages <- grep("^average_loss(/|$)", tags, value = TRUE)
  losses <- if (length(averages)) averages else grep("^loss(/|$)", tags, value = TRUE)
  is_training <- grepl("(^|: )training$", all$series)
  evaluated <- intersect(tags, all$tag[!is_training])
  about_data <- "^(loss|label/mean|prediction/mean|accuracy_baseline|learning_rate)(/|$)"
  main <- unique(c(losses, grep(about_data, evaluated, value = TRUE, invert = TRUE)))
  if (length(main)) main else tags
}

line_colors <- c(
  "#1b9e77", "#d95f02", "#4f9be8", "#e7298a", "#66a61e", "#a97bf0", "#c99700", "#8c8c8c"
)

# The color and the dashes of each series, which are the same in all charts.
series_styles <- function(series, several) {
  order <- if (several) series$model else seq_len(nrow(series))
  is_training <- grepl("(^|: )training$", series$series)
  is_validation <- grepl(paste0("(^|: )", validation_name, "$"), series$series)
  data.frame(
    color = line_colors[(order - 1) %% length(line_colors) + 1],
    dash = ifelse(!several | is_training, "solid", ifelse(is_validation, "dashed", "dotted")),
    row.names = series$series
  )
}

chart <- function(series, tag, styles) {
  steps <- sort(unique(series$step))
  names <- unique(series$series)
  columns <- lapply(names, function(name) {
    own <- series[series$series == name, ]
    own$value[match(steps, rev(own$step), nomatch = NA) * -1 + nrow(own) + 1]
  })
  data <- data.frame(step = steps, columns)
  # dygraphs renders labels as HTML
  labels <- htmltools::htmlEscape(names)
  names(data) <- c("step", labels)
  spans <- all(series$value > 0) && max(series$value) / min(series$value) > 100
  widget <- dygraphs::dygraph(data, xlab = "step", height = 240, width = "100%")
  widget <- dygraphs::dyOptions(
    widget, connectSeparatedPoints = TRUE, colors = styles[names, "color"], logscale = spans,
    drawPoints = length(steps) < 30, pointSize = 2, strokeWidth = 1.5
  )
  # each series, because dySeries() puts its series behind the others
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
    htmltools::tags$input(type = "checkbox", checked = if (spans) NA, onchange = "logscale(this)"),
    "logarithmic"
  )
  chart_box(tag, box, widget)
}

# --- histograms: the distribution of a tensor's values in each step with a summary

# TensorBoard's quantiles: extremes, median, and 0.5, 1 and 1.5 standard deviations of a normal.
histogram_probs <- c(0, stats::pnorm(c(-1.5, -1, -0.5, 0, 0.5, 1, 1.5)), 1)

max_histograms <- 60L

histograms <- function(events) {
  tables <- Map(function(part, name) {
    table <- histogram_quantiles(part$histograms)
    if (name != "training") table$tag <- sprintf("%s (%s)", table$tag, name)
    table
  }, events, names(events))
  all <- do.call(rbind, unname(tables))
  tags <- unique(all$tag)
  if (length(tags) == 0) return(NULL)
  charts <- lapply(utils::head(tags, max_histograms), function(tag) {
    histogram_chart(all[all$tag == tag, ], tag)
  })
  words <- paste(
    "The line is the median. The bands contain half, two thirds, nine tenths and all of the values."
  )
  rest <- if (length(tags) > max_histograms) {
    paragraph(sprintf("%d more are not shown.", length(tags) - max_histograms))
  }
  count <- sprintf("%d distribution%s by step", length(charts), if (length(charts) == 1) "" else "s")
  section("Histograms", collapsible_charts(count, paragraph(words), charts, rest))
}

histogram_quantiles <- function(read) {
  shares <- vapply(seq_along(read$step), function(i) {
    quantiles_of_histogram(read$limits[[i]], read$counts[[i]], read$min[[i]], read$max[[i]])
  }, numeric(length(histogram_probs)))
  table <- data.frame(tag = read$tag, step = read$step)
  table$shares <- t(matrix(shares, nrow = length(histogram_probs)))
  table
}

# Quantiles of a histogram, with linear interpolation within buckets. Skips empty buckets.
quantiles_of_histogram <- function(limits, counts, lowest, highest) {
  total <- sum(counts)
  if (total == 0 || !is.finite(lowest) || !is.finite(highest)) return(rep(NA_real_, length(histogram_probs)))
  ends <- pmax(pmin(c(lowest, limits), highest), lowest)
  wanted <- histogram_probs * total
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
  n <- length(histogram_probs)
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
