test_that("predictions have one row per example, in the order of the data", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 3)
  weights <- variable_value(model)
  expected <- mtcars$drat * weights[["linear/linear_model/drat/weights"]][1] +
    mtcars$cyl * weights[["linear/linear_model/cyl/weights"]][1] +
    weights[["linear/linear_model/bias_weights"]][1]
  input <- mtcars_input()
  train(model, input, steps = 0 + 1) # an input function that training has used
  train(model, input, steps = 1)
  again <- predict(model, input)
  expect_s3_class(again, "tbl_df")
  expect_named(again, "predictions")
  expect_equal(nrow(again), 32)
  expect_gt(cor(unlist(again$predictions), expected), 0.999)
})

test_that("cells are arrays of class tf_prediction that print their numbers", {
  model <- mtcars_model()
  predictions <- untrained(predict(model, mtcars_input(batch_size = 5)))
  cell <- predictions$predictions[[1]]
  expect_s3_class(cell, "tf_prediction")
  expect_equal(dim(cell), 1L)
  expect_equal(as.numeric(cell), 0)
  expect_output(print(predictions), "<0>", fixed = TRUE)
  expect_equal(nrow(as.data.frame(predictions)), 32)
})

test_that("simplify = FALSE gives a list of named lists, and the iterator its elements", {
  model <- mtcars_model()
  plain <- untrained(predict(model, mtcars_input(), simplify = FALSE))
  expect_length(plain, 32)
  expect_named(plain[[1]], "predictions")
  iterator <- untrained(predict(model, mtcars_input(), as_iterable = TRUE))
  expect_equal(iter_next(iterator), plain[[1]])
  expect_length(iterate(iterator), 31)
  expect_equal(iter_next(iterator, completed = "done"), "done")
  batches <- iterate(
    untrained(predict(model, mtcars_input(), as_iterable = TRUE, yield_single_examples = FALSE))
  )
  expect_equal(vapply(batches, function(b) nrow(b$predictions), 0L), rep(8L, 4))
})

test_that("closing an iterator early calls end()", {
  hook <- recording_hook("end")
  iterator <- untrained(predict(mtcars_model(), mtcars_input(), hooks = hook, as_iterable = TRUE))
  iter_next(iterator)
  expect_equal(calls_of(hook), character())
  iterator$close()
  expect_equal(calls_of(hook), "end")
})

test_that("keys can be selected; unknown ones are errors that list the known ones", {
  model <- mtcars_model()
  selected <- untrained(predict(model, mtcars_input(), predict_keys = "predictions"))
  expect_named(selected, "predictions")
  expect_error(
    untrained(predict(model, mtcars_input(), predict_keys = "nope")),
    "Expected to run at least one output from predictions, provided nope.", fixed = TRUE
  )
})

test_that("labels with several numbers are predicted together", {
  data <- list(x = c(1, 2, 3), y = cbind(c(1, 2, 3), c(6, 4, 2)))
  model <- linear_regressor(
    column_numeric("x"), label_dimension = 2, model_dir = withr::local_tempdir()
  )
  input <- input_fn(data, features = x, response = y, num_epochs = NULL)
  train(model, input, steps = 5)
  predictions <- predict(model, input_fn(data, features = x))
  expect_equal(lengths(predictions$predictions), c(2, 2, 2))
  expect_error(
    train(
      linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir()), input, steps = 1
    ),
    "The response \"y\" must have 1 value in each row, not 2",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("the table of predictions shows their numbers", {
  model <- mtcars_model()
  predictions <- untrained(predict(model, mtcars_input()))
  expect_match(capture.output(print(predictions))[[4]], "<0>", fixed = TRUE)
})

test_that("an unfinished iterator ends when it is closed or collected", {
  model <- mtcars_model()
  ended <- 0
  hook <- session_run_hook(end = function(session) ended <<- ended + 1)
  start <- function() {
    iterator <- untrained(predict(model, mtcars_input(), hooks = hook, as_iterable = TRUE))
    expect_length(iter_next(iterator), 1)
    iterator
  }
  iterator <- start()
  iterator$close()
  expect_equal(ended, 1)
  iterator$close() # does nothing
  expect_null(iter_next(iterator))
  rm(iterator)
  gc()
  expect_equal(ended, 1)
  start()
  gc()
  expect_equal(ended, 2)
  # An iterator that was read completely has already ended.
  iterate(untrained(predict(model, mtcars_input(), hooks = hook, as_iterable = TRUE)))
  expect_equal(ended, 3)
  gc()
  expect_equal(ended, 3)
})

test_that("an error in end() of a collected iterator is a warning", {
  hook <- session_run_hook(end = function(session) stop("not so fast"))
  start <- function() {
    iterator <- untrained(predict(mtcars_model(), mtcars_input(), hooks = hook, as_iterable = TRUE))
    iter_next(iterator)
    NULL
  }
  start()
  # A finalizer's warnings cannot be caught.
  withr::local_options(warn = 1)
  messages <- capture.output(for (i in 1:2) gc(), type = "message")
  expect_match(messages, "not so fast", all = FALSE)
  iterator <- untrained(predict(mtcars_model(), mtcars_input(), hooks = hook, as_iterable = TRUE))
  iter_next(iterator)
  expect_error(iterator$close(), "not so fast", class = "runhooks_error_hook")
})

test_that("whole batches are returned unchanged", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 1)
  batches <- predict(
    model, mtcars_input(batch_size = 20), simplify = FALSE, yield_single_examples = FALSE
  )
  expect_equal(lapply(batches, function(batch) dim(batch$predictions)), list(c(20, 1), c(12, 1)))
  rows <- predict(model, mtcars_input(batch_size = 20), simplify = FALSE)
  expect_equal(unlist(lapply(batches, `[[`, "predictions")), unlist(rows, use.names = FALSE))
})

