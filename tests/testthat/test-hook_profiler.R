# A graph whose only step is to add 1, and the loop around it.
run_steps <- function(n, ..., run = function(session, train_op) session$run(train_op)) {
  with(tf$Graph()$as_default(), {
    step <- tf$train$get_or_create_global_step()
    x <- tf$constant(matrix(c(1, 2), 1), dtype = tf$float32, name = "x")
    w <- tf$get_variable("w", shape = c(2, 1), initializer = tf$ones_initializer())
    y <- tf$matmul(x, w, name = "y")
    train_op <- tf$group(tf$assign_add(step, 1L), y$op)
    session <- tf$train$MonitoredSession(hooks = list(...))
    for (i in seq_len(n)) run(session, train_op)
    session$close()
  })
}

test_that("timelines are saved for the same runs, with the same lines and events, as theirs", {
  trace <- golden_scenario("builtin_hooks", "profiler")
  dir <- withr::local_tempdir()
  log <- character()
  old <- tf$logging$get_verbosity()
  tf$logging$set_verbosity("INFO")
  withr::defer(tf$logging$set_verbosity(old))
  withCallingHandlers(
    run_steps(7, hook_profiler(save_steps = 2, output_dir = dir)),
    message = function(m) {
      log <<- c(log, sub("\n$", "", gsub(dir, "<DIR>", conditionMessage(m), fixed = TRUE)))
      invokeRestart("muffleMessage")
    }
  )
  expect_equal(dir(dir, "timeline"), grep("timeline", unlist(trace$files), value = TRUE))
  wanted <- vapply(trace$log, function(line) paste0("INFO:tensorflow:", line$message), "")
  expect_equal(grep("timeline", log, value = TRUE), wanted)
  events <- dir(dir, "tfevents", full.names = TRUE)
  bytes <- readBin(events, "raw", file.size(events))
  tags <- regmatches(rawToChar(bytes[bytes != 0]), gregexpr("step_[0-9]+", useBytes = TRUE,
    text = rawToChar(bytes[bytes != 0])))[[1]]
  expect_equal(tags, c("step_2", "step_4", "step_6"))
})

test_that("a timeline has the events of TensorFlow's, and every operation of the run", {
  trace <- golden_scenario("builtin_hooks", "profiler")
  dir <- withr::local_tempdir()
  run_steps(2, hook_profiler(save_steps = 2, output_dir = dir, show_memory = TRUE))
  timeline <- jsonlite::read_json(file.path(dir, "timeline-2.json"))
  expect_equal(names(timeline), unlist(trace$timeline_top_level_keys))
  phases <- vapply(timeline$traceEvents, function(event) event$ph, "")
  for (phase in names(trace$timeline_event_kinds)) {
    of_phase <- timeline$traceEvents[phases == phase]
    expect_gt(length(of_phase), 0)
    keys <- unlist(trace$timeline_event_kinds[[phase]]$keys)
    for (event in of_phase) expect_setequal(names(event), keys)
  }
  expect_setequal(unique(phases), c(names(trace$timeline_event_kinds), "N", "O", "D", "C"))
  spans <- timeline$traceEvents[phases == "X"]
  names <- vapply(spans, function(span) span$args$name, "")
  expect_true(all(c("x", "w", "y", "AssignAdd", "global_step") %in% names))
  product <- spans[[match("y", names)]]
  expect_equal(product$args[c("op", "input0")], list(op = "MatMul", input0 = "x"))
  expect_true(all(vapply(spans, function(span) span$dur >= 0 && span$ts >= 0, NA)))
  # arrows come in pairs, forward in time
  starts <- timeline$traceEvents[phases == "s"]
  ends <- timeline$traceEvents[phases == "t"]
  expect_equal(lapply(starts, `[[`, "id"), lapply(ends, `[[`, "id"))
  expect_true(all(unlist(Map(function(s, t) s$ts <= t$ts, starts, ends))))
  # all memory is given back
  counters <- timeline$traceEvents[phases == "C"]
  expect_equal(counters[[length(counters)]]$args$cpu, 0)
})

test_that("a timeline without arrows and memory has spans only", {
  dir <- withr::local_tempdir()
  run_steps(3, hook_profiler(save_steps = 1, output_dir = dir, show_dataflow = FALSE))
  timeline <- jsonlite::read_json(file.path(dir, "timeline-3.json"))
  expect_setequal(vapply(timeline$traceEvents, function(event) event$ph, ""), c("M", "X"))
})

test_that("options of several hooks are merged, and all see the same metadata", {
  trace <- golden_scenario("session_loop", "run_options_merge")
  rows <- list()
  look <- function(name, options = NULL) {
    session_run_hook(
      before_run = function(context) {
        if (!is.null(options)) session_run_args("x:0", options = options)
      },
      after_run = function(context, values) {
        rows[[length(rows) + 1]] <<- list(
          hook = name, trace_level = as.integer(values$options$trace_level),
          timeout_in_ms = as.integer(values$options$timeout_in_ms),
          has_step_stats = !is.null(values$run_metadata$step_stats)
        )
      }
    )
  }
  run_steps(
    1,
    look("A", tf$RunOptions(trace_level = tf$RunOptions$FULL_TRACE)),
    look("B", tf$RunOptions(timeout_in_ms = 60000)), look("C")
  )
  run_steps(1, look("no_options"))
  expect_equal(rows, trace$table)
})

test_that("one run tells what it took", {
  told <- tf$RunMetadata()
  expect_null(told$step_stats)
  expect_equal(nrow(as.data.frame(told)), 0)
  options <- tf$RunOptions(trace_level = tf$RunOptions$FULL_TRACE)
  with(tf$Graph()$as_default(), {
    y <- tf$sqrt(tf$constant(4, name = "four"), name = "root")
    session <- tf$Session()
    expect_equal(session$run(y, options = options, run_metadata = told), 2)
    table <- as.data.frame(told)
    expect_equal(table$node_name, c("four", "root"))
    expect_equal(table$op, c("Const", "Sqrt"))
    expect_equal(table$bytes, c(4, 4))
    stats <- told$step_stats$dev_stats[[1]]
    expect_match(stats$device, "device:CPU:0$")
    expect_equal(stats$node_stats[[2]]$node_name, "root")
    # the next run forgets what this one told
    session$run(y, run_metadata = told)
    expect_null(told$step_stats)
    session$close()
  })
  # in a monitored session, with and without the hooks
  told <- run_metadata()
  for (hooks in c(TRUE, FALSE)) {
    run_steps(1, run = function(session, train_op) {
      session$run(train_op, options = options, run_metadata = told, hooks = hooks)
    })
    expect_true("y" %in% as.data.frame(told)$node_name)
  }
})

test_that("a run whose time is up ends by an error that says so", {
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

test_that("bad arguments are refused", {
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
