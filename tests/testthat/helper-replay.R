# Replays scenarios of golden/hooks: calls of built-in hooks, the log, the files and the clock, as
# hooks_common.py recorded them. helper-trace.R handles user-defined hooks.

# --- differences between the goldens' hooks and ours

# TensorFlow initializes its iterators in a hook. M and N belong to a custom model function, which a
# linear model replaces here.
hooks_without_counterpart <- c("_DatasetInitializerHook", "M", "N")
hooks_of_ours <- c("HistorySaverHook", "ProgressBarHook", "LastStepHook")

# The recorder's hook H records results only.
is_traced_hook <- function(name) grepl("Hook$|^H$", name) && !name %in% hooks_of_ours

# Replaces functions of the package for the duration of a test.
local_replaced <- function(..., .local_envir = parent.frame()) {
  new <- list(...)
  package <- asNamespace("runhooks")
  old <- mget(names(new), envir = package)
  put <- function(functions) {
    for (name in names(functions)) {
      unlockBinding(name, package)
      assign(name, functions[[name]], envir = package)
      lockBinding(name, package)
    }
  }
  put(new)
  withr::defer(put(old), envir = .local_envir)
}

# Replaces saved_model_export(). Writes as much of an export as the traces need.
fake_export <- function(rec, dir) {
  time <- 1700000000
  function(...) {
    function(estimator, export_path, checkpoint_path) {
      rec$add("estimator", "export_saved_model",
        export_dir_base = sub(dir, "<MODEL_DIR>", export_path, fixed = TRUE),
        checkpoint = sub(dir, "<MODEL_DIR>", checkpoint_path, fixed = TRUE)
      )
      time <<- time + 1
      folder <- file.path(export_path, format(time, scientific = FALSE))
      dir.create(file.path(folder, "variables"), recursive = TRUE)
      parts <- c("saved_model.pb", "variables/variables.index",
        "variables/variables.data-00000-of-00001")
      file.create(file.path(folder, parts))
      folder
    }
  }
}

# Replaces the core's clock by one that advances only on request.
local_clock <- function(.local_envir = parent.frame()) {
  clock <- new.env()
  clock$now <- floor(as.numeric(Sys.time())) # files of earlier runs have real timestamps
  clock$advance <- function(secs) {
    clock$now <- clock$now + secs
    cpp_clock_set(clock$now)
  }
  clock$advance(0)
  withr::defer(cpp_clock_set(NULL), envir = .local_envir)
  clock
}

# Evaluates `expr` and records each call of a built-in hook and the hook lists of loops in `rec`.
# Calls `each_run()` before each run of a loop.
record_hook_calls <- function(rec, expr, each_run = function() {}) {
  first_hooks <- character()
  loops <- 0
  last_call <- 0
  note_loop <- function(names) {
    loops <<- loops + 1
    # Nested loops add their first hook. Package hooks are skipped, because they occur in both loops.
    first_hooks <<- union(first_hooks, utils::head(setdiff(names, hooks_of_ours), 1))
    shown <- as.list(setdiff(names, hooks_of_ours))
    rec$add("session", "created_with_hooks", session = loops, hooks = shown)
  }
  note_call <- function(method, name, session) {
    if (method == "before_run" && name %in% first_hooks) each_run()
    if (!is_traced_hook(name) || !method %in% names(hook_methods)[1:5]) return()
    step <- if (!is.null(session)) list(global_step = read_step(session))
    last_call <<- do.call(rec$add, c(list(name, method), step))
  }
  cpp_observe_loops(function(what, names, session) {
    switch(what,
      loop_made = if (length(names)) note_loop(names),
      stop_requested = if (is_traced_hook(names)) rec$events[[last_call]]$requests_stop <- TRUE,
      note_call(what, names, session)
    )
  })
  on.exit(cpp_observe_loops(NULL))
  expr
}

trace_listener <- function(rec, name, on = list()) {
  counts <- list()
  act <- function(method) {
    counts[[method]] <<- sum(counts[[method]], 1)
    if (!is.null(on[[method]])) on[[method]](counts[[method]])
  }
  note <- function(method, step) {
    n <- rec$add(name, method, global_step_value = step)
    returned <- act(method)
    if (method == "after_save") rec$events[[n]]["returns"] <- list(returned)
    returned
  }
  checkpoint_saver_listener(
    begin = function() {
      rec$add(name, "begin")
      act("begin")
    },
    before_save = function(session, global_step) note("before_save", global_step),
    after_save = function(session, global_step) note("after_save", global_step),
    end = function(session, global_step) note("end", global_step)
  )
}

