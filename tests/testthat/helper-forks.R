# What `f(1)`, ..., `f(n)` give in forked children. Unlike mclapply() this waits until they have left
# by themselves: one that is slow to leave on a busy machine is not killed, with a warning.
in_forks <- function(n, f) {
  jobs <- lapply(seq_len(n), function(i) {
    force(i)
    parallel::mcparallel(f(i))
  })
  unname(parallel::mccollect(jobs))
}
