# Compares hook_checkpoint_saver() with TensorFlow's traces: times of saves, kept checkpoints, and
# calls of listeners.

goldens <- hook_goldens("checkpoint_saver")

# Runs a graph that increments the global step with a checkpoint saver hook. Returns a list: the
# steps of the checkpoints, the log lines, and the error that the caller received, if any.
run_saver <- function(dir, runs, ..., increment = 1L, secs_per_run = 0, max_to_keep = 5,
                      hours = 10000, relative = TRUE, look = function(run) NULL) {
  clock <- local_clock()
  with(tf$Graph()$as_default(), {
    graph <- counting_graph(increment)
    saver <- tf$train$Saver(
      sharded = TRUE, defer_build = TRUE, save_relative_paths = relative, max_to_keep = max_to_keep,
      keep_checkpoint_every_n_hours = hours
    )
    scaffold <- tf$train$Scaffold(saver = saver)
    hook <- tf$train$CheckpointSaverHook(dir, scaffold = scaffold, ...)
    creator <- tf$train$ChiefSessionCreator(scaffold = scaffold, checkpoint_dir = dir)
    outcome <- attempt(with(tf$train$MonitoredSession(creator, hooks = hook) %as% s, {
      look(0)
      for (run in seq_len(runs)) {
        clock$advance(secs_per_run)
        s$run(graph$op)
        look(run)
      }
    }))
  })
  saving <- regmatches(outcome$log, regexec("Saving checkpoints for ([0-9]+) into", outcome$log))
  outcome$saved_at <- as.list(as.numeric(unlist(lapply(saving, `[`, 2))))
  outcome$saved_at <- Filter(Negate(is.na), outcome$saved_at)
  outcome
}

steps_on_disk <- function(dir) {
  steps <- sub("^.*ckpt-([0-9]+)[.]index$", "\\1", list.files(dir, "[.]index$"))
  as.list(sort(as.numeric(steps)))
}

test_that("it saves at TensorFlow's steps", {
  for (row in goldens$save_steps_table$table) {
    dir <- withr::local_tempdir()
    if (row$start > 0) run_saver(dir, row$start, save_steps = 1000)
    outcome <- run_saver(dir, row$runs, save_steps = row$save_steps, increment = row$increment)
    expect_equal(outcome$saved_at, row$saved_at, info = one_line(row))
  }
})

test_that("it saves at TensorFlow's times", {
  for (row in goldens$save_secs_table$table) {
    dir <- withr::local_tempdir()
    outcome <- run_saver(
      dir, row$runs, save_secs = row$save_secs, secs_per_run = row$secs_per_run
    )
    expect_equal(outcome$saved_at, row$saved_at, info = one_line(row))
  }
})

test_that("the log, the files and the events match TensorFlow's", {
  golden <- goldens$save_steps_5_over_12
  dir <- withr::local_tempdir()
  outcome <- run_saver(dir, 12, save_steps = 5)
  expect_equal(outcome$saved_at, golden$saved_at)
  expect_log(outcome$log, golden$log, c("<DIR>" = dir))
  expect_files(dir, golden$files)
  expect_equal(state_form(dir), golden$checkpoint_state)
  expect_events(dir, golden$event_file, "<DIR>")
})

test_that("old checkpoints are deleted in order, including those of an earlier run", {
  for (golden in goldens$keep_checkpoint_max$table) {
    keep <- golden$keep_checkpoint_max
    dir <- withr::local_tempdir()
    expect_run <- function(runs, wanted) {
      rows <- list()
      outcome <- run_saver(dir, runs, save_steps = 2, max_to_keep = keep, look = function(run) {
        rows <<- c(rows, list(list(
          after_run = run, on_disk = steps_on_disk(dir), checkpoint_state = state_form(dir)
        )))
      })
      info <- paste("keep_checkpoint_max =", one_line(keep))
      expect_equal(outcome$saved_at, wanted$saved_at, info = info)
      expect_equal(json_form(rows), json_form(wanted$rows), info = info)
      expect_files(dir, wanted$final_files)
      expect_equal(state_form(dir), wanted$final_state, info = info)
    }
    expect_run(if (identical(keep, 3L)) 14 else 6, golden)
    expect_run(4, golden$second_run)
  }
})

test_that("keep_checkpoint_every_n_hours preserves checkpoints", {
  golden <- goldens$keep_checkpoint_every_n_hours
  dir <- withr::local_tempdir()
  rows <- list()
  look <- function(run) {
    listed <- regmatches(
      state_form(dir), gregexpr("all_model_checkpoint_paths: \"[^\"]*", state_form(dir))
    )
    row <- list(
      after_run = run, minutes = 20 * run, on_disk = steps_on_disk(dir),
      state_lists = as.list(sub("^.*\"", "", listed[[1]]))
    )
    rows <<- c(rows, list(row))
  }
  outcome <- run_saver(
    dir, 14, save_steps = 1, max_to_keep = 2, hours = 1, secs_per_run = 1200, look = look
  )
  expect_equal(outcome$saved_at, golden$saved_at)
  expect_equal(json_form(rows), json_form(golden$table))
  expect_files(dir, golden$final_files)
  expect_equal(state_form(dir), golden$final_state)
})

test_that("the state file has relative or absolute paths", {
  for (row in goldens$state_file_paths$table) {
    dir <- withr::local_tempdir()
    run_saver(dir, 2, save_steps = 1, relative = row$save_relative_paths)
    expect_equal(state_form(dir), row$checkpoint_state)
    expect_files(dir, row$files)
  }
})

