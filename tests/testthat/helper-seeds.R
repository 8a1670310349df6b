# Makes the suite reproducible. tools/run_tests.R sets a seed before each file; this call serves
# other runners. Property tests use a new seed in each run and print it. RUNHOOKS_SEED repeats it.
set.seed(1)

# Limits threads to two, also in child processes.
if (!nzchar(Sys.getenv("OMP_THREAD_LIMIT"))) Sys.setenv(OMP_THREAD_LIMIT = "2")

property_seed <- function(what) {
  given <- Sys.getenv("RUNHOOKS_SEED")
  seed <- if (nzchar(given)) {
    as.integer(given)
  } else {
    withr::with_preserve_seed({
      set.seed(NULL)
      sample.int(1e6, 1)
    })
  }
  message(what, ": RUNHOOKS_SEED=", seed, " repeats it")
  seed
}

# Returns `all` for `make nightly`, and `sample`, a smaller amount, for the suite.
at_length <- function(all, sample) {
  if (identical(Sys.getenv("RUNHOOKS_NIGHTLY"), "true")) all else sample
}
