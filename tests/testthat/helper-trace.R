# Records calls of R hooks in the format of TensorFlow's traces (golden/hooks), and defines the
# small model and training loop that these traces use.

new_recorder <- function() {
  rec <- new.env()
  rec$events <- list()
  rec$add <- function(hook, method, ...) {
    rec$events[[length(rec$events) + 1]] <- c(
      list(n = length(rec$events) + 1, hook = hook, method = method), list(...)
    )
    length(rec$events)
  }
  rec
}

read_step <- function(session) {
  step <- session$graph$get_collection("global_step")
  if (length(step)) session$run(step[[1]])
}

# Replaces the fetches in a structure by their names.
fetch_form <- function(x) {
  if (is.list(x)) return(lapply(x, fetch_form))
  if (inherits(x, "tensorflow.operation")) return(paste0("op:", x$name))
  if (inherits(x, c("tensorflow.tensor", "tensorflow.variable"))) x$name else x
}

# Returns feeds in the form of the goldens. `text`: the goldens record feeds from a caller as Python
# prints them.
feed_form <- function(feed_dict, text = FALSE) {
  if (is.null(feed_dict)) return(NULL)
  keys <- vapply(attr(feed_dict, "keys"), fetch_form, "")
  values <- unclass(feed_dict)
  attr(values, "keys") <- NULL
  if (text) values <- lapply(values, sprintf, fmt = "%.1f")
  setNames(values, keys)
}

# Creates a hook like TraceHook of hooks_common.py, which records its calls. `on` maps a method to
# function(hook, a, v, nth_call). `fetch` and `feed` are functions. `args = "given"` returns
# SessionRunArgs(NULL).
trace_hook <- function(rec, name, fetch = NULL, feed = NULL, on = list(), args = NULL) {
  self <- new.env()
  self$count <- list()
  self$fetch <- fetch
  act <- function(what, a = NULL, v = NULL) {
    self$count[[what]] <- sum(self$count[[what]], 1)
    if (!is.null(on[[what]])) on[[what]](self, a, v, self$count[[what]])
  }
  session_run_hook(
    begin = function() {
      rec$add(name, "begin", graph_finalized = tf$get_default_graph()$finalized)
      act("begin")
    },
    after_create_session = function(session, coord) {
      self$coord <- coord
      rec$add(
        name, "after_create_session",
        global_step = read_step(session), graph_finalized = session$graph$finalized
      )
      act("after_create_session", session)
    },
    before_run = function(context) {
      original <- context$original_args
      n <- rec$add(
        name, "before_run",
        global_step = read_step(context$session), original_fetches = fetch_form(original$fetches),
        original_feed_dict = feed_form(original$feed_dict, text = TRUE),
        stop_requested = context$stop_requested
      )
      act("before_run", context)
      asked <- if (!is.null(self$fetch)) self$fetch()
      fed <- if (!is.null(feed)) feed()
      if (is.null(asked) && is.null(fed) && is.null(args)) {
        rec$events[[n]]["returns"] <- list(NULL)
        return(NULL)
      }
      rec$events[[n]]$returns <- list(fetches = fetch_form(asked), feed_dict = feed_form(fed))
      tf$train$SessionRunArgs(asked, fed)
    },
    after_run = function(context, values) {
      rec$add(
        name, "after_run",
        global_step = read_step(context$session), results = values$results,
        stop_requested = context$stop_requested
      )
      act("after_run", context, values)
    },
    end = function(session) {
      rec$add(name, "end", global_step = read_step(session), session_is_null = is.null(session))
      act("end", session)
    }
  )
}

# Creates an error from outside the package, with the name of the golden's Python class.
foreign_error <- function(class, message) {
  structure(class = c(class, "error", "condition"), list(message = message, call = NULL))
}

raise <- function(class, message) {
  condition <- switch(class,
    OutOfRangeError = , AbortedError = ,
    UnavailableError = tf$errors[[class]](NULL, NULL, message),
    StopIteration = tryCatch(stop_iteration(message), error = identity),
    foreign_error(class, message)
  )
  stop(condition)
}

python_classes <- c(
  out_of_range = "OutOfRangeError", stop_iteration = "StopIteration", aborted = "AbortedError",
  unavailable = "UnavailableError", failed_precondition = "RuntimeError",
  nan_loss = "NanLossDuringTrainingError"
)

error_form <- function(condition) {
  class <- class(condition)[[1]]
  kind <- sub("^runhooks_error_", "", class)
  if (kind %in% names(python_classes)) class <- python_classes[[kind]]
  # Removes the location that add_hook_location() appends.
  message <- sub("\n  \\(in .*$", "", condition$message[[1]])
  list(class = class, message = message)
}

# --- the toy model and the loop of g_session.py

