# Runs the R tests of the installed package: `Rscript tools/run_tests.R [--core=<log of cpptest>]
# [part of a name]`. The tests run in a child process, so that one that takes R down still leaves a
# last line: `N passed, N failed, N skipped`, the core's tests counted in.

no_counts <- c(passed = 0L, failed = 0L, skipped = 0L)
one_failure <- c(passed = 0L, failed = 1L, skipped = 0L)

last_line <- function(counts) paste(counts, names(counts), collapse = ", ")

# From the log of `make cpptest`; a log without the driver's last line is a failure.
core_counts <- function(log) {
  lines <- if (file.exists(log)) readLines(log, warn = FALSE) else character()
  pattern <- "^core: ([0-9]+) passed, ([0-9]+) failed$"
  line <- utils::tail(grep(pattern, lines, value = TRUE), 1)
  if (!length(line)) return(one_failure)
  number <- function(which) as.integer(sub(pattern, which, line))
  c(passed = number("\\1"), failed = number("\\2"), skipped = 0L)
}

# From testthat's list of results: expectations that passed, failures and errors, skips.
r_counts <- function(results) {
  expectations <- unlist(lapply(results, `[[`, "results"), recursive = FALSE)
  is_a <- function(kinds) {
    sum(vapply(expectations, inherits, NA, what = paste0("expectation_", kinds)))
  }
  c(passed = is_a("success"), failed = is_a(c("failure", "error")), skipped = is_a("skip"))
}

# Writes down which file runs, for the message when R dies in it.
place_reporter <- function(place) {
  R6::R6Class("PlaceReporter", inherit = testthat::Reporter, public = list(
    start_file = function(filename) writeLines(filename, place)
  ))$new()
}

run_child <- function(arguments) {
  place <- arguments[1]
  outcome <- arguments[2]
  filter <- if (length(arguments) > 2) arguments[3]
  folder <- file.path("tests", "testthat")
  # a name may be one of the core's tests only
  if (!is.null(filter) && !length(testthat::find_test_scripts(folder, filter = filter))) {
    message(sprintf("run_tests: no file of tests/testthat has `%s` in its name", filter))
    return(saveRDS(no_counts, outcome))
  }
  reporters <- list(testthat::CheckReporter$new(), place_reporter(place))
  results <- testthat::test_dir(
    folder,
    filter = filter, reporter = testthat::MultiReporter$new(reporters = reporters),
    stop_on_failure = FALSE, package = "runhooks", load_package = "installed"
  )
  # after a test that leaves R by quit() this is never written
  saveRDS(r_counts(results), outcome)
}

# The counts of the R tests, run by a child; it must write them and leave with 0.
run_in_child <- function(filter) {
  folder <- tempfile("run_tests")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  place <- file.path(folder, "place")
  outcome <- file.path(folder, "counts.rds")
  # snapshots and the tests of a run's life are meant for us, not for CRAN
  if (!nzchar(Sys.getenv("NOT_CRAN"))) Sys.setenv(NOT_CRAN = "true")
  rscript <- file.path(R.home("bin"), "Rscript")
  status <- system2(rscript, shQuote(c("tools/run_tests.R", "--child", place, outcome, filter)))
  if (status == 0 && file.exists(outcome)) return(readRDS(outcome))
  where <- if (file.exists(place)) readLines(place) else "no test file yet"
  message(sprintf("run_tests: R died (status %d) in tests/testthat: %s", status, where))
  NULL
}

run_tests <- function(arguments) {
  if ("--child" %in% arguments) {
    run_child(setdiff(arguments, "--child"))
    return(0L)
  }
  core <- sub("^--core=", "", grep("^--core=", arguments, value = TRUE))
  filter <- setdiff(arguments, grep("^--", arguments, value = TRUE))
  counts <- run_in_child(filter)
  if (is.null(counts)) {
    counts <- one_failure
  } else if (length(core)) {
    counts <- counts + core_counts(core)
  }
  cat(last_line(counts), "\n", sep = "")
  as.integer(counts[["failed"]] > 0)
}

if (sys.nframe() == 0L) quit(save = "no", status = run_tests(commandArgs(TRUE)))
