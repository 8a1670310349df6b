# Kills the process, fails the call or fills the disk at file operations of saving, resuming and
# exporting. One complete state must remain, the next run resumes and removes leftovers, and a call
# without an error is complete. `make kills` tries every operation (FAULTS limits the number per
# scenario) and kills at random moments (KILLS). WAYS selects scenarios by a part of their names.

test_that("a kill or failure at any file operation loses nothing", {
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
  folder <- file.path(here, "runs")
  dir.create(folder)
  preloads <- trimws(paste(Sys.getenv("LD_PRELOAD"), shim)) # sanitizers must come first
  output <- processx::run(
    child_rscript(),
    c(
      normalizePath(test_path("faults_child.R")), folder, Sys.getenv("RUNHOOKS_FAULTS", "1"),
      Sys.getenv("RUNHOOKS_KILLS", "4"), property_seed("faults"), Sys.getenv("RUNHOOKS_WAYS", "")
    ),
    env = c(child_env(), RUNHOOKS_SHIM = shim, LD_PRELOAD = preloads), error_on_status = FALSE
  )
  lines <- strsplit(output$stdout, "\n")[[1]]
  expect_identical(grep("^wrong", lines, value = TRUE), character())
  if (!any(grepl("^done: ", lines))) {
    stop("the child has failed: ", output$stderr, paste(utils::tail(lines), collapse = "\n"))
  }
  message(paste(grep("^(tried|done): ", lines, value = TRUE), collapse = "\n"))
})
