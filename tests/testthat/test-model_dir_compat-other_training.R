# A model object after another object or process has trained in its model directory.

fitted_model <- function(formula, data, folder, ...) {
  model <- linear_regressor(formula, data, model_dir = folder, ...)
  suppressMessages(train(model))
  model
}

# Functions that read the weights of the newest checkpoint.
weight_readers <- list(
  coef = coef, summary = summary, predict = predict, fitted = fitted, residuals = residuals,
  new = function(model) predict(model, newdata = mtcars[1:2, ]),
  interval = function(model) predict(model, newdata = mtcars[1:2, ], interval = "confidence"),
  evaluate = evaluate, vcov = vcov, confint = confint, sigma = sigma, deviance = deviance, logLik = logLik,
  AIC = AIC, anova = anova, hatvalues = hatvalues, tidy = function(model) generics::tidy(model),
  glance = function(model) generics::glance(model), augment = function(model) generics::augment(model),
  plot = function(model) plot(model, which = 3),
  export = function(model) export_savedmodel(model, withr::local_tempfile())
)

test_that("reading weights that another object has trained gives a message, once per training", {
  skip_if_not_installed("generics")
  withr::local_pdf(NULL)
  folder <- withr::local_tempdir()
  model <- fitted_model(mpg ~ wt + hp, mtcars, folder)
  other <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = folder)
  step <- variable_value(model, "global_step")[[1]]
  kind <- "runhooks_message_other_training"
  more_readers <- c(weight_readers, value = variable_value, names = variable_names)
  for (name in names(more_readers)) {
    suppressMessages(train(other, steps = 1))
    step <- step + 1
    pattern <- paste0(
      "to\\s+step\\s+", step - 1, ",\\s+and\\s+it\\s+is\\s+now\\s+at\\s+step\\s+", step
    )
    expect_message(more_readers[[name]](model), pattern, class = kind, info = name)
    expect_no_message(more_readers[[name]](model), class = kind)
  }
  # There is no message for the object that trains, nor for a new object.
  expect_no_message(predict(other), class = kind)
  expect_no_message(coef(linear_regressor(mpg ~ wt + hp, mtcars, model_dir = folder)), class = kind)
})

test_that("a hook that predicts with its own model gets no such message", {
  model <- fitted_model(mpg ~ wt, mtcars, withr::local_tempdir())
  num_predictions <- 0
  ask <- session_run_hook(after_run = function(context, values) {
    predict(model)
    num_predictions <<- num_predictions + 1
  })
  kind <- "runhooks_message_other_training"
  expect_no_message(train(model, steps = 2, hooks = ask), class = kind)
  expect_equal(num_predictions, 2)
  # The steps of a failed training also count as trained by the object.
  halt <- session_run_hook(after_run = function(context, values) stop("enough"))
  config <- run_config(save_checkpoints_steps = 1)
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = model_dir(model), config = config)
  expect_error(suppressMessages(train(model, steps = 3, hooks = halt)), "enough")
  expect_no_message(predict(model), class = kind)
})

test_that("retraining an emptied folder for the same number of steps is detected", {
  folder <- withr::local_tempdir()
  model <- fitted_model(mpg ~ wt, mtcars, folder, optimizer = "Adam", learning_rate = 0.1)
  before <- predict(model)
  unlink(dir(folder, full.names = TRUE), recursive = TRUE)
  set.seed(1)
  fitted_model(mpg ~ wt, mtcars, folder, optimizer = "Adam", learning_rate = 0.01)
  expect_message(after <- predict(model), "this\\s+object\\s+had\\s+trained\\s+it\\s+to\\s+step",
                 class = "runhooks_message_other_training")
  expect_false(identical(before, after))
})

test_that("no reader uses the weights of another model", {
  skip_if_not_installed("generics")
  withr::local_pdf(NULL)
  folder <- withr::local_tempdir()
  retrain <- function(formula, data) {
    unlink(dir(folder, full.names = TRUE), recursive = TRUE)
    fitted_model(formula, data, folder)
  }
  model <- fitted_model(mpg ~ wt + hp, mtcars, folder)
  retrain(mpg ~ wt + disp, mtcars)
  for (name in names(weight_readers)) {
    expect_error(weight_readers[[name]](model), "contains a different model.*'disp'.*'hp'", info = name)
  }
  # Another object trains the same columns with other scales from other data.
  retrain(mpg ~ wt + hp, transform(mtcars, mpg = 5 * mpg + 100, hp = hp^2))
  for (name in names(weight_readers)) {
    expect_error(weight_readers[[name]](model), "standardized\\s+differently", info = name)
  }
})

test_that("a formula with other terms on a trained folder is an error that names the terms", {
  folder <- withr::local_tempdir()
  cars <- transform(mtcars, gear = factor(gear))
  fitted_model(mpg ~ wt + hp * gear, cars, folder)
  for (formula in list(mpg ~ wt + disp, mpg ~ wt * hp, mpg ~ hp * gear, mpg ~ wt + hp + gear, mpg ~ wt)) {
    other <- linear_regressor(formula, cars, model_dir = folder)
    for (name in c("coef", "predict", "export")) {
      expect_error(weight_readers[[name]](other), "contains a different model", info = format(formula))
    }
    expect_error(train(other), "contains a different model", class = "runhooks_error_failed_precondition")
  }
  turned <- linear_regressor(mpg ~ hp + gear + wt + hp:gear, cars, model_dir = folder)
  expect_no_error(coef(turned))
})

test_that("trees of other columns are not shown with the names of these columns", {
  folder <- withr::local_tempdir()
  grow <- function(formula) {
    model <- boosted_trees_regressor(formula, mtcars, model_dir = folder, n_trees = 2)
    suppressMessages(train(model))
    model
  }
  model <- grow(mpg ~ wt + hp)
  unlink(dir(folder, full.names = TRUE), recursive = TRUE)
  grow(mpg ~ disp + qsec)
  expect_error(feature_importances(model), "contains a different model")
  expect_error(as.data.frame(model), "contains a different model")
  expect_output(print(model), "trees:")
})
