# Distributed runs by MPI on this machine. Each process runs cluster_child.R.
set.seed(1)
source(test_path("cluster_models.R"), local = TRUE)
source(test_path("cluster_runs.R"), local = TRUE)

result_of <- function(folder, name, rank) readRDS(file.path(folder, sprintf("%s-%d.rds", name, rank)))

test_that("without mpirun there is one process, and nothing changes", {
  strategy <- mpi_strategy()
  expect_identical(c(strategy$rank, strategy$size, strategy$local_rank), c(0L, 1L, 0L))
  expect_true(strategy$is_chief)
  expect_output(print(strategy), "^One process$")
  expect_output(print(mpi_strategy(sync_batch_norm = TRUE)), "batch normalization over the rows of all processes")
  expect_error(mpi_strategy("yes"), "sync_batch_norm", class = "runhooks_error_invalid_argument")
  train_one <- function(...) {
    config <- run_config(tf_random_seed = 11, ...)
    list(cluster_models$linear(1, config)[c("losses", "values")], drawn_numbers(1, config))
  }
  expect_identical(train_one(train_distribute = strategy), train_one())
})

test_that("end_processes() without other processes is an error", {
  expect_error(end_processes(), "no other processes", class = "runhooks_error_failed_precondition")
})

test_that("a dataset is sharded unless the user did so, whatever its files are called", {
  withr::defer(the$reading$shard <- NULL)
  the$reading$shard <- list2env(list(size = 2L, rank = 1L, shards_rows = TRUE))
  path <- file.path(withr::local_tempdir(), "ShardDataset.txt")
  writeLines(letters[1:4], path)
  lines <- text_line_dataset(path)
  elements <- function(dataset) unlist(dataset_collect(sharded_dataset(dataset)))
  expect_identical(unname(elements(lines)), c("b", "d"))
  part <- dataset_repeat(dataset_map(dataset_shard(lines, 2, 0), identity), 1)
  expect_identical(the$reading$shard$sharded_by, "package")
  expect_identical(unname(elements(part)), c("a", "c"))
  expect_identical(the$reading$shard$sharded_by, "input_fn")
})

test_that("data are sharded by file, by record if there are few files, else by batch", {
  withr::defer(the$reading$shard <- NULL)
  folder <- withr::local_tempdir()
  files <- file.path(folder, c("a", "b", "c"))
  for (file in files) writeLines(paste0(basename(file), 1:4), file)
  rows_of <- function(rank, dataset, size = 2, shards_rows = TRUE) {
    the$reading$shard <- list2env(list(size = size, rank = rank, shards_rows = shards_rows))
    on.exit(the$reading$shard <- NULL)
    rows <- unlist(dataset_collect(sharded_dataset(dataset)), use.names = FALSE)
    expect_identical(the$reading$shard$sharded_by, "package")
    rows
  }
  of <- function(...) c(outer(1:4, c(...), function(i, file) paste0(file, i)))
  lines <- text_line_dataset(files)
  expect_identical(rows_of(0, lines), of("a", "c"))
  expect_identical(rows_of(1, lines), of("b"))
  # If there are fewer files than processes, records are sharded. Evaluations shard the batches that
  # a single process would read.
  expect_identical(rows_of(3, lines, 4), c("a4", "b4", "c4"))
  expect_identical(rows_of(1, dataset_batch(lines, 3), shards_rows = FALSE), c(of("a")[4], of("b")[1:2], of("c")[2:4]))
  # Shards pass through transformations that commute with sharding.
  piped <- read_files(files, text_line_dataset, parallel_files = 3) %>%
    dataset_map(identity) %>%
    dataset_filter(function(x) tf$not_equal(x, "c2")) %>%
    dataset_cache() %>%
    dataset_shuffle_and_repeat(20, 2) %>%
    dataset_batch(3) %>%
    dataset_prefetch(1)
  expect_setequal(rows_of(0, piped), setdiff(of("a", "c"), "c2"))
  expect_length(rows_of(0, piped), 14)
  expect_setequal(rows_of(1, piped), of("b"))
  listed <- dataset_interleave(file_list_dataset(files, seed = 4), text_line_dataset, 2)
  expect_setequal(c(rows_of(0, listed), rows_of(1, listed)), of("a", "b", "c"))
  expect_setequal(substr(rows_of(1, listed), 2, 2), 1:4)
  expect_length(rows_of(1, listed), 4)
  expect_length(unlist(lapply(0:3, rows_of, listed, 4)), 12)
  # The counts of skip and take refer to the unsharded data.
  expect_identical(rows_of(1, dataset_batch(dataset_skip(lines, 1), 2)), c("a4", "b1", "b4", "c1", "c4"))
  expect_identical(rows_of(0, dataset_take(lines, 3)), c("a1", "a3"))
  expect_identical(rows_of(1, range_dataset(0, 4)), c(1, 3))
  cars <- file.path(folder, sprintf("cars-%d.csv", 1:2))
  for (i in 1:2) utils::write.csv(data.frame(x = i, y = 1:3), cars[[i]], row.names = FALSE)
  batches <- make_csv_dataset(cars, 2, num_epochs = 1, shuffle = TRUE)
  x <- lapply(0:1, function(rank) {
    rows <- rows_of(rank, dataset_map(batches, function(record) record$x))
    expect_length(rows, 3)
    unique(rows)
  })
  expect_setequal(unlist(x), 1:2)
})

