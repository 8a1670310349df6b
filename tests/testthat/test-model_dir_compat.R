# Metadata in the model directory, and models without a checkpoint.

kept_model <- function(folder, ..., columns = feature_columns(
                         column_numeric("drat"), column_numeric("cyl")
                       )) {
  linear_regressor(columns, model_dir = folder, ...)
}

trained_folder <- function(..., env = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = env)
  train(kept_model(folder, ...), mtcars_input())
  folder
}

expect_different_model <- function(expr, words) {
  condition <- tryCatch(expr, error = identity)
  expect_s3_class(condition, "runhooks_error_failed_precondition")
  expect_match(conditionMessage(condition), "contains a different model", all = FALSE)
  for (word in words) expect_match(conditionMessage(condition), word, fixed = TRUE, all = FALSE)
}

test_that("another optimizer is an error that names it; learning rates may change", {
  folder <- trained_folder()
  other <- kept_model(folder, optimizer = "Adam")
  expect_different_model(train(other, mtcars_input()), "It was trained with Ftrl, not Adam.")
  expect_s3_class(evaluate(other, mtcars_input()), "tbl_df")
  expect_s3_class(predict(other, mtcars_input()), "tbl_df")
  rate <- kept_model(folder, optimizer = tf$train$FtrlOptimizer(0.01), loss_reduction = "mean")
  train(rate, mtcars_input())
  expect_equal(variable_value(rate, "global_step")[[1]], 8)
  named <- kept_model(folder, optimizer = tf$train$FtrlOptimizer(0.1, name = "mine"))
  expect_different_model(
    train(named, mtcars_input()), "It was trained with Ftrl, not Ftrl of the name 'mine'."
  )
})

test_that("another kind of model, other columns or another response are errors that name them", {
  folder <- trained_folder()
  deep <- dnn_regressor(3, column_numeric("drat"), model_dir = folder)
  words <- "It was trained as linear_regressor(), not dnn_regressor()."
  expect_different_model(train(deep, mtcars_input()), words)
  expect_different_model(predict(deep, mtcars_input()), words)
  expect_different_model(evaluate(deep, mtcars_input()), words)
  less <- kept_model(folder, columns = list(column_numeric("drat"), column_numeric("wt")))
  input <- input_fn(mtcars, features = c("drat", "wt"), response = "mpg")
  for (run in list(train, evaluate, predict)) {
    expect_different_model(
      run(less, input), c("the column 'cyl', which this model lacks", "the column 'wt'")
    )
  }
  hp <- input_fn(mtcars, features = c("drat", "cyl"), response = "hp")
  expect_different_model(
    train(kept_model(folder), hp), "It was trained to predict 'mpg', not 'hp'."
  )
  expect_different_model(
    evaluate(kept_model(folder), hp), "It was trained to predict 'mpg', not 'hp'."
  )
  formula <- linear_regressor(hp ~ drat + cyl, data = mtcars, model_dir = folder)
  expect_different_model(
    predict(formula, newdata = mtcars), "It was trained to predict 'mpg', not 'hp'."
  )
})

test_that("columns are compared by content, heads by their output", {
  folder <- withr::local_tempdir()
  column <- function(words) {
    column_categorical_with_vocabulary_list("g", vocabulary_list = words)
  }
  data <- data.frame(g = c("a", "b"), y = c(0, 1))
  input <- input_fn(data, features = "g", response = "y")
  train(kept_model(folder, columns = column(c("a", "b"))), input)
  # The same strings in another order would use other weights.
  expect_different_model(
    predict(kept_model(folder, columns = column(c("b", "a"))), input), "The column 'g' was"
  )
  expect_s3_class(predict(kept_model(folder, columns = column(c("a", "b"))), input), "tbl_df")

  classes <- withr::local_tempdir()
  three <- linear_classifier(column(c("a", "b")), model_dir = classes, n_classes = 3)
  train(three, input)
  four <- linear_classifier(column(c("a", "b")), model_dir = classes, n_classes = 4)
  expect_different_model(train(four, input), "`n_classes` was 3 and is now 4.")

  layers <- withr::local_tempdir()
  wide <- function(...) dnn_regressor(..., column_numeric("drat"), model_dir = layers)
  train(wide(c(4, 2)), mtcars_input())
  expect_different_model(
    predict(wide(c(4, 3)), mtcars_input()), "`hidden_units` was (4, 2) and is now (4, 3)."
  )
  tanh <- wide(c(4, 2), activation_fn = "tanh")
  expect_different_model(
    predict(tanh, mtcars_input()), "`activation_fn` was 'relu' and is now 'tanh'."
  )
})

