# Tests the failure of processes in distributed training: `Rscript tools/cluster_kills.R 30` kills
# random processes at 30 random times, with 2, 3 and 4 processes and each installed MPI. All
# processes must end within seconds, the next run must resume from the last checkpoint, and the
# final weights must have the bits of a run without failure. It also raises an R error in each of 4
# processes, which must be printed once, with its rank.

suppressPackageStartupMessages(library(runhooks))
arguments <- commandArgs(TRUE)
count <- if (length(arguments)) as.integer(arguments[[1]]) else 30L
tests <- new.env(parent = asNamespace("runhooks"))
tests$test_path <- function(file) file.path("tests", "testthat", file)
for (file in c("helper-models.R", "cluster_models.R", "cluster_runs.R", "cluster_kills.R")) {
  sys.source(tests$test_path(file), tests)
}
root_folder <- tempfile("kills-")
dir.create(root_folder)

settings <- expand.grid(mpi = names(tests$launchers), n = 2:4, stringsAsFactors = FALSE)
kills_per_setting <- tabulate(rep_len(seq_len(nrow(settings)), count), nrow(settings))
rows <- do.call(rbind, lapply(which(kills_per_setting > 0), function(i) {
  tests$kill_at_random(kills_per_setting[[i]], settings$n[[i]], settings$mpi[[i]], root_folder)
}))
print(rows)
killed <- rows[!is.na(rows$rank), ]
n_wrong <- sum(nzchar(rows$wrong))

ranks <- 0:3
errors <- tests$run_all(lapply(stats::setNames(ranks, ranks), function(rank) {
  mpi <- rep_len(names(tests$launchers), rank + 1)[[rank + 1]]
  folder <- file.path(root_folder, paste0("error-", rank))
  list(folder = folder, scenarios = "error", n = 4, mpi = mpi, env = c(RUNHOOKS_RANK = rank))
}))
for (rank in ranks) {
  run <- errors[[as.character(rank)]]
  message <- sprintf("process %d of 4: the hook of one process failed", rank)
  is_correct <- !run$timeout && run$status != 0 && sum(gregexpr(message, run$stderr)[[1]] > 0) == 1
  if (is_correct) next
  n_wrong <- n_wrong + 1
  cat("The error of process", rank, "was not shown once:", run$stderr, "\n")
}
cat(sprintf(
  "cluster_kills: %d kills, at most %.1f s until all ended; 4 errors; %d wrong\n",
  nrow(killed), max(killed$ended_after), n_wrong
))
if (n_wrong > 0) quit(status = 1)
