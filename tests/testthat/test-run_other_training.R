# An object whose folder another object, or another process, has trained in since.

fitted_model <- function(formula, data, folder, ...) {
  model <- linear_regressor(formula, data, model_dir = folder, ...)
  suppressMessages(train(model))
  model
}

# All that reads the weights of the newest checkpoint.
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

test_that("who reads weights that another object has trained says so, once for each training", {
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
    said <- paste0("at step\\s+", step - 1, "\\s+then, at\\s+step\\s+", step, "\\s+by now")
    expect_message(more_readers[[name]](model), said, class = kind, info = name)
    expect_no_message(more_readers[[name]](model), class = kind)
  }
  # the one that trains has nothing to say, nor one that was made to read
  expect_no_message(predict(other), class = kind)
  expect_no_message(coef(linear_regressor(mpg ~ wt + hp, mtcars, model_dir = folder)), class = kind)
})

test_that("a hook that asks the model which it trains is not told of another", {
  model <- fitted_model(mpg ~ wt, mtcars, withr::local_tempdir())
  asked <- 0
  ask <- session_run_hook(after_run = function(context, values) {
    predict(model)
    asked <<- asked + 1
  })
  kind <- "runhooks_message_other_training"
  expect_no_message(train(model, steps = 2, hooks = ask), class = kind)
  expect_equal(asked, 2)
  # where an error leaves a training it was the object's own, too
  halt <- session_run_hook(after_run = function(context, values) stop("enough"))
  config <- run_config(save_checkpoints_steps = 1)
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = model_dir(model), config = config)
  expect_error(suppressMessages(train(model, steps = 3, hooks = halt)), "enough")
  expect_no_message(predict(model), class = kind)
})

test_that("a folder that was emptied and trained again by as many steps is told from what it was", {
  folder <- withr::local_tempdir()
  model <- fitted_model(mpg ~ wt, mtcars, folder, optimizer = "Adam", learning_rate = 0.1)
  before <- predict(model)
  unlink(dir(folder, full.names = TRUE), recursive = TRUE)
  set.seed(1)
  fitted_model(mpg ~ wt, mtcars, folder, optimizer = "Adam", learning_rate = 0.01)
  expect_message(after <- predict(model), "another one by now, both at\\s+step",
                 class = "runhooks_message_other_training")
  expect_false(identical(before, after))
})

test_that("no reader takes the weights of another model for its own", {
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
    expect_error(weight_readers[[name]](model), "holds another model.*'disp'.*'hp'", info = name)
  }
  # the same columns, of which other data had other scales
  retrain(mpg ~ wt + hp, transform(mtcars, mpg = 5 * mpg + 100, hp = hp^2))
  for (name in names(weight_readers)) {
    expect_error(weight_readers[[name]](model), "standardized\\s+differently", info = name)
  }
})

test_that("a formula of other terms on a trained folder is refused by these, not by what is inside", {
  folder <- withr::local_tempdir()
  cars <- transform(mtcars, gear = factor(gear))
  fitted_model(mpg ~ wt + hp * gear, cars, folder)
  for (formula in list(mpg ~ wt + disp, mpg ~ wt * hp, mpg ~ hp * gear, mpg ~ wt + hp + gear, mpg ~ wt)) {
    other <- linear_regressor(formula, cars, model_dir = folder)
    for (name in c("coef", "predict", "export")) {
      expect_error(weight_readers[[name]](other), "holds another model", info = format(formula))
    }
    expect_error(train(other), "holds another model", class = "runhooks_error_failed_precondition")
  }
  # in another order they are the same
  turned <- linear_regressor(mpg ~ hp + gear + wt + hp:gear, cars, model_dir = folder)
  expect_no_error(coef(turned))
})

test_that("trees of other columns are not called by the names of these", {
  folder <- withr::local_tempdir()
  grow <- function(formula) {
    model <- boosted_trees_regressor(formula, mtcars, model_dir = folder, n_trees = 2)
    suppressMessages(train(model))
    model
  }
  model <- grow(mpg ~ wt + hp)
  unlink(dir(folder, full.names = TRUE), recursive = TRUE)
  grow(mpg ~ disp + qsec)
  expect_error(feature_importances(model), "holds another model")
  expect_error(as.data.frame(model), "holds another model")
  expect_output(print(model), "trees:")
})
