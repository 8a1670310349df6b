# Models of a recipe and data, and of x and y.

test_that("x and y are equivalent to a formula with all columns", {
  x <- mtcars[c("wt", "hp")]
  expected <- linear_regressor(mpg ~ wt + hp, mtcars)
  suppressMessages(train(expected))
  for (model in list(
    linear_regressor(x, mtcars$mpg), linear_regressor(as.matrix(x), mtcars$mpg),
    linear_regressor(x = x, y = mtcars$mpg), linear_regressor(x, y = mtcars["mpg"]),
    linear_regressor(x, matrix(mtcars$mpg, dimnames = list(NULL, "mpg"))),
    linear_regressor(x, mtcars$mpg, model_dir = withr::local_tempdir()),
    linear_regressor(model_dir = withr::local_tempdir(), x, mtcars$mpg)
  )) {
    suppressMessages(train(model))
    expect_equal(coef(model), coef(expected), tolerance = 1e-4)
    expect_equal(predict(model, newdata = mtcars), predict(expected, newdata = mtcars), tolerance = 1e-4)
  }
  classifier <- dnn_classifier(iris[1:4], iris$Species, hidden_units = 8)
  suppressMessages(train(classifier, steps = 3))
  expect_identical(levels(predict(classifier, newdata = iris)$.pred_class), levels(iris$Species))
  both <- dnn_linear_combined_regressor(x, mtcars$mpg, dnn_hidden_units = 4)
  suppressMessages(train(both, steps = 2))
  expect_length(predict(both, newdata = x)$.pred, 32)
  # `x` has a column "y", so the response gets another name.
  odd <- linear_regressor(data.frame(y = mtcars$wt), mtcars$mpg)
  expect_identical(as.character(formula(odd)[[2]]), ".y")
})

test_that("x without y, and x and y of different lengths, are errors", {
  expect_error(linear_regressor(mtcars["wt"]), "formula")
  expect_error(linear_regressor(x = mtcars["wt"]), "needs both `x` and `y`")
  expect_error(linear_regressor(mtcars["wt"], y = 1:3), "same number of rows")
  expect_error(linear_regressor(mpg ~ wt, mtcars, y = mtcars$mpg), "a formula and `data`")
})

test_that("a recipe is stored and prepares all later data", {
  skip_if_not_installed("recipes")
  data <- mtcars
  data$cyl <- factor(data$cyl)
  recipe <- recipes::recipe(mpg ~ wt + cyl + hp, data)
  recipe <- recipes::step_log(recipe, hp)
  recipe <- recipes::step_center(recipe, wt)
  recipe <- recipes::step_dummy(recipe, cyl)
  model <- linear_regressor(recipe, data)
  suppressMessages(train(model))
  reference <- stats::lm(mpg ~ wt + cyl + log(hp), data)
  expect_equal(predict(model, newdata = data)$.pred, unname(stats::fitted(reference)), tolerance = 1e-3)
  expect_equal(predict(model), predict(model, newdata = data))
  expect_equal(unname(fitted(model)), unname(stats::fitted(reference)), tolerance = 1e-3)
  expect_equal(summary(model)$measures, summary(model)$measures)
  expect_equal(evaluate(model, data)$average_loss, mean(stats::residuals(reference)^2), tolerance = 1e-3)
  expect_equal(evaluate(model), evaluate(model, data))
  suppressMessages(train(model, data, steps = 1))
  expect_equal(predict(model)$.pred, predict(model, newdata = data)$.pred)
  interval <- predict(model, newdata = data[1:3, ], interval = "confidence")
  expect_equal(interval$.pred, unname(stats::fitted(reference)[1:3]), tolerance = 1e-3)
  read <- unserialize(serialize(model, NULL))
  expect_equal(predict(read, newdata = data), predict(model, newdata = data))
  expect_error(predict(model, newdata = data["wt"]), "recipe")
  expect_error(linear_regressor(recipes::recipe(~ wt, data), data), "one outcome")
  prepared <- dnn_regressor(recipes::prep(recipe), data, hidden_units = 3)
  suppressMessages(train(prepared, steps = 2))
  expect_length(predict(prepared, newdata = data)$.pred, 32)
})