test_that("long vocabularies and files are compared by content", {
  words <- sprintf("word%04d", 1:2000)
  one <- column_categorical_with_vocabulary_list("g", vocabulary_list = words)
  other <- column_categorical_with_vocabulary_list("g", vocabulary_list = c(words[-1], "x"))
  column_memory <- function(column) model_signature(linear_regressor(column))$columns
  expect_lt(nchar(column_memory(one)), 250)
  expect_false(identical(column_memory(one), column_memory(other)))
  directory <- withr::local_tempdir()
  files <- file.path(directory, c("a", "b", "c"))
  writeLines(c("u", "v"), files[[1]])
  file.copy(files[[1]], files[[2]])
  writeLines(c("v", "u"), files[[3]])
  memory <- lapply(files, function(file) {
    column_memory(
      column_categorical_with_vocabulary_file("g", vocabulary_file = file, vocabulary_size = 2)
    )
  })
  expect_identical(memory[[1]], memory[[2]])
  expect_false(identical(memory[[1]], memory[[3]]))
})

test_that("folders without metadata are accepted, and get it by training", {
  folder <- trained_folder()
  record <- cpp_read_plain_file(file.path(folder, record_file))
  expect_true(is.character(record$model$columns))
  # Metadata of an earlier version lack the description of the model; training adds it.
  record$model <- NULL
  cpp_write_metadata(folder, record)
  train(kept_model(folder), mtcars_input())
  expect_different_model(
    train(kept_model(folder, optimizer = "Adam"), mtcars_input()), "Ftrl, not Adam"
  )
  # Directories that TensorFlow wrote have no metadata; training adds them.
  unlink(file.path(folder, record_file))
  train(kept_model(folder), mtcars_input())
  expect_different_model(
    train(kept_model(folder, optimizer = "Adam"), mtcars_input()), "Ftrl, not Adam"
  )
})

test_that("a training that fails at its start does not affect the next one", {
  folder <- withr::local_tempdir()
  failing <- session_run_hook(begin = function() stop("no"))
  expect_error(train(kept_model(folder, optimizer = "Adam"), mtcars_input(), hooks = failing), "no")
  expect_false(file.exists(file.path(folder, record_file)))
  # A killed process leaves metadata without a checkpoint.
  cpp_write_metadata(folder, c(empty_record(), list(model = list(kind = c(kind = "x")))))
  train(kept_model(folder), mtcars_input())
  expect_equal(cpp_read_plain_file(file.path(folder, record_file))$model$kind[["kind"]],
               "linear_regressor")
})

test_that("invalid metadata are an error about a damaged file", {
  folder <- trained_folder()
  record <- cpp_read_plain_file(file.path(folder, record_file))
  record$model <- list(kind = quote(a), columns = list(1))
  record$model$kind <- 1
  cpp_write_metadata(folder, record)
  expect_error(predict(kept_model(folder), mtcars_input()), class = "runhooks_error_data_loss")
  # A file that is no valid record is an error, also if no valid record was read before.
  writeLines("nothing", file.path(folder, record_file))
  the$valid_record <- NULL
  expect_error(predict(kept_model(folder), mtcars_input()), class = "runhooks_error_data_loss")
})

