# Compares the smaller built-in hooks with TensorFlow's traces.

goldens <- hook_goldens("builtin_hooks")

# Runs `op` of the counting graph with `hook`, `secs_per_run` seconds each, and returns the log of
# each run. `make_hook` may add to the graph.
log_of_runs <- function(make_hook, runs, secs_per_run = 0, increment = 1L, op = NULL) {
  clock <- local_clock()
  rows <- list()
  with(tf$Graph()$as_default(), {
    graph <- counting_graph(increment)
    hook <- make_hook()
    if (is.null(op)) op <- graph$op
    with(tf$train$MonitoredSession(hooks = hook) %as% s, {
      for (run in seq_len(runs)) {
        clock$advance(secs_per_run)
        log <- attempt(s$run(op))$log
        rows <- c(rows, list(list(run = run, log = log)))
      }
    })
  })
  rows
}

expect_logs <- function(rows, golden) {
  expect_equal(lapply(rows, `[[`, "log"), lapply(golden, function(row) {
    as.character(golden_log(row$log))
  }))
}

test_that("the step counter counts from its second trigger on", {
  for (golden in goldens$step_counter_every_n_steps$table) {
    dir <- withr::local_tempdir()
    counter <- function() hook_step_counter(golden$every_n_steps, output_dir = dir)
    rows <- log_of_runs(
      counter, length(golden$rows), golden$secs_per_run, increment = golden$increment
    )
    expect_logs(rows, golden$rows)
    expect_events(dir, golden$event_file, "<DIR>")
  }
  golden <- goldens$step_counter_every_n_secs
  dir <- withr::local_tempdir()
  counter <- function() hook_step_counter(NULL, every_n_secs = 1, output_dir = dir)
  expect_logs(log_of_runs(counter, 9, 0.4), golden$table)
  expect_events(dir, golden$event_file, "<DIR>")
})

test_that("the step counter warns five times about a step that does not increase", {
  local_clock()
  with(tf$Graph()$as_default(), {
    counting_graph()
    one <- tf$constant(1)
    outcome <- attempt({
      with(tf$train$MonitoredSession(hooks = hook_step_counter(2)) %as% s, {
        for (run in 1:8) s$run(one)
      })
    })
  })
  golden <- goldens$step_counter_global_step_stuck$table
  expect_equal(
    grep("^WARN", outcome$log, value = TRUE),
    golden_log(do.call(c, lapply(golden, function(row) row$log)))
  )
})

# Runs the counting graph until a stop request, and returns list(runs, global_step, start).
count_runs <- function(hooks, checkpoint_dir = NULL, increment = 1L) {
  with(tf$Graph()$as_default(), {
    graph <- counting_graph(increment)
    runs <- 0
    session <- tf$train$SingularMonitoredSession(hooks = hooks, checkpoint_dir = checkpoint_dir)
    with(session %as% s, {
      start <- s$run(graph$step, hooks = FALSE)
      while (!s$should_stop() && runs < 20) {
        s$run(graph$op)
        runs <- runs + 1
        step <- if (s$should_stop()) NA else s$run(graph$step, hooks = FALSE)
      }
    })
  })
  list(runs = runs, start = start)
}

checkpoint_at <- function(step, .local_envir = parent.frame()) {
  dir <- withr::local_tempdir(.local_envir = .local_envir)
  if (step == 0) return(dir)
  with(tf$Graph()$as_default(), {
    graph <- counting_graph()
    saver <- hook_checkpoint_saver(dir, save_steps = 100, saver = tf$train$Saver())
    with(tf$train$SingularMonitoredSession(hooks = saver) %as% s, {
      for (i in seq_len(step)) s$run(graph$op)
    })
  })
  dir
}

test_that("StopAtStepHook stops at TensorFlow's steps", {
  for (row in goldens$stop_at_step$table) {
    hook <- do.call(tf$train$StopAtStepHook, row$arguments)
    counted <- count_runs(hook, checkpoint_at(row$start), row$increment)
    expect_equal(counted$runs, row$runs, info = one_line(row))
    expect_equal(
      counted$start + counted$runs * row$increment, row$global_step, info = one_line(row)
    )
  }
})

test_that("a reused StopAtStepHook starts anew: a departure from TensorFlow", {
  golden <- goldens$stop_at_step_hook_reused$table
  hook <- tf$train$StopAtStepHook(num_steps = 3)
  for (row in golden[1:2]) expect_equal(count_runs(hook)$runs, row$runs)
  dir <- withr::local_tempdir()
  # In TensorFlow, the second session starts at step 3 and makes one run, because the last step
  # stays 3. Here the hook counts from the start of each session.
  expect_equal(golden[[4]]$runs, 1L)
  for (start in c(0, 3)) {
    with(tf$Graph()$as_default(), {
      counting_graph()
      saver <- hook_checkpoint_saver(dir, save_steps = 100)
    })
    counted <- count_runs(list(hook, saver), dir)
    expect_equal(counted, list(runs = 3, start = start))
  }
})

