library(testthat)
library(runhooks)

# CRAN limits the time of a check, so it runs these files: quick ones, at least one of each module. All
# files run where NOT_CRAN is true. `make lint` checks that no module is left out.
cran_files <- c(
)
runs_all <- identical(Sys.getenv("NOT_CRAN"), "true")
filter <- if (!runs_all) sprintf("^(%s)$", paste(cran_files, collapse = "|"))
test_check("runhooks", filter = filter)
