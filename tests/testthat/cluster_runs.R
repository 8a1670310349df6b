# Starts MPI runs of several processes on this machine. Each process runs cluster_child.R.

mpi_env <- c(
  OMPI_ALLOW_RUN_AS_ROOT = "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = "1",
  OMPI_MCA_rmaps_base_oversubscribe = "1", OMPI_MCA_btl_vader_single_copy_mechanism = "none",
  OMPI_MCA_mpi_yield_when_idle = "1", RUNHOOKS_MPI = "", OMP_THREAD_LIMIT = "1",
  # Compiling code that runs once takes longer than running it.
  R_ENABLE_JIT = "0"
)

# The MPI libraries that the package was built with and whose mpirun is installed.
launchers <- local({
  all <- c(openmpi = "mpirun.openmpi", mpich = "mpirun.mpich")
  here <- nzchar(Sys.which(all)) & vapply(names(all), function(name) {
    nzchar(system.file("mpi", paste0(name, ".so"), package = "runhooks"))
  }, NA)
  all[here]
})

# Starts a run, which is a list(folder, scenarios, n, mpi). It may also have environment variables
# `env` and runs `then` that start after it.
start_processes <- function(run, script = normalizePath(test_path("cluster_child.R"))) {
  dir.create(run$folder, showWarnings = FALSE)
  scenarios <- paste(run$scenarios, collapse = ",")
  processx::process$new(
    launchers[[run$mpi]], c("-n", run$n, child_rscript(), script, scenarios, run$folder),
    env = c(child_env(), mpi_env, run$env), cleanup_tree = TRUE,
    stdout = paste0(run$folder, ".out"), stderr = paste0(run$folder, ".err")
  )
}

what_came <- function(run, process, is_late) {
  read <- function(end) paste(readLines(paste0(run$folder, end), warn = FALSE), collapse = "\n")
  list(
    status = process$get_exit_status(), timeout = is_late, stdout = read(".out"),
    stderr = read(".err"), folder = run$folder, n = run$n
  )
}

# Returns the results of named runs; `at_once` of them run at a time. They overlap because most of
# their time is the start of R.
run_all <- function(runs, meanwhile = function() NULL, at_once = 3, seconds = 60) {
  came <- running <- list()
  start <- function() {
    while (length(runs) && length(running) < at_once) {
      one <- list(run = runs[[1]], process = start_processes(runs[[1]]), since = proc.time()[[3]])
      running[[names(runs)[[1]]]] <<- one
      runs <<- runs[-1]
    }
  }
  start()
  meanwhile()
  while (length(running)) {
    for (name in names(running)) {
      one <- running[[name]]
      is_late <- one$process$is_alive() && proc.time()[[3]] - one$since > seconds
      if (is_late) one$process$kill_tree()
      if (one$process$is_alive()) next
      came[[name]] <- what_came(one$run, one$process, is_late)
      runs <- c(one$run$then, runs)
      running[[name]] <- NULL
    }
    start()
    Sys.sleep(0.02)
  }
  came
}