test_that("NanTensorHook raises an error or stops; infinity is not NaN", {
  for (golden in goldens$nan_tensor$table) {
    rec <- new_recorder()
    with(tf$Graph()$as_default(), {
      graph <- counting_graph()
      n <- 0
      loss <- tf$py_func(function() {
        n <<- n + 1
        if (n == 3) c(nan = NaN, inf = Inf)[[golden$value_at_run_3]] else 1
      }, list(), tf$float32)
      hooks <- list(
        A = trace_hook(rec, "A"),
        tf$train$NanTensorHook(loss, fail_on_nan_loss = golden$fail_on_nan_loss),
        C = trace_hook(rec, "C")
      )
      make <- function() tf$train$MonitoredSession(hooks = hooks)
      outcome <- attempt(record_hook_calls(rec, drive(rec, make, list(graph$op, loss), limit = 5)))
    })
    expect_whole_trace(rec, list(events = golden$trace))
    expect_surfaced(outcome$returned$surfaced, golden$surfaced)
    expect_log(grep("^INFO", outcome$log, value = TRUE, invert = TRUE), golden$log)
  }
})

summaries_of <- function(runs, make_hook, secs_per_run = 0, increment = 1L, checkpoint_dir = NULL) {
  clock <- local_clock()
  with(tf$Graph()$as_default(), {
    graph <- counting_graph(increment)
    hook <- make_hook()
    session <- tf$train$SingularMonitoredSession(hooks = hook, checkpoint_dir = checkpoint_dir)
    with(session %as% s, {
      for (run in seq_len(runs)) {
        clock$advance(secs_per_run)
        s$run(graph$op)
      }
    })
  })
}

test_that("SummarySaverHook saves at TensorFlow's steps and times", {
  for (row in goldens$summary_saver_steps$table) {
    dir <- withr::local_tempdir()
    saver <- function() {
      summary <- tf$summary$scalar("c", tf$constant(4))
      tf$train$SummarySaverHook(row$save_steps, output_dir = dir, summary_op = summary)
    }
    summaries_of(
      row$runs, saver, increment = row$increment,
      checkpoint_dir = if (row$start > 0) checkpoint_at(row$start)
    )
    expect_events(dir, row$event_file, "<DIR>", tags = "c")
    expect_equal(read_events(dir)$step, as.numeric(unlist(row$summaries_at)))
  }
  dir <- withr::local_tempdir()
  summaries_of(9, secs_per_run = 0.4, function() {
    summaries <- list(
      tf$summary$scalar("c", tf$constant(4)), tf$summary$scalar("d", tf$constant(5))
    )
    tf$train$SummarySaverHook(save_secs = 1, output_dir = dir, summary_op = summaries)
  })
  expect_events(dir, goldens$summary_saver_secs$event_file, "<DIR>", tags = c("c", "d"))
})

test_that("SummarySaverHook without summaries writes only the start event", {
  dir <- withr::local_tempdir()
  local_clock()
  with(tf$Graph()$as_default(), {
    graph <- counting_graph()
    scaffold <- tf$train$Scaffold()
    hook <- tf$train$SummarySaverHook(1, output_dir = dir, scaffold = scaffold)
    creator <- tf$train$ChiefSessionCreator(scaffold = scaffold)
    with(tf$train$MonitoredSession(creator, hooks = hook) %as% s, for (i in 1:2) s$run(graph$op))
  })
  expect_events(dir, goldens$summary_saver_no_summaries$event_file, "<DIR>")
})

test_that("GlobalStepWaiterHook waits before the first run", {
  withr::defer(cpp_sleep_set(NULL))
  for (row in goldens$global_step_waiter$table) {
    clock <- local_clock()
    slept <- c()
    with(tf$Graph()$as_default(), {
      graph <- counting_graph()
      add <- tf$assign_add(graph$step, row$added_per_sleep)
      hook <- tf$train$GlobalStepWaiterHook(row$wait_until_step)
      plain <- NULL
      keep <- session_run_hook(after_create_session = function(session, coord) plain <<- session)
      cpp_sleep_set(function(secs) {
        slept <<- c(slept, secs)
        clock$advance(secs)
        plain$run(add) # as another process would
      })
      with(tf$train$SingularMonitoredSession(hooks = list(keep, hook)) %as% s, {
        outcome <- attempt(s$run(graph$op))
        expect_length(slept, row$sleeps_before_run_1)
        s$run(graph$op)
        expect_length(slept, row$sleeps_before_run_1 + row$sleeps_before_run_2)
        expect_equal(s$run(graph$step), row$global_step_after_run_2)
      })
    })
    expect_log(outcome$log, row$log)
    expect_equal(as.list(unique(slept)), json_form(row$sleep_secs))
  }
})

