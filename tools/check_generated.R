# Checks that generated files are up to date: `Rscript tools/check_generated.R`. Regenerates Rcpp's
# wrappers, NAMESPACE and man/ in a copy and compares them. Precomputed vignettes are compared by
# the checksum of their source. The pages need the installed package, because they query its
# registry.
source("tools/common.R")
source("tools/attributes.R")
source("tools/vignettes.R")

# Returns the files below `folders` that differ between two trees, as paths relative to the roots.
differing_files <- function(first_root, second_root, folders) {
  files <- function(root) {
    unlist(lapply(folders, function(folder) {
      path <- file.path(root, folder)
      if (!dir.exists(path)) return(if (file.exists(path)) folder)
      file.path(folder, list.files(path, recursive = TRUE))
    }))
  }
  all <- sort(unique(c(files(first_root), files(second_root))), method = "radix")
  same <- function(file) {
    paths <- file.path(c(first_root, second_root), file)
    all(file.exists(paths)) && length(unique(tools::md5sum(paths))) == 1 # including pictures
  }
  all[!vapply(all, same, NA)]
}

# Returns the reason why pages cannot be generated here, or "".
cannot_document <- function(root) {
  if (!requireNamespace("roxygen2", quietly = TRUE)) return("roxygen2 is not installed")
  expected <- read.dcf(file.path(root, "DESCRIPTION"), "RoxygenNote")[[1]]
  installed <- as.character(utils::packageVersion("roxygen2"))
  if (installed != expected) {
    return(sprintf("roxygen2 is %s here, the pages were written by %s", installed, expected))
  }
  if (!nzchar(system.file(package = "runhooks"))) return("runhooks is not installed")
  ""
}

# Returns NAMESPACE and the files of man/ that differ from roxygen2's output.
stale_pages <- function(root) {
  copy <- tempfile("generated")
  dir.create(copy)
  on.exit(unlink(copy, recursive = TRUE))
  inputs <- file.path(root, c("DESCRIPTION", "NAMESPACE", "R", "man", "inst"))
  file.copy(inputs[file.exists(inputs)], copy, recursive = TRUE)
  # roxygen2 deletes the pages of removed topics.
  script <- "roxygen2::roxygenise(commandArgs(TRUE), load_code = 'installed')"
  output <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c("-e", shQuote(script), shQuote(copy)),
    stdout = TRUE, stderr = TRUE
  ))
  status <- attr(output, "status")
  if (!is.null(status)) stop("roxygen2 failed:\n", paste(output, collapse = "\n"))
  differing_files(root, copy, c("NAMESPACE", "man"))
}

run_tool(function(arguments) {
  stale <- c(stale_wrappers("."), stale_vignettes("."))
  reason <- cannot_document(".")
  if (nzchar(reason)) {
    cat("check_generated: NAMESPACE and man/ are not checked,", reason, "\n")
  } else {
    stale <- c(stale, stale_pages("."))
  }
  message <- "is out of date: run `make docs` and commit it"
  found <- violations(stale, rep(1L, length(stale)), "generated", message)
  report("check_generated", found, "generated files are up to date")
}, sys.nframe())
