# Several processes that train one model: which of them this one is, and where they meet.

#' Several processes, by MPI
#'
#' A script that is started with `mpirun -n 4 Rscript`, or with `srun`, trains one model by
#' four processes, on one machine or many, where its configuration says
#' `run_config(train_distribute = mpi_strategy())`. Each process has its part of the data and computes
#' gradients of its own batch, of which all take the mean: with K processes and batches of B / K rows
#' the model is what one process makes of batches of B rows. Started without `mpirun` the script
#' trains in one process, as it would without a strategy.
#'
#' @param sync_batch_norm TRUE: batch normalization (`tf$layers$batch_normalization()`, `batch_norm = TRUE` of
#'   deep models) takes mean and variance of the rows of all processes, as one process has them of the
#'   whole batch, by two more messages a layer, and as many for gradients. FALSE: of the rows of each
#'   process; what the moving averages follow is the mean of all either way.
#' @return An object with `$rank`, from 0 on, of this process, `$size`, how many there are,
#'   `$local_rank` among those of this machine, and `$is_chief`, TRUE for rank 0. It prints itself in
#'   words.
#' @section What all do: [train()], [evaluate()], [predict()][predict.tf_estimator] and
#'   [train_and_evaluate()] are called by all processes, in the same order; where they are not it is an
#'   error that says so. The chief alone writes `model_dir`, and draws the line of progress; the others
#'   have a temporary folder each, with the chief's newest checkpoint. `hooks` run in all processes but
#'   those built-in ones that show or write something, and `training_chief_hooks`, which are the
#'   chief's. A stop that is asked for in one process, the end of its data and Ctrl-C end all at that
#'   step.
#' @section Data: `batch_size` is that of each process. [input_fn()] of data in memory deals row i to
#'   process i mod K in training (`auto_shard = FALSE`: it does not). A dataset that an input function
#'   returns is dealt, too, unless [dataset_shard()] has dealt it, or [read_files()] by `num_shards`, or the
#'   input function has an argument `input_context`, with `$num_input_pipelines` and
#'   `$input_pipeline_id`. One that is read from files is dealt in training as the policy AUTO of tf.data
#'   does it: where there are as many files as processes file i goes to process i mod K, so that none
#'   reads what is another's; where there are fewer, record i does. What has no files, or counts
#'   elements of the whole ([dataset_take()], [dataset_skip()], [zip_datasets()] and their like), is dealt
#'   by the elements of the dataset, which are batches. Processes need not have as many: the first end
#'   of data is the end of all, so files should be of one size, or the dataset repeated.
#' @section Evaluations and predictions: [evaluate()] deals batches, so that `batch_size` and `steps` are those
#'   of one process, and so are the figures, which all processes get: what metrics have counted is
#'   added up at the end. Metrics that keep something else than sums are evaluated by each process on
#'   all batches. [predict()][predict.tf_estimator] of an input function deals batches, too, and
#'   gives all rows, in their order, to all processes. Where the input function has dealt the data
#'   itself, figures are of all parts, and predictions of the part of the process. Hooks see the
#'   batches of their process, and so does `history`. Within a training (validation, hooks; not
#'   in [train_and_evaluate()]), for `newdata` and for `as_iterable = TRUE` each process reads all rows. An
#'   error or Ctrl-C in one process ends all.
#' @section Random numbers: All come from the one seed of the configuration, or one that the chief
#'   draws: weights begin with the same values in all processes, a dataset that is dealt is shuffled
#'   alike in all; the order of rows in memory and dropout are each process's own. A run again with the
#'   same seed and as many processes has the same bits.
#' @section Boosted trees: A layer is that of one process with the rows of all: the same splits, leaves
#'   to rounding. The quantiles are those of the numbers of all rows, histograms are added up before
#'   splits are sought. `batch_size = n` or `ceiling(n / strategy$size)` of `n` rows in memory gives
#'   each process all of its own in each step, with `n_batches_per_layer = 1`.
#' @section Losses: Those of the estimators and of `tf$losses` are of all rows of a step. Another loss of
#'   a model of one's own is a mean of its rows: the processes' mean is taken. One that adds rows up is
#'   refused.
#' @section Errors: One in [train()] in one process ends all with a status that is not 0; its text is
#'   shown with the rank of that process. `runhooks_error_failed_precondition` where the process was
#'   started by an MPI that the package was not installed with, or where more processes were started
#'   together than MPI knows of: by the `mpirun` of another MPI, or by `srun` without an `--mpi` that it
#'   understands. They would each train alone and write the same folder. A message of class
#'   `runhooks_message_job_idles` says that a job of Slurm has more tasks than the one process that
#'   was started in it without `srun` or `mpirun`.
#' @section One machine: Processes of one machine (of Linux) add by memory that they share, which has no
#'   name in any folder; those of several by MPI. `RUNHOOKS_SHARED_MEMORY=no` in the environment has all go
#'   by MPI. Sums are in the order of the ranks.
#' @section Installing: The package is built with the MPI that it finds: Debian's `libopenmpi-dev
#'   openmpi-bin` or `libmpich-dev mpich`, `open-mpi` of Homebrew. Both may be there; that one is taken
#'   whose `mpirun` has started the script (the environment variable `RUNHOOKS_MPI`, `openmpi` or
#'   `mpich`, says it where that cannot be seen).
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
  place <- list(rank = 0L, size = 1L, local_rank = 0L, library = "")
  if (is.null(launcher)) {
    inform_job_idles()
  } else {
    place <- cpp_cluster_start(mpi_object(launcher$mpi, call = call))
    check_launcher(launcher, place, call)
    if (place$size > 1) behave_in_cluster(place)
  }
  the$strategy <- structure(
    c(place[c("rank", "size", "local_rank", "library")], is_chief = place$rank == 0),
    class = "runhooks_mpi_strategy"
  )
  the$strategy
}

