# Injects faults into saving, resuming and exporting: kills the process or fails the call at one of
# its file operations.
# Usage: Rscript faults_child.R folder faults kills seed [scenario pattern] [others], with faults.c
# preloaded. Prints "wrong: ..." for each problem and "done: ..." at the end.
# `faults`: maximum kills and failures per scenario. `others`: maximum of each other fault. `kills`:
# runs to kill at a random moment, over all scenarios.

library(runhooks)
args <- commandArgs(TRUE)
here <- normalizePath(args[[1]])
most_faults <- as.numeric(args[[2]])
kills <- as.numeric(args[[3]])
set.seed(as.numeric(args[[4]]))
wanted <- if (length(args) > 4) args[[5]] else ""
most_others <- if (length(args) > 5) as.numeric(args[[6]]) else most_faults
tf$logging$set_verbosity("ERROR")
options(runhooks.threads = 1)

wrong <- function(...) cat("wrong: ", unlist(list(...)), "\n", sep = " ")

# --- intercepted file operations

dyn.load(Sys.getenv("RUNHOOKS_SHIM"))

arm <- function(how, at = 0L, folder = file.path(here, "at")) {
  modes <- c(nothing = 0L, count = 1L, kill = 2L, fail = 3L, tear = 4L, short = 5L, full = 6L)
  .C("faults_arm", modes[[how]], as.integer(at), folder)
  invisible()
}
# Simulates a system without rename exchange, without links, or with another file system at `disk`.
lack <- function(exchange = FALSE, links = FALSE, disk = "") {
  .C("faults_lack", as.integer(exchange), as.integer(links), disk)
  invisible()
}
calls <- function() .C("faults_count", 0L)[[1]]
# Returns the kind of each file operation: "w" writes bytes, "n" needs no disk space, "m" is any
# other.
kinds_of_calls <- function() strsplit(.C("faults_kinds", "")[[1]], "")[[1]]

# Runs `code` in a forked process and returns its value, or NULL if it was killed. If `seconds` is
# given, kills the process that many seconds after `code` has called begins().
apart <- function(code, seconds = NULL) {
  job <- parallel::mcparallel(
    tryCatch(code(), error = function(e) structure(conditionMessage(e), class = "failed")),
    silent = TRUE, mc.set.seed = FALSE
  )
  if (!is.null(seconds)) {
    waited_until <- Sys.time() + 60
    while (!file.exists(begun_file) && Sys.time() < waited_until) Sys.sleep(0.001)
    Sys.sleep(seconds)
    tools::pskill(job$pid, tools::SIGKILL)
  }
  result <- suppressWarnings(parallel::mccollect(job))[[1]]
  # The pipe of a killed process closes before its threads stop writing files, so wait for its exit.
  waited_until <- Sys.time() + 60
  while (tools::pskill(job$pid, 0L) && Sys.time() < waited_until) Sys.sleep(0.001)
  result
}

begun_file <- file.path(here, "has-begun")
begins <- function() invisible(file.create(begun_file))

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(script), "faults_ways.R"))

# --- one scenario at one point

fresh <- function(way) {
  unlink(file.path(here, "at"), recursive = TRUE)
  dir.create(file.path(here, "at"))
  way$prepare()
}
lacking <- function(way) do.call(lack, as.list(way$lack))

# Runs a scenario with a fault. The `at`-th file operation fails in the manner `how`. Returns the
# message ("done" or an error), the number of operations, and the unexpected conditions; NULL if
# the process was killed.
act_at <- function(way, how, at) {
  apart(function() {
    lacking(way)
    arm(how, at)
    odd <- character()
    said <- tryCatch(
      withCallingHandlers({
        way$act()
        "done"
      }, warning = function(w) {
        if (!inherits(w, "runhooks_warning")) odd <<- c(odd, conditionMessage(w))
      }),
      error = function(e) {
        if (!inherits(e, "runhooks_error")) odd <<- c(odd, conditionMessage(e))
        conditionMessage(e)
      }
    )
    list(said = said, calls = calls(), odd = odd)
  })
}

check_point <- function(way, how, at, what) {
  fresh(way)
  result <- act_at(way, how, at)
  is_killed <- how %in% c("kill", "tear")
  if (is_killed != is.null(result)) wrong(what, ": it was ", if (!is_killed) "", "killed")
  if (inherits(result, "failed")) return(wrong(what, ": ", result))
  if (!is.null(result)) {
    if (result$calls < at) wrong(what, ": the call was not made")
    if (length(result$odd)) wrong(what, ": not in words of ours: ", result$odd)
  }
  way$check(what)
  # A call without an error must have completed.
  if (identical(result$said, "done")) way$done(paste(what, "without an error"))
  way$again(what)
}

# Returns the calls at which each fault is injected: all of them, or a random sample.
points_of <- function(kinds) {
  writes <- which(kinds == "w")
  all <- seq_along(kinds)
  points <- list(kill = all, fail = all, tear = writes, short = writes, full = all)
  most <- c(kill = most_faults, fail = most_faults, tear = most_others, short = most_others,
    full = most_others)
  Map(function(at, most) sort(at[sample.int(length(at), min(length(at), most))]), points, most)
}

tried <- 0
took <- list()
ways <- ways[grepl(wanted, names(ways))]
for (name in names(ways)) {
  way <- ways[[name]]
  fresh(way)
  alone <- apart(function() {
    lacking(way)
    arm("count")
    began <- proc.time()[["elapsed"]]
    way$act()
    list(kinds = kinds_of_calls(), took = proc.time()[["elapsed"]] - began)
  })
  kinds <- alone$kinds
  if (inherits(alone, "failed") || !length(kinds)) {
    wrong(name, " alone: ", alone)
    next
  }
  took[[name]] <- alone$took
  way$done(paste(name, "alone"))
  points <- points_of(kinds)
  # If one fault per scenario is requested, draws its kind, too.
  if (most_faults == 1) points <- points[sample.int(length(points), 1)]
  for (how in names(points)) {
    for (at in points[[how]]) {
      check_point(way, how, at, sprintf("%s, %s at call %d of %d", name, how, at, length(kinds)))
      tried <- tried + 1
    }
  }
  manners <- paste(lengths(points), names(points), collapse = ", ")
  cat("tried: ", name, ", ", length(kinds), " calls: ", manners, "\n", sep = "")
}

# --- kills at random moments, until `kills` runs were hit; some runs end earlier

hits <- 0
tries <- 0
while (hits < kills && tries < 5 * kills) {
  name <- names(took)[[tries %% length(took) + 1]]
  tries <- tries + 1
  way <- ways[[name]]
  fresh(way)
  seconds <- stats::runif(1, 0, took[[name]])
  what <- sprintf("%s, killed after %.4f s", name, seconds)
  unlink(begun_file)
  result <- apart(function() {
    lacking(way)
    arm("count")
    begins()
    way$act()
    TRUE
  }, seconds)
  hits <- hits + is.null(result)
  way$check(what)
  way$again(what)
}
if (hits < kills) wrong("only ", hits, " of ", tries, " kills hit a run")
cat("done: ", tried, " faults, ", tries, " kills, ", hits, " hit\n", sep = "")
