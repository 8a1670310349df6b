# Rcpp's wrappers of the bindings: `Rscript tools/attributes.R` writes src/RcppExports.cpp and
# R/RcppExports.R. They are made in a copy whose DESCRIPTION links to Rcpp alone, because
# compileAttributes() puts the umbrella header of everything else (RcppEigen.h) into the wrappers,
# which know nothing of it.
source("tools/common.R")
source("tools/layers.R")

wrapper_files <- c("src/RcppExports.cpp", "R/RcppExports.R")

# The text of both files as they should be, by their paths.
wrappers <- function(root) {
  copy <- tempfile("attributes")
  dir.create(file.path(copy, "src"), recursive = TRUE)
  dir.create(file.path(copy, "R"))
  on.exit(unlink(copy, recursive = TRUE))
  # Rcpp looks at the top of src/ only, where no two of them may have one name
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

# Which of the two files differ from what the bindings say.
stale_wrappers <- function(root, wanted = wrappers(root)) {
  Filter(function(file) {
    path <- file.path(root, file)
    !file.exists(path) || !identical(readLines(path), wanted[[file]])
  }, wrapper_files)
}

write_wrappers <- function(root) {
  wanted <- wrappers(root)
  stale <- stale_wrappers(root, wanted)
  for (file in stale) writeLines(wanted[[file]], file.path(root, file))
  stale
}

run_tool(function(arguments) {
  for (file in write_wrappers(".")) cat("attributes: rewrote", file, "\n")
  0L
}, sys.nframe())
