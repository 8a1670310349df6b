# Helpers that kill processes of a distributed run at random moments. No step may be lost, and no
# process may hang.

begun_pids <- function(folder) {
  files <- list.files(folder, "^pid-", full.names = TRUE)
  pids <- suppressWarnings(vapply(files, function(file) as.integer(c(readLines(file), NA)[[1]]), 1L))
  pids[!is.na(pids)]
}

# Trains with `n` processes on the model in `folder`, kills one of them after `after` seconds and
# returns a row that describes the run. Kills none if the training has ended before.
killed_run <- function(folder, n, mpi, after, patience = 30) {
  unlink(list.files(folder, "^pid-", full.names = TRUE))
  process <- start_processes(list(folder = folder, scenarios = "many_steps", n = n, mpi = mpi))
  since <- proc.time()[[3]]
  passed <- function() proc.time()[[3]] - since
  while (process$is_alive() && (passed() < after || length(begun_pids(folder)) < n)) Sys.sleep(0.01)
  victim <- if (process$is_alive()) sample(begun_pids(folder), 1)
  if (!is.null(victim)) tools::pskill(victim, tools::SIGKILL)
  killed_at <- passed()
  process$wait(patience * 1000)
  hangs <- process$is_alive()
  if (hangs) process$kill_tree()
  data.frame(
    n = n, mpi = mpi, rank = if (is.null(victim)) NA else as.integer(sub(".*-", "", names(victim))),
    killed_at = round(killed_at, 2), ended_after = round(passed() - killed_at, 2), hangs = hangs,
    status = process$get_exit_status(), step = cpp_saved_global_step(file.path(folder, "many_steps"))
  )
}

# Kills `count` runs at random moments, each resumed by the next. The last run must end with the
# weights of an undisturbed run. Returns a row for each run, with problems in `wrong`.
kill_at_random <- function(count, n, mpi, place) {
  whole_folder <- file.path(place, paste0("whole-", n, "-", mpi))
  whole <- killed_run(whole_folder, n, mpi, after = Inf)
  if (whole$status != 0) stop("The undisturbed run failed.")
  weights_in <- function(folder) cluster_weights(latest_checkpoint(file.path(folder, "many_steps")))
  expected <- weights_in(whole_folder)
  rows <- NULL
  model <- 0
  kills <- 0
  last <- 0
  is_end <- FALSE
  while (kills < count || !is_end) {
    folder <- file.path(place, paste0("model-", n, "-", mpi, "-", model))
    after <- if (kills < count) stats::runif(1, 0, whole$killed_at) else Inf
    row <- killed_run(folder, n, mpi, after)
    kills <- kills + !is.na(row$rank)
    is_end <- identical(row$status, 0L)
    failed <- !is_end && is.na(row$rank)
    wrong <- c(
      if (failed) c("failed", readLines(paste0(folder, ".err"), warn = FALSE)),
      if (row$hangs) "hangs", if (row$step < last) "lost steps",
      if (row$step %% 5 != 0) "half a checkpoint",
      if (is_end && !identical(weights_in(folder), expected)) "other weights"
    )
    rows <- rbind(rows, cbind(row, wrong = paste(wrong, collapse = ", ")))
    is_end <- is_end || length(wrong) > 0
    last <- if (is_end) 0 else row$step
    if (is_end) model <- model + 1
  }
  rows
}
