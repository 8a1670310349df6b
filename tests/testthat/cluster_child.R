# One process of a distributed run: mpirun -n 2 Rscript cluster_child.R scenario,scenario folder
arguments <- commandArgs(TRUE)
own_rank <- Sys.getenv("OMPI_COMM_WORLD_RANK", Sys.getenv("PMI_RANK"))
writeLines(as.character(Sys.getpid()), file.path(arguments[[2]], paste0("pid-", own_rank)))
suppressPackageStartupMessages(library(runhooks))
scenario <- NULL
folder <- arguments[[2]]
strategy <- mpi_strategy()
rank <- strategy$rank
configured <- function(...) run_config(tf_random_seed = 11, train_distribute = strategy, ...)
keep <- function(result, name = scenario) {
  saveRDS(result, file.path(folder, sprintf("%s-%d.rds", name, rank)))
}
# Avoids input_fn(), which loads tidyselect and so slows down the start of each process.
endless <- function() {
  rows <- dataset_repeat(tensor_slices_dataset(as.list(cluster_data[c("x", "z", "y")])))
  batch <- iterator_get_next(make_iterator_one_shot(dataset_batch(rows, 24 / strategy$size)))
  list(batch[c("x", "z")], batch$y)
}
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "cluster_models.R"))

scenarios <- list(
  models = function() {
    for (name in names(cluster_models)) {
      keep(cluster_models[[name]](strategy$size, configured()), name)
    }
    keep(list(strategy = strategy, config = unclass(configured())), "strategy")
  },
  few_models = function() {
    for (name in c("linear", "wide_and_deep")) {
      keep(cluster_models[[name]](strategy$size, configured()), name)
    }
  },
  asks = function() {
    runs <- 0
    counts <- session_run_hook(after_run = function(context, values) runs <<- runs + 1)
    asked <- asked_numbers(strategy$size, configured(), counts)
    keep(c(asked, runs = runs))
  },
  seeds = function() keep(lapply(1:2, function(i) drawn_numbers(strategy$size, configured()))),
  # All processes resume from one shared checkpoint.
  resume = function() {
    config <- configured(model_dir = file.path(folder, "resume"), save_checkpoints_steps = 4)
    input <- cluster_shuffled()
    for (steps in c(5, 6)) train(cluster_small(config), input, steps = steps)
    whole <- cluster_small(configured())
    train(whole, input, steps = 11)
    keep(list(parts = cluster_weights(cluster_small(config)), whole = cluster_weights(whole)))
  },
  # Like `resume` above, for shuffled files: one file per shard, or one file sharded by record. Also
  # returns the labels that each process read.
  resume_files = function() {
    keep(lapply(list(files = cluster_files(5, c(30, 38, 34, 36, 38)), records = cluster_records()), function(files) {
      trained <- function(steps, ...) {
        config <- configured(checkpoint_input_pipeline = TRUE, ...)
        input <- cluster_batches(
          files, batch_size = 6, reads = function(rows) dataset_shuffle_and_repeat(rows, 20, 2)
        )
        rows <- new.env()
        for (n in steps) {
          suppressMessages(train(cluster_small(config), input, steps = n, hooks = cluster_seen(rows)))
        }
        list(weights = cluster_weights(cluster_small(config)), seen = rows$seen)
      }
      where <- file.path(folder, paste0("resume_", length(files)))
      list(
        parts = trained(c(5, 6), model_dir = where, save_checkpoints_steps = 4),
        whole = trained(11, model_dir = paste0(where, "_whole"))
      )
    }))
  },
  # Like `resume` above, but stops within a layer of a tree. The checkpoint holds the layer's
  # accumulated batches.
  resume_trees = function() {
    grow <- function(steps, ...) {
      given <- cluster_trees(
        boosted_trees_regressor, "y", configured(...), strategy$size, batches = 3
      )
      for (n in steps) suppressMessages(train(given$model, given$input, steps = n))
      cluster_tree_values(given$model)
    }
    keep(list(
      parts = grow(c(2, 8, 12), model_dir = file.path(folder, "trees"), save_checkpoints_steps = 5),
      whole = grow(22)
    ))
  },
  # Resumes from checkpoints that were written by another number of processes.
  continues = function() {
    for (before in strsplit(Sys.getenv("RUNHOOKS_MODELS"), ",")[[1]]) {
      path <- file.path(dirname(folder), "continued", before)
      keep(continue_trainings(path, strategy$size, train_distribute = strategy), before)
    }
  },
  # Tests each reason to stop: one process asks to stop, and all processes stop at the same step.
  stops = function() {
    ends <- list()
    trained <- function(input, hooks = list()) {
      model <- cluster_small(configured())
      suppressMessages(train(model, input, hooks = hooks))
      runhooks:::cpp_saved_global_step(runhooks:::model_dir(model))
    }
    n <- 0
    asks <- session_run_hook(after_run = function(context, values) {
      n <<- n + 1
      if (rank == 1 && n == 5) context$request_stop()
    })
    ends$asked <- trained(endless, asks)
    # 73 rows in batches of 24 leave one row for the fourth step: with three processes, the second
    # one has none.
    short <- utils::head(cluster_data, 73)
    ends$data <- trained(cluster_input(c("x", "z"), strategy$size, 1, short))
    # The first file is shorter, so its process ends the run.
    files <- cluster_files(strategy$size, c(30, rep(48, strategy$size - 1)))
    ends$files <- trained(cluster_batches(files, batch_size = 8))
    n <- 0
    interrupted <- session_run_hook(after_run = function(context, values) {
      n <<- n + 1
      if (rank == 1 && n == 7) tools::pskill(Sys.getpid(), tools::SIGINT)
    })
    model <- cluster_small(configured())
    ends$interrupt <- tryCatch(
      suppressMessages(train(model, endless, hooks = interrupted)),
      interrupt = function(condition) "interrupted"
    )
    ends$interrupted_at <- runhooks:::cpp_saved_global_step(runhooks:::model_dir(model))
    keep(ends)
  },
  error = function() {
    failing <- as.integer(Sys.getenv("RUNHOOKS_RANK"))
    fails <- session_run_hook(after_run = function(context, values) {
      if (rank == failing) stop("the hook of one process failed")
    })
    suppressMessages(train(cluster_small(configured()), endless, hooks = fails))
  },
  quits = function() {
    leaves <- session_run_hook(after_run = function(context, values) if (rank == 1) quit())
    train(cluster_small(configured()), endless, hooks = leaves)
  },
  caught = function() {
    input <- if (rank == 1) function() stop("no data") else endless
    steps <- if (rank == 1) "many" else 10
    try(train(cluster_small(configured()), input, steps = steps, hooks = if (rank == 1) "none"), silent = TRUE)
  },
  evaluations = function() {
    config <- configured(save_checkpoints_steps = 5)
    runs <- 0
    counts <- session_run_hook(after_run = function(context, values) runs <<- runs + 1)
    done <- evaluated_numbers(strategy$size, config, counts)
    said <- 0
    validated <- withCallingHandlers(
      train(
        cluster_small(config), endless, steps = 40, validation = cluster_input(c("x", "z"), 1, 1),
        stop = early_stopping("loss", patience = 1, every_n_steps = 5, min_delta = 1e6)
      ),
      runhooks_message_early_stopping = function(m) said <<- said + 1
    )
    keep(list(done = done, validated = validated$validation, runs = runs, said = said))
  },
  script_error = function() {
    if (rank == 1) stop("the script of one process failed")
    train(cluster_small(configured()), endless, steps = 10)
  },
  other_graph = function() {
    data <- cluster_data
    columns <- if (rank == 1) c("x", "w") else c("x", "z")
    model <- linear_regressor(do.call(feature_columns, lapply(columns, column_numeric)), config = configured())
    train(model, function() {
      given <- lapply(cluster_data[c(columns, "y")], tf$constant)
      list(given[columns], given$y)
    })
  },
  other_call = function() {
    model <- cluster_small(configured())
    if (rank == 0) train(model, endless, steps = 2)
  },
  # Ends a training on rows in memory after 7 steps and kills one on files. The next run resumes
  # both.
  killed = function() {
    began_at <- vapply(c("stopped", "killed"), function(name) {
      as.numeric(runhooks:::cpp_saved_global_step(file.path(folder, name)))
    }, 0)
    is_first <- began_at[["killed"]] == 0
    n <- 0
    dies <- session_run_hook(after_run = function(context, values) {
      n <<- n + 1
      if (is_first && rank == 1 && n == 12) tools::pskill(Sys.getpid(), tools::SIGKILL)
    })
    trained <- function(input, steps = NULL, hooks = NULL, ...) {
      config <- configured(checkpoint_input_pipeline = TRUE, ...)
      suppressMessages(train(cluster_small(config), input, steps = steps, hooks = hooks))
      cluster_weights(cluster_small(config))
    }
    both <- function(name, input, ...) {
      path <- file.path(folder, name)
      parts <- trained(input, model_dir = path, save_checkpoints_steps = 5, ...)
      list(parts = parts, whole = if (!is_first) trained(input, model_dir = paste0(path, "_whole")))
    }
    file <- file.path(folder, "rows.tfrecord")
    if (is_first && strategy$is_chief) file.rename(cluster_records(), file)
    stopped <- both("stopped", cluster_shuffled(), steps = if (is_first) 7)
    records <- cluster_batches(file, strategy$size, function(rows) dataset_shuffle_and_repeat(rows, 50, 3))
    keep(list(began_at = began_at, stopped = stopped, killed = both("killed", records, hooks = dies)))
  },
  # Trains for long, for tests that kill one of the processes.
  many_steps = function() {
    config <- configured(model_dir = file.path(folder, "many_steps"), save_checkpoints_steps = 5)
    input <- input_fn(
      cluster_data, c(x, z), y, batch_size = 24 / strategy$size, shuffle = TRUE, num_epochs = 20
    )
    waits <- session_run_hook(after_run = function(context, values) Sys.sleep(0.01))
    train(cluster_small(config), input, hooks = waits, max_steps = 160)
  },
  refused = function() {
    words <- function(expr) tryCatch({ expr; "nothing" }, error = conditionMessage)
    keep(words(run_config(train_distribute = "all")))
    model_fn <- function(features, labels, mode, params, config) {
      loss <- tf$reduce_mean(tf$cast(labels, tf$float32))
      step <- tf$assign_add(tf$train$get_global_step(), 1L)
      estimator_spec(mode = mode, loss = loss, train_op = step)
    }
    train(estimator(model_fn, config = configured()), endless, steps = 3)
  }
)
for (scenario in strsplit(arguments[[1]], ",")[[1]]) scenarios[[scenario]]()
