# run_config(checkpoint_input_pipeline = TRUE) saves the input position and random numbers in
# checkpoints.

set_of_rows <- function(n = 30) {
  tensor_slices_dataset(list(x = seq_len(n) / n, y = (seq_len(n) * 7) %% 11))
}

shuffled_rows <- function(batch_size = 4) {
  set_of_rows() %>%
    dataset_map(function(record) {
      record$x <- record$x + tf$random_uniform(list())
      record
    }) %>%
    dataset_shuffle(10) %>%
    dataset_repeat() %>%
    dataset_batch(batch_size)
}

kept_config <- function(...) run_config(checkpoint_input_pipeline = TRUE, ...)

dropping_model <- function(dir = withr::local_tempdir(.local_envir = parent.frame()),
                           config = kept_config()) {
  dnn_regressor(
    8, column_numeric("x"), model_dir = dir, optimizer = "Adam", dropout = 0.4, config = config
  )
}

test_that("a resumed run has the bits of an uninterrupted one, with dropout and random seeds", {
  input <- input_fn(shuffled_rows(), x, y)
  weights <- function(calls) {
    set.seed(3)
    model <- dropping_model()
    for (steps in calls) {
      train(model, input, steps = steps)
      stats::runif(1) # scripts may draw numbers in between
    }
    variable_value(model)
  }
  expect_identical(weights(c(7, 6, 9)), weights(22))
})

test_that("input positions are in the model's checkpoint only", {
  model <- dropping_model()
  train(model, input_fn(shuffled_rows(), x, y), steps = 2)
  dir <- model_dir(model)
  own <- grep("^runhooks/", cpp_checkpoint_names(latest_checkpoint(dir)), value = TRUE)
  expect_true(any(startsWith(own, "runhooks/iterator/")))
  expect_true(any(startsWith(own, "runhooks/random/")))
  expect_false(any(startsWith(variable_names(model), "runhooks/")))
  expect_length(dir(dir, pattern = "input"), 0)
  plain <- dropping_model(config = run_config())
  train(plain, input_fn(shuffled_rows(), x, y), steps = 2)
  names <- cpp_checkpoint_names(latest_checkpoint(model_dir(plain)))
  expect_false(any(startsWith(names, "runhooks/iterator/")))
})

test_that("without a saved input position, the input starts at the first element, with a message", {
  dir <- withr::local_tempdir()
  data <- dataset_batch(set_of_rows(), 5)
  train(dropping_model(dir, run_config()), input_fn(data, x, y), steps = 2)
  expect_message(
    train(dropping_model(dir), input_fn(data, x, y), steps = 1),
    "has no input position; the input starts at the first element", fixed = TRUE
  )
  expect_silent(suppressMessages(
    train(dropping_model(dir), input_fn(data, x, y), steps = 1), "encoded"
  ))
})

test_that("another pipeline is an error that names it, and does not change the model", {
  model <- dropping_model()
  train(model, input_fn(shuffled_rows(), x, y), steps = 2)
  before <- variable_value(model)
  expect_error(
    train(model, input_fn(shuffled_rows(5), x, y), steps = 2), "another input pipeline",
    class = "runhooks_error_failed_precondition"
  )
  expect_identical(variable_value(model), before)
})

test_that("training again after the end of the data makes no steps, with a message", {
  model <- dropping_model()
  input <- input_fn(dataset_batch(set_of_rows(), 10), x, y)
  train(model, input)
  expect_message(train(model, input), "No steps were made: the input ended at step 3")
  expect_equal(variable_value(model, "global_step")[[1]], 3)
})

test_that("input without a position that can be saved is an error before anything is written", {
  no_iterator <- function() list(list(x = matrix(1:4 / 4)), matrix(c(1, 2, 3, 4)))
  refused <- function(config, words, input = input_fn(shuffled_rows(), x, y)) {
    model <- dropping_model(config = config)
    expect_error(
      train(model, input, steps = 1), words, class = "runhooks_error_invalid_argument"
    )
    expect_length(dir(model_dir(model)), 0)
  }
  refused(kept_config(), "no position that can be saved", no_iterator)
  never <- kept_config(save_checkpoints_steps = NULL, save_checkpoints_secs = NULL)
  refused(never, "needs checkpoints")
  expect_error(hook_checkpoint_input_pipeline(dropping_model()), "would be saved twice")
  expect_error(run_config(checkpoint_input_pipeline = "yes"), "must be TRUE or FALSE")
})

test_that("an initializable iterator resumes where it stopped", {
  waits <- function() {
    iterator <- make_iterator_initializable(dataset_batch(set_of_rows(), 2))
    tf$add_to_collection("table_initializer", iterator$initializer)
    batch <- iterator$get_next()
    list(list(x = batch$x), batch$y)
  }
  model <- dropping_model(config = kept_config())
  train(model, waits, steps = 4)
  train(model, waits)
  expect_equal(variable_value(model, "global_step")[[1]], 15)
})

test_that("input_fn(<data frame>) saves its position, and continues with another pass", {
  model <- dropping_model()
  input <- input_fn(
    data.frame(x = 1:30 / 30, y = 1:30), features = "x", response = "y", batch_size = 10
  )
  train(model, input, steps = 2)
  train(model, input)
  train(model, input)
  expect_equal(variable_value(model, "global_step")[[1]], 6)
})

test_that("a session that replaces a lost one resumes at the element of its checkpoint", {
  data <- set_of_rows() %>% dataset_batch(1)
  model <- dropping_model(config = kept_config(save_checkpoints_steps = 5))
  recorded <- numeric()
  has_failed <- FALSE
  hook <- session_run_hook(
    before_run = function(context) session_run_args("IteratorGetNext:0", "global_step:0"),
    after_run = function(context, values) {
      recorded <<- c(recorded, round(values$results[[1]] * 30))
      if (length(recorded) < 8 || has_failed) return()
      has_failed <<- TRUE
      stop(tf$errors$AbortedError(NULL, NULL, "lost"))
    }
  )
  train(model, input_fn(data, x, y), hooks = hook)
  expect_equal(as.vector(recorded), c(1:8, 6:30))
})
