# Every exported function and every function of tf is called with random arguments, and must return
# a value or an informative error. The suite runs a sample; `make nightly` runs all.

skip_on_cran()
skip_if_not_installed("processx")

# Starts a process that makes `calls` calls with the seed `seed`. Returns it and its output files.
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

# Returns calls with uninformative errors, and calls that ended R or hung.
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

test_that("random calls return a value or an informative error", {
  # The suite's sample is fixed, so that a failure is due to the change under test.
  seed <- at_length(property_seed("random calls"), 20000)
  message("random calls: begin at seed ", seed)
  calls <- at_length(10000, 125)
  folder <- withr::local_tempdir()
  runs <- lapply(seed + c(0, 5e5), start_calls, calls = calls, folder = folder)
  withr::defer(for (run in runs) run$process$kill())
  expect_identical(unlist(lapply(runs, findings)), character())
})
