# Writes src/deps.mk, which lists the headers of each object, because R's make rules ignore headers.
# Development builds set MAKEFILES=deps.mk (tools/install.sh). The file is neither committed nor in
# the source package.
source("tools/common.R")

deps_lines <- function(root) {
  sources <- list.files(file.path(root, "src"), "[.]cpp$", recursive = TRUE)
  rules <- vapply(sort(sources, method = "radix"), function(source) {
    headers <- sub("^src/", "", reached_headers(root, file.path("src", source)))
    if (!length(headers)) return("")
    paste0(sub("[.]cpp$", ".o", source), ": ", paste(headers, collapse = " "))
  }, "")
  package <- read.dcf(file.path(root, "DESCRIPTION"), "Package")[[1]]
  # The library must be linked again if the list of objects changes, also if a source was removed.
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
