# Runs the R tests of the installed package: `Rscript tools/run_tests.R [--core=<log of cpptest>]
# [--lint=<log of lint>] [part of a name]`. Tests run in two child processes, so that a crash of R
# still gives the last line `N passed, N failed, N skipped`, which includes the counts of the other
# logs. Names of failed tests are printed above it. Each test file starts with the same seed;
# property tests use RUNHOOKS_SEED, which is drawn and printed if it is not set.

zero_counts <- c(passed = 0L, failed = 0L, skipped = 0L)
one_failure <- c(passed = 0L, failed = 1L, skipped = 0L)

summary_line <- function(counts) paste(counts, names(counts), collapse = ", ")

# Creates an outcome: counts, and the names of failed tests.
outcome_of <- function(counts, failed = character()) list(counts = counts, failed = failed)
add_outcomes <- function(a, b) outcome_of(a$counts + b$counts, c(a$failed, b$failed))

# Returns the outcome of a log that ends with `<what>: N passed, N failed`, as those of the core's
# tests and of lint do. A log without that line is a failure.
log_outcome <- function(log, what) {
  lines <- if (file.exists(log)) readLines(log, warn = FALSE) else character()
  pattern <- sprintf("^%s: ([0-9]+) passed, ([0-9]+) failed$", what)
  line <- utils::tail(grep(pattern, lines, value = TRUE), 1)
  if (!length(line)) return(outcome_of(one_failure, paste(what, "did not finish")))
  number <- function(which) as.integer(sub(pattern, which, line))
  counts <- c(passed = number("\\1"), failed = number("\\2"), skipped = 0L)
  failed <- grep("^FAILED ", lines, value = TRUE)
  outcome_of(counts, sprintf("%s: %s", rep(what, length(failed)), sub("^FAILED ", "", failed)))
}

# Counts testthat's results: passed expectations, failures and errors, skips.
r_counts <- function(results) {
  expectations <- unlist(lapply(results, `[[`, "results"), recursive = FALSE)
  is_a <- function(kinds) {
    sum(vapply(expectations, inherits, NA, what = paste0("expectation_", kinds)))
  }
  c(passed = is_a("success"), failed = is_a(c("failure", "error")), skipped = is_a("skip"))
}

# Returns the names of results with a failure or an error, as `file: name`.
r_failed <- function(results) {
  is_failed <- vapply(results, function(result) {
    any(vapply(result$results, inherits, NA, what = c("expectation_failure", "expectation_error")))
  }, NA)
  vapply(results[is_failed], function(result) paste0(result$file, ": ", result$test), "")
}

# Prints the seed of this run and sets it for the children.
announce_seed <- function() {
  seed <- Sys.getenv("RUNHOOKS_SEED")
  if (!nzchar(seed)) seed <- as.character(sample.int(1e6, 1))
  Sys.setenv(RUNHOOKS_SEED = seed)
  cat(sprintf("run_tests: RUNHOOKS_SEED=%s repeats this run\n", seed))
}

# Records the current test file, for the message after a crash of R, and sets its seed. Counts
# skips, because testthat's results lack those outside of test_that().
progress_reporter <- function(progress_file) {
  R6::R6Class("PlaceReporter", inherit = testthat::Reporter, public = list(
    skips = 0L,
    add_result = function(context, test, result) {
      self$skips <- self$skips + inherits(result, "expectation_skip")
    },
    start_file = function(filename) {
      writeLines(filename, progress_file)
      set.seed(1)
    }
  ))$new()
}

test_folder <- file.path("tests", "testthat")

# Returns the names of the test files that contain `filter`, as in testthat's filters.
test_names <- function(filter) {
  files <- testthat::find_test_scripts(test_folder, filter = filter, full.names = FALSE)
  sub("^test-?", "", sub("[.][rR]$", "", files))
}