test_that("a model that is evaluated repeatedly detects changes of its folder", {
  folder <- trained_folder()
  model <- kept_model(folder)
  ask <- function() evaluate(model, mtcars_input())
  first <- ask()
  expect_equal(ask(), first)
  expect_equal(ask(), first)
  record <- cpp_read_plain_file(file.path(folder, record_file))
  record$model$kind <- c(kind = "x")
  cpp_write_metadata(folder, record)
  expect_error(ask(), class = "runhooks_error_failed_precondition")
  unlink(file.path(folder, record_file))
  expect_equal(ask()$loss, first$loss)
  writeLines("nothing", file.path(folder, record_file))
  expect_error(ask(), class = "runhooks_error_data_loss")
  unlink(folder, recursive = TRUE)
  expect_warning(ask(), class = "runhooks_warning_untrained")
})

# --- models without a checkpoint

test_that("an untrained model predicts with a warning that names its folder", {
  model <- mtcars_model()
  expect_warning(predict(model, mtcars_input()), model_dir(model), fixed = TRUE,
                 class = "runhooks_warning_untrained")
  expect_warning(evaluate(model, mtcars_input()), model_dir(model), fixed = TRUE,
                 class = "runhooks_warning_untrained")
  expect_warning(predict(model, newdata = mtcars), class = "runhooks_warning_untrained")
  expect_warning(
    predict(model, mtcars_input(), as_iterable = TRUE), class = "runhooks_warning_untrained"
  )
  train(model, mtcars_input())
  expect_no_warning(predict(model, mtcars_input()))
  expect_no_warning(evaluate(model, mtcars_input()))
})

test_that("a model whose folder is gone reports so in every call", {
  folder <- withr::local_tempdir()
  model <- mtcars_model(model_dir = file.path(folder, "here"))
  train(model, mtcars_input())
  file.rename(file.path(folder, "here"), file.path(folder, "there"))
  for (run in list(predict, evaluate)) {
    error <- expect_error(run(model, mtcars_input()), class = "runhooks_error_not_found")
    expect_match(conditionMessage(error), file.path(folder, "here"), fixed = TRUE)
    expect_match(conditionMessage(error), "which is missing", fixed = TRUE)
  }
  saved <- file.path(folder, "model.rds")
  saveRDS(model, saved)
  expect_error(predict(readRDS(saved), mtcars_input()), "which is missing", fixed = TRUE)
  # A model object on the new location finds everything.
  moved <- mtcars_model(model_dir = file.path(folder, "there"))
  expect_no_warning(predict(moved, mtcars_input()))
  unlink(dir(file.path(folder, "there"), full.names = TRUE), recursive = TRUE)
  fresh <- mtcars_model(model_dir = file.path(folder, "there"))
  expect_warning(predict(fresh, mtcars_input()), class = "runhooks_warning_untrained")
  expect_message(train(model, mtcars_input()), "starts\\s+again")
})

test_that("conflicting folders are an error that names both", {
  model <- mtcars_model()
  train(model, mtcars_input())
  old_folder <- model_dir(model)
  model$estimator <- local({
    handle <- handle_fields(model)
    handle$model_dir <- file.path(old_folder, "other")
    structure(handle, class = "runhooks_engine")
  })
  error <- expect_error(predict(model, mtcars_input()), class = "runhooks_error_not_found")
  expect_match(conditionMessage(error), paste0("trained in ", old_folder, ","), fixed = TRUE)
  expect_match(
    conditionMessage(error), paste0("now ", file.path(old_folder, "other")), fixed = TRUE
  )
})

# --- a model during its own training

