skip_if_not_installed("dygraphs")

# Returns the lines of a page without its embedded libraries.
page_of <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  lines <- lines[nchar(lines, "bytes") < 20000]
  head <- grep("http-equiv|<title>", lines)
  body <- grep("^</head><body>", lines)
  paste(lines[c(head, body:length(lines))], collapse = "\n")
}

charts_of <- function(page) {
  lines <- strsplit(page, "\n", fixed = TRUE)[[1]]
  json <- grep("<script type=\"application/json\" data-for=", lines, value = TRUE)
  widgets <- lapply(json, function(text) {
    text <- sub("</script>.*$", "", sub("^.*?<script[^>]*>", "", text))
    jsonlite::fromJSON(text, simplifyVector = FALSE)$x
  })
  titles <- grep("<h3>", lines, value = TRUE)
  stats::setNames(widgets, sub("</h3>.*", "", sub("^.*<h3>", "", titles)))
}

run_to_see <- function(folder, rate = 0.1, hooks = NULL, steps = 40) {
  model <- dnn_regressor(
    mpg ~ wt + hp, mtcars, hidden_units = 4, model_dir = folder, learning_rate = rate,
    config = run_config(tf_random_seed = 1, save_summary_steps = 10, save_checkpoints_steps = 20)
  )
  suppressMessages(train(
    model, mtcars[1:24, ], validation = mtcars[25:32, ], steps = steps, hooks = hooks
  ))
  model
}

test_that("the page of a run has curves, runs, checkpoints, times and graph", {
  folder <- withr::local_tempdir()
  model <- run_to_see(folder, hooks = hook_profiler(save_steps = 20, output_dir = folder))
  path <- view_run(model, open = FALSE)
  expect_equal(path, file.path(model_dir(model), "run.html"))
  page <- page_of(path)
  charts <- charts_of(page)
  events <- read_events(folder)
  changes <- tapply(events$value, events$tag, function(x) length(unique(x)) > 1)
  expect_true(all(names(which(changes)) %in% names(charts)))
  # the chart of the average loss is first, and constant metrics have no chart
  expect_equal(names(charts)[[1]], "average_loss")
  expect_false("label/mean" %in% names(charts))
  expect_match(page, "<h1>Deep regressor: mpg ~ wt + hp</h1>", fixed = TRUE)
  expect_match(page, "Best average loss of the validation: [0-9.,]+, at step [0-9]+[.]")
  expect_match(page, "Run 1 made 40 steps in .* It ended because 40 steps were requested[.]")
  expect_match(page, "<td>hidden_units</td><td>4</td>")
  expect_match(page, "<td>optimizer</td><td>Adam")
  # the charts have no box to set a moving average
  expect_null(charts[[1]]$attrs$showRoller)
  loss <- charts[["average_loss"]]
  expect_equal(unlist(loss$attrs$labels), c("step", "training", "validation"))
  shown <- vapply(loss$data[[2]], function(x) if (is.null(x)) NA_real_ else as.numeric(x), 0)
  own <- events$value[events$tag == "average_loss"]
  expect_equal(shown[!is.na(shown)], own, tolerance = 1e-6)
  for (word in c("Checkpoints", "newest", "InMemoryEvaluatorHook", "learning_rate|rows", "MatMul",
                 "<details><summary>dnn", "ended|steps")) {
    expect_match(page, word)
  }
  # The page loads no external resources.
  expect_no_match(page, "(src|href)=\"?(https?:)?//")
  expect_no_match(page, "http-equiv=\"refresh\"")
})

table_of <- function(page, title) {
  pattern <- sprintf("(?s)%s</(h2|summary)>.*?<table>(.*?)</table>", title)
  found <- regmatches(page, regexec(pattern, page, perl = TRUE))[[1]]
  expect_length(found, 3)
  rows <- strsplit(found[[3]], "</tr>", fixed = TRUE)[[1]]
  cells <- lapply(rows, function(row) {
    parts <- regmatches(row, gregexpr("(?s)(?<=<td>|<th>).*?(?=</t[dh]>)", row, perl = TRUE))[[1]]
    gsub("&gt;", ">", parts, fixed = TRUE)
  })
  cells <- cells[lengths(cells) > 0]
  table <- as.data.frame(do.call(rbind, cells[-1]))
  stats::setNames(table, cells[[1]])
}

