# Run options, run metadata and hook_profiler(). TensorFlow's traces of them are in
# test-trace_builtin_hooks.R and test-monitored_session.R.

test_that("a timeline without arrows and memory has spans only", {
  dir <- withr::local_tempdir()
  run_steps(3, hook_profiler(save_steps = 1, output_dir = dir, show_dataflow = FALSE))
  timeline <- jsonlite::read_json(file.path(dir, "timeline-3.json"))
  expect_setequal(vapply(timeline$traceEvents, function(event) event$ph, ""), c("M", "X"))
})

test_that("the metadata of one run has its timings", {
  metadata <- tf$RunMetadata()
  expect_null(metadata$step_stats)
  expect_equal(nrow(as.data.frame(metadata)), 0)
  options <- tf$RunOptions(trace_level = tf$RunOptions$FULL_TRACE)
  with(tf$Graph()$as_default(), {
    y <- tf$sqrt(tf$constant(4, name = "four"), name = "root")
    session <- tf$Session()
    expect_equal(session$run(y, options = options, run_metadata = metadata), 2)
    table <- as.data.frame(metadata)
    expect_equal(table$node_name, c("four", "root"))
    expect_equal(table$op, c("Const", "Sqrt"))
    expect_equal(table$bytes, c(4, 4))
    stats <- metadata$step_stats$dev_stats[[1]]
    expect_match(stats$device, "device:CPU:0$")
    expect_equal(stats$node_stats[[2]]$node_name, "root")
    session$run(y, run_metadata = metadata)
    expect_null(metadata$step_stats)
    session$close()
  })
  metadata <- run_metadata()
  for (hooks in c(TRUE, FALSE)) {
    run_steps(1, run = function(session, train_op) {
      session$run(train_op, options = options, run_metadata = metadata, hooks = hooks)
    })
    expect_true("y" %in% as.data.frame(metadata)$node_name)
  }
})

test_that("a run that exceeds its timeout is an error", {
  slow <- session_run_hook(
    before_run = function(context) {
      session_run_args("product:0", options = run_options(timeout_in_ms = 1))
    }
  )
  condition <- expect_error(
    with(tf$Graph()$as_default(), {
      step <- tf$train$get_or_create_global_step()
      x <- tf$constant(matrix(0, 700, 700), dtype = tf$float32)
      for (i in 1:20) x <- tf$matmul(x, x, name = if (i == 20) "product")
      session <- tf$train$MonitoredSession(hooks = list(slow))
      session$run(step)
    }),
    class = "runhooks_error_deadline_exceeded"
  )
  expect_match(conditionMessage(condition), "timeout_in_ms of 1")
})

test_that("invalid arguments are errors", {
  expect_error(hook_profiler(), "Either every_secs or every_steps should be provided")
  expect_error(
    hook_profiler(save_steps = 1, save_secs = 1), "Can not provide both every_secs and every_steps"
  )
  expect_error(hook_profiler(save_steps = 1, output_dir = 1), class = "runhooks_error")
  expect_error(hook_profiler(save_steps = 1, show_memory = NA), class = "runhooks_error")
  with(tf$Graph()$as_default(), {
    tf$constant(1)
    hook <- hook_profiler(save_steps = 1, output_dir = tempdir())
    expect_error(
      tf$train$MonitoredSession(hooks = list(hook)),
      "Global step should be created to use ProfilerHook"
    )
    y <- tf$constant(1)
    session <- tf$Session()
    expect_error(session$run(y, options = list(trace = 1)), "no `trace`")
    expect_error(session$run(y, options = list(trace_level = 7)), "0 .NO_TRACE. to 3")
    expect_error(session$run(y, options = list(timeout_in_ms = -1)), "0 .none. or more")
    expect_error(session$run(y, run_metadata = list()), "tf\\$RunMetadata")
    session$close()
  })
})
