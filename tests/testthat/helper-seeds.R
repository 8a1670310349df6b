# The suite is the same in each run: files begin with a seed of their own (tools/run_tests.R, here for
# others). A test of properties begins elsewhere in each run and says where: RUNHOOKS_SEED repeats it.
set.seed(1)

# At most two threads, in child processes, too, however many cores the machine has.
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

# How many times, or how long: all of it at night (`make nightly`), a sample in the suite.
at_length <- function(all, sample) {
  if (identical(Sys.getenv("RUNHOOKS_NIGHTLY"), "true")) all else sample
}