test_that("input_fn(<dataset>, auto_shard = FALSE) gives all data to each process", {
  withr::defer(the$reading$shard <- NULL)
  shard <- the$reading$shard <- list2env(list(size = 2L, rank = 1L, shards_rows = TRUE))
  rows <- dataset_batch(tensor_slices_dataset(list(x = 1:4, y = 1:4)), 1)
  batches <- function(...) {
    with(tf$Graph()$as_default(), {
      batch <- input_fn(rows, features = x, response = y, ...)(NULL)()
      session <- tf$Session()
      seen <- NULL
      until_out_of_range(seen <- c(seen, session$run(batch[[2]])))
      seen
    })
  }
  expect_identical(batches(), c(2L, 4L))
  expect_identical(shard$sharded_by, "package")
  expect_identical(batches(auto_shard = FALSE), 1:4)
  expect_identical(shard$sharded_by, "input_fn")
  expect_identical(the$reading$shard, shard)
})

test_that("the launcher determines which MPI is loaded, and which one to install", {
  withr::local_envvar(RUNHOOKS_MPI = "other")
  expect_error(mpi_launcher(), "RUNHOOKS_MPI", class = "runhooks_error_invalid_argument")
  withr::local_envvar(RUNHOOKS_MPI = NA, PMI_RANK = "1", PMI_SIZE = "2")
  expect_identical(mpi_launcher(), list(mpi = "mpich", size = 2L))
  withr::local_envvar(OMPI_COMM_WORLD_SIZE = "3")
  expect_identical(mpi_launcher(), list(mpi = "openmpi", size = 3L))
  nothing <- mpi_built()[0]
  expect_error(
    mpi_object("openmpi", nothing), "libopenmpi-dev", class = "runhooks_error_failed_precondition"
  )
  other <- c(openmpi = "here")
  expect_error(mpi_object("mpich", other), "It was built with Open MPI")
  expect_identical(mpi_object("openmpi", other), "here")
  expect_error(
    check_launcher(list(mpi = "mpich", size = 2L), list(size = 1L, library = "MPICH 4")),
    "another MPI.*mpirun. of MPICH 4", class = "runhooks_error_failed_precondition"
  )
})

test_that("processes that Slurm started never run alone silently", {
  # The variables that srun of Slurm 22.05 sets.
  withr::local_envvar(
    OMPI_COMM_WORLD_SIZE = NA, PMI_RANK = NA, PMI_SIZE = NA, PMIX_RANK = NA, RUNHOOKS_MPI = NA,
    SLURM_NTASKS = "2", SLURM_PROCID = "1", SLURM_STEP_ID = "0", SLURM_STEP_NUM_TASKS = "2"
  )
  withr::defer(the$strategy <- NULL)
  refused <- function(expr, words) {
    expect_error(expr, words, class = "runhooks_error_failed_precondition")
  }
  the$strategy <- NULL
  refused(mpi_strategy(), "without an MPI that connects them.*--mpi=pmix")
  # The sizes of MPI and Slurm are compared even if the user has chosen the MPI.
  alone <- list(size = 1L, library = "MPICH 4.0.2")
  withr::with_envvar(c(RUNHOOKS_MPI = "mpich"), {
    expect_identical(mpi_launcher(), list(mpi = "mpich", size = 2L))
    refused(check_launcher(mpi_launcher(), alone), "srun --mpi=pmi2")
  })
  withr::local_envvar(PMIX_RANK = "1")
  expect_identical(mpi_launcher(), list(mpi = "openmpi", size = 2L))
  refused(check_launcher(mpi_launcher(), alone), "2 processes, but MPICH 4.0.2 reports 1.*srun --mpi=pmix")
  refused(mpi_object("openmpi", c(mpich = "here")), "srun --mpi=pmi2")
  expect_silent(check_launcher(mpi_launcher(), list(size = 2L)))
  # Simulates a batch script, or an allocation, that starts Rscript directly, without srun.
  withr::local_envvar(PMIX_RANK = NA, SLURM_STEP_ID = NA, SLURM_STEP_NUM_TASKS = NA, SLURM_PROCID = "0")
  expect_message(one <- mpi_strategy(), "2 tasks.*srun", class = "runhooks_message_job_idles")
  expect_identical(one$size, 1L)
  the$strategy <- NULL
  withr::local_envvar(SLURM_NTASKS = "1", SLURM_STEP_NUM_TASKS = "1")
  expect_silent(mpi_strategy())
})

