# What `f(1)`, ..., `f(n)` give in forked children. Unlike mclapply() this waits until they have left
# by themselves: one that is slow to leave on a busy machine is not killed, with a warning.
in_forks <- function(n, f) {
  # processx takes the signal by which parallel learns that its children have ended, so that R would
  # wait for them at its own end and complain; after this, parallel asks for the signal anew.
  on.exit(parallel:::cleanup(kill = FALSE, shutdown = TRUE))
  jobs <- lapply(seq_len(n), function(i) {
    force(i)
    parallel::mcparallel(f(i))
  })
  unname(parallel::mccollect(jobs))
}