test_that("terms() and model.frame() match lm()", {
  model <- linear_regressor(mpg ~ log(wt) + factor(cyl), mtcars)
  reference <- stats::lm(mpg ~ log(wt) + factor(cyl), mtcars)
  expect_identical(attr(terms(model), "term.labels"), attr(terms(reference), "term.labels"))
  expect_equal(model.frame(model), model.frame(reference), ignore_attr = TRUE)
  expect_error(terms(linear_regressor(column_numeric("wt"))), "formula")
})

test_that("packages that inspect a model's formula and data work", {
  model <- linear_regressor(mpg ~ wt + hp, mtcars)
  suppressMessages(train(model))
  expect_identical(eval(model$call$data), mtcars)
  expect_identical(all.vars(formula(model)), c("mpg", "wt", "hp"))
  skip_if_not_installed("insight")
  expect_identical(insight::find_response(model), "mpg")
  expect_setequal(insight::find_predictors(model, flatten = TRUE), c("wt", "hp"))
})

test_that("a formula may be a string, as in lm()", {
  model <- linear_regressor("mpg ~ wt", mtcars, model_dir = withr::local_tempdir())
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ wt, mtcars)), tolerance = 1e-4)
  power <- 2
  local <- linear_regressor(data = mtcars, formula = "mpg ~ I(wt^power)")
  expect_identical(formula(local)[[2]], quote(mpg))
})

test_that("predictions of cbind(a, b) are named by the responses", {
  model <- linear_regressor(cbind(mpg, time = qsec) ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(model)
  expect_named(predict(model, newdata = mtcars[1:2, ]), c(".pred_mpg", ".pred_time"))
  expect_named(predict(model, newdata = mtcars[1:2, ], type = "response"), c(".pred_mpg", ".pred_time"))
})

test_that("weights may be a vector, or the column that a head names", {
  model <- linear_regressor(mpg ~ wt, mtcars, weight_column = mtcars$hp, model_dir = withr::local_tempdir())
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ wt, mtcars, weights = hp)), tolerance = 1e-4)
  data <- transform(warpbreaks, w = rep(1:3, 18))
  counts <- linear_estimator(
    poisson_regression_head(weight_column = "w"), breaks ~ wool + tension, data,
    model_dir = withr::local_tempdir()
  )
  train(counts)
  reference <- glm(breaks ~ wool + tension, poisson, data, weights = w)
  expect_equal(coef(counts), coef(reference), tolerance = 1e-4)
  expect_error(linear_regressor(mpg ~ wt, mtcars, weights = mtcars$hp), "weight_column = \"hp\"", fixed = TRUE)
  for (wrong in list(1:3, ~hp, letters)) {
    expect_error(
      linear_regressor(mpg ~ wt, mtcars, weight_column = wrong), "a column, or 32 numbers",
      class = "runhooks_error_invalid_argument"
    )
  }
})

test_that("classes of vctrs whose package is not loaded are read as plain vectors", {
  skip_if_not_installed("vctrs")
  loadNamespace("vctrs")
  labelled <- function(x, ...) structure(x, ..., class = c("haven_labelled", "vctrs_vctr", typeof(x)))
  plain <- data.frame(y = sin(1:12), other = 1:12, age = rep(c(1, 2, 3), 4), s = rep(c("a", "b", "c"), 4))
  plain$id <- rep(1:4, 3)
  plain$money <- plain$other^2
  data <- plain
  data$age <- labelled(plain$age, labels = c(young = 1, old = 3))
  data$id <- labelled(plain$id)
  data$s <- labelled(plain$s, labels = c(first = "a"))
  data$money <- structure(plain$money, class = c("mymoney", "vctrs_vctr", "double"))
  fit <- function(formula, data, ...) {
    model <- linear_regressor(formula, data, ...)
    train(model)
    model
  }
  for (formula in list(y ~ age + other, y ~ money, y ~ s + id, y ~ s * other, money ~ other, y ~ other + offset(age))) {
    model <- fit(formula, data)
    reference <- lm(formula, plain)
    expect_equal(coef(model), coef(reference), tolerance = 1e-4)
    expect_equal(fitted(model), fitted(reference), tolerance = 1e-4)
    for (new in list(data[2:4, ], plain[2:4, ])) {
      expect_equal(predict(model, new)$.pred, unname(predict(reference, plain[2:4, ])), tolerance = 1e-4)
    }
    band <- predict(model, data[2:4, ], interval = "confidence")
    expect_equal(band$.pred, unname(predict(reference, plain[2:4, ])), tolerance = 1e-4)
  }
  reference <- lm(y ~ other, plain, weights = age)
  expect_equal(coef(fit(y ~ other, data, weight_column = "age")), coef(reference), tolerance = 1e-4)
  expect_equal(coef(fit(y ~ other, data, weight_column = data$age)), coef(reference), tolerance = 1e-4)
  missing <- data
  missing$age[2] <- NA
  for (action in list(na.omit, "mean", list(age = 2))) {
    model <- suppressMessages(fit(y ~ age, missing, na.action = action))
    expect_false(anyNA(coef(model)))
  }
  classes <- linear_classifier(s ~ other, data)
  train(classes)
  expect_equal(nrow(coef(classes)), 2)
  trees <- boosted_trees_regressor(y ~ age + s, data, n_trees = 5)
  train(trees)
  expect_identical(predict(trees, plain), predict(trees, data))
  columns <- linear_regressor(column_numeric("age"))
  train(columns, input_fn(data, features = age, response = money), steps = 2)
  expect_identical(predict(columns, data), predict(columns, plain))
})

