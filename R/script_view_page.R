# The tables, the graph and the HTML of the pages that view_run() and view_runs() write. All text
# from a run is escaped.

run_page <- function(folder, runs, refresh = NULL) {
  check_page_packages(rlang::caller_env())
  last <- utils::tail(runs, 1)
  is_running <- last$why == "running"
  events <- folder_events(folder, histograms = TRUE)
  html_page(
    title = run_title(last, folder),
    refresh = if (is_running) refresh,
    section("", lapply(
      c(describe_best(last), describe_run(last), paste0("Folder: ", folder)), paragraph
    )),
    section("Hyperparameters", html_table(field_table(run_settings(last)))),
    metric_charts(list(event_series(events))),
    histogram_charts(events),
    section("Runs", html_table(formatted_runs(runs)), lapply(seq_len(nrow(runs)), function(i) {
      run_details(i, runs[i, ])
    })),
    section("Evaluations", html_table(last_evaluations(runs))),
    section("Checkpoints", html_table(checkpoint_table(folder))),
    section("Time of a step by operation", html_table(timeline_table(folder))),
    graph_section(folder)
  )
}

runs_page <- function(dir, folders) {
  check_page_packages(rlang::caller_env())
  runs <- lapply(folders, run_history)
  last <- lapply(runs, function(table) utils::tail(table, 1))
  series <- lapply(folders, function(folder) event_series(folder_events(folder)))
  html_page(
    title = paste("Models in", basename(dir)), refresh = NULL,
    section("", html_table(compare_runs(last)), paragraph(paste0("Folder: ", dir))),
    section("What differs", html_table(differing_fields(last))),
    metric_charts(series)
  )
}

run_title <- function(run, folder) {
  title <- run$arguments[[1]]$model
  if (is_string(title)) title else basename(folder)
}

# Describes a run in two sentences: one about the run, and one about its end.
describe_run <- function(run) {
  rate <- if (is.na(run$rows_per_sec)) {
    ""
  } else {
    sprintf(", at %s rows per second", format_number(run$rows_per_sec))
  }
  steps <- paste(format_number(run$steps), if (run$steps %in% 1) "step" else "steps")
  progress <- if (run$why == "running" || is.na(run$steps)) {
    sprintf("Run %d began at %s.", run$run, format(run$began, "%Y-%m-%d %H:%M:%S"))
  } else {
    sprintf("Run %d made %s in %s%s.", run$run, steps, short_time(run$seconds), rate)
  }
  reason <- sub("[.]?$", "", run$reason)
  why <- sub("^stopped by ", "it was stopped by ", describe_end(run$why, reason))
  end <- switch(run$why,
    running = "It is running.",
    early_stopping = sprintf("It stopped early, %s.", reason),
    killed = "The process ended before the run was complete.",
    error = sprintf("It ended with an error: %s.", reason),
    sprintf("It ended because %s.", why)
  )
  paste(progress, end)
}

describe_best <- function(run) {
  best <- best_validation(run)
  if (is.null(best)) return(NULL)
  sprintf(
    "Best %s of the validation: %s, at step %s.", metric_in_text(best$metric),
    format_number(best$value), format_number(best$step)
  )
}

metric_in_text <- function(metric) gsub("_", " ", metric, fixed = TRUE)

# Returns the best validation of a run, by the metric of early stopping or else by the loss.
best_validation <- function(run) {
  values <- run$evaluations[[1]]
  values <- values[values$data == validation_name & is.finite(values$value), ]
  stop <- run$arguments[[1]]$stop
  metrics <- intersect(c(stop$metric_name, "average_loss", "loss"), values$metric)
  if (length(metrics) == 0) return(NULL)
  values <- values[values$metric == metrics[[1]], ]
  is_max <- identical(stop$mode, "max") && identical(stop$metric_name, metrics[[1]])
  values[if (is_max) which.max(values$value) else which.min(values$value), ]
}

# Returns the settings of the model and the input that matter most to a reader.
run_settings <- function(run) {
  arguments <- run$arguments[[1]]
  input_names <- c("rows", "batch_size", "num_epochs", "steps", "max_steps")
  input <- arguments[intersect(input_names, names(arguments))]
  stop <- arguments$stop
  stop_text <- if (!is.null(stop)) {
    sprintf("%s, patience of %s steps", stop$metric_name, format_number(stop$patience))
  }
  c(
    arguments$hyperparameters, input, if (!is.null(stop_text)) list(early_stopping = stop_text),
    if (!is.na(run$seed)) list(seed = run$seed)
  )
}

