# The border between R and the core: nothing that R hands over ends the process.

skip_on_cran()
skip_if_not_installed("processx")

# Runs border_calls.R as often as it takes to get past what ends it. The calls that ended R, and
# those that were accepted.
border_calls <- function() {
  place <- withr::local_tempfile()
  accepted <- withr::local_tempfile()
  file.create(accepted)
  fatal <- character()
  first <- 1
  repeat {
    run <- processx::run(
      child_rscript(), c(test_path("border_calls.R"), first, place, accepted),
      env = child_env(), error_on_status = FALSE, timeout = 120
    )
    at <- readLines(place)
    if (identical(at, "done")) break
    how <- if (run$timeout) "hangs" else paste("ends R with", run$status, run$stderr)
    fatal <- c(fatal, paste(at[[2]], how))
    first <- as.integer(at[[1]]) + 1
  }
  list(fatal = fatal, accepted = readLines(accepted))
}

test_that("no internal function ends R, whatever it is given; what is no argument is an error", {
  calls <- border_calls()
  expect_identical(calls$fatal, character())
  print(calls$accepted)
})
