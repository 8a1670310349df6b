# Kills random processes of mpirun trainings at random moments: `Rscript tools/cluster_kills.R 30`,
# with 2, 3 and 4 processes and each installed MPI. All processes must end within seconds, the next
# run must resume from the last checkpoint, and the final bits must equal those of an undisturbed
# run. Also ends each of 4 processes by an R error, which must be shown once with its rank.

suppressPackageStartupMessages(library(runhooks))
arguments <- commandArgs(TRUE)
count <- if (length(arguments)) as.integer(arguments[[1]]) else 30L
tests <- new.env(parent = asNamespace("runhooks"))
tests$test_path <- function(file) file.path("tests", "testthat", file)
for (file in c("helper-models.R", "cluster_models.R", "cluster_runs.R", "cluster_kills.R")) {
  sys.source(tests$test_path(file), tests)
}
place <- tempfile("kills-")
dir.create(place)

ways <- expand.grid(mpi = names(tests$launchers), n = 2:4, stringsAsFactors = FALSE)
share <- tabulate(rep_len(seq_len(nrow(ways)), count), nrow(ways))
rows <- do.call(rbind, lapply(which(share > 0), function(i) {
  tests$kill_at_random(share[[i]], ways$n[[i]], ways$mpi[[i]], place)
}))
print(rows)
killed <- rows[!is.na(rows$rank), ]
wrong <- sum(nzchar(rows$wrong))

ranks <- 0:3
errors <- tests$run_all(lapply(stats::setNames(ranks, ranks), function(rank) {
  mpi <- rep_len(names(tests$launchers), rank + 1)[[rank + 1]]
  folder <- file.path(place, paste0("error-", rank))
  list(folder = folder, scenarios = "error", n = 4, mpi = mpi, env = c(RUNHOOKS_RANK = rank))
}))
for (rank in ranks) {
  run <- errors[[as.character(rank)]]
  words <- sprintf("process %d of 4: the hook of one process failed", rank)
  good <- !run$timeout && run$status != 0 && sum(gregexpr(words, run$stderr)[[1]] > 0) == 1
  if (good) next
  wrong <- wrong + 1
  cat("The error of process", rank, "was not shown once:", run$stderr, "\n")
}
cat(sprintf(
  "cluster_kills: %d kills, at most %.1f s until all ended; 4 errors; %d wrong\n",
  nrow(killed), max(killed$ended_after), wrong
))
if (wrong > 0) quit(status = 1)