toy <- function() {
  t <- new.env()
  t$gs <- tf$train$get_or_create_global_step()
  t$v <- tf$get_variable("v", initializer = tf$constant(10))
  t$f <- tf$constant(2.5, name = "f")
  t$i <- tf$constant(1:3, name = "i")
  t$s <- tf$constant("hello", name = "s")
  t$b <- tf$constant(TRUE, name = "b")
  t$noop <- tf$no_op(name = "noop")
  t$x <- tf$placeholder_with_default(tf$constant(0), list(), name = "x")
  t$y <- tf$placeholder_with_default(tf$constant(0), list(), name = "y")
  t$sum <- tf$add(t$x, t$y, name = "sum")
  increment <- tf$assign_add(t$gs, 1L)
  with(tf$control_dependencies(list(increment)), {
    t$train <- tf$group(t$v$assign_add(1), name = "train_op")
  })
  t
}

drive <- function(
  rec, make, fetch,
  steps = NULL, feed = NULL, after = NULL, limit = 12
) {
  loop <- function(s) {
    n <- 0
    repeat {
      stops <- s$should_stop()
      if (n && stops) rec$add("loop", "should_stop", value = TRUE)
      if (stops || (!is.null(steps) && n >= steps) || n >= limit) break
      rec$add("loop", "run", call = n + 1)
      value <- withCallingHandlers(
        s$run(fetch, feed_dict = feed),
        error = function(e) do.call(rec$add, c(list("loop", "run_raised"), error_form(e)))
      )
      rec$add("loop", "run_returned", value = value)
      n <- n + 1
    }
    if (!is.null(after)) after(s)
  }
  surfaced <- tryCatch(
    {
      with(make() %as% s, loop(s))
      rec$add("loop", "with_block_left", exception = NULL)
      NULL
    },
    error = function(e) {
      do.call(rec$add, c(list("loop", "surfaced"), error_form(e)))
      error_form(e)
    }
  )
  list(surfaced = surfaced)
}

stopper <- function(rec, name, where, at = 1) {
  stop_at <- function(hook, context, values, n) if (n == at) context$request_stop()
  trace_hook(rec, name, on = setNames(list(stop_at), where))
}

monitored <- function(...) {
  hooks <- list(...)
  function() tf$train$MonitoredSession(hooks = hooks)
}

# Converts values to what JSON represents: without dimensions, vectors as lists, [] and {} equal.
json_form <- function(x) {
  if (is.list(x)) return(if (length(x)) lapply(x, json_form) else list())
  if (is.null(x) || (length(x) == 1 && is.null(dim(x)))) {
    return(if (is.numeric(x)) as.numeric(x) else x)
  }
  lapply(as.vector(x), json_form)
}

# Converts an event to the form of the goldens. Drops fields that describe Python types.
event_form <- function(event) {
  event <- json_form(event[setdiff(names(event), c("n", "results_type", "is_a"))])
  if (!is.null(event$message)) event$message <- core_of_message(event$message)
  event
}

# Returns the part of a message before details that differ between TensorFlow and us.
core_of_message <- function(message) {
  message <- sub("(?s)\n[ix] .*$", "", perl = TRUE, sub(" Conflict.*$", "", message))
  sub(" \\[\\[node .*$", "", sub("^\\[[^]]*\\] ", "", message))
}

trace_form <- function(events) lapply(events, event_form)

one_line <- function(event) {
  as.character(jsonlite::toJSON(event, auto_unbox = TRUE, null = "null", digits = NA))
}

expect_trace <- function(rec, golden_events) {
  actual <- vapply(trace_form(rec$events), one_line, "")
  golden <- vapply(trace_form(golden_events), one_line, "")
  testthat::expect_identical(actual, golden)
}

# Returns the scenarios of these groups and records which are used. The last test of a file calls
# expect_all_replayed() to detect unused ones.
hook_goldens <- function(...) {
  goldens <- new.env()
  goldens$scenarios <- list()
  goldens$asked <- character()
  for (group in c(...)) {
    file <- golden_path("hooks", paste0(group, ".json"))
    for (scenario in jsonlite::fromJSON(file, simplifyVector = FALSE)$scenarios) {
      goldens$scenarios[[scenario$name]] <- scenario
    }
  }
  structure(list(goldens), class = "hook_goldens")
}

`[[.hook_goldens` <- function(x, i) {
  goldens <- unclass(x)[[1]]
  if (!i %in% names(goldens$scenarios)) stop("there is no scenario ", i)
  goldens$asked <- union(goldens$asked, i)
  goldens$scenarios[[i]]
}
`$.hook_goldens` <- function(x, name) x[[name]]

expect_all_replayed <- function(goldens) {
  goldens <- unclass(goldens)[[1]]
  missing <- setdiff(names(goldens$scenarios), goldens$asked)
  testthat::expect_identical(missing, character())
}

# Builds a graph whose only step adds 1 to the global step, and runs it `n` times in a loop with
# hooks.
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
