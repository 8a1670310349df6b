# Loads the graphs of other_graphs.py and compares their answers: Rscript
# tests/interop/other_graphs.R FOLDER
library(runhooks)
row_major <- function(x) if (length(dim(x)) > 1) as.vector(aperm(x)) else as.vector(x)
source("tests/testthat/helper-exports.R")

problems_of <- function(folder) {
  case <- jsonlite::read_json(file.path(folder, "case.json"))
  loaded <- load_savedmodel(folder)
  data <- if (is.null(case$examples)) {
    lapply(case$rows, array_of_case)
  } else {
    lapply(case$examples, jsonlite::base64_dec)
  }
  answers <- predict(loaded, data)
  found <- vapply(names(case$outputs), function(key) {
    answer_problem(answers[[key]], case$outputs[[key]])
  }, "")
  paste(names(found), found)[nzchar(found)]
}

failed <- 0
cases <- Filter(
  function(path) file.exists(file.path(path, "case.json")),
  list.dirs(commandArgs(TRUE)[[1]], recursive = FALSE)
)
for (folder in cases) {
  problems <- tryCatch(
    problems_of(folder),
    error = function(error) paste(c(conditionMessage(error), error$body), collapse = " ")
  )
  if (length(problems) == 0) next
  failed <- failed + 1
  cat("FAILED", basename(folder), paste0("\n  ", substr(problems, 1, 600)), "\n")
}
cat(if (failed) "FAILED" else "ok    ", length(cases) - failed, "of", length(cases), "other graphs\n")
quit(status = as.integer(failed > 0 || length(cases) == 0))
