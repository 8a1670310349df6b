# Models as expressions and SQL: tidypredict and orbital.

skip_on_cran()
skip_if_not_installed("tidypredict")
skip_if_not_installed("dplyr")

test_that("linear models are expressions and SQL", {
  data <- sql_data()
  formula <- y ~ x * f + I(x^2) + log(w + 1) + l
  model <- fitted_model(linear_regressor, formula, data)
  rows <- gappy(data)
  expect_equal(computed(model, rows)[[1]], predict(model, rows)$.pred, tolerance = 1e-5)
  model <- fitted_model(linear_classifier, two ~ x + f + offset(w), data)
  expected <- suppressWarnings(predict(model, rows, type = "prob"))
  expect_equal(computed(model, rows)[[1]], expected$.pred_yes, tolerance = 1e-5)
  model <- fitted_model(linear_classifier, three ~ x + f, data)
  found <- computed(model, rows)
  expected <- predict(model, rows, type = "prob")
  for (k in 1:3) expect_equal(found[[k]], expected[[k]], tolerance = 1e-5)
  model <- fitted_model(
    linear_estimator, poisson_regression_head(), count ~ x + f, data = data
  )
  expect_equal(computed(model, rows)[[1]], predict(model, rows)[[1]], tolerance = 1e-5)
})

test_that("trees are expressions and SQL, also at thresholds and with missing values", {
  data <- sql_data()
  rows <- gappy(data)
  trees <- function(...) fitted_model(..., n_trees = 8L, max_depth = 3L)
  for (train_rows in list(data, rows)) {
    model <- trees(boosted_trees_regressor, y ~ x + w + f + l, train_rows)
    expected <- suppressWarnings(predict(model, rows))$.pred
    expect_equal(computed(model, rows)[[1]], expected, tolerance = 1e-5)
    model <- trees(boosted_trees_classifier, two ~ x + w + f, train_rows)
    expected <- suppressWarnings(predict(model, rows, type = "prob"))$.pred_yes
    expect_equal(computed(model, rows)[[1]], expected, tolerance = 1e-5)
    model <- trees(boosted_trees_classifier, three ~ x + log(w) + f, train_rows)
    found <- computed(model, rows)
    expected <- suppressWarnings(predict(model, rows, type = "prob"))
    for (k in 1:3) expect_equal(found[[k]], expected[[k]], tolerance = 1e-5)
  }
})

test_that("several responses, filled values, NA levels and aliased terms have expressions", {
  data <- sql_data()
  rows <- gappy(data)
  model <- fitted_model(linear_regressor, cbind(y, w) ~ x + f, data)
  found <- computed(model, rows)
  for (k in 1:2) expect_equal(found[[k]], predict(model, rows)[[k]], tolerance = 1e-5)
  trees <- function(...) boosted_trees_regressor(..., n_trees = 8, max_depth = 3)
  for (make in list(linear_regressor, trees)) {
    model <- fitted_model(make, y ~ x + I(x^2) + l, rows[c("y", "x", "l")], na.action = "mean")
    expected <- predict(model, rows)$.pred
    expect_false(anyNA(expected))
    expect_equal(computed(model, rows)[[1]], expected, tolerance = 1e-5)
  }
  rows$f <- addNA(rows$f)
  model <- fitted_model(linear_regressor, y ~ x + f, rows, na.action = na.omit)
  expect_equal(computed(model, rows)[[1]], predict(model, rows)$.pred, tolerance = 1e-5)
  twice <- transform(data, twice = 2 * x, whole = round(3 * w))
  model <- fitted_model(linear_regressor, y ~ x + twice + factor(whole) + (w > 1), twice)
  expect_equal(computed(model, twice)[[1]], predict(model, twice)$.pred, tolerance = 1e-5)
})

test_that("trees with identifiers beyond single precision have the same thresholds", {
  data <- data.frame(id = 2e7 + 0:199)
  data$y <- sin((0:199) / 20)
  model <- fitted_model(boosted_trees_regressor, y ~ id, data, n_trees = 30)
  expect_equal(computed(model, data)[[1]], predict(model, data)$.pred, tolerance = 1e-5)
})

test_that("models without expressions are errors", {
  invalid <- "runhooks_error_invalid_argument"
  data <- sql_data(50)
  model <- fitted_model(baseline_regressor, y ~ x, data)
  expect_error(tidypredict::tidypredict_fit(model), "linear model, a network", class = invalid)
  model <- fitted_model(linear_regressor, y ~ poly(x, 2), data)
  expect_error(tidypredict::tidypredict_fit(model), "has no expression", class = invalid)
  trees <- boosted_trees_regressor(list(column_numeric("x")))
  expect_error(tidypredict::tidypredict_fit(trees), "formula", class = invalid)
  quantiles <- fitted_model(linear_estimator, quantile_head(c(0.1, 0.9)), y ~ x, data = data)
  expect_error(tidypredict::tidypredict_fit(quantiles), "quantile_head", class = invalid)
  model <- fitted_model(linear_regressor, y ~ x + factor(w > 1), data)
  expect_error(tidypredict::tidypredict_fit(model), "factor.w > 1", class = invalid)
})

test_that("orbital() predicts fits of parsnip", {
  skip_if_not_installed("orbital", "0.5.0")
  skip_if_not_installed("parsnip", "1.5.0")
  data <- sql_data()
  fit_of <- function(spec, formula, mode) {
    spec <- parsnip::set_engine(parsnip::set_mode(spec, mode), "runhooks")
    suppressWarnings(suppressMessages(generics::fit(spec, formula, data)))
  }
  trees <- parsnip::boost_tree(trees = 4, tree_depth = 2)
  for (spec in list(parsnip::linear_reg(), trees)) {
    fitted <- fit_of(spec, y ~ x + f, "regression")
    found <- predict(orbital::orbital(fitted), data)
    expect_equal(found$.pred, predict(fitted, data)$.pred, tolerance = 1e-5)
  }
  cases <- list(
    list(parsnip::logistic_reg(), two ~ x + f), list(parsnip::multinom_reg(), three ~ x + f),
    list(trees, two ~ x + f), list(trees, three ~ x + f)
  )
  for (case in cases) {
    fitted <- fit_of(case[[1]], case[[2]], "classification")
    found <- predict(orbital::orbital(fitted, type = c("prob", "class")), data)
    expected <- predict(fitted, data, type = "prob")
    expect_equal(as.list(found[names(expected)]), as.list(expected), tolerance = 1e-5)
    expect_identical(found$.pred_class, as.character(predict(fitted, data)$.pred_class))
  }
  expect_error(orbital::orbital(fitted$fit), "workflow of tidymodels", class = "runhooks_error")
})