test_that("the page shows configuration, wait for input, and the best checkpoint", {
  folder <- withr::local_tempdir()
  model <- dnn_regressor(
    mpg ~ wt + hp, mtcars, hidden_units = 4, model_dir = folder, learning_rate = 0.1,
    config = run_config(
      tf_random_seed = 7, save_summary_steps = 11, save_checkpoints_steps = 20, keep_checkpoint_max = 9
    )
  )
  suppressMessages(train(
    model, mtcars[1:24, ], validation = mtcars[25:32, ], steps = 200,
    stop = early_stopping("average_loss", patience = 1000)
  ))
  page <- page_of(view_run(folder, open = FALSE))
  fields <- table_of(page, "Run 1")
  value_of <- function(name) fields$value[fields$field == name]
  expect_identical(value_of("seed"), "7")
  expect_identical(value_of("save_summary_steps"), "11")
  expect_identical(value_of("save_checkpoints_steps"), "20")
  expect_identical(value_of("keep_checkpoint_max"), "9")
  expect_identical(value_of("steps"), "200")
  expect_identical(value_of("features"), "hp, wt")
  runs <- table_of(page, "Runs")
  history <- run_history(folder)
  expect_gt(history$waited, 0)
  expect_identical(runs$waited, format_number(history$waited))
  expect_identical(runs[["rows/s"]], format_number(history$rows_per_sec))
  checkpoints <- table_of(page, "Checkpoints")
  # The model has the weights of the best step, which a separate folder stores.
  values <- history$evaluations[[1]]
  values <- values[values$metric == "average_loss", ]
  best <- values$step[[which.min(values$value)]]
  kept <- saved_steps(folder)
  expect_identical(checkpoints$step, format_number(sort(union(kept, best))))
  is_best <- checkpoints$step == format_number(best)
  expect_identical(grepl("best", checkpoints$what), is_best)
  expect_identical(grepl("newest", checkpoints$what), checkpoints$step == format_number(max(kept)))
  expect_true(all(as.numeric(checkpoints$MB) > 0))
  # A series has the same colour in all charts, even if others are missing.
  evaluate(model, mtcars)
  page <- page_of(view_run(folder, open = FALSE))
  expect_true("evaluation" %in% table_of(page, "Evaluations")$data)
  charts <- charts_of(page)
  color_of <- function(chart, series) {
    unlist(chart$attrs$colors)[match(series, unlist(chart$attrs$labels)[-1])]
  }
  for (series in c("evaluation", "validation")) {
    colors <- vapply(charts[c("average_loss", "prediction/mean")], color_of, "", series)
    expect_identical(colors[[1]], colors[[2]])
  }
})

test_that("each event file is read once per page", {
  folder <- withr::local_tempdir()
  model <- run_to_see(folder)
  evaluate(model, mtcars, name = "more")
  read <- character()
  package <- asNamespace("runhooks")
  note <- function(paths) read <<- c(read, paths)
  suppressMessages(trace(
    "cpp_read_events", tracer = as.call(list(note, quote(paths))), print = FALSE, where = package
  ))
  withr::defer(suppressMessages(untrace("cpp_read_events", where = package)))
  page <- page_of(view_run(folder, open = FALSE))
  expect_match(page, "Histograms")
  expect_gt(length(read), 1)
  expect_identical(anyDuplicated(read), 0L)
})

test_that("names of a run are escaped on its page", {
  name <- "<script>alert(1)</script>"
  folder <- file.path(withr::local_tempdir(), gsub("/", "", name, fixed = TRUE))
  model <- run_to_see(folder)
  evaluate(model, mtcars, name = "<b>x")
  page <- page_of(view_run(folder, open = FALSE))
  expect_no_match(page, "<script>alert", fixed = TRUE)
  expect_match(page, "&lt;script&gt;alert", fixed = TRUE)
  labels <- unlist(charts_of(page)[["loss"]]$attrs$labels)
  expect_true("&lt;b&gt;x" %in% labels)
})

test_that("the time of a step excludes work of the first step only", {
  folder <- withr::local_tempdir()
  write_timeline <- function(step, ...) {
    events <- Map(function(name, dur) list(ph = "X", name = name, dur = dur), c(...), c(50, 7, 3)[seq_along(c(...))])
    text <- jsonlite::toJSON(list(traceEvents = unname(events)), auto_unbox = TRUE)
    writeLines(text, file.path(folder, sprintf("timeline-%d.json", step)))
  }
  write_timeline(1, "Const", "MatMul", "Add")
  for (step in 2:3) write_timeline(step, "MatMul", "Add", "Add")
  table <- timeline_table(folder)
  expect_equal(table$operation, c("MatMul", "Add"))
  expect_equal(table[["microseconds a step"]], c("50", "10"))
})

