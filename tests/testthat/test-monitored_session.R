# Compares the loop and its calls with TensorFlow's traces, event by event.

goldens <- hook_goldens("session_loop")
replay <- replay_in(goldens)

test_that("hooks are called in list order, including end()", {
  two <- function(rec) list(trace_hook(rec, "A"), trace_hook(rec, "B"))
  replay("two_hooks_three_steps", function(rec) {
    t <- toy()
    drive(rec, function() tf$train$MonitoredSession(hooks = two(rec)), t$train, steps = 3)
  })
  replay("singular_two_hooks_three_steps", function(rec) {
    t <- toy()
    drive(rec, function() tf$train$SingularMonitoredSession(hooks = two(rec)), t$train, steps = 3)
  })
  replay("no_hooks", function(rec) {
    t <- toy()
    drive(rec, function() tf$train$MonitoredSession(), list(t$train, t$f), steps = 2)
  })
  replay("with_block_left_without_running", function(rec) {
    t <- toy()
    drive(rec, monitored(trace_hook(rec, "A")), t$train, steps = 0)
  })
  replay("same_hook_twice", function(rec) {
    t <- toy()
    hook <- trace_hook(rec, "A", fetch = function() t$f)
    drive(rec, monitored(hook, hook), t$train, steps = 1)
  })
})

test_that("results have the structure of the fetches", {
  replay("nested_fetches", function(rec) {
    t <- toy()
    fetching <- function(name, fetch) trace_hook(rec, name, fetch = fetch)
    hooks <- list(
      trace_hook(rec, "returns_null"), fetching("single", function() t$f),
      fetching("by_name", function() "f:0"), fetching("op", function() t$noop),
      fetching("op_by_name", function() "noop"),
      fetching("list", function() list(t$f, t$noop, t$i)),
      fetching("tuple", function() list(t$f, t$s)), fetching("empty_list", function() list()),
      fetching("empty_dict", function() setNames(list(), character())),
      fetching("dict", function() list(loss = t$f, txt = t$s, flag = t$b)),
      fetching("nested", function() {
        list(a = list(t$f, list(b = t$i, c = list(t$s, t$noop))), d = t$b)
      }),
      fetching("namedtuple", function() list(p = t$f, q = list(t$i))),
      fetching("same_twice", function() list(t$f, t$f)),
      trace_hook(rec, "fetches_null", args = "given")
    )
    drive(rec, function() tf$train$MonitoredSession(hooks = hooks), t$train, steps = 1)
  })
  with(tf$Graph()$as_default(), {
    t <- toy()
    hook <- trace_hook(new_recorder(), "A", fetch = function() t$s)
    fetches <- list(
      t$f, list(t$f, t$i), list(x = t$f, y = list(t$noop)), t$noop, list(), list(t$f), "i:0"
    )
    with(tf$train$MonitoredSession(hooks = hook) %as% sess, {
      returned <- lapply(fetches, sess$run)
    })
  })
  table <- goldens$caller_fetch_structures$table
  expect_equal(json_form(returned), json_form(lapply(table, function(row) row$returned)))
})

test_that("feeds of hooks and the caller are merged; feeding a tensor twice is an error", {
  feed_x <- function(t) function() dict2(t$x, 1)
  dict2 <- function(tensor, value) dict(tensor = value)
  replay("feed_dict_merging", function(rec) {
    t <- toy()
    b <- trace_hook(rec, "B", fetch = function() t$sum, feed = function() dict2(t$y, 2))
    drive(rec, monitored(trace_hook(rec, "A", feed = feed_x(t)), b), t$sum, steps = 1)
  })
  replay("feed_dict_merging_with_caller", function(rec) {
    t <- toy()
    feed <- dict2(t$y, 5)
    drive(rec, monitored(trace_hook(rec, "A", feed = feed_x(t))), t$sum, steps = 1, feed = feed)
  })
  replay("feed_conflict_two_hooks", function(rec) {
    t <- toy()
    a <- trace_hook(rec, "A", feed = feed_x(t))
    b <- trace_hook(rec, "B", feed = feed_x(t))
    drive(rec, monitored(a, b, trace_hook(rec, "C")), t$sum, steps = 1)
  })
  replay("feed_conflict_hook_and_caller", function(rec) {
    t <- toy()
    hooks <- monitored(trace_hook(rec, "A", feed = feed_x(t)), trace_hook(rec, "B"))
    drive(rec, hooks, t$sum, steps = 1, feed = dict2(t$x, 3))
  })
})

