# fit(), and the generics train() and evaluate() of the package generics.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

test_that("fit() trains and returns the model", {
  skip_if_not_installed("generics")
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = new_folder()) %>% generics::fit()
  expect_s3_class(model, "tf_estimator")
  expect_equal(coef(model), coef(lm(mpg ~ wt, mtcars)), tolerance = 1e-5)
  columns <- mtcars_model()
  expect_identical(generics::fit(columns, mtcars_input(num_epochs = 1), steps = 2), columns)
  expect_equal(evaluate(columns, mtcars_input(num_epochs = 1))$global_step, 2)
  expect_error(
    generics::fit(columns, mtcars_input(), steps = -1), class = "runhooks_error_invalid_argument"
  )
})

test_that("train() and evaluate() of generics work on models", {
  skip_if_not_installed("generics")
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = new_folder())
  history <- generics::train(model)
  expect_s3_class(history, "tf_estimator_history")
  expect_identical(generics::evaluate(model, mtcars), evaluate(model, mtcars))
  expect_error(generics::train(history), class = "runhooks_error_invalid_argument")
  expect_error(generics::evaluate(history), class = "runhooks_error_invalid_argument")
})
