# Predicts with TensorFlow's exports of random models (tests/golden/make_exports.py), and with ours
# of the same checkpoints, which are written to FOLDER/*/ours for exports_check.py.
#   Rscript tests/interop/exports_theirs.R FOLDER
library(runhooks)
row_major <- function(x) if (length(dim(x)) > 1) as.vector(aperm(x)) else as.vector(x)
source("tests/testthat/helper-exports.R")

folder <- commandArgs(TRUE)[[1]]
cases <- list.dirs(folder, recursive = FALSE)
failed <- 0
for (case in cases) {
  problems <- tryCatch(
    export_problems(case, file.path(folder, "words.txt"), file.path(case, "ours")),
    error = function(error) paste(c(conditionMessage(error), error$body), collapse = " ")
  )
  if (length(problems)) {
    failed <- failed + 1
    cat("FAILED", basename(case), paste0("\n  ", substr(problems, 1, 600)), "\n")
  }
}
cat(
  if (failed) "FAILED" else "ok    ", length(cases) - failed, "of", length(cases),
  "exports of TensorFlow's and ours of the same models\n"
)
quit(status = as.integer(failed > 0 || length(cases) == 0))