# Creates the table of view_runs(), with one row for each model. `last_runs`: the last run of each
# model.
compare_runs <- function(last_runs) {
  best <- lapply(last_runs, best_validation)
  has_best <- lengths(best) > 0
  metric <- unique(vapply(best[has_best], `[[`, "", "metric"))
  table <- data.frame(
    model = names(last_runs), kind = unname(vapply(last_runs, run_title, "", folder = ""))
  )
  if (length(metric) == 1) {
    field_of_best <- function(field) {
      vapply(best, function(one) if (is.null(one)) "" else format_number(one[[field]]), "")
    }
    table[[paste("best", metric_in_text(metric))]] <- field_of_best("value")
    table[["at step"]] <- field_of_best("step")
  }
  texts <- do.call(rbind, lapply(last_runs, formatted_runs))
  cbind(table, texts[c("steps", "seconds", "ended")])
}

# Formats each number separately, so that small numbers get more decimals.
format_number <- function(x) {
  format_one <- function(x) format(signif(x, 5), big.mark = ",", scientific = FALSE)
  vapply(x, function(x) if (is.na(x)) "?" else format_one(x), "")
}

formatted_runs <- function(runs) {
  data.frame(
    run = runs$run, began = format(runs$began, "%Y-%m-%d %H:%M:%S"),
    seconds = format_number(runs$seconds),
    steps = paste(format_number(runs$from_step), "to", format_number(runs$to_step)),
    "rows/s" = format_number(runs$rows_per_sec), waited = format_number(runs$waited),
    ended = paste0(runs$why, ": ", mapply(describe_end, runs$why, runs$reason)), check.names = FALSE
  )
}

run_details <- function(number, run) {
  fields <- c(
    list(hooks = run$hooks[[1]], seed = run$seed, version = run$version, host = run$host),
    run$arguments[[1]], run$config[[1]]
  )
  log <- run$log[[1]]
  log_text <- if (length(log)) htmltools::tags$pre(paste(log, collapse = "\n"))
  details(paste("Run", number), html_table(field_table(fields)), log_text)
}

field_table <- function(fields) {
  data.frame(field = names(fields), value = vapply(fields, field_text, ""))
}

field_text <- function(value) {
  if (is.list(value)) value <- paste(names(value), vapply(value, field_text, ""), sep = " = ")
  if (is.numeric(value)) value <- format(value, scientific = FALSE, trim = TRUE, digits = 7)
  toString(value, width = 500)
}

last_evaluations <- function(runs) {
  all <- do.call(rbind, runs$evaluations)
  if (NROW(all) == 0) return(NULL)
  last <- all[!duplicated(all[c("data", "metric")], fromLast = TRUE), ]
  data.frame(
    data = last$data, metric = last$metric, step = format_number(last$step),
    value = format_number(last$value)
  )
}

checkpoint_table <- function(folder) {
  best_folder <- file.path(folder, "best")
  saved <- saved_steps(folder)
  best <- if (dir.exists(best_folder)) saved_steps(best_folder) else numeric()
  steps <- sort(union(saved, best))
  if (length(steps) == 0) return(NULL)
  size <- function(step) {
    step_folder <- if (step %in% saved) folder else best_folder
    files <- list.files(step_folder, sprintf("^model[.]ckpt-%.0f[.]", step), full.names = TRUE)
    sum(file.size(files))
  }
  newest <- if (length(saved)) max(saved)
  marks <- function(step) toString(c(if (step %in% newest) "newest", if (step %in% best) "best"))
  data.frame(
    step = format_number(steps), MB = format_number(vapply(steps, size, 0) / 1e6),
    what = vapply(steps, marks, "")
  )
}

