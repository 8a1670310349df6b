# Compares how errors end sessions with TensorFlow's traces.

goldens <- hook_goldens("session_errors")
replay <- replay_in(goldens)

raising <- function(rec, name, where, class, message, at = 1) {
  raises <- function(hook, a, v, n) if (n == at) raise(class, message)
  trace_hook(rec, name, on = setNames(list(raises), where))
}

test_that("an error of a hook ends the loop as in TensorFlow", {
  for (where in c("begin", "after_create_session", "before_run", "after_run", "end")) {
    for (class in c("ValueError", "StopIteration", "OutOfRangeError")) {
      name <- sprintf("hook_raises_%s_in_%s", class, where)
      message <- if (class == "OutOfRangeError") {
        "end of data, raised by a hook"
      } else {
        paste("raised by B in", where)
      }
      at <- if (where %in% c("before_run", "after_run")) 2 else 1
      replay(name, function(rec) {
        t <- toy()
        b <- raising(rec, "B", where, class, message, at)
        hooks <- monitored(trace_hook(rec, "A"), b, trace_hook(rec, "C"))
        drive(rec, hooks, t$train, steps = 3)
        finalized <- tf$get_default_graph()$finalized
        expect_equal(finalized, goldens[[name]]$graph_finalized_after, info = name)
      })
    }
  }
})

test_that("an error of an R function in the graph reaches the caller unchanged", {
  # Python's error is wrapped in one of TensorFlow's, whose text begins with its class.
  unwrapped <- function(event) {
    parts <- regmatches(event$message, regexec("^(\\w+): (.*)$", event$message))
    if (length(parts)) event[c("class", "message")] <- as.list(parts[[1]][2:3])
    event
  }
  for (class in c("StopIteration", "ValueError")) {
    name <- sprintf("py_func_raises_%s_in_run", class)
    golden <- goldens[[name]]
    golden$events <- lapply(golden$events, unwrapped)
    replay(name, golden = golden, function(rec) {
      toy()
      n <- 0
      fails <- function() {
        n <<- n + 1
        if (n == 2) raise(class, "raised by the op at run 2")
        n
      }
      op <- tf$py_func(fails, list(), tf$float32, stateful = TRUE, name = "raising_op")
      drive(rec, monitored(trace_hook(rec, "A"), trace_hook(rec, "B")), op)
    })
  }
})

# Returns a tensor of the next number in each run. The data end after the last number.
next_number <- function(numbers) {
  batch <- cpp_next_batch(list(x = numbers), "float32", 1, 1, FALSE, 0)
  batch[[1]]
}

test_that("the end of the data ends the block silently", {
  replay("out_of_range_in_run", function(rec) {
    toy()
    number <- tf$reduce_sum(next_number(c(1, 2)))
    op <- tf$identity(number)
    drive(rec, monitored(trace_hook(rec, "A"), trace_hook(rec, "B")), op)
  })
  replay("out_of_range_without_with_block", function(rec) {
    toy()
    number <- next_number(1)
    s <- tf$train$MonitoredSession(hooks = trace_hook(rec, "A"))
    s$run(number)
    e <- tryCatch(s$run(number), error = identity)
    do.call(rec$add, c(list("loop", "run_raised"), error_form(e)))
    rec$add("loop", "should_stop", value = s$should_stop())
    s$close()
    rec$add("loop", "closed")
  })
})

test_that("errors of the caller end the block by their exact class", {
  cases <- list(
    user_code_raises_in_with_block = function(s) raise("KeyError", "'from the caller'"),
    user_code_raises_StopIteration_in_with_block = function(s) {
      raise("StopIteration", "from the caller")
    },
    subclass_of_OutOfRange_in_with_block = function(s) {
      e <- tryCatch(stop_iteration("subclass"), error = identity)
      class(e) <- c("MyStop", class(e))
      stop(e)
    }
  )
  for (name in names(cases)) {
    replay(name, function(rec) {
      t <- toy()
      drive(rec, monitored(trace_hook(rec, "A")), t$train, steps = 1, after = cases[[name]])
    })
  }
})

test_that("an error that the coordinator received is raised at the end", {
  replay("coordinator_exception", function(rec) {
    t <- toy()
    report <- function(hook, context, values, n) {
      if (n == 1) hook$coord$request_stop(foreign_error("ValueError", "from a thread"))
    }
    a <- trace_hook(rec, "A", on = list(after_run = report))
    drive(rec, monitored(a, trace_hook(rec, "B")), t$train, limit = 3)
  })
})

test_that("a variable without an initializer is an error that names it", {
  replay("nothing_to_init_uninitialized", function(rec) {
    t <- toy()
    tf$get_variable("u", initializer = tf$constant(1))
    make <- function() {
      scaffold <- tf$train$Scaffold(init_op = t$v$initializer)
      tf$train$MonitoredSession(
        tf$train$ChiefSessionCreator(scaffold = scaffold), hooks = trace_hook(rec, "A")
      )
    }
    drive(rec, make, t$train, steps = 1)
  })
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