test_that("cells of arrays match their rows, in linear time", {
  values <- array(seq_len(24), c(4, 3, 2))
  cells <- cpp_batch_examples(list(list(a = values, b = array(1:4))))
  expect_length(cells, 4)
  for (row in 1:4) {
    expect_equal(unclass(cells[[row]]$a), values[row, , ])
    expect_equal(unclass(cells[[row]]$b), array(row))
  }
  seconds <- function(n) {
    batch <- list(a = array(0, c(n, 2)))
    min(replicate(3, system.time(cpp_batch_examples(list(batch)))[["elapsed"]]))
  }
  # Predicting 8 times the rows takes less than 30 times as long; quadratic code would take 64 times
  # as long.
  expect_lt(seconds(40000), 30 * max(seconds(5000), 0.005))
})

test_that("data without an end are refused if nothing else ends the reading", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  endless <- mtcars_input(num_epochs = NULL)
  train(model, endless, steps = 1)
  refused <- function(expr) {
    expect_error(expr, "The data never end", class = "runhooks_error_invalid_argument")
  }
  refused(predict(model, endless))
  refused(evaluate(model, endless))
  dataset <- function() dataset_repeat(dataset_batch(tensor_slices_dataset(list(
    list(drat = mtcars$drat, cyl = mtcars$cyl), mtcars$mpg
  )), 8))
  refused(evaluate(model, dataset))
  expect_equal(evaluate(model, endless, steps = 1)$global_step, 1)
  stops <- session_run_hook(after_run = function(context, values) context$request_stop())
  expect_equal(evaluate(model, endless, hooks = stops)$global_step, 1)
  iterator <- predict(model, endless, as_iterable = TRUE)
  expect_length(iter_next(iterator), 1)
  iterator$close()
})

test_that("arguments that need an input function are refused with data", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  train(model, mtcars_input())
  refused <- function(argument, ...) {
    expect_error(
      predict(model, mtcars, ...), paste0("`", argument, "` needs an input function"), fixed = TRUE,
      class = "runhooks_error_invalid_argument"
    )
  }
  refused("as_iterable", as_iterable = TRUE)
  refused("simplify", simplify = FALSE)
  refused("predict_keys", predict_keys = "predictions")
  expect_equal(nrow(predict(model, mtcars, simplify = TRUE)), 32)
})

test_that("a directory or a file of a checkpoint is not its prefix", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  train(model, mtcars_input(), steps = 1)
  newest <- latest_checkpoint(model_dir(model))
  for (path in c(model_dir(model), paste0(newest, ".index"))) {
    for (run in list(predict, evaluate)) {
      error <- expect_error(
        run(model, mtcars_input(), checkpoint_path = path), "must be the prefix",
        class = "runhooks_error_invalid_argument"
      )
      expect_match(conditionMessage(error), newest, fixed = TRUE)
    }
  }
})
