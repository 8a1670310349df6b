# Whether all tests that use what only our own tests have (tests/inside/) stay out of the source package:
# such a test would fail in R CMD check.
source("tools/common.R")

is_ignored <- function(root, files) {
  patterns <- read_lines(root, ".Rbuildignore")
  hits <- vapply(patterns[nzchar(patterns)], grepl, logical(length(files)), files, perl = TRUE)
  rowSums(matrix(hits, nrow = length(files))) > 0
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
    text <- "uses what the source package lacks: name the file in .Rbuildignore"
    violations(rep(file, length(at)), at, "inside", text)
  })))
}

run_tool(function(arguments) {
  report("check_inside", check_inside("."), "tests of the inside stay out of the source package")
}, sys.nframe())