test_that("FeedFnHook feeds the result of its function", {
  replay("feed_fn_hook", function(rec) {
    t <- toy()
    x <- t$x
    n <- 0
    feeds <- function() {
      n <<- n + 1
      dict(x = n)
    }
    drive(rec, monitored(tf$train$FeedFnHook(feeds)), t$sum, steps = 3)
  })
})

test_that("a stop request lets the current run finish", {
  plain <- function(rec, name) trace_hook(rec, name)
  scenarios <- list(
    stop_in_before_run = function(r) list(stopper(r, "A", "before_run"), plain(r, "B")),
    stop_in_before_run_of_last_hook = function(r) {
      list(plain(r, "A"), stopper(r, "B", "before_run", 2))
    },
    stop_in_after_run = function(r) list(stopper(r, "A", "after_run"), plain(r, "B")),
    stop_in_after_run_at_step_3 = function(r) {
      list(plain(r, "A"), stopper(r, "B", "after_run", 3))
    },
    two_hooks_request_stop = function(r) {
      list(stopper(r, "A", "after_run", 2), stopper(r, "B", "after_run", 2))
    },
    coordinator_request_stop = function(r) {
      stops <- function(hook, context, values, n) if (n == 2) hook$coord$request_stop()
      list(trace_hook(r, "A", on = list(after_run = stops)))
    }
  )
  for (name in names(scenarios)) {
    replay(name, function(rec) {
      t <- toy()
      drive(rec, do.call(monitored, scenarios[[name]](rec)), t$train)
    })
  }
  replay("run_after_stop", function(rec) {
    t <- toy()
    hooks <- monitored(stopper(rec, "A", "after_run"))
    drive(rec, hooks, t$train, after = function(s) s$run(t$train))
  })
})

test_that("close() calls end(); a second one does nothing", {
  golden <- goldens$close_then_should_stop_then_run
  # TensorFlow's message for the closed session differs, and it calls end() again at a second
  # close().
  golden$events[[8]][c("class", "message")] <- list("RuntimeError", "Session is already closed.")
  golden$events <- golden$events[1:8]
  replay("close_then_should_stop_then_run", golden = golden, function(rec) {
    t <- toy()
    s <- tf$train$MonitoredSession(hooks = trace_hook(rec, "A"))
    s$run(t$train)
    s$close()
    rec$add("loop", "closed")
    rec$add("loop", "should_stop", value = s$should_stop())
    e <- tryCatch(s$run(t$train), error = identity)
    do.call(rec$add, c(list("loop", "run_raised"), error_form(e)))
    s$close()
  })
  golden <- goldens$close_inside_with_block
  golden$events <- c(
    golden$events[1:7], list(list(hook = "loop", method = "with_block_left", exception = NULL))
  )
  replay("close_inside_with_block", golden = golden, function(rec) {
    t <- toy()
    hooks <- monitored(trace_hook(rec, "A"))
    drive(rec, hooks, t$train, steps = 1, after = function(s) s$close())
  })
})

test_that("a step function runs with and without hooks", {
  replay("run_step_fn", function(rec) {
    t <- toy()
    n <- 0
    step_fn <- function(step_context) {
      n <<- n + 1
      rec$add("step_fn", "called", call = n)
      step_context$session$run(t$f)
      rec$add("step_fn", "session_run_returned")
      if (n == 2) {
        rec$add("step_fn", "request_stop")
        step_context$request_stop()
      }
      r <- step_context$run_with_hooks(t$f)
      rec$add("step_fn", "run_with_hooks_returned", value = r)
      r
    }
    with(tf$train$MonitoredSession(hooks = trace_hook(rec, "A")) %as% s, {
      while (!s$should_stop()) {
        rec$add("loop", "run_step_fn_returned", value = s$run_step_fn(step_fn))
      }
    })
    rec$add("loop", "with_block_left", exception = NULL)
  })
  functions <- list(
    function(x) 1, function() 1, function(step_context, y) 1, function(step_context) 1
  )
  table <- goldens$run_step_fn_bad_arguments$table
  with(tf$Graph()$as_default(), {
    toy()
    for (i in 1:3) {
      expect_error(
        with(tf$train$MonitoredSession() %as% s, s$run_step_fn(functions[[i]])),
        table[[i]]$raised$message,
        fixed = TRUE, class = "runhooks_error_invalid_argument"
      )
    }
    with(tf$train$MonitoredSession() %as% s, expect_equal(s$run_step_fn(functions[[4]]), 1))
  })
})

