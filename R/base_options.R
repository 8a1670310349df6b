#' Package options
#'
#' Set these options with [options()]. Each is read when it is needed.
#'
#' * `runhooks.threads`: maximum number of threads of a training step, a positive whole number.
#'   Results do not depend on it. See the section on threads for the default.
#' * `runhooks.carried_mb`: maximum size, in megabytes, of the weights that `saveRDS()` includes for
#'   a model with a user-specified directory; see [train()]. Default: 10. For a model in a temporary
#'   directory, `saveRDS()` always includes the weights.
#' * `runhooks.progress`: `FALSE` disables the progress bar; see [hook_progress_bar()].
#' * `runhooks.values_in_memory`: maximum number of values that a formula model reads into memory
#'   from a chunked source ([datasets], Arrow, database tables). Default: 1e6. Larger data are read
#'   again in each pass.
#' * `tf.estimator.plot.history.smooth`, `tf.estimator.plot.history.theme_bw`: defaults of the
#'   arguments of [plot.tf_estimator_history()].
#'
#' The environment variable `RUNHOOKS_ISA` (`base`, `avx2` or `avx512`) selects an older instruction
#' set than the best one of the machine. It is read once per process. The last bits of a result
#' depend on it.
#'
#' @section Threads: The default is one thread for each physical core, at most 8, with these
#'   exceptions:
#'
#'   * At most 2 threads if the environment variable `_R_CHECK_LIMIT_CORES_` is set to anything but
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
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an option has an invalid value. The call that reads the
#'     option raises it, and the message names the option. An invalid `runhooks.carried_mb` is not
#'     an error: `saveRDS()` uses the default.
#' @section Warnings:
#'   * `runhooks_warning_instruction_set`: `RUNHOOKS_ISA` names an instruction set that does not
#'     exist or that the machine does not support. The best one that it supports, or the next older
#'     one, is used.
#' @name runhooks_options
#' @examples
#' old <- options(runhooks.threads = 1)
#' getOption("runhooks.threads")
#' options(old)
NULL

# Sets the number of threads in the core, if any of the settings has changed since the last call.
use_threads <- function(call = parent.frame(2)) {
  option <- getOption("runhooks.threads")
  settings <- list(option, getOption("mc.cores"), Sys.getenv(thread_variables), Sys.getpid())
  if (identical(settings, the$thread_settings)) return(the$threads)
  threads <- option
  if (is.null(option)) {
    threads <- default_threads()
  } else {
    check_positive_whole(option, arg = "options(runhooks.threads = )", call = call)
  }
  warn_instruction_set()
  the$threads <- cpp_set_threads(as.integer(threads), is.null(option))
  the$thread_settings <- settings
  the$threads
}

thread_variables <- c("OMP_THREAD_LIMIT", "_R_CHECK_LIMIT_CORES_")

# Returns the maximum number of threads if the option `runhooks.threads` is not set. The core uses
# fewer threads if there are fewer cores.
default_threads <- function() {
  if (in_parallel_worker()) return(1L)
  check <- ascii_lower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  if (check %in% c("", "false")) 8L else 2L
}

# Functions of parallel packages inside which the tasks of a worker run.
worker_loop_functions <- list(
  parallel = "workLoop", snow = "workLoop", mirai = c("daemon", ".daemon"),
  future = c("evalFuture", "evalFutureInternal")
)

# Whether another R session has started this process as a worker. (The core handles forks.)
in_parallel_worker <- function() {
  # future sets mc.cores in its workers only
  if (isNamespaceLoaded("future") && identical(as.integer(getOption("mc.cores")), 1L)) return(TRUE)
  functions <- lapply(seq_len(sys.nframe()), sys.function)
  namespaces <- lapply(functions, function(f) topenv(environment(f)))
  packages <- vapply(namespaces, environmentName, "")
  for (package in intersect(names(worker_loop_functions), packages)) {
    indices <- which(packages == package)
    # only the outermost function of the package future tells workers apart: plan(sequential) calls
    # evalFuture() from another function
    if (package == "future") indices <- indices[1]
    names <- worker_loop_functions[[package]]
    loops <- mget(names, namespaces[[indices[1]]], ifnotfound = list(NULL))
    is_loop <- function(f) any(vapply(loops, identical, NA, f))
    if (any(vapply(functions[indices], is_loop, NA))) return(TRUE)
  }
  FALSE
}

# Checks RUNHOOKS_ISA once per process, because the core reads it once.
warn_instruction_set <- function() {
  requested <- Sys.getenv("RUNHOOKS_ISA")
  if (isTRUE(the$isa_checked) || !nzchar(requested)) return(invisible())
  the$isa_checked <- TRUE
  supported <- cpp_instruction_sets()
  if (requested %in% supported) return(invisible())
  rlang::warn(
    c(
      sprintf("RUNHOOKS_ISA is \"%s\", which this machine does not support.", requested),
      i = sprintf("Using the instruction set \"%s\".", supported[[1]]),
      i = sprintf("Allowed here: %s.", paste0("\"", supported[-1], "\"", collapse = ", "))
    ),
    class = c("runhooks_warning_instruction_set", "runhooks_warning"), call = NULL
  )
}
