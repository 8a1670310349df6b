# Distributed training with MPI: the strategy, the detection of the launcher, and collective calls.

#' Train with several processes (MPI)
#'
#' Returns a strategy for data-parallel training. With `run_config(train_distribute =
#' mpi_strategy())`, a script that was started with `mpirun -n 4 Rscript` or `srun` trains one model
#' in four processes, on one or several machines. Without `mpirun`, the same script trains in one
#' process.
#'
#' Each process reads its shard of the data and computes the gradients of one batch; the update uses
#' their mean. K processes with batches of B / K rows give the same model as one process with
#' batches of B rows.
#'
#' @param sync_batch_norm `TRUE`: batch normalization (`tf$layers$batch_normalization()`, or
#'   `batch_norm = TRUE` of deep models) uses the mean and variance of the rows of all processes.
#'   This requires two more messages per layer, and two more for the gradients. `FALSE` (the
#'   default): it uses the rows of each process. Moving averages always follow the mean of all
#'   processes.
#' @return An object with the fields `$rank` (rank of this process, from 0), `$size` (number of
#'   processes), `$local_rank` (rank among the processes of this machine) and `$is_chief` (`TRUE`
#'   for rank 0).
#' @section Collective calls: All processes must call [train()], [evaluate()],
#'   [predict()][predict.tf_estimator] and [train_and_evaluate()] in the same order; a mismatch is
#'   an error. Only the chief writes `model_dir` and draws the progress bar. Each of the other
#'   processes has a temporary directory with the chief's newest checkpoint. `hooks` run in all
#'   processes, except built-in hooks that print or write; those and `training_chief_hooks` run in
#'   the chief. If one process requests a stop, runs out of data or is interrupted, all processes
#'   stop at the same step.
#' @section Data: `batch_size` is the number of rows per process. For data in memory, [input_fn()]
#'   gives row i to process i mod K during training, unless `auto_shard = FALSE`. A dataset that an
#'   input function returns is sharded automatically, unless the function shards it with
#'   [dataset_shard()] or [read_files()], or has an argument `input_context` (an object with
#'   `$num_input_pipelines` and `$input_pipeline_id`).
#'
#'   Automatic sharding follows the policy AUTO of tf.data. If there are at least as many files as
#'   processes, each process reads every K-th file; otherwise each process uses every K-th record.
#'   Datasets without files, and those with [dataset_take()], [dataset_skip()], [zip_datasets()] and
#'   similar functions, are sharded by element, that is, by batch. Training stops as soon as one
#'   process runs out of data, so use files of equal size or repeat the dataset.
#' @section Evaluation and prediction: [evaluate()] distributes the batches, so `batch_size`,
#'   `steps` and the results are those of a single process. All processes return the same metrics.
#'   Metrics that are not sums are computed by each process on all batches.
#'   [predict()][predict.tf_estimator] of an input function also distributes batches; all processes
#'   return all rows, in order. If the input function shards the data itself, metrics cover all
#'   shards, and predictions only the shard of the process. Hooks and `history` see only the batches
#'   of their process. During training (validation and hooks, but not in [train_and_evaluate()]),
#'   for `newdata` and for `as_iterable = TRUE`, each process reads all rows. An error or Ctrl-C in
#'   one process ends all.
#' @section Random numbers: All seeds derive from the seed of the configuration, or from one that
#'   the chief draws. Initial weights and the shuffling of sharded datasets are the same in all
#'   processes. The order of rows in memory and dropout differ between processes. Repeating a run
#'   with the same seed and number of processes gives bit-identical results. To compare it with a
#'   run of one process, give `tf_random_seed`: after `set.seed()` alone, each of the two is
#'   repeatable, but they start from different weights.
#' @section Boosted trees: A layer has the same splits as in one process with all rows; leaf values
#'   are equal up to rounding. Quantiles and histograms include the rows of all processes. With
#'   `n_batches_per_layer = 1`, use `batch_size = n` or `ceiling(n / strategy$size)` for `n` rows in
#'   memory, so that each process uses all of its rows in each step.
#' @section Losses: Losses of estimators and of `tf$losses` cover all rows of a step. Any other loss
#'   of a custom model must be a mean over rows: the mean of the processes is used. A loss that is a
#'   sum over rows is an error.
#' @section Lost connections: MPI may wait forever for a machine that can no longer be reached. Open
#'   MPI ends the job earlier with `mpirun --mca oob_tcp_keepalive_time 30 --mca
#'   oob_tcp_keepalive_intvl 10 --mca oob_tcp_keepalive_probes 3` (seconds, seconds, number of
#'   attempts). The newest checkpoint is complete in any case.
#' @section Errors: An error in [train()] in one process ends all processes with a non-zero status.
#'   Its message is printed with the rank of the process.
#'   * `runhooks_error_failed_precondition`: the package was not built with the MPI that started the
#'     process, or MPI reports fewer processes than were started. Causes of the latter are an
#'     `mpirun` of another MPI, and `srun` without a suitable `--mpi`.
#'   * `runhooks_error_invalid_argument`: `RUNHOOKS_MPI` is not the name of an MPI.
#' @section Messages:
#'   * `runhooks_message_job_idles`: a Slurm job has several tasks, but only one process was
#'     started, without `srun` or `mpirun`.
#' @section Communication: Processes on one Linux machine reduce gradients in shared memory, and
#'   processes on several machines with MPI. The environment variable `RUNHOOKS_SHARED_MEMORY=no`
#'   disables shared memory. Sums are computed in the order of the ranks.
#' @section Installation: The package is built with the MPI libraries that are installed: on Debian
#'   `libopenmpi-dev openmpi-bin` or `libmpich-dev mpich`, with Homebrew `open-mpi`. If both are
#'   installed, the one whose `mpirun` started the script is used. Set the environment variable
#'   `RUNHOOKS_MPI` to `openmpi` or `mpich` if this cannot be detected.
#' @export
#' @examples
#' strategy <- mpi_strategy()
#' strategy
#' config <- run_config(train_distribute = strategy)
#' config$num_worker_replicas
mpi_strategy <- function(sync_batch_norm = FALSE) {
  check_flag(sync_batch_norm)
  strategy <- if (is.null(the$strategy)) begin_strategy(parent.frame()) else the$strategy
  strategy$sync_batch_norm <- sync_batch_norm
  strategy
}

