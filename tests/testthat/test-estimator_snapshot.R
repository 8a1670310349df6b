# saveRDS() of a model: reading it restores the saved state.

saved_and_trained_on <- function(model, steps = 3) {
  file <- tempfile()
  suppressMessages(train(model, steps = 5))
  before_saving <- predict(model)$.pred
  saveRDS(model, file)
  suppressMessages(train(model, steps = steps))
  list(file = file, was = before_saving, now = predict(model)$.pred)
}

adam_model <- function(folder = NULL, ...) {
  set.seed(4)
  linear_regressor(mpg ~ wt + hp, mtcars, model_dir = folder, optimizer = "Adam", ...)
}

test_that("a restored model has the saved state, even if its folder has changed", {
  for (folder in list(NULL, withr::local_tempdir())) {
    model <- adam_model(folder)
    saved <- saved_and_trained_on(model)
    expect_false(identical(saved$was, saved$now))
    read <- readRDS(saved$file)
    expect_message(expect_identical(predict(read)$.pred, saved$was), "at\\s+step\\s+8.*at\\s+step\\s+5",
                   class = "runhooks_message_saved_model")
    expect_no_message(expect_identical(predict(read)$.pred, saved$was))
    expect_identical(suppressWarnings(coef(read)), suppressMessages(suppressWarnings(coef(readRDS(saved$file)))))
    suppressMessages(train(read, steps = 1))
    expect_equal(variable_value(read, "global_step")[[1]], 6)
    expect_equal(variable_value(model, "global_step")[[1]], 8)
    expect_identical(predict(model)$.pred, saved$now)
  }
})

test_that("a model that is restored before its folder changes also keeps the saved state", {
  model <- adam_model()
  suppressMessages(train(model, steps = 5))
  before_saving <- predict(model)$.pred
  read <- unserialize(serialize(model, NULL))
  expect_identical(model_dir(read), model_dir(model))
  expect_no_message(expect_identical(predict(read)$.pred, before_saving))
  suppressMessages(train(model, steps = 1))
  expect_message(
    expect_identical(predict(read)$.pred, before_saving), class = "runhooks_message_saved_model"
  )
})

test_that("a restored model uses its folder if that is unchanged", {
  model <- adam_model(withr::local_tempdir())
  suppressMessages(train(model, steps = 2))
  read <- unserialize(serialize(model, NULL))
  expect_no_message(train(read, steps = 2), class = "runhooks_message_saved_model")
  expect_identical(model_dir(read), model_dir(model))
  expect_equal(variable_value(model, "global_step")[[1]], 4)
  copied <- unserialize(serialize(read, NULL))
  suppressMessages(train(model, steps = 2))
  expect_message(step <- variable_value(copied, "global_step")[[1]])
  expect_equal(step, 4)
})

test_that("another training with the same number of steps is not mistaken for the saved one", {
  folder <- withr::local_tempdir()
  saved <- saved_and_trained_on(adam_model(folder))
  unlink(dir(folder, full.names = TRUE), recursive = TRUE)
  other <- adam_model(folder, learning_rate = 0.01)
  suppressMessages(train(other, steps = 5))
  expect_message(expect_identical(predict(readRDS(saved$file))$.pred, saved$was),
                 "differs\\s+from.*both\\s+are\\s+at\\s+step\\s+5", class = "runhooks_message_saved_model")
})

test_that("a restored model does not take levels, classes and features of another training", {
  data <- droplevels(iris[iris$Species != "virginica", ])
  model <- dnn_classifier(4, column_numeric("Sepal.Length"))
  input <- function(data) input_fn(Species ~ Sepal.Length, data)
  suppressMessages(train(model, input(data), steps = 2))
  before_saving <- predict(model, newdata = data)
  saved <- serialize(model, NULL)
  unlink(model_dir(model), recursive = TRUE)
  data$Species <- factor(data$Species, levels = rev(levels(data$Species)))
  suppressMessages(train(model, input(data), steps = 2))
  expect_identical(predict(unserialize(saved), newdata = data), before_saving)
})