test_that("a hook that predicts with its own model uses the current weights", {
  model <- mtcars_model()
  weight <- "linear/linear_model/bias_weights:0"
  seen <- list()
  hook <- session_run_hook(after_run = function(context, values) {
    bias <- context$session$run(weight)
    weights <- context$session$run(c(
      "linear/linear_model/drat/weights:0", "linear/linear_model/cyl/weights:0"
    ))
    predicted <- predict(model, newdata = mtcars[1, ])$.pred
    now <- c(bias) + weights[[1]][[1]] * mtcars$drat[[1]] + weights[[2]][[1]] * mtcars$cyl[[1]]
    step <- evaluate(model, mtcars_input())$global_step
    seen[[length(seen) + 1]] <<- c(predicted, now, step)
  })
  train(model, mtcars_input(), hooks = hook)
  seen <- do.call(rbind, seen)
  expect_equal(seen[, 1], seen[, 2], tolerance = 1e-6)
  expect_equal(seen[, 3], 1:4)
  expect_equal(length(unique(seen[, 1])), 4)
  expect_length(dir(tempdir(), pattern = "^runhooks-now-"), 0)
})

test_that("another object on the folder, and an iterator, also use the current weights", {
  model <- mtcars_model()
  twin <- mtcars_model(model_dir = model_dir(model))
  first <- NULL
  hook <- session_run_hook(after_run = function(context, values) {
    iterator <- predict(twin, mtcars_input(), as_iterable = TRUE)
    first <<- c(first, iter_next(iterator)$predictions)
    iterator$close()
  })
  expect_no_warning(train(model, mtcars_input(), steps = 3, hooks = hook))
  expect_length(unique(first), 3)
})

test_that("a folder that has reached max_steps reports that nothing was trained, and what to do", {
  folder <- withr::local_tempdir()
  fit <- function(data, ...) {
    model <- linear_regressor(mpg ~ wt, data, model_dir = folder, ...)
    train(model, max_steps = 20)
    model
  }
  expect_no_message(fit(mtcars), class = "runhooks_message_skipped")
  expect_message(
    fit(mtcars), "Nothing was trained.*at\\s+step\\s+20.*max_steps\\s+=\\s+20.*`steps`.*another\\s+`model_dir`",
    class = "runhooks_message_skipped"
  )
  messages <- testthat::capture_messages(fit(mtcars[1:16, ], learning_rate = 0.5))
  expect_equal(sum(grepl("Nothing was trained", messages)), 1)
})

test_that("training on other data than before is reported", {
  folder <- withr::local_tempdir()
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder)
  train(model, steps = 3)
  expect_no_message(train(model, steps = 2), class = "runhooks_message_other_data")
  other <- transform(mtcars, mpg = rev(mpg))
  expect_message(
    train(model, other, steps = 2), "trained on other data until step 5.*32 rows, and now as many others",
    class = "runhooks_message_other_data"
  )
  expect_no_message(train(model, other, steps = 2), class = "runhooks_message_other_data")
  again <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder)
  expect_message(train(again, steps = 1), "other data until step 9", class = "runhooks_message_other_data")
  columns <- mtcars_model()
  train(columns, mtcars_input())
  expect_no_message(train(columns, mtcars_input()), class = "runhooks_message_other_data")
  expect_message(
    train(columns, input_fn(mpg ~ drat + cyl, mtcars[32:1, ])), class = "runhooks_message_other_data"
  )
})

test_that("evaluations of one process share an event file while nothing else changes it", {
  model <- toy_model()
  folder <- file.path(model_dir(model), "eval")
  files <- function() list.files(folder, full.names = TRUE)
  steps <- function() read_events(folder)[read_events(folder)$tag == "loss", ]$step
  graphs <- function(file) sum(vapply(events_form(file), function(event) event$what == "graph_def", NA))
  for (i in 1:3) {
    train(model, toy_input(), steps = 1)
    evaluate(model, toy_input())
  }
  expect_length(files(), 1)
  expect_equal(steps(), 1:3)
  expect_equal(graphs(folder), 1)

  other <- add_metrics(toy_model(model_dir(model)), function(labels, predictions) {
    list(most = tf$metrics$mean(tf$reduce_max(predictions$predictions)))
  })
  evaluate(other, toy_input())
  expect_length(files(), 1)
  expect_equal(graphs(folder), 2)
  evaluate(other, toy_input())
  expect_equal(graphs(folder), 2)
  expect_equal(steps(), c(1:3, 3, 3))

  cat("more", file = files(), append = TRUE)
  evaluate(model, toy_input())
  expect_length(files(), 2)
  unlink(files())
  evaluate(model, toy_input())
  expect_length(files(), 1)
  expect_equal(steps(), 3)
})

