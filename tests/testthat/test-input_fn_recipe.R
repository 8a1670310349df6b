# Without TZ, lubridate (loaded by recipes) asks systemd.
withr::local_envvar(TZ = "UTC")
skip_if_not_installed("recipes")

made <- function() {
  recipe <- recipes::recipe(mpg ~ drat + wt + gear, data = transform(mtcars, gear = factor(gear)))
  recipe <- recipes::step_normalize(recipe, recipes::all_numeric_predictors())
  recipes::step_dummy(recipe, gear)
}
features <- c("drat", "wt", "gear_X4", "gear_X5")
model_of <- function() linear_regressor(column_numeric(features))
with_factor <- function(data) transform(data, gear = factor(gear, levels = c(3, 4, 5)))

test_that("a recipe's predictors are features and its outcome is the response", {
  prepared <- recipes::prep(made())
  baked <- recipes::bake(prepared, new_data = NULL)
  trained <- function(input) {
    model <- model_of()
    train(model, input)
    variable_value(model)
  }
  options <- list(batch_size = 8, num_epochs = 3, shuffle = FALSE)
  by_hand <- do.call(input_fn, c(list(mpg ~ ., data = baked), options))
  expect_equal(trained(do.call(input_fn, c(list(made()), options))), trained(by_hand))
  expect_equal(trained(do.call(input_fn, c(list(prepared), options))), trained(by_hand))
})

test_that("the steps of a recipe use its training data only", {
  model <- model_of()
  train(model, input_fn(made(), num_epochs = 3))
  all <- predict(model, input_fn(made(), data = with_factor(mtcars)))
  few <- predict(model, input_fn(made(), data = with_factor(mtcars)[c(5, 9), ]))
  expect_equal(few$predictions, all$predictions[c(5, 9)], tolerance = 1e-6)
  new <- with_factor(mtcars)[3, c("drat", "wt", "gear")]
  expect_equal(
    predict(model, input_fn(recipes::prep(made()), data = new))$predictions, all$predictions[3],
    tolerance = 1e-6
  )
})

test_that("newdata is prepared by the recipe of the training", {
  model <- model_of()
  train(model, input_fn(made(), num_epochs = 3))
  expected <- predict(model, input_fn(made(), data = with_factor(mtcars)))
  given <- predict(model, newdata = with_factor(mtcars))
  expect_equal(given$.pred, unlist(expected$predictions), tolerance = 1e-6, ignore_attr = TRUE)
  new <- with_factor(mtcars)[c(5, 9), c("drat", "wt", "gear")]
  expect_equal(predict(model, newdata = new)$.pred, given$.pred[c(5, 9)], tolerance = 1e-6)
  saved <- withr::local_tempfile(fileext = ".rds")
  saveRDS(model, saved)
  expect_equal(predict(readRDS(saved), newdata = new)$.pred, given$.pred[c(5, 9)], tolerance = 1e-6)
  expect_error(
    predict(model, newdata = new["drat"]), "recipe of the training cannot prepare",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("a reconstructed model does not mistake raw data for prepared data", {
  folder <- withr::local_tempdir()
  model <- linear_regressor(column_numeric(features), model_dir = folder)
  train(model, input_fn(made(), num_epochs = 3))
  without_recipe <- linear_regressor(column_numeric(features), model_dir = folder)
  raw <- transform(mtcars, gear_X4 = gear == 4, gear_X5 = gear == 5)
  expect_error(
    predict(without_recipe, newdata = raw), "input_fn(recipe, data = newdata)", fixed = TRUE,
    class = "runhooks_error_failed_precondition"
  )
  expect_equal(
    predict(without_recipe, input_fn(made(), data = with_factor(mtcars)))$predictions,
    predict(model, input_fn(made(), data = with_factor(mtcars)))$predictions
  )
  # A model that was trained without a recipe uses data unchanged.
  train(without_recipe, input_fn(recipes::bake(recipes::prep(made()), NULL), features = features,
                        response = "mpg"))
  expect_length(predict(without_recipe, newdata = raw)$.pred, 32)
})