# Evaluates `expr`. Returns list(returned, surfaced, log): the value, the form of the error, and log
# lines from INFO on as "LEVEL text".
attempt <- function(expr) {
  cpp_reset_log_counts()
  before <- tf$logging$get_verbosity()
  tf$logging$set_verbosity(tf$logging$INFO)
  on.exit(tf$logging$set_verbosity(before))
  log <- character()
  surfaced <- NULL
  keep <- function(line) {
    log <<- c(log, paste(line$level, line$text))
    invokeRestart("muffleMessage")
  }
  returned <- withCallingHandlers(
    tryCatch(expr, error = function(e) {
      surfaced <<- error_form(e)
      NULL
    }),
    runhooks_log = keep,
    # Other messages of tfestimators are dropped.
    message = function(m) if (!inherits(m, "runhooks_log")) invokeRestart("muffleMessage")
  )
  list(returned = returned, surfaced = surfaced, log = log)
}

# Removes parts that differ between runs. Metrics other than the loss have other names in a linear
# model.
log_form <- function(lines, dirs = character()) {
  for (tag in names(dirs)) lines <- gsub(dirs[[tag]], tag, lines, fixed = TRUE)
  lines <- sub("Inference Time : [0-9.]+s", "Inference Time : <SECS>s", lines)
  lines <- sub("evaluation at [0-9]{4}-.*$", "evaluation at <TIME>", lines)
  lines <- sub("listener: .*$", "listener", lines)
  sub("(Saving dict for global step [0-9]+): .*[ ,](loss = [^,]*).*$", "\\1: \\2", lines)
}

golden_log <- function(golden) {
  lines <- vapply(golden, function(line) {
    if (is.character(line)) line else paste(line$level, line$message)
  }, "")
  log_form(lines)
}

expect_log <- function(log, golden, dirs = character(), info = NULL) {
  testthat::expect_identical(log_form(log, dirs), golden_log(golden), info = info)
}

# Compares the files of a folder. We write the event files of a training to logs/. The goldens'
# number of them depends on whether two runs began in the same second.
expect_files <- function(dir, golden) {
  files <- sub("^logs/", "", list.files(dir, recursive = TRUE, all.files = TRUE))
  # TensorFlow has no such metadata files.
  files <- setdiff(files, c(record_file, runs_file))
  files <- sub("events[.]out[.]tfevents[.].*$", "events.out.tfevents.<SECS>.<HOST>", files)
  testthat::expect_setequal(files, unlist(golden))
}

state_form <- function(dir, tag = "<DIR>") {
  file <- file.path(dir, "checkpoint")
  if (!file.exists(file)) return(NULL)
  gsub(dir, tag, paste0(readLines(file), "\n", collapse = ""), fixed = TRUE)
}

# Returns the events of a folder's event files in the form of the goldens.
events_form <- function(dir, tag = "<DIR>") {
  if (dir.exists(file.path(dir, "logs"))) dir <- file.path(dir, "logs")
  files <- list.files(dir, "tfevents", full.names = TRUE)
  events <- do.call(c, lapply(files, cpp_read_all_events))
  lapply(events, function(event) {
    form <- list(step = event$step, what = event$what)
    if (event$what == "session_log") {
      form$status <- c("START", "STOP", "CHECKPOINT")[[event$status]]
      if (nzchar(event$checkpoint_path)) {
        form$checkpoint_path <- file.path(tag, basename(event$checkpoint_path))
      }
    }
    if (event$what == "summary") form$values <- event$values
    form
  })
}

# Returns the events of a golden in the form of events_form(). `tags` maps tags to our names, and NA
# drops them.
golden_events <- function(golden, tags = identity) {
  lapply(golden, function(event) {
    form <- list(step = event$step, what = event$what)
    if (event$what == "session_log") form$status <- event$status
    form$checkpoint_path <- event$checkpoint_path
    if (event$what == "summary") {
      names <- tags(vapply(event$values, function(value) value$tag, ""))
      values <- setNames(lapply(event$values, function(value) value$simple_value), names)
      form$values <- values[!is.na(names)]
    }
    form
  })
}

# Drops events without a counterpart, and replaces objects by the names of their classes.
replayable <- function(events) {
  plain <- function(names) sub("#[0-9]+$", "", names)
  events <- lapply(events, function(event) {
    event$hook <- plain(event$hook)
    if (!is.null(event$hooks)) {
      event$hooks <- as.list(setdiff(plain(unlist(event$hooks)), hooks_without_counterpart))
    }
    # TensorFlow counts the runs of an evaluation in the graph.
    if (is.list(event$original_fetches)) {
      is_count <- grepl("^AssignAddVariableOp", event$original_fetches)
      event$original_fetches <- event$original_fetches[!is_count]
    }
    # The fetches of built-in hooks are an implementation detail.
    if (is_traced_hook(event$hook)) event$returns <- NULL
    event
  })
  Filter(function(event) !event$hook %in% hooks_without_counterpart, events)
}