# Distributes files over processes: the largest file first, each to the process with the smallest
# load. `weights` are the sizes of the files, which estimate their times.
distribute <- function(weights, processes) {
  load <- numeric(processes)
  assigned <- integer(length(weights))
  for (i in order(-weights)) {
    assigned[i] <- which.min(load)
    load[assigned[i]] <- load[assigned[i]] + weights[[i]]
  }
  unname(split(names(weights), assigned))
}

run_child <- function(arguments) {
  progress_file <- arguments[1]
  outcome <- arguments[2]
  filter <- if (length(arguments) > 2) arguments[3]
  progress <- progress_reporter(progress_file)
  reporters <- list(testthat::CheckReporter$new(), progress)
  results <- testthat::test_dir(
    test_folder,
    filter = filter, reporter = testthat::MultiReporter$new(reporters = reporters),
    stop_on_failure = FALSE, package = "runhooks", load_package = "installed"
  )
  # If a test ends R by quit(), the outcome is not written.
  counts <- r_counts(results)
  counts[["skipped"]] <- progress$skips
  saveRDS(outcome_of(counts, r_failed(results)), outcome)
}

# Starts a process that runs these files. Returns it and the paths of its output.
start_child <- function(names, folder) {
  stem <- tempfile("child", folder)
  files <- paste0(stem, c("_place", "_counts.rds"))
  filter <- sprintf("^(%s)$", paste(names, collapse = "|"))
  child <- processx::process$new(
    file.path(R.home("bin"), "Rscript"), c("tools/run_tests.R", "--child", files, filter),
    stdout = "", stderr = ""
  )
  list(process = child, place = files[1], outcome = files[2])
}

# Returns the outcome of a child, which must write it and exit with status 0.
outcome_of_child <- function(child) {
  child$process$wait()
  status <- child$process$get_exit_status()
  if (identical(status, 0L) && file.exists(child$outcome)) return(readRDS(child$outcome))
  current_file <- if (file.exists(child$place)) readLines(child$place) else "no test file yet"
  text <- sprintf("R died (status %d) in %s: %s", status, test_folder, current_file)
  message("run_tests: ", text)
  outcome_of(one_failure, text)
}

# Runs the R tests in children and returns their outcome.
run_in_children <- function(filter, processes = 2) {
  names <- test_names(if (length(filter)) filter)
  if (!length(names)) {
    # No failure: the name may match only tests of the core.
    message(sprintf("run_tests: no file of %s has `%s` in its name", test_folder, filter))
    return(outcome_of(zero_counts))
  }
  folder <- tempfile("run_tests")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  # Snapshots and tests of whole processes are not meant for CRAN.
  if (!nzchar(Sys.getenv("NOT_CRAN"))) Sys.setenv(NOT_CRAN = "true")
  # Builds the library for tests of internals, so that the children do not build it at the same
  # time. Errors are ignored here, because the children report them.
  system2("sh", "tools/inside.sh", stdout = FALSE, stderr = FALSE)
  files <- file.path(test_folder, sprintf("test-%s.R", names))
  parts <- distribute(stats::setNames(file.size(files), names), processes)
  children <- lapply(parts, start_child, folder = folder)
  Reduce(add_outcomes, lapply(children, outcome_of_child))
}

run_tests <- function(arguments) {
  if ("--child" %in% arguments) {
    run_child(setdiff(arguments, "--child"))
    return(0L)
  }
  announce_seed()
  outcome <- run_in_children(setdiff(arguments, grep("^--", arguments, value = TRUE)))
  for (what in c("lint", "core")) {
    option <- sprintf("^--%s=", what)
    log <- sub(option, "", grep(option, arguments, value = TRUE))
    if (length(log)) outcome <- add_outcomes(log_outcome(log, what), outcome)
  }
  if (length(outcome$failed)) cat(paste("failed:", outcome$failed), sep = "\n")
  cat(summary_line(outcome$counts), "\n", sep = "")
  as.integer(outcome$counts[["failed"]] > 0)
}

if (sys.nframe() == 0L) quit(save = "no", status = run_tests(commandArgs(TRUE)))
