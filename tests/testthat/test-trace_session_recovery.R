# Compares the recovery of sessions with TensorFlow's traces.

goldens <- hook_goldens("session_recovery")
replay <- replay_in(goldens)

once <- function(where, class, at = 2) {
  is_done <- FALSE
  message <- if (class == "AbortedError") "preempted" else "gone"
  raises <- function(hook, a, v, n) {
    if (n == at && !is_done) {
      is_done <<- TRUE
      raise(class, message)
    }
  }
  setNames(list(raises), where)
}

test_that("a lost session is recreated and the run repeated", {
  for (class in c("AbortedError", "UnavailableError")) {
    for (where in c("before_run", "after_run")) {
      replay(sprintf("recover_%s_from_%s", class, where), function(rec) {
        t <- toy()
        b <- trace_hook(rec, "B", on = once(where, class))
        drive(rec, monitored(trace_hook(rec, "A"), b), list(t$train, t$f), steps = 3)
      })
    }
  }
  replay("singular_does_not_recover", function(rec) {
    t <- toy()
    b <- trace_hook(rec, "B", on = once("before_run", "AbortedError"))
    make <- function() tf$train$SingularMonitoredSession(hooks = list(trace_hook(rec, "A"), b))
    drive(rec, make, t$train, steps = 3)
  })
  replay("recover_aborted_in_after_create_session", function(rec) {
    t <- toy()
    b <- trace_hook(rec, "B", on = once("after_create_session", "AbortedError", 1))
    drive(rec, monitored(trace_hook(rec, "A"), b, trace_hook(rec, "C")), t$train, steps = 1)
  })
  for (where in c("begin", "end")) {
    replay(paste0("aborted_in_", where), function(rec) {
      t <- toy()
      a <- trace_hook(rec, "A", on = once(where, "AbortedError", 1))
      drive(rec, monitored(a, trace_hook(rec, "B")), t$train, steps = 1)
    })
  }
  replay("stop_requested_then_aborted", function(rec) {
    t <- toy()
    b <- trace_hook(rec, "B", on = once("after_run", "AbortedError"))
    drive(rec, monitored(stopper(rec, "A", "before_run", 2), b), t$train, steps = 5)
  })
  replay("recover_in_run_step_fn", function(rec) {
    t <- toy()
    n <- 0
    step_fn <- function(step_context) {
      n <<- n + 1
      rec$add("step_fn", "called", call = n)
      if (n == 1) raise("AbortedError", "preempted")
      step_context$run_with_hooks(t$f)
    }
    with(tf$train$MonitoredSession(hooks = trace_hook(rec, "A")) %as% s, {
      rec$add("loop", "run_step_fn_returned", value = s$run_step_fn(step_fn))
    })
  })
})

test_that("the tenth failure of one run reaches the caller", {
  with(tf$Graph()$as_default(), {
    t <- toy()
    calls <- 0
    hook <- session_run_hook(before_run = function(context) {
      calls <<- calls + 1
      raise("AbortedError", "again")
    })
    session <- tf$train$MonitoredSession(hooks = hook)
    expect_error(session$run(t$train), "again", class = "runhooks_error_aborted")
    expect_equal(calls, 10)
    steps <- 0
    step_fn <- function(step_context) {
      steps <<- steps + 1
      raise("AbortedError", "again")
    }
    expect_error(session$run_step_fn(step_fn), "again", class = "runhooks_error_aborted")
    expect_equal(steps, 10)
    session$close()
  })
})

training_session <- function(dir, hooks, ...) {
  function() {
    tf$train$MonitoredTrainingSession(
      checkpoint_dir = dir, hooks = hooks, save_checkpoint_steps = 2, save_summaries_steps = NULL,
      save_summaries_secs = NULL, log_step_count_steps = NULL, ...
    )
  }
}

test_that("training sessions resume from their checkpoints", {
  dir <- withr::local_tempdir()
  replay("recover_from_checkpoint", dir = dir, function(rec) {
    t <- toy()
    a <- trace_hook(rec, "A", on = once("before_run", "AbortedError", 6))
    drive(rec, training_session(dir, list(A = a)), t$train, steps = 8)
  })
  dir <- withr::local_tempdir()
  replay("recover_with_stop_at_step", dir = dir, function(rec) {
    t <- toy()
    a <- trace_hook(rec, "A", on = once("before_run", "AbortedError", 4))
    hooks <- list(tf$train$StopAtStepHook(num_steps = 6), A = a)
    drive(rec, training_session(dir, hooks), t$train)
  })
})

test_that("a second session begins where the first ended", {
  golden <- goldens$restart_from_checkpoint_dir
  dir <- withr::local_tempdir()
  rec <- new_recorder()
  for (k in 1:2) {
    with(tf$Graph()$as_default(), {
      t <- toy()
      rec$add("loop", "session_number", value = k)
      make <- training_session(dir, list(trace_hook(rec, "A")))
      outcome <- attempt(drive(rec, make, t$train, steps = 3))
      expect_log(sub("^INFO ", "", outcome$log), golden$log[[k]], c("<DIR>" = dir))
    })
  }
  expect_trace(rec, golden$events)
  expect_equal(state_form(dir), golden$checkpoint_state)
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
