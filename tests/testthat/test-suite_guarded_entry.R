# Tests the entry points of the core: no argument from R may end the process.

skip_on_cran()
skip_if_not_installed("processx")

# Waits for the end of a process. FALSE if it has not written to `place` for `seconds`; it is then
# killed.
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

# Runs entry_calls.R, and restarts it after the call that ended it, until all calls are made.
# Returns the calls that ended R and the calls that were accepted.
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

test_that("internal functions reject bad arguments with an error and never end R", {
  calls <- border_calls()
  expect_identical(calls$fatal, character())
  # NULL and an empty list may mean that an argument is absent.
  accepted <- grep("= (NULL|empty list)[)]$", calls$accepted, value = TRUE, invert = TRUE)
  # cpp_session_run_args() only builds a list, which is checked on use.
  accepted <- grep("^cpp_session_run_args", accepted, value = TRUE, invert = TRUE)
  # These functions check each number of a list, whatever its length.
  accepted <- grep("^cpp_all_(finite|float32)[(]columns = named list", accepted, value = TRUE, invert = TRUE)
  # cpp_has_encoded_numbers() accepts any value.
  accepted <- grep("^cpp_has_encoded_numbers", accepted, value = TRUE, invert = TRUE)
  # Closing a closed session is allowed.
  expect_setequal(accepted, c("cpp_session_close(pointer = null session)"))
})
