# Iterators resume where they stopped, from checkpoints and in other processes.

test_that("200 random pipelines resume in a new process with the remaining elements", {
  skip_if_not_installed("callr", "3.0") # starts the process
  first <- property_seed("random pipelines")
  seeds <- first + seq_len(200)
  path <- file.path(withr::local_tempdir(), "input.ckpt")
  rest <- with(tf$Graph()$as_default(), {
    built <- pipelines_in_graph(seeds)
    with(tf$Session() %as% session, {
      stops <- sample(0:15, length(seeds), replace = TRUE)
      for (i in seq_along(seeds)) take_elements(session, built$values[[i]], stops[[i]])
      built$saver$save(session, path)
      lapply(built$values, function(value) take_elements(session, value, 30))
    })
  })
  helper <- normalizePath(test_path("helper-datasets.R"))
  resumed <- callr::r(
    function(helper, seeds, path) {
      library(runhooks)
      source(helper, local = TRUE)
      built <- pipelines_in_graph(seeds)
      with(tf$Session() %as% session, {
        built$saver$restore(session, path)
        lapply(built$values, function(value) take_elements(session, value, 30))
      })
    },
    list(helper, seeds, path)
  )
  for (i in seq_along(seeds)) {
    expect_identical(resumed[[i]], rest[[i]], info = paste("seed", seeds[[i]]))
  }
})

test_that("each kind of source resumes in a new process with the remaining elements", {
  skip_if_not_installed("callr", "3.0") # starts the process
  skip_if_not_installed("RSQLite", "2.0") # one source is a database
  skip_if_not_installed("Matrix", "1.0") # one source is a sparse matrix
  folder <- withr::local_tempdir()
  write_sources(folder)
  path <- file.path(withr::local_tempdir(), "input.ckpt")
  rest <- with(tf$Graph()$as_default(), {
    sources <- sources_in(folder)
    built <- iterators_in_graph(sources)
    with(tf$Session() %as% session, {
      stops <- rep_len(c(2, 1), length(sources))
      for (i in seq_along(sources)) {
        expect_gt(length(take_elements(session, built$values[[i]], stops[[i]])), 0)
      }
      built$saver$save(session, path)
      lapply(built$values, function(value) take_elements(session, value, 40))
    })
  })
  resumed <- callr::r(
    function(helpers, inside_library, folder, path) {
      library(runhooks)
      for (helper in helpers) source(helper, local = TRUE)
      with(tf$Graph()$as_default(), {
        built <- iterators_in_graph(sources_in(folder))
        with(tf$Session() %as% session, {
          built$saver$restore(session, path)
          lapply(built$values, function(value) take_elements(session, value, 40))
        })
      })
    },
    list(
      normalizePath(test_path(c("helper-inside.R", "helper-datasets.R"))), inside_library, folder, path
    )
  )
  for (name in names(rest)) {
    expect_gt(length(rest[[name]]), 0)
    expect_identical(resumed[[name]], rest[[name]], info = name)
  }
})

test_that("the state of another pipeline is an error that names the difference", {
  path <- file.path(withr::local_tempdir(), "input.ckpt")
  saved <- function(dataset, run) with(tf$Graph()$as_default(), {
    iterator <- make_iterator_one_shot(dataset)
    value <- iterator_get_next(iterator)
    tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
    saver <- saver_of_graph()
    with(tf$Session() %as% session, run(session, saver, value))
  })
  saved(dataset_batch(range_dataset(0, 9), 2), function(session, saver, value) {
    session$run(value)
    saver$save(session, path)
  })
  error <- expect_error(
    saved(dataset_batch(range_dataset(0, 9), 3), function(session, saver, value) {
      saver$restore(session, path)
    }),
    "another input pipeline", class = "runhooks_error_failed_precondition"
  )
  expect_match(conditionMessage(error), "Saved: Batch\\(batch_size = 2")
  expect_equal(
    saved(dataset_batch(range_dataset(0, 9), 2), function(session, saver, value) {
      saver$restore(session, path)
      as.vector(session$run(value))
    }),
    2:3
  )
})

test_that("iterators without a dataset are restored when they get one", {
  path <- file.path(withr::local_tempdir(), "input.ckpt")
  with(tf$Graph()$as_default(), {
    iterator <- make_iterator_initializable(range_dataset(0, 9))
    value <- iterator$get_next()
    tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
    saver <- saver_of_graph()
    with(tf$Session() %as% session, {
      expect_error(saver$save(session, path), "has not been initialized")
      session$run(iterator$initializer)
      take_elements(session, value, 4)
      saver$save(session, path)
    })
    with(tf$Session() %as% session, {
      session$run(iterator$initializer)
      saver$restore(session, path)
      expect_equal(session$run(value), 4)
    })
    # A restored position is used by the next run of the initializer, and only by that one.
    with(tf$Session() %as% session, {
      saver$restore(session, path)
      expect_error(session$run(value), "has not been initialized")
      session$run(iterator$initializer)
      expect_equal(session$run(value), 4)
      session$run(iterator$initializer)
      expect_equal(session$run(value), 0)
    })
  })
})

test_that("a generator without functions for its state cannot be saved", {
  with(tf$Graph()$as_default(), {
    at <- 0
    data <- generator_dataset(function() at <<- at + 1)
    iterator <- make_iterator_one_shot(data)
    value <- iterator_get_next(iterator)
    tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
    saver <- saver_of_graph()
    with(tf$Session() %as% session, {
      expect_equal(session$run(value), 1)
      expect_error(saver$save(session, file.path(withr::local_tempdir(), "x")),
        "position of a generator cannot be saved", class = "runhooks_error_failed_precondition")
    })
  })
})

test_that("a position at a step later than the model's is ignored", {
  data <- tensor_slices_dataset(mtcars[c("wt", "mpg")]) %>%
    dataset_shuffle(10) %>%
    dataset_repeat() %>%
    dataset_batch(5)
  # Simulates a kill after saving the position of the last step, and before saving the model.
  weights <- function(killed) {
    dir <- withr::local_tempdir()
    model <- linear_regressor(column_numeric("wt"), model_dir = dir,
      config = run_config(tf_random_seed = 5, save_checkpoints_steps = 2))
    run <- function(steps) {
      hook <- hook_checkpoint_input_pipeline(model)
      train(model, input_fn(data, wt, mpg), max_steps = steps, hooks = hook)
    }
    suppressMessages(run(4))
    if (killed) {
      before <- file.path(dir, c("checkpoint", list.files(dir, "^model")))
      kept <- withr::local_tempdir()
      file.copy(before, kept)
      suppressMessages(run(6))
      unlink(file.path(dir, list.files(dir, "^model|^checkpoint$")))
      file.copy(list.files(kept, full.names = TRUE), dir)
    }
    suppressMessages(run(10))
    variable_value(model)
  }
  expect_identical(weights(TRUE), weights(FALSE))
})

test_that("models resume shuffled data, in one call or several", {
  data <- tensor_slices_dataset(mtcars[c("wt", "mpg")]) %>%
    dataset_shuffle(10) %>%
    dataset_repeat() %>%
    dataset_batch(5) %>%
    dataset_prefetch(2)
  weights <- function(calls) {
    dir <- withr::local_tempdir()
    model <- linear_regressor(column_numeric("wt"), model_dir = dir,
      config = run_config(tf_random_seed = 5))
    for (steps in calls) {
      hook <- hook_checkpoint_input_pipeline(model)
      suppressMessages(train(model, input_fn(data, wt, mpg), steps = steps, hooks = hook))
    }
    variable_value(model)
  }
  expect_identical(weights(c(7, 6, 9)), weights(22))
})