#' @export
print.runhooks_mpi_strategy <- function(x, ...) {
  words <- if (x$size == 1) {
    "One process"
  } else {
    sprintf(
      "Process %d of %d%s, number %d on its machine, by %s", x$rank, x$size,
      if (x$is_chief) ", the chief" else "", x$local_rank, x$library
    )
  }
  if (x$sync_batch_norm) {
    words <- paste0(words, "; batch normalization has the rows of all")
  }
  cat(words, "\n", sep = "") # lint: allow stdout
  invisible(x)
}

is_strategy <- function(x) inherits(x, "runhooks_mpi_strategy")

engine_config <- function(object) unclass(object$estimator)$config

# How many processes train a model of this configuration.
replicas_of <- function(config) {
  strategy <- unclass(config)$train_distribute
  if (is_strategy(strategy)) strategy$size else 1L
}

# --- who has started us

mpi_names <- c(openmpi = "Open MPI", mpich = "MPICH")
# How srun starts processes for each.
mpi_of_srun <- c(openmpi = "pmix", mpich = "pmi2")

env_number <- function(name) suppressWarnings(as.integer(Sys.getenv(name)))

# The MPI that has started this process, and how many of them; NULL: nobody has.
mpi_launcher <- function(call = parent.frame()) {
  said <- Sys.getenv("RUNHOOKS_MPI")
  if (nzchar(said) && !said %in% names(mpi_names)) {
    abort_runhooks(
      "The environment variable {.envvar RUNHOOKS_MPI} must be {.or {.val {names(mpi_names)}}},
       not {.val {said}}.",
      call = call
    )
  }
  of <- function(mpi, size) list(mpi = if (nzchar(said)) said else mpi, size = size)
  if (nzchar(Sys.getenv("OMPI_COMM_WORLD_SIZE"))) {
    return(of("openmpi", env_number("OMPI_COMM_WORLD_SIZE")))
  }
  if (nzchar(Sys.getenv("PMI_RANK"))) return(of("mpich", env_number("PMI_SIZE")))
  tasks <- env_number("SLURM_STEP_NUM_TASKS")
  if (nzchar(Sys.getenv("PMIX_RANK"))) return(of("openmpi", tasks))
  if (!is.na(tasks) && tasks > 1) {
    # an MPI that asks Slurm in a way of its own; check_launcher() sees whether it has found the others
    if (nzchar(said)) return(of(said, tasks))
    abort_runhooks(
      c(
        "Slurm has started {tasks} processes that do not know of each other.",
        i = "Start them with {.code srun --mpi=pmix} (or {.code --mpi=pmi2}), see
             {.code srun --mpi=list}."
      ),
      kind = "failed_precondition", call = call
    )
  }
  if (nzchar(said)) of(said, NA)
}