differing_fields <- function(last_runs) {
  fields <- lapply(last_runs, function(run) {
    arguments <- run$arguments[[1]]
    is_model <- names(arguments) == "hyperparameters"
    c(
      arguments$hyperparameters, arguments[!is_model], run$config[[1]],
      list(hooks = run$hooks[[1]], seed = run$seed)
    )
  })
  names <- unique(unlist(lapply(fields, names)))
  text <- vapply(fields, function(model_fields) {
    vapply(names, function(name) {
      if (is.null(model_fields[[name]])) "" else field_text(model_fields[[name]])
    }, "")
  }, character(length(names)))
  text <- matrix(text, nrow = length(names), dimnames = list(names, names(last_runs)))
  differs <- apply(text, 1, function(row) any(row != row[[1]]))
  if (!any(differs)) return(NULL)
  data.frame(field = names[differs], text[differs, , drop = FALSE], check.names = FALSE)
}

# --- time and graph

# Returns the microseconds of a step by type of operation, from the timelines of hook_profiler().
# Uses the median over steps, because the first step also computes constants.
timeline_table <- function(folder) {
  if (!requireNamespace("jsonlite", quietly = TRUE)) return(NULL)
  folders <- c(folder, file.path(folder, "logs"))
  files <- list.files(folders, "^timeline-[0-9]+[.]json$", full.names = TRUE)
  if (length(files) == 0) return(NULL)
  events <- lapply(utils::tail(files, 20), function(file) {
    trace <- jsonlite::read_json(file)$traceEvents
    spans <- Filter(function(event) identical(event$ph, "X"), trace)
    data.frame(
      op = vapply(spans, function(event) as.character(event$name), ""),
      time = vapply(spans, function(event) as.numeric(event$dur), 0)
    )
  })
  all <- do.call(rbind, Map(cbind, events, file = seq_along(events)))
  if (NROW(all) == 0) return(NULL)
  sums <- tapply(all$time, all[c("op", "file")], sum, default = 0)
  total <- sort(apply(sums, 1, stats::median), decreasing = TRUE)
  longest <- utils::head(total[total > 0], 25)
  data.frame(
    operation = names(longest), "microseconds a step" = format_number(as.vector(longest)),
    share = sprintf("%.1f%%", 100 * longest / sum(total)), check.names = FALSE
  )
}

graph_section <- function(folder) {
  tree <- graph_tree(folder)
  if (is.null(tree)) return(NULL)
  section("Graph", details("Operations by name scope", tree))
}

graph_tree <- function(folder) {
  path <- file.path(folder, "graph.pbtxt")
  if (!file.exists(path)) return(NULL)
  lines <- strsplit(rawToChar(cpp_read_file(path)), "\n", fixed = TRUE)[[1]]
  field <- function(name) {
    pattern <- paste0("^  ", name, ": \"(.*)\"$")
    sub(pattern, "\\1", grep(pattern, lines, value = TRUE))
  }
  names <- field("name")
  types <- field("op")
  if (length(names) == 0 || length(names) != length(types)) return(NULL)
  htmltools::HTML(graph_scope_html(strsplit(names, "/", fixed = TRUE), types))
}

# Creates HTML of operations by name scope. `paths`: the names of the operations, split at "/".
graph_scope_html <- function(paths, types) {
  first_names <- vapply(paths, `[[`, "", 1L)
  is_leaf <- lengths(paths) == 1
  parts <- lapply(unique(first_names), function(first_name) {
    is_in_scope <- first_names == first_name
    is_operation <- is_in_scope & is_leaf
    is_nested <- is_in_scope & !is_leaf
    name <- htmltools::htmlEscape(first_name)
    leaves <- sprintf("<div>%s <i>%s</i></div>", name, htmltools::htmlEscape(types[is_operation]))
    scopes <- if (any(is_nested)) {
      nested_html <- graph_scope_html(lapply(paths[is_nested], `[`, -1), types[is_nested])
      sprintf("<details><summary>%s (%d)</summary>%s</details>", name, sum(is_nested), nested_html)
    }
    c(leaves[any(is_operation)], scopes)
  })
  paste(unlist(parts), collapse = "\n")
}

# --- HTML

section <- function(title, ...) {
  content <- list(...)
  if (all(lengths(content) == 0)) return(NULL)
  htmltools::tags$section(if (nzchar(title)) htmltools::tags$h2(title), content)
}

paragraph <- function(text) htmltools::tags$p(text)

