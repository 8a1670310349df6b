#' Options
#'
#' Set them with [options()]; each is read when it is needed.
#'
#' * `runhooks.threads`: a positive whole number, the largest number of threads that a step may use.
#'   Results do not depend on it. See the section on threads for the default.
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
#' @section Threads: The default is one thread for each physical core, at most 8, with these
#'   exceptions:
#'
#'   * 2 threads at most if the environment variable `_R_CHECK_LIMIT_CORES_` is set to anything but
#'     `false`, as `R CMD check --as-cran` does.
#'   * 1 thread in a worker of the packages parallel, future and mirai, because the workers already
#'     share the cores. The same holds for children of `parallel::mclapply()` and other users of
#'     `fork()`, even if the option is set.
#'   * The cores of a machine divided by the number of processes there, if Open MPI's or MPICH's
#'     `mpirun` has started them.
#'
#'   `options(runhooks.threads = )` overrides the default. It may be as large as the number of
#'   logical processors. With or without the option, training never uses more threads than the
#'   environment variable `OMP_THREAD_LIMIT`, the CPU affinity of the process and, on Linux, the CPU
#'   quota of its control groups (as in a container) allow.
#'
#' @section Errors: `runhooks_error_invalid_argument`, which names the option, of the call that reads
#'   it: for `runhooks.threads` the next training, evaluation or prediction, for
#'   `runhooks.values_in_memory` the next model of a formula and a stream, for those of plots the
#'   next plot. `saveRDS()` cannot fail for an option: a `runhooks.carried_mb` that is no number of
#'   0 or more is the default.
#' @section Warnings: `runhooks_warning_instruction_set`: `RUNHOOKS_ISA` names an instruction set
#'   that does not exist or that the machine does not support. The best one that it supports, or
#'   the next older one, is used.
#' @name runhooks_options
#' @examples
#' old <- options(runhooks.threads = 1)
#' options(old)
NULL

# Tells the core how many threads to use, if anything that decides on it has changed.
use_threads <- function(call = parent.frame(2)) {
  option <- getOption("runhooks.threads")
  said <- list(option, getOption("mc.cores"), Sys.getenv(thread_variables), Sys.getpid())
  if (identical(said, the$threads_said)) return(the$threads)
  threads <- option
  if (is.null(option)) {
    threads <- default_threads()
  } else {
    check_positive_whole(option, arg = "options(runhooks.threads = )", call = call)
  }
  warn_of_instruction_set()
  the$threads <- cpp_set_threads(as.integer(threads), is.null(option))
  the$threads_said <- said
  the$threads
}

thread_variables <- c("OMP_THREAD_LIMIT", "_R_CHECK_LIMIT_CORES_")

# The most threads without the option. The core takes fewer on a machine with fewer cores.
default_threads <- function() {
  if (in_parallel_worker()) return(1L)
  # R's own reading of the variable, see parallel::mclapply()
  check <- ascii_lower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  if (check %in% c("", "false")) 8L else 2L
}

# Functions that a worker of these packages runs as long as it lives, and evaluates its tasks in.
worker_loops <- list(
  parallel = "workLoop", snow = "workLoop", mirai = c("daemon", ".daemon"),
  future = c("evalFuture", "evalFutureInternal")
)

# Whether another R session has started this process as one of its workers. Forked children need no
# check, because the core gives them one thread.
in_parallel_worker <- function() {
  # future sets this option in its workers, and leaves it alone in the main session
  if (isNamespaceLoaded("future") && identical(as.integer(getOption("mc.cores")), 1L)) return(TRUE)
  functions <- lapply(seq_len(sys.nframe()), sys.function)
  homes <- lapply(functions, function(f) topenv(environment(f)))
  packages <- vapply(homes, environmentName, "")
  for (package in intersect(names(worker_loops), packages)) {
    inside <- which(packages == package)
    # plan(sequential), too, evaluates inside evalFuture(), but below future() and the like
    if (package == "future") inside <- inside[1]
    loops <- mget(worker_loops[[package]], homes[[inside[1]]], ifnotfound = list(NULL))
    is_loop <- function(f) any(vapply(loops, identical, NA, f))
    if (any(vapply(functions[inside], is_loop, NA))) return(TRUE)
  }
  FALSE
}

# Once in a process, because the core reads the variable once.
warn_of_instruction_set <- function() {
  wanted <- Sys.getenv("RUNHOOKS_ISA")
  if (isTRUE(the$isa_checked) || !nzchar(wanted)) return(invisible())
  the$isa_checked <- TRUE
  sets <- cpp_instruction_sets()
  if (wanted %in% sets) return(invisible())
  rlang::warn(
    c(
      sprintf("The variable RUNHOOKS_ISA is \"%s\", which this machine does not support.", wanted),
      i = sprintf("The instruction set \"%s\" is used.", sets[[1]]),
      i = sprintf("Allowed here: %s.", paste0("\"", sets[-1], "\"", collapse = ", "))
    ),
    class = c("runhooks_warning_instruction_set", "runhooks_warning"), call = NULL
  )
}
