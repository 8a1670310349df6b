# Terms that depend on all rows, such as poly(), scale() and cut(). lm() computes them before it
# drops rows.

fit_omitting <- function(formula, data, ..., frame = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = frame)
  model <- linear_regressor(formula, data, na.action = na.omit, model_dir = folder, ...)
  suppressMessages(train(model))
  model
}

test_that("rows without a response take part in terms that depend on all rows", {
  skip_if_not_installed("generics")
  expect_true(anyNA(airquality$Ozone))
  for (formula in list(
    Ozone ~ poly(Temp, 2) + Wind, Ozone ~ scale(Temp) + Wind, Ozone ~ cut(Temp, 3) + Wind,
    Ozone ~ splines::ns(Temp, 3), Ozone ~ poly(Temp, 2):Wind
  )) {
    model <- fit_omitting(formula, airquality)
    reference <- lm(formula, airquality)
    label <- deparse(formula)
    expect_no_warning(coefficients <- coef(model))
    expect_equal(coefficients, coef(reference), tolerance = 1e-3, label = label)
    expect_no_warning(model_summary <- summary(model))
    expect_equal(
      unname(model_summary$measures[["r.squared"]]), summary(reference)$r.squared,
      tolerance = 1e-4, label = label
    )
    expect_equal(fitted(model), fitted(reference), tolerance = 1e-4, label = label)
    expect_equal(
      generics::augment(model)$.fitted, unname(fitted(reference)), tolerance = 1e-4, label = label
    )
    expect_equal(diag(vcov(model)), diag(vcov(reference)), tolerance = 1e-2, label = label)
  }
})

test_that("na.exclude keeps the position of each row", {
  formula <- Ozone ~ cut(Temp, 3) + Wind
  model <- linear_regressor(
    formula, airquality, na.action = na.exclude, model_dir = withr::local_tempdir()
  )
  suppressMessages(train(model))
  reference <- lm(formula, airquality, na.action = na.exclude)
  expect_equal(fitted(model), fitted(reference), tolerance = 1e-4)
  expect_equal(residuals(model), residuals(reference), tolerance = 1e-3)
  classes <- transform(airquality, hot = factor(Temp > 80))
  model <- linear_classifier(
    hot ~ cut(Wind, 3) + Ozone, classes, na.action = na.omit, model_dir = withr::local_tempdir()
  )
  suppressMessages(train(model))
  reference <- glm(hot ~ cut(Wind, 3) + Ozone, binomial, classes)
  expect_no_warning(measures <- summary(model)$measures)
  expect_equal(measures[["average_loss"]], deviance(reference) / 2 / 116, tolerance = 1e-4)
  expect_equal(coef(model), coef(reference), tolerance = 1e-3)
})

test_that("cut() uses the intervals of the training data for new data", {
  folder <- withr::local_tempdir()
  model <- linear_regressor(mpg ~ cut(hp, 3), mtcars, model_dir = folder)
  train(model)
  reference <- lm(mpg ~ cut(hp, 3), mtcars)
  expect_equal(coef(model), coef(reference), tolerance = 1e-4)
  expect_no_warning(few <- predict(model, newdata = mtcars[c(1, 7), ])$.pred)
  expect_equal(few, unname(fitted(reference)[c(1, 7)]), tolerance = 1e-4)
  expect_identical(is.na(predict(model, newdata = data.frame(hp = c(1000, 200)))$.pred), c(TRUE, FALSE))
  recreated <- linear_regressor(mpg ~ cut(hp, 3), mtcars, model_dir = folder)
  expect_identical(coef(recreated), coef(model))
  expect_error(linear_regressor(mpg ~ cut(hp, 3), mtcars[1:9, ], model_dir = folder), "differs between these data")
  # Breaks that depend on the data are computed once, from the training rows.
  quarters <- mpg ~ cut(hp, quantile(hp), include.lowest = TRUE)
  model <- linear_regressor(quarters, mtcars, model_dir = withr::local_tempdir())
  train(model)
  expect_no_warning(few <- predict(model, newdata = mtcars[c(1, 7), ])$.pred)
  expect_equal(few, unname(fitted(lm(quarters, mtcars))[c(1, 7)]), tolerance = 1e-4)
  # A column may have the name of a term.
  named <- data.frame(mpg = mtcars$mpg, `cut(hp, 3)` = factor(mtcars$cyl), check.names = FALSE)
  model <- linear_regressor(mpg ~ ., named, model_dir = withr::local_tempdir())
  train(model)
  expect_equal(fitted(model), fitted(lm(mpg ~ factor(cyl), mtcars)), tolerance = 1e-4, ignore_attr = TRUE)
  for (formula in list(
    mpg ~ cut(hp, c(0, 100, 400)), mpg ~ cut(hp, breaks = 2, labels = c("low", "high")),
    mpg ~ base::cut(hp, 4, right = FALSE)
  )) {
    model <- linear_regressor(formula, mtcars, model_dir = withr::local_tempdir())
    train(model)
    reference <- lm(formula, mtcars)
    expect_equal(coef(model), coef(reference), tolerance = 1e-4)
    expect_equal(
      predict(model, newdata = mtcars)$.pred, unname(fitted(reference)), tolerance = 1e-4
    )
  }
})

test_that("numbers with the attribute `levels` are numbers", {
  data <- transform(esoph, tobacco = unclass(tobgp))
  for (formula in list(ncases ~ unclass(tobgp), ncases ~ agegp + tobacco)) {
    model <- linear_regressor(formula, data, model_dir = withr::local_tempdir())
    expect_no_warning(train(model))
    expect_equal(coef(model), coef(lm(formula, data)), tolerance = 1e-4)
  }
  model <- linear_regressor(column_numeric("tobacco"), model_dir = withr::local_tempdir())
  train(model, input_fn(data, features = "tobacco", response = "ncases"), steps = 2)
  predicted <- predict(model, input_fn(data, features = "tobacco", response = "ncases"))
  expect_length(unlist(predicted$predictions), nrow(data))
})
