# Reports whether input or computation is slow: rows, rates and the time that steps wait for input.

# Records that take long to produce: products of matrices, which a plan cannot fold into constants.
slow_records <- function() {
  range_dataset(0, 10000) %>%
    dataset_map(function(i) {
      x <- tf$random_uniform(c(160L, 160L))
      for (k in 1:6) x <- tf$matmul(x, x) * 0.01
      value <- tf$reshape(tf$reduce_mean(x) * 0 + 1, shape(1))
      list(x = value, y = value)
    }) %>%
    dataset_batch(2)
}

waits_of <- function(data, steps = 12, pause = 0) {
  model <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  slow <- session_run_hook(after_run = function(context, values) Sys.sleep(pause))
  hooks <- list(slow, hook_history_saver(every_n_step = 1))
  train(model, input_fn(data, x, y), steps = steps, hooks = hooks)$input
}

test_that("prefetching hides slow input if the model computes longer than it reads", {
  plain <- waits_of(slow_records())
  each <- plain$waited[[12]] / 12
  expect_gt(each, 0)
  # The pause is long, so that prefetching keeps up on a busy machine.
  without <- waits_of(slow_records(), pause = 4 * each)
  with <- waits_of(dataset_prefetch(slow_records(), 4), pause = 4 * each)
  # The first element cannot be prefetched.
  later <- function(input) input$waited[[12]] - input$waited[[2]]
  expect_lt(later(with), later(without) / 2)
})

test_that("a history contains the rows read and the wait for input", {
  input <- waits_of(slow_records())
  expect_named(input, c("step", "rows", "seconds", "waited", "rows_per_sec"))
  expect_equal(input$step, 1:12)
  expect_equal(input$rows, 2 * 1:12)
  expect_false(is.unsorted(input$waited, strictly = TRUE))
  expect_true(all(input$waited > 0 & input$waited <= input$seconds))
  expect_equal(input$rows_per_sec, input$rows / input$seconds)
  model <- linear_regressor(column_numeric("wt"), model_dir = withr::local_tempdir())
  for (i in 1:2) {
    history <- train(model, input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 9), steps = 10)
    expect_equal(history$input$rows, c(8, 80))
  }
  expect_setequal(as.data.frame(history)$metric, c("average_loss", "loss"))
  plain <- train(model, function() list(list(wt = matrix(1:3)), matrix(c(1, 2, 3))), steps = 1)
  expect_null(plain$input)
})

test_that("a history reports if most of the time was spent waiting", {
  line <- function(waited, seconds) {
    waiting_line(data.frame(seconds = seconds, waited = waited, rows_per_sec = 12345))
  }
  expect_equal(
    line(8, 10),
    paste0(
      "80% of the time went into waiting for input (12.3k rows/s): see ",
      "vignette(\"input-pipelines\").\n"
    )
  )
  expect_equal(line(4, 10), character())
  expect_equal(line(0.9, 0.95), character()) # too short to judge
  expect_equal(waiting_line(NULL), character())
})

test_that("the progress bar shows rows, their rate and the wait share after one second", {
  expect_equal(input_text(100, 0.9, 0.5), "")
  expect_equal(input_text(0, 5, 0), "")
  expect_equal(input_text(5000, 2, 0.1), " - 2500 rows/s")
  expect_equal(
    input_text(1.5e6, 2, 0.7, 3e9), " - 1.5M of 3G rows - 750k rows/s - 35% waiting for input"
  )
  about <- attr(input_fn(mpg ~ wt, mtcars, num_epochs = 3), "about")
  expect_equal(num_total_rows(structure(list(), about = about)), 96)
  expect_null(num_total_rows(input_fn(mpg ~ wt, mtcars, num_epochs = NULL)))
  drawn <- character()
  bar <- progress_bar("train", 10, list(rows = 80))
  local_replaced(shows_progress = function() TRUE, new_progress_line = function() {
    list(show = function(line) drawn <<- c(drawn, line), finish = function() NULL)
  })
  bar <- progress_bar("train", 10, list(rows = 80))
  bar$draw(5, 1.5, 5, FALSE, 40, 2, 1)
  expect_match(drawn, " - loss: 1.50 - 40 of 80 rows - 20 rows/s - 50% waiting for input$")
})

test_that("the step counter logs a line below TensorFlow's, and writes scalars for TensorBoard", {
  before <- tf$logging$get_verbosity()
  withr::defer(tf$logging$set_verbosity(before))
  model <- linear_regressor(
    column_numeric("x"), model_dir = withr::local_tempdir(),
    config = run_config(log_step_count_steps = 4)
  )
  tf$logging$set_verbosity(tf$logging$DEBUG)
  lines <- lines_of_log(train(model, input_fn(slow_records(), x, y), steps = 12))
  at <- grep("global_step/sec: ", lines)
  expect_length(at, 2)
  expect_match(lines[at], "^INFO:tensorflow:global_step/sec: [0-9.e+]+$")
  expect_match(
    lines[at + 1], "^DEBUG:tensorflow:input: [0-9.e+]+ rows/s, 8 rows, waited [0-9]+% of [0-9.]+ s$"
  )
  events <- read_events(model_dir(model))
  rates <- events$value[events$tag == "input/rows_per_sec"]
  shares <- events$value[events$tag == "input/waited"]
  expect_length(rates, 2)
  expect_true(all(rates > 0) && all(shares > 0 & shares <= 1))
  tf$logging$set_verbosity(tf$logging$INFO)
  lines <- lines_of_log(train(model, input_fn(slow_records(), x, y), steps = 12))
  expect_false(any(grepl("input:", lines)))
})

test_that("hooks can query how long steps have waited", {
  waited <- numeric()
  hook <- session_run_hook(after_run = function(context, values) waited <<- c(waited, context$waited))
  model <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  train(model, input_fn(slow_records(), x, y), steps = 3, hooks = hook)
  expect_false(is.unsorted(waited, strictly = TRUE))
  run_steps(1, session_run_hook(after_run = function(context, values) {
    expect_equal(context$waited, NA_real_)
  }))
})

test_that("a timeline shows the wait for input on a separate line", {
  dir <- withr::local_tempdir()
  model <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  train(
    model, input_fn(slow_records(), x, y), steps = 3,
    hooks = hook_profiler(save_steps = 1, output_dir = dir)
  )
  timeline <- jsonlite::read_json(file.path(dir, "timeline-3.json"))$traceEvents
  names <- Filter(function(event) event$ph == "M", timeline)
  input <- Filter(function(event) event$args$name == "Input", names)[[1]]$pid
  spans <- Filter(function(event) event$ph == "X", timeline)
  of_input <- vapply(spans, function(event) event$pid == input, NA)
  ops <- vapply(spans, function(event) event$name, "")
  expect_equal(ops[of_input], "IteratorGetNext")
  expect_false("IteratorGetNext" %in% ops[!of_input])
  expect_gt(spans[[which(of_input)]]$dur, 0)
})
