# Distributed training on this machine: a step of one process with and without a strategy, and of
# two processes; sums by MPI_Allreduce and by shared memory; a projection for 1 to 256 processes.
# `Rscript bench/cluster.R`

suppressPackageStartupMessages(library(runhooks))
options(runhooks.progress = FALSE, runhooks.threads = 1)

# --- code of each process: seconds per step of a workload, in the fastest of several blocks of
# steps because of other load

step_seconds <- function(workload, strategy, steps, size = if (is.null(strategy)) 1 else strategy$size,
                         hooks = NULL) {
  config <- run_config(
    tf_random_seed = 1, train_distribute = strategy, save_summary_steps = 0,
    log_step_count_steps = NULL, save_checkpoints_secs = NULL
  )
  times <- NULL
  n <- 0
  block <- (steps - 20) %/% 100
  clock <- session_run_hook(after_run = function(context, values) {
    n <<- n + 1
    if (n >= 20 && (n - 20) %% block == 0) times <<- c(times, as.numeric(Sys.time()))
  })
  if (workload == "mtcars") {
    model <- linear_regressor(
      feature_columns(column_numeric("wt"), column_numeric("hp")), config = config, optimizer = "Ftrl"
    )
    input <- input_fn(mtcars, c(wt, hp), mpg, batch_size = 8 / size, num_epochs = NULL)
  } else {
    set.seed(1)
    model <- dnn_classifier(
      hidden_units = c(256, 128), n_classes = 10, config = config, optimizer = "Adagrad",
      feature_columns = feature_columns(column_numeric("x", shape = 784))
    )
    x <- matrix(runif(2048 * 784), 2048)
    input <- numpy_input_fn(
      list(x = x), sample(0:9, 2048, replace = TRUE), batch_size = 256 / size, num_epochs = NULL,
      shuffle = TRUE
    )
  }
  suppressMessages(train(model, input, steps = steps, hooks = c(list(clock), hooks)))
  min(diff(times)) / block
}

# The long operations and the collective ones of the fastest of some steps, by start time.
timeline <- function(workload, strategy) {
  folder <- tempfile("timeline-")
  profiler <- hook_profiler(save_steps = 7, output_dir = folder)
  step_seconds(workload, strategy, 200, hooks = list(profiler))
  if (!strategy$is_chief) return(NULL) # only the chief has the hook
  steps <- lapply(list.files(folder, "json$", full.names = TRUE), function(file) {
    events <- jsonlite::fromJSON(file)$traceEvents
    events <- events[events$ph == "X", ]
    data.frame(begins = events$ts - min(events$ts), takes = events$dur, operation = events$args$name)
  })
  lasts <- vapply(steps, function(step) max(step$begins + step$takes), 0)
  step <- steps[[which.min(lasts)]]
  step <- step[order(step$begins), ]
  step[step$takes > 0.01 * min(lasts) | grepl("Collective|replica_gate", step$operation), ]
}

workloads <- c(mtcars = 100020, W3 = 820)
if (identical(commandArgs(TRUE), "process")) {
  strategy <- mpi_strategy()
  seconds <- vapply(names(workloads), function(name) {
    step_seconds(name, strategy, workloads[[name]])
  }, 0)
  of_step <- timeline("W3", strategy)
  if (strategy$is_chief) {
    cat("step", seconds, "\n")
    cat(sprintf("at %.0f %.0f %s\n", of_step$begins, of_step$takes, of_step$operation), sep = "")
  }
  quit()
}

if (identical(commandArgs(TRUE), "half")) {
  seconds <- vapply(names(workloads), function(name) {
    step_seconds(name, NULL, workloads[[name]], size = 2)
  }, 0)
  cat("step", seconds, "\n")
  quit()
}
step_said <- function(lines) as.numeric(strsplit(grep("^step", lines, value = TRUE), " ")[[1]][2:3])

# --- one process, two processes, and the messages alone