test_that("the graph is finalized after begin() and unfinalized at close", {
  with_op_in <- function(where) {
    rec <- new_recorder()
    adds <- setNames(list(function(...) tf$constant(1, name = "added")), where)
    with(tf$Graph()$as_default(), {
      t <- toy()
      result <- drive(rec, monitored(trace_hook(rec, "A", on = adds)), t$train, steps = 1)
      finalized <- tf$get_default_graph()$finalized
    })
    own <- Filter(function(event) event$hook == "A", rec$events)
    list(
      op_added_in = where, surfaced = result$surfaced,
      methods_called = lapply(own, function(event) event$method),
      graph_finalized_after_close = finalized
    )
  }
  table <- goldens$graph_finalized$table
  for (row in table[1:5]) {
    if (!is.null(row$surfaced)) row$surfaced$is_a <- NULL
    expect_equal(json_form(with_op_in(row$op_added_in)), json_form(row))
  }
  with(tf$Graph()$as_default(), {
    rec <- new_recorder()
    t <- toy()
    tf$train$Scaffold()$finalize()
    result <- drive(rec, monitored(trace_hook(rec, "A")), t$train, steps = 1)
    expect_null(result$surfaced)
    expect_equal(rec$events[[1]]$graph_finalized, table[[6]]$graph_finalized_at_begin)
    expect_equal(tf$get_default_graph()$finalized, table[[6]]$graph_finalized_after_close)
  })
  replay("begin_adds_variable_and_fetch", function(rec) {
    t <- toy()
    adds <- function(hook, ...) {
      w <- tf$get_variable("w_of_hook", initializer = tf$constant(c(7, 8)))
      hook$fetch <- function() w
    }
    drive(rec, monitored(trace_hook(rec, "A", on = list(begin = adds))), t$train, steps = 1)
  })
})

test_that("MonitoredTrainingSession adds TensorFlow's hooks in its order", {
  dir <- withr::local_tempdir()
  replay("training_session_default_hooks", dir = dir, tags = "f_summary", function(rec) {
    t <- toy()
    tf$summary$scalar("f_summary", t$f)
    make <- function() {
      tf$train$MonitoredTrainingSession(
        checkpoint_dir = dir, hooks = list(A = trace_hook(rec, "A")),
        chief_only_hooks = list(B = trace_hook(rec, "B")), save_checkpoint_steps = 2,
        save_summaries_steps = 2, log_step_count_steps = 2
      )
    }
    drive(rec, make, t$train, steps = 3)
  })

  for (row in goldens$training_session_hook_lists$table) {
    dir <- withr::local_tempdir()
    arguments <- lapply(row$arguments, function(x) if (identical(x, "<DIR>")) dir else x)
    with(tf$Graph()$as_default(), {
      # A worker's session is ready only if nothing needs initialization.
      if (isFALSE(arguments$is_chief)) tf$constant(1) else toy()
      session <- do.call(tf$train$MonitoredTrainingSession, arguments)
      expect_equal(session$.hooks, as.character(unlist(row$hooks)))
      session$close()
    })
  }
})

test_that("a worker takes over the chief's variables, from its session or its checkpoints", {
  folder <- withr::local_tempdir()
  counter <- function() {
    step <- tf$train$get_or_create_global_step()
    w <- tf$get_variable("w", shape = 2L, initializer = tf$ones_initializer())
    list(step = step, w = w, add = tf$group(tf$assign_add(step, 1L), tf$assign_add(w, c(1, 2))))
  }
  with(tf$Graph()$as_default(), {
    graph <- counter()
    chief <- tf$train$MonitoredTrainingSession(checkpoint_dir = folder, save_checkpoint_steps = 1)
    chief$run(graph$add)
    chief$run(graph$add)
    worker <- tf$train$MonitoredTrainingSession(is_chief = FALSE)
    expect_equal(worker$run(list(graph$step, graph$w)), list(2, array(c(3, 5))))
    worker$run(graph$add)
    expect_equal(chief$run(graph$step), 2)
    worker$close()
    chief$close()
  })
  with(tf$Graph()$as_default(), {
    graph <- counter()
    seen <- NULL
    hook <- session_run_hook(
      after_create_session = function(session, coord) seen <<- session$run(graph$w)
    )
    worker <- tf$train$MonitoredTrainingSession(
      is_chief = FALSE, checkpoint_dir = folder, hooks = hook
    )
    expect_equal(seen, array(c(3, 5)))
    worker$close()
    # The creator waits for a missing checkpoint, up to `max_wait_secs`.
    creator <- tf$train$WorkerSessionCreator(
      max_wait_secs = 0.3, checkpoint_dir = withr::local_tempdir()
    )
    expect_error(
      tf$train$MonitoredSession(session_creator = creator), "was not ready after waiting 0.3 secs",
      class = "runhooks_error_deadline_exceeded"
    )
  })
})

