# Prints the difference between the results of runhooks and TensorFlow for each golden case. A test
# helper defines golden_errors(), which computes it.
helper <- "tests/testthat/helper-golden.R"
if (!file.exists(helper)) {
  message("golden: ", helper, " is missing; it defines golden_errors()")
  quit(save = "no", status = 1)
}

library(runhooks)
env <- testthat::test_env("runhooks")
invisible(testthat::source_test_helpers("tests/testthat", env = env))
old <- setwd("tests/testthat")
Sys.setenv(TESTTHAT = "true") # sets the folder of test_path()
errors <- get("golden_errors", envir = env, mode = "function")()
setwd(old)

stopifnot(
  is.data.frame(errors),
  c("case", "largest_relative_error") %in% names(errors)
)
case <- format(c("case", errors$case, "largest"))
# A case that could not be compared is shown as the largest error.
largest <- if (anyNA(errors$largest_relative_error)) NA else max(errors$largest_relative_error, 0)
error <- formatC(c(errors$largest_relative_error, largest), format = "e", digits = 2)
error <- format(c("largest relative error", error), justify = "right")
cat(paste(case, error), sep = "\n")
quit(save = "no", status = as.integer(is.na(largest)))
