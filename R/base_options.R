#' Options
#'
#' Set them with [options()]; each is read when it is needed.
#'
#' * `runhooks.threads`: a positive whole number, by default 2: how many threads a step may use.
#'   Never more are used than the machine has and the environment variable `OMP_THREAD_LIMIT`
#'   allows; in a child of `fork()` (as in `parallel::mclapply()`) it is one. Results do not depend
#'   on it.
#' * `runhooks.carried_mb`: up to which size in megabytes, by default 10, the weights of a model whose
#'   folder was named go into the file of `saveRDS()`, see [train()]. A model in a temporary folder
#'   carries them all.
#' * `runhooks.progress`: `FALSE` turns the line of progress off, see [hook_progress_bar()].
#' * `runhooks.values_in_memory`: a number, by default 1e6. Of data that a formula reads in chunks
#'   ([datasets], Arrow, tables of databases) so many values at most are taken into memory, and are a
#'   data frame from there on; more are read anew in each pass.
#' * `tf.estimator.plot.history.smooth`, `tf.estimator.plot.history.theme_bw`: the defaults of
#'   [plot.tf_estimator_history()].
#'
#' The environment variable `RUNHOOKS_ISA` (`base`, `avx2` or `avx512`), read once, asks for an
#' older instruction set than the best one of the machine. The last bits of a result depend on it.
#'
#' @section Errors: `runhooks_error_invalid_argument`, which names the option, of the call that reads
#'   it: for `runhooks.threads` the next training, evaluation or prediction, for
#'   `runhooks.values_in_memory` the next model of a formula and a stream, for those of plots the
#'   next plot. `saveRDS()` cannot fail for an option: a `runhooks.carried_mb` that is no number of
#'   0 or more is the default, and so is a `RUNHOOKS_ISA` that is none of the three, or that the
#'   machine does not have.
#' @name runhooks_options
#' @examples
#' old <- options(runhooks.threads = 1)
#' options(old)
NULL

use_threads <- function(call = parent.frame(2)) {
  threads <- getOption("runhooks.threads", 2L)
  # the core is told of what is new
  said <- list(threads, Sys.getenv("OMP_THREAD_LIMIT"), Sys.getpid())
  if (identical(said, the$threads_said)) return(the$threads)
  check_positive_whole(threads, arg = "options(runhooks.threads = )", call = call)
  the$threads <- cpp_set_threads(as.integer(threads))
  the$threads_said <- said
  the$threads
}
