# Simulates systems without optional features. RUNHOOKS_DISABLE (base/platform.h) enables the
# fallbacks.

run_without <- function(features) {
  here <- withr::local_tempdir(.local_envir = parent.frame())
  output <- processx::run(
    child_rscript(), c(normalizePath(test_path("fallbacks_child.R")), here),
    env = c(child_env(), RUNHOOKS_DISABLE = features), error_on_status = FALSE
  )
  result <- file.path(here, "result.rds")
  if (!file.exists(result)) stop("the child has failed: ", output$stderr)
  readRDS(result)
}

test_that("training, saving and exporting give the same results without optional features", {
  skip_if_not_installed("processx")
  whole <- run_without("")
  expect_equal(whole$step, 6)
  expect_equal(whole$notes, "mine")
  expect_equal(whole$runs, 2)
  expect_identical(run_without("all"), whole)
})

test_that("a training that is killed on a system without locks does not block the next one", {
  skip_if_not_installed("processx")
  skip_on_os("windows") # SIGKILL
  for (features in c("ofd_locks", "file_locks", "all")) {
    folder <- withr::local_tempdir()
    start <- function() {
      processx::process$new(
        child_rscript(), c(normalizePath(test_path("run_child.R")), folder), stdout = "|",
        stderr = "2>&1", env = c(child_env(), RUNHOOKS_DISABLE = features)
      )
    }
    wait_for_training <- function(child) {
      output <- character()
      while (child$is_alive() && !"training" %in% output) {
        child$poll_io(1000)
        output <- c(output, child$read_output_lines())
      }
      if (!"training" %in% output) stop("the child has failed: ", paste(output, collapse = "\n"))
    }
    kill <- function(child) {
      tools::pskill(child$get_pid(), tools::SIGKILL)
      child$wait()
    }
    first <- start()
    wait_for_training(first)
    # While it runs, no other process can train in the folder.
    second <- start()
    second$wait()
    expect_match(
      paste(second$read_all_output_lines(), collapse = "\n"), "Another training runs in directory", label = features
    )
    expect_true(first$is_alive())
    kill(first)
    reached <- cpp_saved_global_step(folder)
    expect_gte(reached, 10)
    third <- start()
    wait_for_training(third)
    kill(third)
    expect_gt(cpp_saved_global_step(folder), reached, label = features)
  }
})

test_that("an unknown feature in RUNHOOKS_DISABLE is an error", {
  skip_if_not_installed("processx")
  output <- processx::run(
    child_rscript(), c("-e", "library(runhooks)"),
    env = c(child_env(), RUNHOOKS_DISABLE = "mmap,nothing"), error_on_status = FALSE
  )
  expect_false(output$status == 0)
  expect_match(output$stderr, "RUNHOOKS_DISABLE names 'nothing'", fixed = TRUE)
})