is_by_srun <- function() {
  nzchar(Sys.getenv("SLURM_STEP_NUM_TASKS")) && !nzchar(Sys.getenv("OMPI_COMM_WORLD_SIZE"))
}

# One process of a job that has asked for more: what it trains is right, and all others idle.
inform_job_idles <- function() {
  tasks <- env_number("SLURM_NTASKS")
  if (is.na(tasks) || tasks < 2 || is_by_srun()) return(invisible())
  cli::cli_inform(
    c(
      "One process of a job of Slurm that has {tasks} tasks.",
      i = "{.code srun --mpi=pmix Rscript} in place of {.code Rscript} starts all {tasks} (for MPICH
           {.code --mpi=pmi2})."
    ),
    class = "runhooks_message_job_idles"
  )
}

# The shared objects that the package was installed with, by their MPI.
mpi_built <- function() {
  paths <- vapply(names(mpi_names), function(name) {
    system.file("mpi", paste0(name, ".so"), package = "runhooks")
  }, "")
  paths[nzchar(paths)]
}

mpi_object <- function(mpi, built = mpi_built(), call = parent.frame(2)) {
  if (mpi %in% names(built)) return(built[[mpi]])
  wanted <- mpi_names[[mpi]] # nolint: used by cli
  packages <- list( # nolint: used by cli
    openmpi = "libopenmpi-dev openmpi-bin", mpich = "libmpich-dev mpich"
  )[[mpi]]
  abort_runhooks(
    c(
      "This process was started by {wanted}, with which runhooks was not installed.",
      x = if (length(built)) "It was installed with {mpi_names[names(built)]}." else {
        "It was installed where no MPI was found."
      },
      i = if (is_by_srun() && length(built)) {
        "Start it with {.code srun --mpi={mpi_of_srun[names(built)[[1]]]}}, for
         {mpi_names[[names(built)[[1]]]]}, or:"
      },
      i = "Install {wanted} with its compiler (on Debian {.code apt install {packages}}), then
           runhooks again."
    ),
    kind = "failed_precondition", call = call
  )
}

# One MPI that is started by another's mpirun is alone.
check_launcher <- function(launcher, place, call = parent.frame()) {
  if (is.na(launcher$size) || launcher$size == place$size) return(invisible())
  words <- if (is_by_srun()) {
    c(
      "Slurm has started {launcher$size} processes, and {place$library} knows of {place$size}.",
      i = "Start them with {.code srun --mpi={mpi_of_srun[[launcher$mpi]]}} if this {place$library} can be
           started by it (see {.code srun --mpi=list}), else with its {.code mpirun}."
    )
  } else {
    c(
      "{launcher$size} processes were started together, and {place$library} knows of
       {place$size}: they were started by another MPI.",
      i = "Start them with the {.code mpirun} of {place$library}, or install runhooks with the other
           one."
    )
  }
  abort_runhooks(words, kind = "failed_precondition", call = call)
}

# --- how such a process behaves

# An error that nobody catches ends all processes, the end of the script waits for all, and one of
# them shows what it does.
behave_in_cluster <- function(place) {
  if (!interactive() && is.null(getOption("error"))) {
    options(error = end_processes)
  }
  if (place$rank > 0) {
    options(runhooks.progress = FALSE)
    cpp_log_verbosity(log_levels[["ERROR"]])
  }
  reg.finalizer(the, leave_cluster, onexit = TRUE)
}

