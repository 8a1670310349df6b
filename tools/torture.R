# Runs the R tests with a garbage collection at every n-th allocation inside the core, which reveals
# objects that the bindings do not protect: `Rscript tools/torture.R [--every=100] [part of a
# name]`, after an install. R code outside of the core runs normally, because a test would otherwise
# take hours.
source("tools/run_tests.R")

# Wraps a binding so that gctorture2() is active during its call, including callbacks.
tortured <- function(f, every) {
  force(f)
  wrapped <- function() {
    previous <- gctorture2(every)
    on.exit(gctorture2(previous))
  }
  body(wrapped) <- as.call(c(as.list(body(wrapped)), body(f)))
  formals(wrapped) <- formals(f)
  environment(wrapped) <- environment(f)
  # A call's variables are the core's arguments, so `every` must be substituted.
  body(wrapped) <- do.call(substitute, list(body(wrapped), list(every = every)))
  wrapped
}

torture <- function(every) {
  namespace <- asNamespace("runhooks")
  for (name in ls(namespace, pattern = "^cpp_")) {
    utils::assignInNamespace(name, tortured(get(name, namespace), every), namespace)
  }
}

if (sys.nframe() == 0L) {
  arguments <- commandArgs(TRUE)
  option <- grep("^--every=", arguments, value = TRUE)
  torture(if (length(option)) as.integer(sub("^--every=", "", option)) else 100L)
  announce_seed()
  folder <- tempfile("torture")
  dir.create(folder)
  Sys.setenv(NOT_CRAN = "true")
  files <- file.path(folder, c("place", "counts.rds"))
  run_child(c(files, setdiff(arguments, option)))
  outcome <- readRDS(files[[2]])
  unlink(folder, recursive = TRUE)
  if (length(outcome$failed)) cat(paste("failed:", outcome$failed), sep = "\n")
  cat(summary_line(outcome$counts), "\n", sep = "")
  quit(save = "no", status = as.integer(outcome$counts[["failed"]] > 0))
}
