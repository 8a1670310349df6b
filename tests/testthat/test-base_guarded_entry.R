# The border between R and the core: nothing that R hands over ends the process.

skip_on_cran()
skip_if_not_installed("processx")

# FALSE where the process has written nothing to `place` for so long; it is ended then.
ends_while_it_writes <- function(process, place, seconds = 60) {
  written <- Sys.time()
  while (process$is_alive()) {
    process$wait(500)
    if (file.exists(place)) written <- max(written, file.mtime(place))
    if (Sys.time() - written > seconds) {
      process$kill()
      return(FALSE)
    }
  }
  TRUE
}

# Runs entry_calls.R as often as it takes to get past what ends it. The calls that ended R, and
# those that were accepted.
border_calls <- function() {
  place <- withr::local_tempfile()
  accepted <- withr::local_tempfile()
  said <- withr::local_tempfile()
  file.create(accepted)
  fatal <- character()
  first <- 1
  repeat {
    process <- processx::process$new(
      child_rscript(), c(test_path("entry_calls.R"), first, place, accepted), env = child_env(),
      stdout = said, stderr = "2>&1"
    )
    hangs <- !ends_while_it_writes(process, place)
    if (!file.exists(place)) stop("the child has failed: ", paste(readLines(said), collapse = "\n"))
    at <- readLines(place)
    if (identical(at, "done")) break
    how <- if (hangs) "hangs" else paste("ends R with status", process$get_exit_status())
    fatal <- c(fatal, paste(at[[2]], how))
    first <- as.integer(at[[1]]) + 1
  }
  list(fatal = fatal, accepted = readLines(accepted))
}

test_that("no internal function ends R, whatever it is given; what is no argument is an error", {
  calls <- border_calls()
  expect_identical(calls$fatal, character())
  # NULL and an empty list may stand for nothing given
  accepted <- grep("= (NULL|empty list)[)]$", calls$accepted, value = TRUE, invert = TRUE)
  # it makes a list, which is looked into when it is used
  accepted <- grep("^cpp_session_run_args", accepted, value = TRUE, invert = TRUE)
  # which ask of each of a list of numbers
  accepted <- grep("^cpp_all_(finite|float32)[(]columns = named list", accepted, value = TRUE, invert = TRUE)
  # what has ended can be ended once more
  expect_setequal(accepted, c("cpp_session_close(pointer = null session)"))
})