test_that("quantiles of a histogram match its values", {
  # the quantiles of about -2, 0.5, 0.5, 3 and 10
  limits <- c(-2, 0.5, 0.6, 2.9, 3.2, 9, 11)
  quantiles <- quantiles_of_histogram(limits, c(0, 1, 2, 0, 1, 0, 1), -2, 10)
  expect_equal(quantiles[c(1, length(quantiles))], c(-2, 10))
  expect_false(is.unsorted(quantiles))
  expect_true(quantiles[[5]] >= 0.5 && quantiles[[5]] <= 0.6)
  even <- quantiles_of_histogram(1:100, rep(1, 100), 0, 100)
  expect_equal(even, 100 * histogram_probs)
  expect_true(all(is.na(quantiles_of_histogram(1, 0, 0, 1))))
})

test_that("several runs are shown side by side with their differences", {
  dir <- withr::local_tempdir()
  run_to_see(file.path(dir, "slow"), rate = 0.01)
  run_to_see(file.path(dir, "fast"), steps = 60)
  dir.create(file.path(dir, "other"))
  page <- page_of(view_runs(dir, file = file.path(dir, "both.html"), open = FALSE))
  chart <- charts_of(page)[["average_loss"]]$attrs
  labels <- unlist(chart$labels)[-1]
  expect_equal(
    labels, c("fast: training", "fast: validation", "slow: training", "slow: validation")
  )
  colors <- unlist(chart$colors)
  expect_equal(colors[[1]], colors[[2]])
  expect_equal(colors[[3]], colors[[4]])
  expect_false(colors[[1]] == colors[[3]])
  dashed <- lengths(lapply(chart$series[labels], `[[`, "strokePattern")) > 0
  expect_equal(unname(dashed), c(FALSE, TRUE, FALSE, TRUE))
  # the table of the runs comes first
  first <- regmatches(page, regexpr("(?s)<table>.*?</table>", page, perl = TRUE))
  expect_match(first, "best average loss.*fast.*slow")
  expect_lt(regexpr("<table>", page), regexpr("class=\"chart\"", page))
  differs <- regmatches(page, regexpr("(?s)What differs.*?</table>", page, perl = TRUE))
  expect_match(differs, "<td>steps</td><td>60</td><td>40</td>")
  expect_no_match(differs, "batch_size")
})

test_that("a hook writes the page during the run, and again after the run is recorded", {
  folder <- withr::local_tempdir()
  seen <- character()
  watch <- session_run_hook(after_run = function(context, values) {
    path <- file.path(folder, "run.html")
    if (file.exists(path)) seen <<- c(seen, page_of(path))
  })
  run_to_see(folder, hooks = list(hook_view_run(every_n_secs = 1e-6), watch), steps = 5)
  expect_gt(length(seen), 1)
  expect_match(seen[[1]], "http-equiv=\"refresh\"")
  expect_match(seen[[1]], "running")
  last <- page_of(file.path(folder, "run.html"))
  expect_no_match(last, "http-equiv=\"refresh\"")
  expect_match(last, "5 steps were requested")
  stops <- session_run_hook(after_run = function(context, values) stop("enough"))
  expect_error(run_to_see(folder, hooks = list(hook_view_run(1e-6), stops)), "enough")
  expect_match(page_of(file.path(folder, "run.html")), "enough")
  expect_equal(list.files(folder, "run[.]html"), "run.html")
})

test_that("inputs without a page are errors", {
  empty <- withr::local_tempdir()
  expect_error(view_run(empty), "Nothing has been trained", class = "runhooks_error_not_found")
  expect_error(view_run(file.path(empty, "x")), "does not exist", class = "runhooks_error_not_found")
  expect_error(view_runs(empty), "trained model", class = "runhooks_error_not_found")
  expect_error(view_run(5), "folder or a model", class = "runhooks_error_invalid_argument")
  expect_error(hook_view_run(0), "positive", class = "runhooks_error_invalid_argument")
  model <- linear_regressor(mpg ~ wt, mtcars)
  suppressMessages(train(model))
  expect_error(evaluate(model, mtcars, hooks = hook_view_run()), "train", class = "runhooks_error")
})