test_that("FinalOpsHook has its values after end()", {
  for (row in goldens$final_ops$table[1:5]) {
    with(tf$Graph()$as_default(), {
      t <- toy()
      x <- t$x
      feed <- if (identical(row$final_ops, "sum:0")) dict(x = 4)
      hook <- tf$train$FinalOpsHook(row$final_ops, feed)
      with(tf$train$MonitoredSession(hooks = hook) %as% s, {
        s$run(t$train)
        expect_null(hook$final_ops_values)
      })
    })
    expect_equal(json_form(hook$final_ops_values), json_form(row$final_ops_values))
  }
  row <- goldens$final_ops$table[[6]]
  with(tf$Graph()$as_default(), {
    tf$train$get_or_create_global_step()
    number <- cpp_next_batch(list(x = 0), "float32", 1, 1, FALSE, 0)[[1]]
    hook <- tf$train$FinalOpsHook(number)
    outcome <- attempt(with(tf$train$MonitoredSession(hooks = hook) %as% s, s$run(number)))
  })
  expect_surfaced(outcome$surfaced, row$surfaced)
  warned <- grep("^WARN", outcome$log, value = TRUE)
  expect_length(warned, length(row$log))
  expect_match(warned, "FinalOpsHook")
})

test_that("on the process that saves, hook_stop_at_checkpoint_step() is a StopAtStepHook", {
  golden <- goldens$stop_at_checkpoint_step
  hook <- hook_stop_at_checkpoint_step(toy_model(withr::local_tempdir()), golden$last_step)
  expect_s3_class(hook, golden$class)
  expect_equal(unclass(hook)$last_step, golden$last_step)
})

test_that("timelines are saved for the same runs and with the same events as in TensorFlow", {
  trace <- goldens$profiler
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
  expected <- vapply(trace$log, function(line) paste0("INFO:tensorflow:", line$message), "")
  expect_equal(grep("timeline", log, value = TRUE), expected)
  events <- dir(dir, "tfevents", full.names = TRUE)
  bytes <- readBin(events, "raw", file.size(events))
  tags <- regmatches(rawToChar(bytes[bytes != 0]), gregexpr("step_[0-9]+", useBytes = TRUE,
    text = rawToChar(bytes[bytes != 0])))[[1]]
  expect_equal(tags, c("step_2", "step_4", "step_6"))
})

test_that("a timeline has TensorFlow's events, and every operation of the run", {
  trace <- goldens$profiler
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
  # Flow arrows come in pairs, forward in time.
  starts <- timeline$traceEvents[phases == "s"]
  ends <- timeline$traceEvents[phases == "t"]
  expect_equal(lapply(starts, `[[`, "id"), lapply(ends, `[[`, "id"))
  expect_true(all(unlist(Map(function(s, t) s$ts <= t$ts, starts, ends))))
  counters <- timeline$traceEvents[phases == "C"]
  expect_equal(counters[[length(counters)]]$args$cpu, 0)
})

test_that("hooks that count assume one step per run, as TensorFlow's do", {
  # Computes by the rules of TensorFlow's hooks where a run stops.
  stops_at <- function(last, by) {
    step <- 0
    repeat {
      stale <- step
      step <- step + by
      if (stale + 1 >= last && step >= last) return(step)
    }
  }
  counts_at <- function(every, by, runs) {
    found <- c()
    for (stale in by * (seq_len(runs) - 1)) {
      is_due <- function(step) length(found) == 0 || step >= found[[length(found)]] + every
      if (is_due(stale + 1) && is_due(stale + by)) found <- c(found, stale + by)
    }
    found
  }
  saves_at <- function(every, by, runs) {
    found <- c()
    next_step <- 0
    for (stale in by * (seq_len(runs) - 1)) {
      is_due <- length(found) == 0 || next_step >= found[[length(found)]] + every
      if (is_due) found <- c(found, stale + by)
      next_step <- (if (is_due) stale + by else stale + 1) + 1
    }
    found
  }
  for (by in 2:4) {
    for (every in c(2, 3, 5, 8)) {
      dir <- withr::local_tempdir()
      log_of_runs(function() hook_step_counter(every, output_dir = dir), 8, 1, increment = by)
      expect_equal(read_events(dir)$step, counts_at(every, by, 8)[-1], info = paste(by, every))
      saved <- withr::local_tempdir()
      summaries_of(8, increment = by, function() {
        hook_summary_saver(every, output_dir = saved, summary_op = tf$summary$scalar("c", 4))
      })
      expect_equal(read_events(saved)$step, saves_at(every, by, 8), info = paste(by, every))
      with(tf$Graph()$as_default(), {
        graph <- counting_graph(by)
        hook <- hook_stop_at_step(last_step = every)
        with(tf$train$SingularMonitoredSession(hooks = hook) %as% s, {
          while (!s$should_stop()) {
            s$run(graph$op)
            step <- s$raw_session()$run(graph$step)
          }
        })
        expect_equal(step, stops_at(every, by), info = paste(by, every))
      })
    }
  }
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