test_that("a hook that saves the model saves the current weights", {
  model <- adam_model()
  files <- replicate(2, tempfile())
  step <- 0
  hook <- session_run_hook(after_run = function(context, values) {
    step <<- step + 1
    saveRDS(model, files[[step]])
  })
  suppressMessages(train(model, steps = 2, hooks = hook))
  for (step in 1:2) {
    read <- readRDS(files[[step]])
    expect_equal(suppressMessages(variable_value(read, "global_step")[[1]]), step)
  }
})

test_that("a model that was saved untrained is a specification", {
  model <- adam_model()
  read <- unserialize(serialize(model, NULL))
  expect_warning(predict(read), class = "runhooks_warning_untrained")
  suppressMessages(train(read, steps = 2))
  expect_equal(variable_value(unserialize(serialize(read, NULL)), "global_step")[[1]], 2)
})

test_that("large weights of a user-specified directory are not saved in the object, and their loss is reported", {
  folder <- withr::local_tempdir() # other processes must not take it for temporary
  script <- withr::local_tempfile(lines = c(
    "suppressMessages(library(runhooks))",
    "options(runhooks.carried_mb = 0)",
    sprintf("folder <- '%s'", folder),
    "config <- run_config(keep_checkpoint_max = 2)",
    "set.seed(1)",
    "model <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder, optimizer = 'Adam',",
    "                          config = config)",
    "go <- function() suppressMessages(train(model, steps = 1))",
    "go()",
    "was <- predict(model)$.pred",
    "bytes <- serialize(model, NULL)",
    "options(runhooks.carried_mb = 10)",
    "small <- serialize(model, NULL)",
    "read <- function(bytes) suppressMessages(unserialize(bytes))",
    "stopifnot(length(small) < 20000)",
    "go()",
    "kept <- read(bytes)",
    "stopifnot(identical(suppressMessages(predict(kept))$.pred, was))",
    "go(); go()",
    "stopifnot(identical(predict(kept)$.pred, was))",
    "lost <- read(bytes)",
    "error <- tryCatch(predict(lost), error = identity)",
    "stopifnot(inherits(error, 'runhooks_error_failed_precondition'))",
    "writeLines(conditionMessage(error))",
    "print(lost)",
    "stopifnot(inherits(tryCatch(train(lost), error = identity), 'runhooks_error_failed_precondition'))",
    "model <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder, optimizer = 'Adam')",
    "unlink(folder, recursive = TRUE)",
    "message <- tryCatch(predict(read(small)), message = identity)",
    "writeLines(conditionMessage(message))"
  ))
  output <- processx::run(child_rscript(), script, env = child_env())$stdout
  expect_match(output, "saved at step 1, and .* is now at step 4")
  expect_match(output, "'model.ckpt-1' no longer exists")
  expect_match(output, "no longer exists\\s+or\\s+has\\s+no\\s+checkpoint")
})

test_that("butcher's generics remove data and values of a call, and do not change the model", {
  model <- do.call(linear_regressor, list(mpg ~ wt, mtcars))
  suppressMessages(train(model, mtcars))
  slim <- axe_call.tf_estimator(axe_data.tf_estimator(model))
  expect_null(slim$data)
  expect_lt(length(serialize(slim, NULL)), length(serialize(model, NULL)) - 3000)
  expect_error(predict(slim), "removed from")
  expect_equal(predict(slim, newdata = mtcars), predict(model))
  expect_identical(variable_value(slim), variable_value(model))
  expect_identical(axe_env.tf_estimator(slim), slim)
  if (!"butcher" %in% loadedNamespaces()) {
    expect_gt(length(getHook(packageEvent("butcher", "onLoad"))), 2)
  }
})

test_that("saveRDS() of a model with an unreadable checkpoint is an error", {
  folder <- withr::local_tempdir()
  model <- mtcars_model(model_dir = folder)
  train(model, mtcars_input())
  values <- list.files(folder, "[.]data-", full.names = TRUE)
  newest <- values[grepl(basename(latest_checkpoint(folder)), values, fixed = TRUE)]
  unlink(newest)
  dir.create(newest)
  expect_error(saveRDS(model, withr::local_tempfile()), "data-00000", class = "runhooks_error")
})