test_that("columns of the package units are converted to the unit of the training", {
  skip_if_not_installed("units")
  km <- data.frame(y = sin(1:20), x = units::set_units(1:20 + 0, "km"), z = units::set_units(cos(1:20), "km/h"))
  m <- km
  m$x <- units::set_units(km$x, "m")
  m$z <- units::set_units(km$z, "m/s")
  fit <- function(make, formula, data = km, ...) {
    model <- make(formula, data, ...)
    suppressMessages(train(model, steps = if (identical(make, dnn_regressor)) 20))
    model
  }
  linear <- fit(linear_regressor, y ~ x)
  expect_equal(coef(linear), coef(lm(y ~ as.numeric(x), km)), tolerance = 1e-4, ignore_attr = TRUE)
  models <- list(
    linear, fit(dnn_regressor, y ~ x, hidden_units = 4), fit(boosted_trees_regressor, y ~ x),
    fit(linear_regressor, z ~ x), fit(linear_regressor, y ~ I(x^2) + x)
  )
  for (model in models) {
    expect_equal(predict(model, m), predict(model, km), tolerance = 1e-5)
    expect_equal(evaluate(model, m), evaluate(model, km), tolerance = 1e-5, ignore_attr = TRUE)
    restored <- withr::local_tempfile(fileext = ".rds")
    saveRDS(model, restored)
    expect_equal(predict(readRDS(restored), m), predict(model, m))
  }
  expect_equal(predict(linear, transform(km, x = as.numeric(x))), predict(linear, km))
  expect_equal(
    predict(linear, m, interval = "confidence"), predict(linear, km, interval = "confidence"),
    tolerance = 1e-5
  )
  recreated <- linear_regressor(y ~ x, m, model_dir = model_dir(linear))
  expect_equal(predict(recreated, km), predict(linear, km))
  expect_error(
    predict(linear, data.frame(x = units::set_units(1, "kg"))), "\"x\".*\"kg\".*\"km\"",
    class = "runhooks_error"
  )
})

test_that("x and y of wrong kinds or sizes are refused with what was given", {
  x <- mtcars[c("wt", "hp")]
  fails <- function(code, message) {
    expect_error(code, message, class = "runhooks_error_invalid_argument")
  }
  fails(linear_regressor(x = x, y = 1:3), "`x` has 32 rows, `y` has 3")
  fails(linear_regressor(x = as.list(x), y = mtcars$mpg), "`x` must be a data frame or a matrix")
  fails(linear_regressor(mpg ~ wt, x = x, y = mtcars$mpg), "There is also a formula")
  fails(linear_regressor(x = cbind(x, x), y = mtcars$mpg), "twice: \"wt\"")
  model <- linear_regressor(x = x, y = mtcars$mpg)
  train(model)
  fails(drop1(model), "`drop1\\(\\)` needs a model from a formula")
})
