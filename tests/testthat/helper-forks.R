# Returns the results of `f(1)`, ..., `f(n)` in forked children. Unlike mclapply(), waits for each
# child to exit: a slow one is not killed with a warning.
in_forks <- function(n, f) {
  # processx takes over the signal SIGCHLD. The package parallel would then not learn that its
  # children ended, and R would wait for them at exit. This call makes parallel install its handler
  # again.
  on.exit(parallel:::cleanup(kill = FALSE, shutdown = TRUE))
  jobs <- lapply(seq_len(n), function(i) {
    force(i)
    parallel::mcparallel(f(i))
  })
  unname(parallel::mccollect(jobs))
}
