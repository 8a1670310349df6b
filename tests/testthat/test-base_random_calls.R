# Whoever calls a function with the wrong thing is told which argument, what it was and what is
# expected: every exported function and every function below tf, with arguments drawn at random. A
# sample here, all of it at night.

skip_on_cran()
skip_if_not_installed("processx")

# A process that makes `calls` calls from this seed on, and what it leaves behind.
start_calls <- function(seed, calls, folder) {
  at <- file.path(folder, seed)
  dir.create(at)
  run <- list(at = file.path(at, "at"), found = file.path(at, "found"), said = file.path(at, "said"))
  file.create(unlist(run))
  run$process <- processx::process$new(
    child_rscript(), c(test_path("random_calls.R"), seed, calls, run$at, run$found),
    env = child_env(), stdout = run$said, stderr = "2>&1"
  )
  run
}

# The calls whose error says nothing, and what ended R or stands still.
findings <- function(run, patience = 60) {
  moved <- Sys.time()
  seen <- ""
  while (run$process$is_alive()) {
    now <- readLines(run$at)
    if (!identical(now, seen)) {
      seen <- now
      moved <- Sys.time()
    }
    if (Sys.time() > moved + patience) run$process$kill()
    Sys.sleep(0.02)
  }
  at <- readLines(run$at)
  ended <- if (!identical(at, "done")) {
    paste(c("ends or stands still at", at, utils::tail(readLines(run$said), 5)), collapse = "\n")
  }
  c(readLines(run$found), ended)
}

test_that("random calls give a value, or an error that says what is wrong", {
  # the sample is always the same: a finding of the night's is none of what somebody changes by day
  seed <- at_length(property_seed("random calls"), 20000)
  message("random calls: begin at seed ", seed)
  calls <- at_length(10000, 125)
  folder <- withr::local_tempdir()
  runs <- lapply(seed + c(0, 5e5), start_calls, calls = calls, folder = folder)
  withr::defer(for (run in runs) run$process$kill())
  expect_identical(unlist(lapply(runs, findings)), character())
})
