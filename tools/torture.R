# The R tests with a collector that runs at every few allocations while the core is at work: what the
# bindings do not protect is gone then. `Rscript tools/torture.R [--every=100] [part of a name]`, after an
# install. R code between the calls is R's own and runs as ever, or a test would take hours.
source("tools/run_tests.R")

# Within a call only, and within what it calls back.
tortured <- function(f, every) {
  force(f)
  wrapped <- function() {
    before <- gctorture2(every)
    on.exit(gctorture2(before))
  }
  body(wrapped) <- as.call(c(as.list(body(wrapped)), body(f)))
  formals(wrapped) <- formals(f)
  environment(wrapped) <- environment(f)
  # a call's own names are the core's arguments, `every` is none of them
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
  cat(last_line(outcome$counts), "\n", sep = "")
  quit(save = "no", status = as.integer(outcome$counts[["failed"]] > 0))
}