leave_cluster <- function(e) {
  if (!identical(Sys.getpid(), the$pid)) return(invisible()) # a child of fork()
  check_none_left()
  tryCatch(cpp_cluster_finish(), error = end_all)
}

# The others are still in a training that this process has left, by an error that its script caught or
# by quit(): they would wait for ever.
check_none_left <- function() {
  if (is.null(the$together)) return(invisible())
  end_all(simpleCondition(paste0(the$together, " was left before its end, which all wait for.")))
}

# Shows the error of this process and ends all. The chief's comes first where all have the same. No
# message: who suppresses those of a training is to see why it has ended.
end_all <- function(error) {
  strategy <- the$strategy
  if (!strategy$is_chief) Sys.sleep(1)
  text <- conditionMessage(error)
  text <- sprintf("Error in process %d of %d: %s\n", strategy$rank, strategy$size, text)
  cat(text, file = stderr())
  end_processes()
}

# MPI_Abort() ends this process with the others. It returns only if there are no others, and then
# the error ends a script with a status that is not 0.
end_processes <- function() {
  cpp_cluster_abort(1L)
  abort_runhooks("There are no other processes to end.", kind = "failed_precondition")
}

# All processes begin `what` on a model, unless that is done while it is trained, where one may be
# alone (barrier() says that none is). What is a training
# lasts until in_all_processes() has ended. Whether all do so.
begin_collective <- function(object, what, lasts = FALSE) {
  if (replicas_of(engine_config(object)) == 1) return(invisible(FALSE))
  path <- model_dir(object)
  if (cpp_run_folder(path, FALSE)$is_training) return(invisible(isTRUE(the$barrier)))
  check_none_left()
  tryCatch(
    cpp_cluster_begin(paste(what, "of runhooks", utils::packageVersion("runhooks")), path),
    error = end_all
  )
  if (lasts) the$together <- what
  invisible(TRUE)
}

# The value of a training, which all processes leave together: by an error of one all end.
in_all_processes <- function(object, expr) {
  if (replicas_of(engine_config(object)) == 1) return(expr)
  on.exit(the$together <- NULL)
  tryCatch(expr, error = end_all)
}

# The value of what all make together to its end, where they do: by an error or an interrupt of one
# all end, as it says nothing to the others on its way.
run_collective <- function(together, what, expr) {
  if (!together) return(expr)
  outer <- the$together
  the$together <- what
  on.exit(the$together <- outer)
  tryCatch(expr, error = end_all, interrupt = function(condition) {
    end_all(simpleCondition(paste(what, "was interrupted.")))
  })
}

# `expr` at a moment of a training at which all processes of `object` do the same.
barrier <- function(object, expr) {
  outer <- the$barrier
  the$barrier <- replicas_of(engine_config(object)) > 1
  on.exit(the$barrier <- outer)
  expr
}

# What the chief says to a question of yes or no that all ask, such as one of its clock.
broadcast_from_chief <- function(object, is_so) {
  if (replicas_of(engine_config(object)) == 1) return(is_so)
  as.logical(cpp_cluster_gather("a question to the chief", as.raw(is_so))[[1]])
}

# Where a process that is not the chief has what the chief has in `folder`.
folder_of_process <- function(folder, config) {
  strategy <- unclass(config)$train_distribute
  if (replicas_of(config) == 1 || strategy$is_chief) return(folder)
  if (folder %in% the$own_folders) return(folder)
  own <- unname(the$own_folders[folder])
  if (is.null(own) || is.na(own)) {
    own <- tempfile("runhooks-process-")
    the$own_folders[folder] <- own
  }
  own
}

# What follows for a configuration.
strategy_fields <- function(strategy) {
  if (!is_strategy(strategy) || strategy$size == 1) return(list())
  list(
    is_chief = strategy$is_chief, task_type = if (strategy$is_chief) "chief" else "worker",
    task_id = max(strategy$rank - 1L, 0L), num_worker_replicas = strategy$size,
    global_id_in_cluster = strategy$rank
  )
}
