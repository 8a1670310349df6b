# Trains from checkpoints with one corrupted entry. Each is either an error that leaves the folder
# unchanged, or training resumes. Nothing crashes or hangs.

all_in_one_model <- function(folder) {
  dnn_regressor(
    3, column_numeric("x"), model_dir = folder, optimizer = "Adam", dropout = 0.3,
    config = run_config(tf_random_seed = 1, checkpoint_input_pipeline = TRUE)
  )
}

# Trains with all that a checkpoint can store: input, random numbers, R hooks with and without
# names, and a rate that follows a metric.
train_all_in_one <- function(folder) {
  data <- tensor_slices_dataset(list(x = seq_len(20) / 20, y = cos(seq_len(20)))) %>%
    dataset_shuffle(10) %>%
    dataset_repeat() %>%
    dataset_batch(4)
  count <- 0
  counting <- function() {
    session_run_hook(
      after_run = function(context, values) count <<- count + 1,
      save_state = function() list(count = count, when = Sys.Date()),
      restore_state = function(state) count <<- state$count
    )
  }
  model <- all_in_one_model(folder)
  evaluated <- input_fn(
    data.frame(x = 1:4 / 4, y = 0), features = "x", response = "y", batch_size = 4, num_epochs = 1,
    shuffle = FALSE
  )
  train(model, input_fn(data, x, y), steps = 2, hooks = list(
    counter = counting(), counting(),
    hook_in_memory_evaluator(model, evaluated, every_n_iter = 1),
    hook_learning_rate(reduce_on_plateau("average_loss", patience = 5, factor = 0.5))
  ))
}

test_that("training resumes after each edit of its checkpoint, or reports why not", {
  skip_on_os("windows") # no forks there
  directory <- withr::local_tempdir()
  original <- file.path(directory, "begun")
  suppressMessages(train_all_in_one(original))
  checkpoint <- latest_checkpoint(original)
  seed <- property_seed("edited checkpoints")
  count <- cpp_edit_checkpoint(checkpoint, "", seed)
  expect_gt(count, 200)
  chosen <- withr::with_seed(seed, sample.int(count, at_length(count, 40)))
  outcomes <- vapply(chosen, function(which) {
    folder <- file.path(directory, "run")
    unlink(folder, recursive = TRUE)
    dir.create(folder)
    file.copy(list.files(original, full.names = TRUE), folder)
    edited <- file.path(folder, basename(checkpoint))
    unlink(list.files(folder, paste0(basename(checkpoint), "[.](index|data)"), full.names = TRUE))
    edit <- cpp_edit_checkpoint(checkpoint, edited, seed, which)
    state <- readLines(file.path(folder, "checkpoint"))
    values <- tools::md5sum(list.files(folder, "data-", full.names = TRUE))
    job <- parallel::mcparallel(
      tryCatch(
        {
          suppressMessages(suppressWarnings(train_all_in_one(folder)))
          "continued"
        },
        error = function(e) if (inherits(e, "runhooks_error")) "error" else conditionMessage(e)
      ),
      silent = TRUE
    )
    outcome <- parallel::mccollect(job, wait = FALSE, timeout = 20)[[1]]
    if (is.null(outcome)) {
      tools::pskill(job$pid, tools::SIGKILL)
      suppressWarnings(parallel::mccollect(job))
      outcome <- "crashed or hung"
    }
    kept <- identical(readLines(file.path(folder, "checkpoint")), state) &&
      all(tools::md5sum(names(values)) == values)
    if (outcome == "error" && !kept) outcome <- "an error, but the folder changed"
    if (!outcome %in% c("error", "continued")) outcome <- paste0(edit, ": ", outcome)
    outcome
  }, "")
  expect_identical(setdiff(outcomes, c("error", "continued")), character())
  expect_length(unique(outcomes), 2)
})