test_that("the graph can be omitted, and the files renamed", {
  dir <- withr::local_tempdir()
  run_saver(dir, 2, save_steps = 5, save_graph_def = FALSE)
  expect_files(dir, goldens$save_graph_def_false$files)
  expect_events(dir, goldens$save_graph_def_false$event_file, "<DIR>")

  dir <- withr::local_tempdir()
  run_saver(dir, 2, save_steps = 5, checkpoint_basename = "m.x")
  expect_files(dir, goldens$checkpoint_basename$files)
  expect_equal(state_form(dir), goldens$checkpoint_basename$checkpoint_state)
  expect_events(dir, goldens$checkpoint_basename$event_file, "<DIR>")
})

# Runs a session whose only hook saves every 2 steps, with two listeners. `on` acts in the first
# one.
replay_listeners <- function(name, on = list(), ...) {
  golden <- goldens[[name]]
  dir <- withr::local_tempdir()
  rec <- new_recorder()
  with(tf$Graph()$as_default(), {
    graph <- counting_graph()
    listeners <- list(trace_listener(rec, "L1", on = on), trace_listener(rec, "L2"))
    hook <- hook_checkpoint_saver(
      dir, save_steps = 2, saver = tf$train$Saver(), listeners = listeners
    )
    outcome <- attempt(record_hook_calls(rec, drive(rec, monitored(hook), graph$op, ...)))
  })
  expect_whole_trace(rec, golden)
  expect_surfaced(outcome$returned$surfaced, golden$surfaced, name)
  if (!is.null(golden$log)) {
    expect_log(grep("requested that training", outcome$log, value = TRUE), golden$log)
  }
  if (!is.null(golden$files)) expect_files(dir, golden$files)
  if ("checkpoint_state" %in% names(golden)) {
    expect_equal(state_form(dir), golden$checkpoint_state, info = name)
  }
}

test_that("listeners are called around each save", {
  replay_listeners("listeners", steps = 5)
})

test_that("a listener stops the loop by any true value, except at the first save", {
  cases <- list(
    listener_returns_True_at_save_2 = list(TRUE, 2),
    listener_returns_True_at_save_1 = list(TRUE, 1), listener_returns_1_at_save_2 = list(1, 2),
    listener_returns_yes_at_save_2 = list("yes", 2)
  )
  for (name in names(cases)) {
    case <- cases[[name]]
    replay_listeners(
      name, on = list(after_save = function(n) if (n == case[[2]]) case[[1]]), limit = 8
    )
  }
})

test_that("an error of a listener reaches the caller", {
  for (where in c("begin", "before_save", "after_save", "end")) {
    at <- if (grepl("save", where)) 2 else 1
    raises <- function(n) if (n == at) raise("ValueError", paste("raised by L1 in", where))
    replay_listeners(
      paste0("listener_raises_in_", where), on = setNames(list(raises), where), steps = 3
    )
  }
})

# Functions that damage a folder with checkpoints of steps 0, 2 and 4.
damages <- list(
  intact = function(dir) NULL,
  state_file_deleted = function(dir) unlink(file.path(dir, "checkpoint")),
  newest_checkpoint_deleted = function(dir) {
    unlink(list.files(dir, "^model.ckpt-4", full.names = TRUE))
  },
  state_points_to_older = function(dir) {
    writeLines('model_checkpoint_path: "model.ckpt-2"', file.path(dir, "checkpoint"))
  },
  state_file_empty = function(dir) cat("", file = file.path(dir, "checkpoint")),
  state_file_garbage = function(dir) {
    writeLines("this is { not a state file", file.path(dir, "checkpoint"))
  }
)

# TensorFlow fails if the newest checkpoint is missing; we use the previous one.
goes_back <- function(row) {
  before <- Filter(function(x) x$case == "state_points_to_older", goldens$restore_cases$table)[[1]]
  fallback_line <- "The checkpoint before it, <DIR>/model.ckpt-2, is used."
  before$log <- c(
    before$log[1:2],
    paste(
      "WARN Checkpoint <DIR>/model.ckpt-4 cannot be restored: its files are missing.",
      fallback_line
    ),
    before$log[-(1:2)],
    paste("WARN Couldn't match files for checkpoint <DIR>/model.ckpt-4.", fallback_line)
  )
  before
}

test_that("a session starts at the checkpoint that the state file names", {
  for (row in goldens$restore_cases$table) {
    case <- row$case
    if (case == "newest_checkpoint_deleted") row <- goes_back(row)
    dir <- withr::local_tempdir()
    run_saver(dir, 4, save_steps = 2)
    damages[[case]](dir)
    with(tf$Graph()$as_default(), {
      graph <- counting_graph()
      outcome <- attempt({
        session <- tf$train$MonitoredTrainingSession(
          checkpoint_dir = dir, save_summaries_steps = NULL, save_summaries_secs = NULL,
          log_step_count_steps = NULL, save_checkpoint_secs = NULL
        )
        with(session %as% s, list(s$run(graph$step), s$run(graph$v), latest_checkpoint(dir)))
      })
    })
    expect_log(outcome$log, row$log, c("<DIR>" = dir), row$case)
    if (is.null(row$raised)) {
      expect_equal(outcome$returned[1:2], list(row$starts_at, row$v), info = row$case)
      newest <- outcome$returned[[3]]
      if (!is.null(newest)) newest <- sub(dir, "<DIR>", newest, fixed = TRUE)
      expect_equal(newest, row$latest_checkpoint, info = row$case)
    } else {
      expect_match(
        outcome$surfaced$message, sub("<DIR>", dir, row$raised$message, fixed = TRUE), fixed = TRUE
      )
    }
  }
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