expect_same_numbers <- function(got, alone, name) {
  expect_equal(got$losses, alone$losses, tolerance = 1e-6)
  expect_equal(got$means, alone$means, tolerance = 1e-6)
  expect_identical(names(got$values), names(alone$values))
  # Moving variances are local to a process unless they are synchronized.
  own <- if (name == "custom") grep("moving_variance", names(alone$values), value = TRUE)
  same <- setdiff(names(alone$values), own)
  expect_equal(got$values[same], alone$values[same], tolerance = 1e-6)
  expect_equal(got$evaluated, alone$evaluated, tolerance = 1e-6, ignore_attr = TRUE)
}

alone <- NULL
numbers_alone <- function() {
  if (is.null(alone)) {
    alone <<- lapply(cluster_models, function(train) train(1, run_config(tf_random_seed = 11)))
  }
  alone
}

# Messages of a single process that resumes a checkpoint of several processes.
said_alone <- list()
continued_alone <- function(name) continue_trainings(file.path(place, "continued", name), 1)

if (length(launchers) == 0) {
  test_that("without MPI, mpi_strategy() names the package to install", {
    expect_error(mpi_object("mpich", mpi_built()[0]), "libmpich-dev")
  })
} else {
  place <- withr::local_tempdir()
  named_run <- function(folder, scenarios = folder, n = 2, mpi = names(launchers)[[1]], ...) {
    list(folder = file.path(place, folder), scenarios = scenarios, n = n, mpi = mpi, ...)
  }
  same_as_alone <- c("models", "asks", "continues")
  of_their_own <- c("seeds", "resume", "resume_files", "resume_trees", "stops", "evaluations")
  # Processes of MPICH poll while they wait, so this run has no more of them than there are cores.
  two <- named_run(
    "two", same_as_alone, mpi = utils::tail(names(launchers), 1),
    env = c(RUNHOOKS_MODELS = "again")
  )
  # Failing scenarios run last in their processes, because starting a process takes longer than
  # failing.
  ends_badly <- c(three = "error", four = "error", goes_on = "caught")
  goes_on <- named_run("killed", c("killed", "caught"))
  runs <- c(
    list(three = named_run(
      "three", c(same_as_alone, "error"), 3, then = list(two = two),
      # Simulates a system without any optional feature.
      env = c(RUNHOOKS_MODELS = "one,three,again", RUNHOOKS_RANK = 1, RUNHOOKS_DISABLE = "all")
    )),
    # Communicates by messages, as between machines. All other runs use shared memory.
    list(more = named_run("more", of_their_own, 3, env = c(RUNHOOKS_SHARED_MEMORY = "no"))),
    list(killed = named_run("killed", then = list(goes_on = goes_on))),
    lapply(stats::setNames(nm = c("script_error", "quits", "other_graph", "other_call", "refused")), named_run),
    list(four = named_run("four", c("few_models", "error"), 4, env = c(RUNHOOKS_RANK = 0))),
    lapply(stats::setNames(names(launchers), paste0("lone_", names(launchers))), function(mpi) {
      named_run(paste0("lone_", mpi), "seeds", n = 1, mpi = mpi)
    })
  )
  came <- NULL
  outcome <- function(name) {
    if (is.null(came)) {
      said_alone$one <<- continued_alone("one")
      came <<- run_all(runs, meanwhile = numbers_alone)
    }
    came[[name]]
  }
  # Returns a result that process `rank` has stored. The run must have ended as expected.
  result_of <- function(run, name, rank = 0) {
    one <- outcome(run)
    if (one$status != 0 && !run %in% names(ends_badly)) stop(one$stdout, one$stderr)
    readRDS(file.path(one$folder, sprintf("%s-%d.rds", name, rank)))
  }
  ranks_of <- function(run) seq_len(outcome(run)$n) - 1

  expect_same_as_alone <- function(run, names) {
    for (name in names) {
      results <- lapply(ranks_of(run), function(rank) result_of(run, name, rank))
      for (other in results[-1]) {
        expect_identical(other$values, results[[1]]$values)
        expect_identical(other$losses, results[[1]]$losses)
        expect_identical(other$bits, results[[1]]$bits)
      }
      expect_same_numbers(results[[1]], numbers_alone()[[name]], name)
    }
  }

  test_that("four processes match one process, with the same bits in all", {
    expect_same_as_alone("four", c("linear", "wide_and_deep"))
  })

  for (run in c("two", "three")) {
    test_that(sprintf("%s processes match one process, with the same bits in all", run), {
      expect_same_as_alone(run, names(cluster_models))
      n <- outcome(run)$n
      said <- lapply(ranks_of(run), function(rank) result_of(run, "strategy", rank))
      expect_identical(vapply(said, function(one) one$strategy$rank, 1L), seq_len(n) - 1L)
      expect_identical(vapply(said, function(one) one$strategy$is_chief, NA), seq_len(n) == 1)
      expect_identical(said[[n]]$config$task_type, "worker")
      expect_identical(said[[1]]$config$task_type, "chief")
      expect_identical(said[[n]]$config$num_worker_replicas, as.integer(n))
      expect_identical(said[[n]]$config$global_id_in_cluster, as.integer(n - 1))
    })
  }

  test_that("distributed evaluation and prediction match one process, in all processes", {
    one <- asked_numbers(1, run_config(tf_random_seed = 11))
    for (run in c("two", "three")) {
      asked <- lapply(ranks_of(run), function(rank) result_of(run, "asks", rank))
      for (own in asked) {
        for (name in names(one)) expect_equal(own[[name]], one[[name]], tolerance = 1e-6, label = name)
      }
      runs <- vapply(asked, function(own) own$runs, 0)
      expect_equal(sum(runs), 12)
      expect_lte(diff(range(runs)), 1)
    }
  })

  test_that("each process draws different numbers from one seed, and a rerun has the same bits", {
    drawn <- lapply(ranks_of("more"), function(rank) result_of("more", "seeds", rank))
    for (own in drawn) expect_identical(own[[1]], own[[2]])
    one <- lapply(drawn, function(own) own[[1]])
    expect_identical(one[[1]]$weights, one[[2]]$weights)
    expect_false(identical(one[[1]]$dropped, one[[2]]$dropped))
    for (rank in 0:2) expect_setequal(one[[rank + 1]]$rows[1:64], seq(rank + 1, 192, by = 3))
    # The order in which each process reads its rows.
    orders <- lapply(0:2, function(rank) (one[[rank + 1]]$rows - rank - 1) / 3)
    expect_false(identical(orders[[1]], orders[[2]]))
    expect_false(identical(orders[[2]], orders[[3]]))
    expect_false(identical(orders[[1]][1:64], orders[[1]][65:128]))
  })

  test_that("a single process that an mpirun started ends with status 0", {
    for (mpi in names(launchers)) expect_identical(outcome(paste0("lone_", mpi))$status, 0L)
  })

  test_that("a resumed distributed run has the bits of an uninterrupted one", {
    ended <- result_of("more", "resume")
    expect_identical(ended$parts, ended$whole)
    expect_identical(result_of("more", "resume", 1), ended)
    trees <- result_of("more", "resume_trees")
    expect_identical(trees$parts, trees$whole)
    expect_gt(length(trees$parts$node), 20)
    expect_identical(result_of("more", "resume_trees", 1), trees)
  })

  test_that("a resumed distributed run on sharded files and records has the same rows and bits", {
    ranks <- ranks_of("more")
    read <- lapply(ranks, function(rank) result_of("more", "resume_files", rank))
    of_files <- split(cluster_data$y, rep_len(1:5, 192))
    for (rank in ranks) {
      # Process i mod 3 reads file i, or record i of the single file.
      dealt <- list(
        files = unlist(of_files[seq(rank + 1, 5, by = 3)]), records = cluster_data$y[seq(rank + 1, 192, by = 3)]
      )
      for (kind in names(dealt)) {
        own <- read[[rank + 1]][[kind]]
        expect_identical(own$parts, own$whole)
        expect_identical(own$parts$weights, read[[1]][[kind]]$parts$weights)
        expect_length(own$parts$seen, 66)
        expect_true(all(vapply(own$parts$seen, function(y) min(abs(y - dealt[[kind]])) < 1e-5, NA)))
        expect_lte(max(table(own$parts$seen)), 2)
      }
    }
  })

  test_that("another number of processes resumes weights and step, and reports a new pass", {
    # The checkpoint was written by one, three, two and one process, in this order.
    expect_said <- function(said, words) {
      expect_length(said, 1)
      expect_match(said, paste0(words, ": the input starts a new pass over the data"))
    }
    # The processes together read all rows once, except for the last run, which stopped within a
    # pass.
    expect_pass <- function(run, before, kind) {
      if (kind == "memory") return()
      results <- lapply(ranks_of(run), function(rank) result_of(run, before, rank)[[kind]])
      seen <- unlist(lapply(results, `[[`, "seen"))
      expect_equal(sort(seen), sort(cluster_data$y), tolerance = 1e-6)
    }
    to_one_of_all <- continued_alone("three")
    for (kind in names(continued_inputs)) {
      more <- if (kind == "memory") 2 else 8
      first <- result_of("three", "again")[[kind]]
      expect_identical(first$said, character())
      second <- result_of("two", "again")[[kind]]
      expect_said(second$said, "was saved by 3 processes, but training continues with 2 processes")
      expect_identical(second$began, first$ended)
      expect_equal(c(first$step, second$step), c(2, 2 + more))
      expect_identical(result_of("two", "again", 1)[[kind]]$said, character())
      expect_identical(result_of("two", "again", 1)[[kind]]$ended, second$ended)
      expect_pass("two", "again", kind)
      from_one <- result_of("three", "one")[[kind]]
      expect_said(from_one$said, "was saved by one process, but training continues with 3 processes")
      expect_identical(from_one$began, said_alone$one[[kind]]$ended)
      expect_pass("three", "one", kind)
      to_one <- to_one_of_all[[kind]]
      expect_said(to_one$said, "was saved by 3 processes, but training continues with one process")
      expect_identical(to_one$began, result_of("three", "three")[[kind]]$ended)
      expect_equal(to_one$step, 2 + more)
      if (kind != "memory") expect_equal(sort(to_one$seen), sort(cluster_data$y), tolerance = 1e-6)
    }
  })

  test_that("a stop, the end of data or an interrupt of one process ends all at that step", {
    for (rank in ranks_of("more")) {
      ends <- result_of("more", "stops", rank)
      expect_equal(ends$asked, 5)
      expect_equal(ends$data, 3)
      # The 30 rows of the first file give three batches of 8 and a short one.
      expect_equal(ends$files, 4)
      expect_identical(ends$interrupt, "interrupted")
      expect_equal(ends$interrupted_at, 7)
    }
  })

  expect_ended <- function(name, words) {
    run <- outcome(name)
    expect_false(run$timeout)
    expect_true(run$status != 0)
    expect_match(run$stderr, words)
    expect_length(gregexpr(words, run$stderr)[[1]], 1)
  }

  test_that("an error of one process ends all, and is shown once with its rank", {
    expect_ended("four", "process 0 of 4: the hook of one process failed")
    expect_ended("three", "process 1 of 3: the hook of one process failed")
    expect_ended("script_error", "the script of one process failed")
  })

  test_that("a process that leaves a training for its own reasons ends all", {
    expect_ended("quits", "train.. ended early in this process")
    expect_ended("goes_on", "process 0 has reached|ended early in this process")
  })

  test_that("evaluations during training agree in all processes, and early stopping ends all", {
    ended <- result_of("more", "evaluations")
    expect_equal(unique(ended$done$step), c(5, 10, 15, 20))
    expect_lt(max(ended$validated$step), 40)
    one <- evaluated_numbers(1, run_config(tf_random_seed = 11, save_checkpoints_steps = 5))
    expect_equal(ended$done, one, tolerance = 1e-6)
    # The three processes together read four evaluations of eight batches.
    expect_equal(sum(vapply(0:2, function(rank) result_of("more", "evaluations", rank)$runs, 0)), 32)
    expect_identical(result_of("more", "evaluations", 1)$done, ended$done)
    said <- vapply(0:2, function(rank) result_of("more", "evaluations", rank)$said, 0)
    expect_equal(said, c(1, 0, 0))
  })

  test_that("processes that do different things are errors at the start", {
    expect_ended("other_graph", "train different models: process 1 has")
    expect_ended("other_call", "process 0 has reached train.. of runhooks [0-9.]+, process 1 the end")
    expect_ended("refused", "cannot be trained by several processes")
  })

  test_that("a killed process ends all, and the next run resumes", {
    killed <- outcome("killed")
    expect_true(killed$status != 0)
    expect_false(killed$timeout)
    ended <- result_of("goes_on", "killed")
    expect_equal(ended$began_at, c(stopped = 7, killed = 10))
    expect_identical(ended$stopped$parts, ended$stopped$whole)
    expect_identical(ended$killed$parts, ended$killed$whole)
    expect_identical(result_of("goes_on", "killed", 1), ended)
  })
}
