# Writes src/deps.mk, the headers each object needs. R's make does not know headers; developers pass
# MAKEFILES=deps.mk (tools/install.sh does). The file is neither committed nor in the tarball.
source("tools/common.R")

deps_lines <- function(root) {
  sources <- list.files(file.path(root, "src"), "[.]cpp$", recursive = TRUE)
  rules <- vapply(sort(sources, method = "radix"), function(source) {
    headers <- sub("^src/", "", reached_headers(root, file.path("src", source)))
    if (!length(headers)) return("")
    paste0(sub("[.]cpp$", ".o", source), ": ", paste(headers, collapse = " "))
  }, "")
  package <- read.dcf(file.path(root, "DESCRIPTION"), "Package")[[1]]
  # a removed source must leave the library too, so a changed list links again
  c(rules[nzchar(rules)], paste0(package, .Platform$dynlib.ext, ": Makevars"))
}

write_deps <- function(root) {
  path <- file.path(root, "src", "deps.mk")
  lines <- unname(deps_lines(root))
  if (!file.exists(path) || !identical(readLines(path), lines)) writeLines(lines, path)
}

run_tool(function(arguments) {
  write_deps(".")
  0L
}, sys.nframe())