test_that("a worker does not wait for a chief that cannot exist", {
  with(tf$Graph()$as_default(), {
    toy()
    expect_error(
      tf$train$MonitoredTrainingSession(is_chief = FALSE),
      "Session was not ready after waiting 7200 secs.",
      class = "runhooks_error_deadline_exceeded"
    )
  })
})

test_that("invalid fetches of the caller and of hooks are errors", {
  with(tf$Graph()$as_default(), {
    t <- toy()
    for (row in goldens$fetch_errors$table) {
      fetch <- row$fetches
      if (identical(fetch, list("f:0", NULL))) fetch <- list(t$f, NULL)
      if (identical(fetch, "3")) fetch <- 3
      asks <- function(context) tf$train$SessionRunArgs(fetch)
      hook <- session_run_hook(before_run = if (row$by == "hook") asks else function(context) NULL)
      asked <- if (row$by == "hook") t$f else fetch
      run <- function() with(tf$train$MonitoredSession(hooks = hook) %as% s, s$run(asked))
      if (is.null(row$raised)) {
        expect_equal(run(), 2.5)
        next
      }
      # Only messages about names are TensorFlow's; its others contain Python types.
      words <- regmatches(row$raised$message, regexpr("The name [^\"]*", row$raised$message))
      expect_error(run(), if (length(words)) words else "A fetch cannot be", fixed = TRUE)
    }
  })
})

test_that("a hook cannot run or close the session that calls it", {
  with(tf$Graph()$as_default(), {
    t <- toy()
    session <- NULL
    for (method in c("run", "close")) {
      hook <- session_run_hook(after_run = function(context, values) {
        if (method == "run") session$run(t$f) else session$close()
      })
      session <- tf$train$MonitoredSession(hooks = hook)
      expect_error(session$run(t$f), "cannot run or close the session")
      session$close()
      expect_true(session$should_stop())
    }
  })
})

test_that("a hook of a closed session is released, even if it refers to the session", {
  invisible(gc())
  before <- cpp_held_count()
  with(tf$Graph()$as_default(), {
    t <- toy()
    for (i in 1:3) {
      session <- tf$train$MonitoredSession(
        hooks = session_run_hook(after_run = function(context, values) session$should_stop)
      )
      session$run(t$train)
      session$close()
    }
  })
  rm(session, t)
  invisible(gc())
  expect_lte(cpp_held_count(), before)
})

test_that("options of several hooks are merged, and all receive the same metadata", {
  trace <- goldens$run_options_merge
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

test_that("a hook that tries to close its session cannot crash R", {
  for (method in c("end", "after_run")) {
    tf$reset_default_graph()
    tf$train$get_or_create_global_step()
    hook <- do.call(session_run_hook, stats::setNames(list(function(...) session$close()), method))
    session <- tf$train$MonitoredSession(hooks = list(hook))
    expect_error(
      {
        session$run(tf$train$get_global_step())
        session$close()
      },
      "cannot run or close the session", class = "runhooks_error_failed_precondition"
    )
    try(session$close(), silent = TRUE)
    expect_true(session$should_stop())
  }
})

test_that("a scaffold names an operation that is not one", {
  for (name in c("init_op", "local_init_op", "summary_op")) {
    error <- rlang::catch_cnd(do.call(tf$train$Scaffold, setNames(list(function() 1), name)))
    expect_match(conditionMessage(error), paste0("`", name, "` must be an operation"))
    error <- rlang::catch_cnd(do.call(tf$train$Scaffold, setNames(list("x"), name)))
    expect_match(conditionMessage(error), paste0("`", name, "` must be an operation"))
  }
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
