# Packages that inspect models of any class.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

test_that("a model has the family of its likelihood", {
  expect_identical(family(linear_regressor(mpg ~ wt, mtcars))$family, "gaussian")
  expect_identical(family(linear_classifier(am ~ wt, mtcars))$link, "logit")
  counts <- linear_estimator(poisson_regression_head(), carb ~ wt, data = mtcars)
  expect_identical(family(counts)$family, "poisson")
  expect_error(
    family(linear_classifier(Species ~ Sepal.Width, iris)), "3 classes",
    class = "runhooks_error_invalid_argument"
  )
  expect_error(family(linear_regressor(column_numeric("wt"))), class = "runhooks_error_invalid_argument")
})

test_that("insight finds data, terms and type of a model", {
  skip_if_not_installed("insight") # suggested
  model <- linear_regressor(mpg ~ log(wt) + factor(cyl), mtcars, model_dir = new_folder())
  train(model)
  expect_equal(insight::get_data(model), mtcars[c("mpg", "wt", "cyl")], ignore_attr = TRUE)
  expect_identical(insight::find_predictors(model)$conditional, c("wt", "cyl"))
  expect_identical(insight::find_response(model), "mpg")
  expect_true(insight::model_info(model)$is_linear)
  expect_identical(insight::n_obs(model), 32L)
  expect_error(terms(model, foo = 1), "has no argument `foo`", class = "runhooks_error_invalid_argument")
  expect_equal(insight::get_parameters(model)$Estimate, unname(coef(model)))
  expect_equal(insight::get_sigma(model), sigma(model), ignore_attr = TRUE)
})

test_that("DALEX gets numeric predictions", {
  cars <- linear_regressor(mpg ~ wt, mtcars, model_dir = new_folder())
  train(cars)
  expect_identical(yhat.tf_estimator(cars, mtcars[1:3, ]), predict(cars, newdata = mtcars[1:3, ])$.pred)
  two <- linear_classifier(am ~ wt, mtcars, model_dir = new_folder())
  train(two)
  expect_equal(
    yhat.tf_estimator(two, mtcars), unname(fitted(glm(am ~ wt, binomial, mtcars))), tolerance = 1e-3
  )
  three <- linear_classifier(Species ~ Sepal.Width, iris, model_dir = new_folder())
  train(three)
  table <- yhat.tf_estimator(three, iris[c(1, 150), ])
  expect_identical(colnames(table), levels(iris$Species))
  expect_equal(rowSums(table), c(1, 1), tolerance = 1e-6)
})

test_that("marginaleffects gets predictions at modified coefficients", {
  model <- linear_classifier(am ~ wt + factor(cyl), mtcars, model_dir = new_folder())
  train(model)
  reference <- glm(am ~ wt + factor(cyl), binomial, mtcars)
  expect_equal(get_coef.tf_estimator(model), coef(reference), tolerance = 1e-3)
  expect_equal(get_vcov.tf_estimator(model), vcov(reference), tolerance = 1e-2)
  made <- get_predict.tf_estimator(model, mtcars[1:4, ])
  expect_equal(made$estimate, unname(predict(reference, mtcars[1:4, ], "response")), tolerance = 1e-3)
  expect_identical(made$rowid, 1:4)
  # marginaleffects changes coefficients to compute standard errors; predictions must follow the
  # change.
  other <- coef(reference) + c(0, 1, 0, 0)
  reference$coefficients <- other
  made <- get_predict.tf_estimator(set_coef.tf_estimator(model, other), mtcars[1:4, ], type = "link")
  expect_equal(made$estimate, unname(predict(reference, mtcars[1:4, ])), tolerance = 1e-6)
})

test_that("partial dependence by pdp matches lm()", {
  model <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = new_folder())
  train(model)
  reference <- lm(mpg ~ wt + hp, mtcars)
  curve <- function(object, predictions) {
    vapply(c(2, 3, 4), function(wt) {
      mean(predictions(object, transform(eval(object$call$data), wt = wt)))
    }, 0)
  }
  expect_equal(
    curve(model, function(object, newdata) predict(object, newdata)$.pred), curve(reference, predict),
    tolerance = 1e-5
  )
})

test_that("model.matrix() of a model of two parts is an error", {
  model <- dnn_linear_combined_regressor(mpg ~ wt, data = mtcars, dnn_hidden_units = 2)
  expect_error(model.matrix(model), "a model of one part", class = "runhooks_error_invalid_argument")
})
