# Checks the names of test files, and that tests of internals (tests/inside/) are not in the source
# package, where they would fail in R CMD check.
source("tools/common.R")

is_ignored <- function(root, files) {
  patterns <- read_lines(root, ".Rbuildignore")
  is_match <- vapply(patterns[nzchar(patterns)], grepl, logical(length(files)), files, perl = TRUE)
  rowSums(matrix(is_match, nrow = length(files))) > 0
}

defined_in <- function(root, file) {
  pattern <- "^([A-Za-z_.][A-Za-z_.0-9]*) <- function.*$"
  sub(pattern, "\\1", grep(pattern, read_lines(root, file), value = TRUE))
}

check_inside <- function(root) {
  files <- tree_files(root, "tests/testthat", "^(test|helper)-.*[.]R$", recursive = FALSE)
  ignored <- files[is_ignored(root, files)]
  helpers <- grep("/helper-", ignored, value = TRUE)
  names <- unlist(lapply(helpers, defined_in, root = root))
  if (!length(names)) return(violations())
  pattern <- sprintf("\\b(%s)\\(", paste(names, collapse = "|"))
  do.call(rbind, c(list(violations()), lapply(setdiff(files, ignored), function(file) {
    at <- utils::head(grep(pattern, read_lines(root, file)), 1)
    text <- "uses internals that the source package lacks: add the file to .Rbuildignore"
    violations(rep(file, length(at)), at, "inside", text)
  })))
}

# Returns the test files that CRAN runs: `cran_files` of tests/testthat.R.
cran_files_of <- function(root) {
  for (expr in parse(file.path(root, "tests/testthat.R"))) {
    if (is.call(expr) && identical(expr[[2]], quote(cran_files))) return(eval(expr[[3]], baseenv()))
  }
  character()
}

# Checks that the files that CRAN runs are in the source package. CRAN must run at least one test of
# each module that has tests in the source package.
check_cran_files <- function(root) {
  if (!file.exists(file.path(root, "tests/testthat.R"))) return(violations())
  files <- tree_files(root, "tests/testthat", "^test-.*[.]R$", recursive = FALSE)
  files <- files[!is_ignored(root, files)]
  names <- sub("^test-(.*)[.]R$", "\\1", basename(files))
  cran_files <- cran_files_of(root)
  module <- function(names) unique(sub("[-_].*", "", names))
  messages <- c(
    sprintf("test-%s.R is not in the source package", setdiff(cran_files, names)),
    sprintf(
      "CRAN runs no test of `%s`: add a quick one", setdiff(module(names), module(cran_files))
    )
  )
  violations("tests/testthat.R", rep(1L, length(messages)), "cran", messages)
}

# Checks the names of test files: `test-<R file>.R`, `test-<R file>-<topic>.R`,
# `test-suite_<topic>.R` if it belongs to several R files, or `test-trace_<group>.R`.
check_test_names <- function(root) {
  files <- tree_files(root, "tests/testthat", "^test-.*[.]R$", recursive = FALSE)
  sources <- sub("[.]R$", "", basename(tree_files(root, "R", "[.]R$")))
  names <- sub("^test-([^-]*).*[.]R$", "\\1", basename(files))
  bad <- files[!names %in% sources & !grepl("^(suite|trace)_", names)]
  text <- "name it test-<R file>.R, test-<R file>-<topic>.R or test-suite_<topic>.R"
  violations(bad, rep(1L, length(bad)), "test-name", rep(text, length(bad)))
}

run_tool(function(arguments) {
  found <- rbind(check_inside("."), check_cran_files("."), check_test_names("."))
  report("check_inside", found, "tests have the names of R files, and those of internals stay here")
}, sys.nframe())