launcher <- Sys.which(c("mpirun.openmpi", "mpirun"))
launcher <- launcher[nzchar(launcher)]
if (length(launcher) == 0) {
  cat("mpirun.openmpi is not installed.\n")
  quit()
}
Sys.setenv(
  OMPI_ALLOW_RUN_AS_ROOT = 1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1, OMPI_MCA_rmaps_base_oversubscribe = 1
)
load <- strsplit(system2("uptime", stdout = TRUE), "load average: ")[[1]][[2]]
cat("load average:", load, "\n")
alone <- vapply(names(workloads), function(name) step_seconds(name, NULL, workloads[[name]]), 0)
of_one <- vapply(names(workloads), function(name) {
  step_seconds(name, mpi_strategy(), workloads[[name]])
}, 0)
said <- system2(launcher[[1]], c("-n", 2, "Rscript", "bench/cluster.R", "process"), stdout = TRUE)
of_two <- step_said(said)
# Two independent processes with half of the rows each are an upper limit for two processes.
halves <- lapply(1:2, function(i) {
  processx::process$new("Rscript", c("bench/cluster.R", "half"), stdout = "|")
})
for (one in halves) one$wait()
of_halves <- rowMeans(vapply(halves, function(one) step_said(one$read_all_output_lines()), c(0, 0)))
program <- tempfile("sums-")
sources <- c(
  "bench/sums.cpp", "src/cluster/communicator.cpp", "src/cluster/mpi_communicator.cpp",
  "src/cluster/shared_memory.cpp", "src/cluster/shared_memory_all_reduce.cpp", "src/base/status.cpp",
  "src/base/machine.cpp", "src/tensor/dtype.cpp"
)
system2("g++", c("-std=c++17", "-O2", "-Isrc", sources, "-o", program, "-ldl"))
object <- system.file("mpi", "openmpi.so", package = "runhooks")
sums <- utils::read.table(
  text = system2(launcher[[1]], c("-n", 2, program, object), stdout = TRUE),
  col.names = c("bytes", "MPI_Allreduce_us", "shared_memory_us")
)
sums$times <- sums$MPI_Allreduce_us / sums$shared_memory_us
system2("mpicc.openmpi", c("-O2", "bench/overlap.c", "-o", program))
overlap <- utils::read.table(
  text = system2(launcher[[1]], c("-n", 2, program), stdout = TRUE),
  col.names = c("bytes", "one_after_the_other_us", "both_at_once_us")
)
steps <- data.frame(
  workload = names(workloads), alone_us = alone * 1e6, strategy_of_one_us = of_one * 1e6,
  two_us = of_two * 1e6, times = alone / of_two, two_strangers_us = of_halves * 1e6,
  most_times = alone / of_halves
)
cat("\nA step, one thread per process, the same global batch:\n")
print(steps, row.names = FALSE, digits = 3)
cat("\nSums of two processes, by MPI_Allreduce and by shared memory:\n")
print(sums, row.names = FALSE, digits = 3)
cat("\nMPI_Allreduce after a millisecond of computing, and MPI_Iallreduce during it:\n")
print(overlap, row.names = FALSE, digits = 4)
cat("\nA step of W3 in the chief of two processes, microseconds (traced, so somewhat longer):\n")
at <- utils::read.table(
  text = sub("^at ", "", grep("^at ", said, value = TRUE)),
  col.names = c("begins", "takes", "operation")
)
at$operation <- formatC(at$operation, width = -max(nchar(at$operation)))
cat(sprintf("%8.0f %6.0f  %s\n", at$begins, at$takes, at$operation), sep = "")

# --- a cost model: computation is divided; each step has a small message for the barrier, one at
# its end, three of losses and one of gradients, by recursive doubling or, if large, in a ring

messages <- function(k, bytes, latency_us, gbit) {
  if (k == 1) return(0)
  small <- 5 * latency_us * ceiling(log2(k))
  small + latency_us * ceiling(log2(k)) + 2 * (k - 1) / k * bytes * 8 / (gbit * 1e3)
}
gradients <- c(mtcars = 12, W3 = 4 * (784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10))
processes <- 2^(0:8)
for (name in names(workloads)) {
  table <- data.frame(processes = processes)
  for (gbit in c(10, 100)) {
    # Typical latencies of such networks, in microseconds.
    latency <- if (gbit == 10) 20 else 2
    us <- vapply(processes, function(k) {
      alone[[name]] * 1e6 / k + messages(k, gradients[[name]], latency, gbit)
    }, 0)
    table[[paste0("us_", gbit, "_Gbit")]] <- us
    share <- 1 - alone[[name]] * 1e6 / processes / us
    table[[paste0("limit_", gbit)]] <- ifelse(share > 0.5, "messages", "compute")
  }
  cat("\nA step of ", name, " as the model has it, the same rows together:\n", sep = "")
  print(table, row.names = FALSE, digits = 3)
}
