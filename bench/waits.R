# Waiting times of users: one table of calls around steps and of steps, each compared with a peer in
# the same run; medians and ranges of five fresh processes. "-" if the peer is not installed.
# RUNHOOKS_JAX_PYTHON names a Python with JAX.
#   Rscript bench/waits.R [rounds] [parts of lines' names]
arguments <- commandArgs(TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (part in c("measuring", "around", "steps", "data")) source(sprintf("bench/waits/%s.R", part))

if (length(arguments) > 1 && arguments[[1]] == "child") {
  suppressMessages(library(runhooks))
  options(runhooks.progress = FALSE, runhooks.threads = 2L)
  tf$logging$set_verbosity("ERROR")
  figures <- suppressMessages(lines[[arguments[[2]]]]$measure())
  cat("figures", format(figures[["ours"]], digits = 8), format(figures[["peer"]], digits = 8), "\n")
  quit(save = "no")
}

numbers <- suppressWarnings(as.integer(arguments))
rounds <- c(numbers[!is.na(numbers)], 5L)[[1]]
parts <- arguments[is.na(numbers)]
chosen <- names(lines)
if (length(parts)) chosen <- grep(paste(parts, collapse = "|"), chosen, value = TRUE)

measured <- function(name) {
  said <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c(script, "child", shQuote(name)),
    stdout = TRUE, stderr = FALSE
  ))
  line <- grep("^figures", said, value = TRUE)
  if (!length(line)) return(c(ours = NA_real_, peer = NA_real_))
  words <- strsplit(sub("^figures +", "", line), " +")[[1]]
  stats::setNames(suppressWarnings(as.numeric(words[1:2])), c("ours", "peer"))
}
runs <- lapply(seq_len(rounds), function(round) vapply(chosen, measured, numeric(2)))

number <- function(x) formatC(x, digits = 3, format = "fg", big.mark = ",", flag = "#")
in_words <- function(x) {
  x <- x[!is.na(x)]
  if (!length(x)) return("-")
  text <- sub("[.]$", "", number(c(stats::median(x), range(x))))
  sprintf("%s (%s to %s)", text[[1]], text[[2]], text[[3]])
}
load <- if (file.exists("/proc/loadavg")) readLines("/proc/loadavg") else "unknown"
cat(sprintf("%s, load %s, %d rounds\n\n", format(Sys.time(), "%Y-%m-%d %H:%M"), load, rounds))
cat("| what | here, median (range) | peer | ratio | goal |\n|---|---:|---|---:|---|\n")
for (name in chosen) {
  line <- lines[[name]]
  ours <- vapply(runs, function(run) run["ours", name], 0)
  peer <- vapply(runs, function(run) run["peer", name], 0)
  peer_text <- if (all(is.na(peer))) line$peer else paste(line$peer, in_words(peer))
  cat(sprintf(
    "| %s | %s %s | %s | %s | %s |\n", name, in_words(ours), line$unit, peer_text,
    in_words(ours / peer), line$goal
  ))
}
