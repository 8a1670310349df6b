# Every change of a file in saving, resuming and exporting is where a run may be killed or a call
# fail: one whole state stands, the next run goes on and removes what is left. RUNHOOKS_KILLS says
# how many are killed at any moment, too; from 20 on (`make kills`) every single change is tried.

test_that("whoever is killed or fails at a change of a file has lost nothing", {
  skip_if_not_installed("processx")
  skip_on_os(c("windows", "mac", "solaris")) # LD_PRELOAD
  here <- withr::local_tempdir()
  shim <- file.path(here, "faults.so")
  compiler <- strsplit(system2(file.path(R.home("bin"), "R"), c("CMD", "config", "CC"), TRUE), " ")
  built <- processx::run(
    compiler[[1]][[1]],
    c("-shared", "-fPIC", "-O1", normalizePath(test_path("faults.c")), "-o", shim, "-ldl"),
    error_on_status = FALSE
  )
  if (built$status != 0) stop("faults.c does not compile: ", built$stderr)
  kills <- as.numeric(Sys.getenv("RUNHOOKS_KILLS", "3"))
  faults <- if (kills >= 20) 1e6 else 1
  folder <- file.path(here, "runs")
  dir.create(folder)
  said <- processx::run(
    child_rscript(),
    c(normalizePath(test_path("faults_child.R")), folder, faults, kills, property_seed("faults")),
    env = c(child_env(), LD_PRELOAD = shim), error_on_status = FALSE
  )
  lines <- strsplit(said$stdout, "\n")[[1]]
  expect_identical(grep("^wrong", lines, value = TRUE), character())
  if (!any(grepl("^done: ", lines))) {
    stop("the child has failed: ", said$stderr, paste(utils::tail(lines), collapse = "\n"))
  }
  message(paste(grep("^(tried|done): ", lines, value = TRUE), collapse = "\n"))
})
