# Compares hook_checkpoint_input_pipeline() with TensorFlow's traces.

goldens <- hook_goldens("input_pipeline_hook")

numbers <- function(n = 100) dataset_batch(range_dataset(0, n), 1)

# One call of train() on such a dataset. Returns its elements, the log and the files.
run_call <- function(dir, steps, data = numbers(), with_hook = TRUE, hook = NULL,
                     config = list(save_checkpoints_steps = 2)) {
  model <- do.call(toy_model, c(list(dir, tf_random_seed = 1), config))
  seen <- list()
  watch <- session_run_hook(
    before_run = function(context) session_run_args("IteratorGetNext:0"),
    after_run = function(context, values) {
      seen <<- c(seen, list(as.list(as.vector(unlist(values$results)))))
    }
  )
  input <- function() {
    value <- tf$cast(next_batch(data), "float32")
    list(list(x = value), value)
  }
  if (with_hook && is.null(hook)) hook <- hook_checkpoint_input_pipeline(model)
  outcome <- attempt(
    train(model, input, steps = steps, hooks = c(list(watch), if (with_hook) list(hook)))
  )
  lines <- sub("^[A-Z]+ ", "", outcome$log)
  lines <- gsub(dir, "<MODEL_DIR>", lines[grepl("Saving checkpoints|Restoring param", lines)],
    fixed = TRUE)
  state <- file.path(dir, "checkpoint_input")
  list(
    seen = seen, surfaced = outcome$surfaced, log = as.list(lines),
    files = sort(grep("^(checkpoint|input)", list.files(dir), value = TRUE), method = "radix"),
    state = if (file.exists(state)) paste0(readLines(state), "\n", collapse = "")
  )
}

expect_call <- function(actual, golden, dir) {
  expect_equal(actual$seen, golden$elements_seen)
  expect_equal(actual$log, golden$log)
  expect_equal(as.list(actual$files), golden$files)
  state <- sub_timestamps(actual$state)
  expect_equal(gsub(dir, "<MODEL_DIR>", state, fixed = TRUE), golden$checkpoint_input_state)
}

# Removes the timestamps that TensorFlow writes; the golden has none.
sub_timestamps <- function(state) {
  gsub("(all_model_checkpoint_timestamps|last_preserved_timestamp): [^\n]*\n", "", state)
}

test_that("a second call resumes at the next element, or without the hook at the first", {
  golden <- goldens$range_two_calls
  dir <- withr::local_tempdir()
  for (call in golden$with_hook) expect_call(run_call(dir, call$steps), call, dir)
  other <- withr::local_tempdir()
  for (call in golden$without_hook) {
    actual <- run_call(other, call$steps, with_hook = FALSE)
    expect_equal(actual$seen, call$elements_seen)
    expect_equal(actual$log, call$log)
    expect_equal(as.list(actual$files), call$files)
  }
})

test_that("a killed run resumes at the element of its last checkpoint", {
  golden <- goldens$interrupted
  dir <- withr::local_tempdir()
  config <- list(save_checkpoints_steps = 3)
  first <- golden$calls[[1]]
  # TensorFlow was stopped by KeyboardInterrupt; here an error has the same effect.
  killing <- session_run_hook(after_run = local({
    runs <- 0
    function(context, values) {
      runs <<- runs + 1
      if (runs == 5) stop("killed")
    }
  }))
  model <- toy_model(dir, tf_random_seed = 1, save_checkpoints_steps = 3)
  input <- function() {
    value <- tf$cast(next_batch(numbers()), "float32")
    list(list(x = value), value)
  }
  hooks <- list(hook_checkpoint_input_pipeline(model), killing)
  expect_error(suppressMessages(train(model, input, steps = 10, hooks = hooks)), "killed")
  files <- sort(grep("^(checkpoint|input)", list.files(dir), value = TRUE), method = "radix")
  expect_equal(as.list(files), first$files)
  second <- golden$calls[[2]]
  expect_call(run_call(dir, second$steps, config = config), second, dir)
})

test_that("shuffled batches match TensorFlow's, in one call and in two", {
  golden <- goldens$shuffle_repeat_batch
  data <- range_dataset(0, 12) %>%
    dataset_shuffle(10, seed = 3) %>%
    dataset_repeat() %>%
    dataset_batch(3)
  whole <- run_call(withr::local_tempdir(), 6, data)
  expect_equal(list(whole$seen), golden$one_call)
  dir <- withr::local_tempdir()
  parts <- c(run_call(dir, 3, data)$seen, run_call(dir, 3, data)$seen)
  expect_equal(parts, do.call(c, golden$two_calls))
})

# TensorFlow cannot save the generators of random operations; this package can.
test_that("every policy works, even if TensorFlow cannot save a random operation", {
  noisy <- numbers() %>%
    dataset_map(function(x) x + tf$cast(tf$random_uniform(1L) * 0, "int64"))
  pipelines <- list(random_map = noisy, shuffle_noseed = dataset_shuffle(numbers(), 5))
  for (row in goldens$external_state_policy$table) {
    dir <- withr::local_tempdir()
    model <- toy_model(dir, save_checkpoints_steps = 1)
    hook <- hook_checkpoint_input_pipeline(model, row$external_state_policy)
    actual <- run_call(dir, 1, pipelines[[row$pipeline]], hook = hook,
      config = list(save_checkpoints_steps = 1))
    expect_null(actual$surfaced)
    if (is.null(row$surfaced)) expect_equal(actual$log, row$log)
  }
  expect_error(hook_checkpoint_input_pipeline(model, "else"), "must be one of")
})

test_that("completed data stay completed", {
  golden <- goldens$data_exhausted
  dir <- withr::local_tempdir()
  for (call in golden$calls) expect_call(run_call(dir, call$steps, numbers(3)), call, dir)
})

test_that("it saves at times, and keeps five checkpoints whatever the model keeps", {
  golden <- goldens$save_secs_and_keep_max
  dir <- withr::local_tempdir()
  for (call in golden$secs) {
    expect_call(run_call(dir, call$steps, config = list(save_checkpoints_secs = 600)), call, dir)
  }
  dir <- withr::local_tempdir()
  config <- list(save_checkpoints_steps = 1, keep_checkpoint_max = 2)
  for (call in golden$every_step_8) expect_call(run_call(dir, call$steps, config = config), call, dir)
})

test_that("it saves in the first before_run, and its checkpoints are in the event file", {
  golden <- goldens$hook_trace
  dir <- withr::local_tempdir()
  actual <- run_call(dir, 3)
  saves <- Filter(function(event) event$hook == "log", golden$events)
  expect_equal(actual$log, lapply(saves, `[[`, "text"))
  logs <- Filter(function(event) identical(event$what, "session_log"), golden$event_file)
  logged <- Filter(function(event) identical(event$what, "session_log"), events_form(dir, "<MODEL_DIR>"))
  expect_equal(lapply(logged, `[[`, "checkpoint_path"), lapply(logs, `[[`, "checkpoint_path"))
  expect_setequal(list.files(dir, "^(input|model).ckpt|^checkpoint"),
    unlist(Filter(function(file) !grepl("tfevents|graph.pbtxt", file), golden$files)))
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