# Renames tensors of the goldens' model to those of a linear model, by `names`.
rename_fetches <- function(events, names) {
  rename <- function(x) {
    if (is.list(x)) return(lapply(x, rename))
    if (is.character(x) && x %in% names(names)) names[[x]] else x
  }
  lapply(events, function(event) {
    if (!is.null(event$original_fetches)) event$original_fetches <- rename(event$original_fetches)
    event
  })
}

expect_whole_trace <- function(rec, golden, names = character()) {
  rec$events <- rename_fetches(rec$events, names)
  expect_trace(rec, replayable(golden$events))
}

# --- the goldens' model, y = w * x + b, as a linear model

golden_model_of <- function(config = list(), .local_envir = parent.frame()) {
  defaults <- list(tf_random_seed = 1, save_checkpoints_steps = 100)
  defaults[names(config)] <- config
  dir <- withr::local_tempdir(.local_envir = .local_envir)
  do.call(toy_model, c(list(dir), defaults))
}

toy_names <- c(
  "op:linear/head/GradientDescent" = "op:GradientDescent",
  "linear/head/weighted_loss/value:0" = "Mean:0"
)

evaluation_names <- c("op:group_deps" = "op:group_deps")
prediction_names <- c("linear/linear_model/linear_model/linear_model/weighted_sum:0" = "add:0")

toy_batches <- function(n) {
  rows <- function(values) rep(values, length.out = 2 * n)
  data <- list(x = rows(c(1, 2, 3, 4)), y = rows(c(3, 5, 7, 9)))
  options <- list(batch_size = 2, shuffle = FALSE, num_epochs = 1)
  function() next_rows(encoded_rows(data, 1L), "x", "y", options)
}

shown_tags <- c("loss", "global_step/sec")

# Compares the event files of a folder, without summaries that only one of the two models has.
expect_events <- function(dir, golden, tag = "<MODEL_DIR>", tags = shown_tags) {
  shown <- function(names) ifelse(names %in% tags, names, NA)
  actual <- lapply(events_form(dir, tag), function(event) {
    if (!is.null(event$values)) event$values <- event$values[names(event$values) %in% tags]
    event
  })
  testthat::expect_equal(actual, golden_events(golden, shown), tolerance = 1e-6)
}

# Returns a function that replays a scenario in a new graph and compares its trace and further
# results. `dir` is the output folder.
replay_in <- function(goldens) {
  function(name, scenario, golden = goldens[[name]], dir = NULL, tags = shown_tags) {
    rec <- new_recorder()
    is_observed <- golden$events[[1]]$method == "created_with_hooks"
    run <- function() with(tf$Graph()$as_default(), scenario(rec))
    outcome <- attempt(if (is_observed) record_hook_calls(rec, run()) else run())
    if (!is.null(outcome$surfaced)) stop(outcome$surfaced$message)
    expect_whole_trace(rec, golden)
    if (!is.null(golden$log)) expect_log(outcome$log, golden$log, c("<DIR>" = dir), name)
    if (!is.null(golden$files)) expect_files(dir, golden$files)
    if (!is.null(golden$checkpoint_state)) {
      testthat::expect_equal(state_form(dir), golden$checkpoint_state, info = name)
    }
    if (!is.null(golden$event_file)) expect_events(dir, golden$event_file, "<DIR>", tags)
    invisible(outcome$returned)
  }
}

expect_surfaced <- function(surfaced, golden, info = NULL) {
  if (is.null(golden)) return(testthat::expect_null(surfaced, info = info))
  testthat::expect_identical(surfaced$class, golden$class, info = info)
  testthat::expect_identical(
    core_of_message(surfaced$message), core_of_message(golden$message), info = info
  )
}

# Builds the graph of counting_graph() in g_builtin.py: a step that grows by `increment` in each
# run, and a variable.
counting_graph <- function(increment = 1L) {
  g <- new.env()
  g$step <- tf$train$get_or_create_global_step()
  g$v <- tf$get_variable("v", initializer = tf$constant(10))
  with(tf$control_dependencies(list(tf$assign_add(g$step, as.integer(increment)))), {
    g$op <- tf$group(g$v$assign_add(1), name = "train_op")
  })
  g
}