details <- function(title, ...) htmltools::tags$details(htmltools::tags$summary(title), ...)

html_table <- function(data) {
  if (NROW(data) == 0) return(NULL)
  cells <- lapply(data, function(column) htmltools::htmlEscape(as.character(column)))
  rows <- do.call(paste, c(unname(cells), sep = "</td><td>"))
  head <- paste(htmltools::htmlEscape(names(data)), collapse = "</th><th>")
  htmltools::HTML(paste0(
    "<div class=\"wide\"><table><tr><th>", head, "</th></tr>\n",
    paste0("<tr><td>", rows, "</td></tr>", collapse = "\n"), "</table></div>"
  ))
}

page_style <- "
:root { color-scheme: light dark; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 0 auto; max-width: 1100px; padding: 0 12px; }
h3 { font-size: 1em; margin: 1em 0 0; overflow-wrap: anywhere; }
.chart { margin-bottom: 1.5em; } .chart label { font-size: 0.8em; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.9em; }
td, th { border-bottom: 1px solid #8884; padding: 3px 10px 3px 0; text-align: left; vertical-align: top; }
details { margin-left: 1em; } summary { cursor: pointer; } section details > div { margin-left: 1.2em; }
.dygraph-legend { background: Canvas !important; color: CanvasText; font-size: 0.8em !important;
  left: auto !important; right: 0; }
.dygraph-axis-label { color: CanvasText; } .dygraph-label { color: CanvasText; }
"

page_script <- "
function logscale(box) {
  var widget = box.closest('.chart').querySelector('.dygraphs');
  HTMLWidgets.find('#' + widget.id).dygraph.updateOptions({ logscale: box.checked });
}
// Drawing a path of many points is slow. Draws only the first, lowest, highest and last point of each
// pixel column, which looks the same.
if (window.Dygraph) Dygraph.Plotters.thinned = function (e) {
  var shown = [], column = [], at = NaN;
  function flush() {
    if (column.length <= 4) return column.forEach(function (point) { shown.push(point); });
    var low = 0, high = 0;
    column.forEach(function (point, i) {
      if (point.canvasy < column[low].canvasy) low = i;
      if (point.canvasy > column[high].canvasy) high = i;
    });
    [0, Math.min(low, high), Math.max(low, high), column.length - 1].forEach(function (i) {
      shown.push(column[i]);
    });
  }
  e.points.forEach(function (point) {
    if (point.yval === null || isNaN(point.yval)) return;
    if (Math.floor(point.canvasx) !== at) { flush(); column = []; at = Math.floor(point.canvasx); }
    column.push(point);
  });
  flush();
  var part = {};
  for (var name in e) part[name] = e[name];
  part.points = shown;
  Dygraph.Plotters.linePlotter(part);
};
"

html_page <- function(title, refresh, ...) {
  body <- htmltools::tagList(htmltools::tags$h1(title), ...)
  rendered <- htmltools::renderTags(body)
  needed <- htmltools::resolveDependencies(rendered$dependencies)
  paste0(
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    if (!is.null(refresh)) sprintf("<meta http-equiv=\"refresh\" content=\"%.0f\">\n", max(refresh, 1)),
    "<title>", htmltools::htmlEscape(title), "</title>\n",
    paste(vapply(needed, inline_dependency, ""), collapse = "\n"),
    "<style>", page_style, "</style><script>", page_script, "</script>\n",
    "</head><body>\n", rendered$html, "\n</body></html>\n"
  )
}

inline_dependency <- function(dependency) {
  root <- dependency$src$file
  if (!is.null(dependency$package)) root <- system.file(root, package = dependency$package)
  read <- function(file) {
    text <- rawToChar(cpp_read_file(file.path(root, file)))
    Encoding(text) <- "UTF-8"
    # browsers end a script at this tag, even inside a string
    gsub("</script", "<\\\\/script", text, fixed = TRUE)
  }
  scripts <- vapply(dependency$script, function(file) paste0("<script>", read(file), "</script>"), "")
  styles <- vapply(
    dependency$stylesheet, function(file) paste0("<style>", read(file), "</style>"), ""
  )
  paste(c(styles, scripts), collapse = "\n")
}

write_page <- function(page, path) cpp_write_file(path, charToRaw(enc2utf8(page)))
