# Kills runs at random moments and restarts them. RUNHOOKS_KILLS is the number of kills (20 in `make
# kills`). RUNHOOKS_SEED repeats the moments as far as possible.

train_child <- function(folder, steps, kind) {
  script <- normalizePath(test_path("kill_child.R"))
  processx::process$new(
    child_rscript(), c(script, folder, steps, kind), stdout = "|", stderr = "2>&1", env = child_env()
  )
}

# Returns the output until the line `last` or the end of the process.
wait_for <- function(child, last) {
  output <- character()
  while (child$is_alive() || child$is_incomplete_output()) {
    child$poll_io(1000)
    output <- c(output, child$read_output_lines())
    if (last %in% output) break
  }
  output
}

run_to_end <- function(folder, steps, kind) {
  child <- train_child(folder, steps, kind)
  output <- wait_for(child, "done")
  child$wait()
  if (!"done" %in% output) stop("the child has failed: ", paste(output, collapse = "\n"))
}

# Runs a training and kills it after `seconds`. Returns TRUE if it was killed during training.
run_and_kill <- function(folder, steps, kind, seconds) {
  child <- train_child(folder, steps, kind)
  output <- wait_for(child, "training")
  if (!"training" %in% output) stop("the child has failed: ", paste(output, collapse = "\n"))
  Sys.sleep(seconds)
  hit <- child$signal(tools::SIGKILL) # $kill() of newer processx sends SIGTERM first
  child$wait()
  hit && identical(child$get_exit_status(), -9L)
}

values_in <- function(folder) {
  path <- latest_checkpoint(folder)
  cpp_checkpoint_values(path, checkpoint_names(path))
}

expect_same_after_kills <- function(kind, kills) {
  steps <- 100 * (kills + 1)
  set.seed(property_seed("kills"))
  moments <- stats::runif(kills, 0, 0.3)
  here <- withr::local_tempdir()
  whole <- file.path(here, "whole")
  killed <- file.path(here, "killed")
  run_to_end(whole, steps, kind)
  hits <- 0
  reached <- numeric()
  for (seconds in moments) {
    hits <- hits + run_and_kill(killed, steps, kind, seconds)
    reached <- c(reached, cpp_saved_global_step(killed))
  }
  message("killed at checkpoints ", paste(reached, collapse = " "), " of ", steps)
  expect_equal(hits, kills)
  # The kills happened during the run, neither all before the first step nor after the last one.
  expect_gt(max(reached), 0)
  expect_lt(max(reached), steps)
  run_to_end(killed, steps, kind)
  expect_identical(values_in(killed), values_in(whole))
}

test_that("a run that was killed repeatedly ends with the bits of an uninterrupted one", {
  skip_if_not_installed("processx")
  skip_on_os("windows") # no signals there
  expect_same_after_kills("deep", as.numeric(Sys.getenv("RUNHOOKS_KILLS", "3")))
})

test_that("killed tree trainings, also within a tree or layer, end with the same bits", {
  skip_if_not_installed("processx")
  skip_on_os("windows")
  expect_same_after_kills("trees", as.numeric(Sys.getenv("RUNHOOKS_KILLS", "2")))
})