begin_strategy <- function(call) {
  launcher <- mpi_launcher(call)
  process <- list(rank = 0L, size = 1L, local_rank = 0L, library = "")
  if (is.null(launcher)) {
    inform_job_idles()
  } else {
    process <- cpp_cluster_start(mpi_object(launcher$mpi, call = call))
    # Open MPI counts a process that ends without MPI_Finalize() as failed, even if it is alone.
    reg.finalizer(the, leave_cluster, onexit = TRUE)
    check_launcher(launcher, process, call)
    if (process$size > 1) set_cluster_options(process)
  }
  the$strategy <- structure(
    c(process[c("rank", "size", "local_rank", "library")], is_chief = process$rank == 0),
    class = "runhooks_mpi_strategy"
  )
  the$strategy
}

#' @export
print.runhooks_mpi_strategy <- function(x, ...) {
  text <- if (x$size == 1) {
    "One process"
  } else {
    sprintf(
      "Process %d of %d%s, number %d on its machine, by %s", x$rank, x$size,
      if (x$is_chief) ", the chief" else "", x$local_rank, x$library
    )
  }
  if (x$sync_batch_norm) {
    text <- paste0(text, "; batch normalization over the rows of all processes")
  }
  cat(text, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

is_strategy <- function(x) inherits(x, "runhooks_mpi_strategy")

config_of_model <- function(object) handle_fields(object)$config

replicas_of <- function(config) {
  strategy <- unclass(config)$train_distribute
  if (is_strategy(strategy)) strategy$size else 1L
}

mpi_names <- c(openmpi = "Open MPI", mpich = "MPICH")
srun_mpi_option <- c(openmpi = "pmix", mpich = "pmi2")

integer_env <- function(name) suppressWarnings(as.integer(Sys.getenv(name)))

# Returns the MPI library that started this process and the number of processes, or NULL if no MPI
# did.
mpi_launcher <- function(call = parent.frame()) {
  requested_mpi <- Sys.getenv("RUNHOOKS_MPI")
  if (nzchar(requested_mpi) && !requested_mpi %in% names(mpi_names)) {
    abort_runhooks(
      "The environment variable {.envvar RUNHOOKS_MPI} must be {.or {.val {names(mpi_names)}}},
       not {.val {requested_mpi}}.",
      call = call
    )
  }
  launcher <- function(mpi, size) {
    list(mpi = if (nzchar(requested_mpi)) requested_mpi else mpi, size = size)
  }
  if (nzchar(Sys.getenv("OMPI_COMM_WORLD_SIZE"))) {
    return(launcher("openmpi", integer_env("OMPI_COMM_WORLD_SIZE")))
  }
  if (nzchar(Sys.getenv("PMI_RANK"))) return(launcher("mpich", integer_env("PMI_SIZE")))
  tasks <- integer_env("SLURM_STEP_NUM_TASKS")
  if (nzchar(Sys.getenv("PMIX_RANK"))) return(launcher("openmpi", tasks))
  if (!is.na(tasks) && tasks > 1) {
    # the chosen MPI may support Slurm directly; check_launcher() verifies the number of processes
    if (nzchar(requested_mpi)) return(launcher(requested_mpi, tasks))
    abort_runhooks(
      c(
        "Slurm has started {tasks} processes without an MPI that connects them.",
        i = "Start them with {.code srun --mpi=pmix} (or {.code --mpi=pmi2}); see
             {.code srun --mpi=list}."
      ),
      kind = "failed_precondition", call = call
    )
  }
  if (nzchar(requested_mpi)) launcher(requested_mpi, NA)
}

is_started_by_srun <- function() {
  nzchar(Sys.getenv("SLURM_STEP_NUM_TASKS")) && !nzchar(Sys.getenv("OMPI_COMM_WORLD_SIZE"))
}

# Reports that the other tasks of a Slurm job are idle. The results are correct.
inform_job_idles <- function() {
  tasks <- integer_env("SLURM_NTASKS")
  if (is.na(tasks) || tasks < 2 || is_started_by_srun()) return(invisible())
  cli::cli_inform(
    c(
      "Only one process is running in a Slurm job with {tasks} tasks.",
      i = "To start all {tasks}, use {.code srun --mpi=pmix Rscript} instead of {.code Rscript} (for
           MPICH {.code --mpi=pmi2})."
    ),
    class = "runhooks_message_job_idles"
  )
}

mpi_built <- function() {
  paths <- vapply(names(mpi_names), function(name) {
    system.file("mpi", paste0(name, ".so"), package = "runhooks")
  }, "")
  paths[nzchar(paths)]
}

mpi_object <- function(mpi, built = mpi_built(), call = parent.frame(2)) {
  if (mpi %in% names(built)) return(built[[mpi]])
  mpi_name <- mpi_names[[mpi]] # nolint: used by cli
  packages <- list( # nolint: used by cli
    openmpi = "libopenmpi-dev openmpi-bin", mpich = "libmpich-dev mpich"
  )[[mpi]]
  abort_runhooks(
    c(
      "This process was started by {mpi_name}, but runhooks was not built with {mpi_name}.",
      x = if (length(built)) "It was built with {mpi_names[names(built)]}." else {
        "No MPI was found when it was installed."
      },
      i = if (is_started_by_srun() && length(built)) {
        "Start it with {.code srun --mpi={srun_mpi_option[names(built)[[1]]]}}, for
         {mpi_names[[names(built)[[1]]]]}, or:"
      },
      i = "Install {mpi_name} with its compiler (on Debian {.code apt install {packages}}), then
           runhooks again."
    ),
    kind = "failed_precondition", call = call
  )
}

# Aborts if the MPI library does not see all processes. If the mpirun of another MPI has started
# them, each process appears to be alone.
check_launcher <- function(launcher, process, call = parent.frame()) {
  if (is.na(launcher$size) || launcher$size == process$size) return(invisible())
  message <- if (is_started_by_srun()) {
    c(
      "Slurm has started {launcher$size} processes, but {process$library} reports {process$size}.",
      i = "Start them with {.code srun --mpi={srun_mpi_option[[launcher$mpi]]}} if {process$library}
           supports it (see {.code srun --mpi=list}), or else with its {.code mpirun}."
    )
  } else {
    c(
      "{launcher$size} processes were started together, but {process$library} reports
       {process$size}; another MPI has started them.",
      i = "Start them with the {.code mpirun} of {process$library}, or install runhooks with the
           other MPI."
    )
  }
  abort_runhooks(message, kind = "failed_precondition", call = call)
}

# Sets options so that an uncaught error ends all processes, and only the chief prints progress and
# logs.
set_cluster_options <- function(process) {
  if (!interactive() && is.null(getOption("error"))) {
    options(error = end_processes)
  }
  if (process$rank > 0) {
    options(runhooks.progress = FALSE)
    cpp_log_verbosity(log_levels[["ERROR"]])
  }
}

# Leaves the MPI cluster; this finalizer runs at the end of the R session.
leave_cluster <- function(e) {
  if (!identical(Sys.getpid(), the$pid)) return(invisible()) # a forked child
  check_no_pending_collective()
  tryCatch(cpp_cluster_finish(), error = abort_all_processes)
}

# Ends all processes if a collective call has not completed here, because of quit() or an error that
# the script caught. The other processes would wait forever.
check_no_pending_collective <- function() {
  if (is.null(the$collective)) return(invisible())
  text <- paste(the$collective, "ended early in this process, but the other processes wait in it.")
  abort_all_processes(simpleCondition(text))
}

# Prints an error and ends all processes. Processes other than the chief wait, so that the chief
# prints a common error first. suppressMessages() must not hide the error, hence cat().
abort_all_processes <- function(error) {
  strategy <- the$strategy
  if (!strategy$is_chief) Sys.sleep(1)
  text <- conditionMessage(error)
  text <- sprintf("Error in process %d of %d: %s\n", strategy$rank, strategy$size, text)
  cat(text, file = stderr())
  end_processes()
}

# Ends all processes. MPI_Abort() returns only if there are no others; the error then gives a
# non-zero exit status.
end_processes <- function() {
  cpp_cluster_abort(1L)
  abort_runhooks("There are no other processes to end.", kind = "failed_precondition")
}

# Checks that all processes make the same call for the same model. Returns whether the call is
# collective. A call during the training of the same model is collective only inside barrier().
# `lasts`: the call is pending until in_all_processes() returns.
begin_collective <- function(object, call_name, lasts = FALSE) {
  if (replicas_of(config_of_model(object)) == 1) return(invisible(FALSE))
  path <- model_dir(object)
  if (cpp_run_folder(path, FALSE)$is_training) return(invisible(isTRUE(the$barrier)))
  check_no_pending_collective()
  tryCatch(
    cpp_cluster_begin(paste(call_name, "of runhooks", utils::packageVersion("runhooks")), path),
    error = abort_all_processes
  )
  if (lasts) the$collective <- call_name
  invisible(TRUE)
}

# Evaluates the body of a pending collective call. An error in one process ends all processes.
in_all_processes <- function(object, expr) {
  if (replicas_of(config_of_model(object)) == 1) return(expr)
  on.exit(the$collective <- NULL)
  tryCatch(expr, error = abort_all_processes)
}

# Evaluates a collective call. An error or interrupt in one process ends all processes, because the
# others would wait for it.
run_collective <- function(is_collective, call_name, expr) {
  if (!is_collective) return(expr)
  previous <- the$collective
  the$collective <- call_name
  on.exit(the$collective <- previous)
  tryCatch(expr, error = abort_all_processes, interrupt = function(condition) {
    abort_all_processes(simpleCondition(paste(call_name, "was interrupted.")))
  })
}

# Evaluates code that all processes run at the same training step, so that calls in it can be
# collective.
barrier <- function(object, expr) {
  previous <- the$barrier
  the$barrier <- replicas_of(config_of_model(object)) > 1
  on.exit(the$barrier <- previous)
  expr
}

# Returns the chief's value of a flag, for decisions on which all processes must agree, such as
# timeouts.
broadcast_from_chief <- function(object, flag) {
  if (replicas_of(config_of_model(object)) == 1) return(flag)
  as.logical(cpp_cluster_gather("a question to the chief", as.raw(flag))[[1]])
}

# Returns the model directory of this process: `dir` for the chief, a temporary directory for
# others.
model_dir_of_process <- function(dir, config) {
  strategy <- unclass(config)$train_distribute
  if (replicas_of(config) == 1 || strategy$is_chief) return(dir)
  if (dir %in% the$process_dirs) return(dir)
  process_dir <- unname(the$process_dirs[dir])
  if (is.null(process_dir) || is.na(process_dir)) {
    process_dir <- tempfile("runhooks-process-")
    the$process_dirs[dir] <- process_dir
  }
  process_dir
}

strategy_fields <- function(strategy) {
  if (!is_strategy(strategy) || strategy$size == 1) return(list())
  list(
    is_chief = strategy$is_chief, task_type = if (strategy$is_chief) "chief" else "worker",
    task_id = max(strategy$rank - 1L, 0L), num_worker_replicas = strategy$size,
    global_id_in_cluster = strategy$rank
  )
}