test_that("a forked process writes a separate event file", {
  skip_on_os("windows") # no fork there
  model <- toy_model()
  train(model, toy_input(), steps = 1)
  evaluate(model, toy_input())
  losses <- in_forks(2, function(i) evaluate(model, toy_input())$loss)
  expect_equal(losses[[1]], losses[[2]])
  folder <- file.path(model_dir(model), "eval")
  expect_length(list.files(folder), 3)
  expect_equal(sum(read_events(folder)$tag == "loss"), 3)
})

test_that("an event file that is removed during a training is created again by the next", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  input <- mtcars_input(num_epochs = NULL)
  events <- function() {
    list.files(model_dir(model), "^events", recursive = TRUE, full.names = TRUE)
  }
  removes <- session_run_hook(after_run = function(context, values) unlink(events()))
  train(model, input, steps = 3, hooks = removes)
  expect_length(events(), 0)
  train(model, input, steps = 3)
  expect_length(events(), 1)
  expect_equal(max(read_events(dirname(events()))$step), 4)
})

test_that("a damaged newest checkpoint is not reported as another training", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  train(model, mtcars_input(num_epochs = NULL), steps = 2)
  writeBin(raw(), paste0(latest_checkpoint(model_dir(model)), ".index"))
  expect_no_message(expect_error(
    predict(model, mtcars_input()), "cannot be read", class = "runhooks_error_data_loss"
  ))
})

test_that("a missing or damaged state file is reported as such", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  train(model, mtcars_input(num_epochs = NULL), steps = 2)
  state <- file.path(model_dir(model), "checkpoint")
  newest <- latest_checkpoint(model_dir(model))
  for (problem in c("damaged", "missing")) {
    if (problem == "damaged") writeLines("nothing", state) else unlink(state)
    error <- expect_error(predict(model, mtcars_input()), class = "runhooks_error_not_found")
    expect_match(conditionMessage(error), paste0("'checkpoint' of the directory is ", problem))
    expect_match(conditionMessage(error), newest, fixed = TRUE)
  }
  expect_equal(nrow(predict(model, mtcars_input(), checkpoint_path = newest)), 32)
})

test_that("a directory that is removed or renamed during a training is reported", {
  ways <- list(
    function(path) unlink(path, recursive = TRUE),
    function(path) file.rename(path, paste0(path, "-renamed"))
  )
  for (remove in ways) {
    model <- mtcars_model(model_dir = file.path(withr::local_tempdir(), "model"))
    steps <- 0
    removes <- session_run_hook(after_run = function(context, values) {
      steps <<- steps + 1
      if (steps == 2) remove(model_dir(model))
    })
    expect_warning(
      train(model, mtcars_input(num_epochs = NULL), steps = 4, hooks = removes),
      "removed, renamed or emptied", class = "runhooks_warning_removed_directory"
    )
    expect_true(file.exists(file.path(model_dir(model), record_file)))
    expect_no_warning(train(model, mtcars_input(num_epochs = NULL), steps = 1))
    expect_equal(evaluate(model, mtcars_input())$global_step, 5)
  }
})

test_that("a model directory that is a file, or below one, is reported", {
  file <- withr::local_tempfile(lines = "text")
  for (path in c(file, file.path(file, "model"))) {
    expect_error(
      train(mtcars_model(model_dir = path), mtcars_input()), "is a file, not a directory",
      class = "runhooks_error_permission_denied"
    )
  }
})
