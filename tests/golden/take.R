# Copies cases of the shared goldens to tests/testthat/golden, so that the package tests itself
# without them: Rscript tests/golden/take.R [case ...]. Without names, updates the existing ones.
#
# The checkpoint of a case (init/) is stored as CASE/0.index and CASE/0.data-*, because source
# packages limit paths to 100 characters. golden_checkpoint() of helper-golden.R restores it.
source_folder <- Sys.getenv("RUNHOOKS_GOLDEN_SOURCE", "../shared/golden")
target_folder <- "tests/testthat/golden"
cases <- commandArgs(TRUE)
if (length(cases) == 0) cases <- list.files(file.path(target_folder, "canned"))

take <- function(from, to) {
  dir.create(dirname(to), recursive = TRUE, showWarnings = FALSE)
  if (!file.copy(from, to, overwrite = TRUE)) stop("cannot copy ", from)
}
for (case in cases) {
  from <- file.path(source_folder, "canned", case)
  to <- file.path(target_folder, "canned", case)
  unlink(to, recursive = TRUE)
  for (name in c("case.json", "expected.json")) take(file.path(from, name), file.path(to, name))
  files <- list.files(file.path(from, "init"), "^model[.]ckpt-0[.](index|data)", full.names = TRUE)
  for (path in files) {
    take(path, file.path(to, sub("^model[.]ckpt-", "", basename(path))))
  }
}
# All traces of hooks; a test requires that each scenario is replayed or listed.
for (path in list.files(file.path(source_folder, "hooks"), "[.]json$", full.names = TRUE)) {
  take(path, file.path(target_folder, "hooks", basename(path)))
}
# Whole files that already exist.
for (name in list.files(target_folder, recursive = TRUE)) {
  if (dirname(name) %in% c("data", "unit")) {
    take(file.path(source_folder, name), file.path(target_folder, name))
  }
}
