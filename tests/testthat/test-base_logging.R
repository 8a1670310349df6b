# Warnings of the core, and messages about common mistakes.

# Creates a folder whose state file names a missing checkpoint.
odd_folder <- function(env = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = env)
  writeLines('model_checkpoint_path: "model.ckpt-5"', file.path(folder, "checkpoint"))
  folder
}

test_that("a warning of the core is a classed R warning", {
  folder <- odd_folder()
  caught <- tryCatch(latest_checkpoint(folder), warning = identity)
  expect_s3_class(caught, "runhooks_warning_checkpoint")
  expect_s3_class(caught, "runhooks_warning")
  expect_match(conditionMessage(caught), "model.ckpt-5", fixed = TRUE)
  expect_null(conditionCall(caught))
  expect_no_message(suppressWarnings(latest_checkpoint(folder)))
  expect_null(suppressWarnings(latest_checkpoint(folder)))
})

test_that("a warning during a run is raised after it, so that catching it breaks nothing", {
  model <- mtcars_model()
  diverges <- session_run_hook(after_run = function(context, values) {
    if (variable_value_now(context) %% 4 == 3) latest_checkpoint(odd_folder())
  })
  variable_value_now <- function(context) context$session$run("global_step:0")
  caught <- tryCatch(train(model, mtcars_input(), hooks = diverges), warning = identity)
  expect_s3_class(caught, "runhooks_warning_checkpoint")
  expect_equal(variable_value(model, "global_step")[[1]], 4)
  # With options(warn = 2), which turns warnings into errors, the run completes before the error.
  withr::with_options(list(warn = 2), {
    expect_error(train(model, mtcars_input(), hooks = diverges), "converted from warning")
  })
})

test_that("a warning is not lost if an error ends the run", {
  fails <- session_run_hook(
    begin = function() latest_checkpoint(odd_folder()),
    after_run = function(context, values) stop("this one")
  )
  warnings <- 0
  error <- tryCatch(
    withCallingHandlers(
      train(mtcars_model(), mtcars_input(), hooks = fails),
      runhooks_warning_checkpoint = function(w) {
        warnings <<- warnings + 1
        invokeRestart("muffleWarning")
      }
    ),
    error = identity
  )
  expect_match(conditionMessage(error), "this one")
  expect_equal(warnings, 1)
})

test_that("training without data raises a warning; INFO lines are messages", {
  nothing <- session_run_hook(after_create_session = function(session, coord) coord$request_stop())
  expect_warning(
    train(mtcars_model(), mtcars_input(), hooks = nothing), "made no steps",
    class = "runhooks_warning_no_steps"
  )
  before <- tf$logging$get_verbosity()
  withr::defer(tf$logging$set_verbosity(before))
  tf$logging$set_verbosity("INFO")
  expect_message(train(mtcars_model(), mtcars_input(), steps = 1), "Calling model_fn")
  tf$logging$set_verbosity("ERROR")
  expect_no_warning(train(mtcars_model(), mtcars_input(), hooks = nothing))
})

test_that("strings in column_numeric() are an error that names column, value and row", {
  model <- linear_regressor(column_numeric(c("Sepal.Width", "Species")))
  input <- input_fn(iris, features = c("Sepal.Width", "Species"), response = "Sepal.Length")
  error <- expect_error(train(model, input), class = "runhooks_error_invalid_argument")
  text <- conditionMessage(error)
  for (word in c("Species", "a factor", "column_numeric()", "setosa", "row 1",
                 "column_categorical_with_vocabulary_list()")) {
    expect_match(text, word, fixed = TRUE, all = FALSE)
  }
  words <- transform(iris, Species = as.character(Species))
  input <- input_fn(words, features = c("Sepal.Width", "Species"), response = "Sepal.Length")
  expect_error(train(model, input), "needs numbers, not strings", fixed = TRUE)
  buckets <- linear_regressor(column_bucketized(column_numeric("Species"), 1:2))
  expect_error(train(buckets, input_fn(Sepal.Length ~ Species, iris)), "column_numeric")
  normalized <- linear_regressor(column_numeric("Species", normalizer_fn = function(x) x / 2))
  expect_error(train(normalized, input_fn(Sepal.Length ~ Species, iris)), "column_numeric")
  # An identity column accepts the codes of a factor, and a message names the levels.
  codes <- linear_regressor(column_categorical_with_identity("Species", num_buckets = 3))
  expect_message(train(codes, input_fn(Sepal.Length ~ Species, iris)), "setosa")
})

test_that("input_fn() reports arguments that have no effect", {
  expect_message(
    train(mtcars_model(), mtcars_input(), batch_size = 4, steps = 2),
    "`batch_size` has no effect", fixed = TRUE
  )
})

test_that("an input that ends before `steps` is reported with the fix", {
  expect_message(
    train(mtcars_model(), mtcars_input(), steps = 500),
    "4 steps but 500 steps were specified\nThe input has ended; use `num_epochs = NULL`",
    fixed = TRUE
  )
})

test_that("train(<data frame>) with one pass reports the number of steps and rows", {
  model <- linear_regressor(mpg ~ wt, data = mtcars, model_dir = withr::local_tempdir())
  expect_message(
    train(model, mtcars, num_epochs = 1, batch_size = 8), "One pass: 4 steps for 32 rows",
    class = "runhooks_message_one_pass"
  )
  expect_no_message(
    train(model, mtcars, steps = 2), class = "runhooks_message_one_pass"
  )
})

test_that("errors about formulas, intervals and new data name the argument", {
  model <- linear_regressor(mpg ~ wt, mtcars)
  train(model)
  deep <- dnn_regressor(mpg ~ wt, mtcars, hidden_units = 2)
  train(deep, steps = 1)
  fails <- function(expr, says) {
    expect_error(expr, says, fixed = TRUE, class = "runhooks_error")
  }
  fails(linear_regressor(mpg ~ wt + hpp, mtcars), "no column `hpp`.\ni Did you mean \"hp\"?")
  fails(linear_regressor(mpgg ~ wt, mtcars), "no column `mpgg`.\ni Did you mean \"mpg\"?")
  fails(linear_regressor(mpg ~ log(weight), mtcars), "The data have no column `weight`.")
  fails(boosted_trees_regressor(mpg ~ wt:cyll, mtcars), "no column `cyll`.")
  fails(linear_regressor(mpg ~ s(wt), mtcars), "`splines::ns(wt, 4)`")
  survival <- structure(cbind(time = 1:32, status = 1), class = "Surv")
  fails(linear_regressor(survival ~ wt, mtcars), "survival models are not supported")
  fails(evaluate(model, mtcars["wt"]), "The data lack the response of the model: \"mpg\".")
  fails(predict(deep, mtcars, interval = "confidence"), "for linear models only; this is a deep")
  fails(predict(model, data.frame(row.names = 1:3)), "`newdata` has no columns.")
  fails(early_stopping(monitor = "val_loss"), "Use `metric_name`.")
  fails(early_stopping(patience = 3, tolerance = 1), "no argument `tolerance`")
  # Variables that are not columns of the data are constants of the formula, and no error.
  degree <- 2
  expect_s3_class(linear_regressor(mpg ~ poly(wt, degree), mtcars), "tf_estimator")
})
