# Generates Rcpp's wrappers of the bindings: `Rscript tools/attributes.R` writes src/RcppExports.cpp
# and R/RcppExports.R. Works in a copy whose DESCRIPTION links to Rcpp alone, because
# compileAttributes() would include RcppEigen.h in the wrappers.
source("tools/common.R")
source("tools/layers.R")

wrapper_files <- c("src/RcppExports.cpp", "R/RcppExports.R")

# Returns the expected text of both files, by path.
wrappers <- function(root) {
  copy <- tempfile("attributes")
  dir.create(file.path(copy, "src"), recursive = TRUE)
  dir.create(file.path(copy, "R"))
  on.exit(unlink(copy, recursive = TRUE))
  # Rcpp only scans the top level of src/, so binding files must have distinct names.
  for (path in binding_files(root)) {
    file.copy(file.path(root, path), file.path(copy, "src", gsub("/", "_", path)))
  }
  file.copy(file.path(root, "src/runhooks_types.h"), file.path(copy, "src"))
  file.copy(file.path(root, "NAMESPACE"), copy)
  description <- read.dcf(file.path(root, "DESCRIPTION"))
  description[, "LinkingTo"] <- "Rcpp"
  write.dcf(description, file.path(copy, "DESCRIPTION"))
  Rcpp::compileAttributes(copy)
  lapply(setNames(nm = wrapper_files), function(file) readLines(file.path(copy, file)))
}

# Returns the files that differ from the expected wrappers.
stale_wrappers <- function(root, expected = wrappers(root)) {
  Filter(function(file) {
    path <- file.path(root, file)
    !file.exists(path) || !identical(readLines(path), expected[[file]])
  }, wrapper_files)
}

write_wrappers <- function(root) {
  expected <- wrappers(root)
  stale <- stale_wrappers(root, expected)
  for (file in stale) writeLines(expected[[file]], file.path(root, file))
  stale
}

run_tool(function(arguments) {
  for (file in write_wrappers(".")) cat("attributes: rewrote", file, "\n")
  0L
}, sys.nframe())
