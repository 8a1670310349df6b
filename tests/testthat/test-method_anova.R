# Comparison of linear models on the same data, as with lm() and glm().

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

fitted_pair <- function(formula, data, make, fit, folder, ...) {
  model <- make(formula, data, model_dir = folder, ...)
  suppressMessages(train(model))
  list(own = model, theirs = fit(formula, data = data))
}

as_numbers <- function(table) unname(as.matrix(table))

test_that("anova() of one model and of several matches lm() and glm()", {
  cars <- transform(mtcars, cyl = factor(cyl))
  logistic <- function(...) glm(..., family = binomial)
  small <- fitted_pair(mpg ~ wt, cars, linear_regressor, lm, new_folder())
  large <- fitted_pair(mpg ~ wt * cyl + qsec, cars, linear_regressor, lm, new_folder())
  expect_equal(as_numbers(anova(large$own)), as_numbers(anova(large$theirs)), tolerance = 1e-4)
  expect_identical(rownames(anova(large$own)), rownames(anova(large$theirs)))
  expect_equal(
    as_numbers(anova(small$own, large$own)), as_numbers(anova(small$theirs, large$theirs)),
    tolerance = 1e-4
  )
  expect_output(print(anova(small$own, large$own)), "Model 2: mpg ~ wt \\* cyl \\+ qsec")
  narrow <- fitted_pair(am ~ wt, cars, linear_classifier, logistic, new_folder())
  wide <- fitted_pair(am ~ wt + hp, cars, linear_classifier, logistic, new_folder())
  theirs <- anova(narrow$theirs, wide$theirs, test = "Chisq")
  expect_equal(as_numbers(anova(narrow$own, wide$own)), as_numbers(theirs), tolerance = 1e-3)
  expect_equal(
    as_numbers(anova(narrow$own)), as_numbers(anova(narrow$theirs, test = "Chisq")), tolerance = 1e-3
  )
  refused <- function(expr, words) expect_error(expr, words, class = "runhooks_error_invalid_argument")
  refused(anova(small$own, narrow$own), "same response and rows; model 2 differs")
  refused(anova(small$own, tets = "F"), "no argument `tets`")
  refused(anova(small$own, test = "t"), "\"Chisq\"")
  refused(anova(small$own, test = "Chisq"), "for one regressor")
  refused(anova(dnn_regressor(mpg ~ wt, cars, hidden_units = 2)), "needs a linear model")
})

test_that("AIC(), drop1(), add1() and step() choose as for lm() and glm()", {
  pair <- fitted_pair(mpg ~ wt + hp + drat, mtcars, linear_regressor, lm, new_folder())
  expect_equal(extractAIC(pair$own), extractAIC(pair$theirs), tolerance = 1e-5)
  expect_equal(
    extractAIC(pair$own, scale = 6, k = 3), extractAIC(pair$theirs, scale = 6, k = 3), tolerance = 1e-5
  )
  expect_equal(drop1(pair$own)$AIC, drop1(lm(mpg ~ wt + hp + drat, mtcars))$AIC, tolerance = 1e-5)
  model <- linear_regressor(mpg ~ wt + hp + drat, mtcars, model_dir = new_folder())
  train(model)
  expect_equal(
    add1(model, . ~ . + qsec + am)$AIC,
    add1(lm(mpg ~ wt + hp + drat, mtcars), . ~ . + qsec + am)$AIC, tolerance = 1e-5
  )
  reference <- lm(mpg ~ wt + hp + drat, mtcars)
  expect_equal(coef(step(model, trace = 0)), coef(step(reference, trace = 0)), tolerance = 1e-5)
  small <- update(model, . ~ wt)
  theirs <- lm(mpg ~ wt, mtcars)
  expect_equal(as_numbers(AIC(model, small)), as_numbers(AIC(reference, theirs)), tolerance = 1e-5)
  expect_equal(as_numbers(BIC(model, small)), as_numbers(BIC(reference, theirs)), tolerance = 1e-5)
  counts <- glm(carb ~ wt + hp, poisson, mtcars)
  folder <- new_folder()
  model <- linear_estimator(poisson_regression_head(), carb ~ wt + hp, mtcars, model_dir = folder)
  train(model)
  expect_equal(extractAIC(model), extractAIC(counts), tolerance = 1e-5)
  expect_equal(drop1(model)$AIC, drop1(counts)$AIC, tolerance = 1e-5)
})

test_that("models that are made in functions are refitted on their data", {
  folder <- new_folder()
  choose <- function(data) {
    model <- linear_regressor(mpg ~ wt + hp + qsec, data, model_dir = folder)
    train(model)
    model
  }
  model <- choose(mtcars[1:25, ])
  reference <- lm(mpg ~ wt + hp + qsec, mtcars[1:25, ])
  expect_equal(drop1(model)$AIC, drop1(reference)$AIC, tolerance = 1e-5)
})

test_that("update() trains a trained model to convergence, in a separate folder", {
  folder <- new_folder()
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder)
  expect_null(cpp_latest_checkpoint(model_dir(update(model, . ~ . + hp))))
  train(model)
  before <- coef(model)
  wider <- update(model, . ~ . + hp)
  expect_equal(coef(wider), coef(lm(mpg ~ wt + hp, mtcars)), tolerance = 1e-5)
  expect_false(model_dir(wider) == model_dir(model))
  expect_identical(coef(model), before)
  other <- new_folder()
  expect_identical(
    model_dir(update(model, model_dir = other)),
    model_dir(linear_regressor(mpg ~ wt, mtcars, model_dir = other))
  )
  plain <- linear_regressor(mtcars[c("wt", "hp")], mtcars$mpg)
  expect_error(update(plain, . ~ . - hp), "from\\s+x and y", class = "runhooks_error_invalid_argument")
  # update() does not train the new model if the old one had a fixed number of steps.
  expect_match(deparse1(update(model, optimizer = "Adam", evaluate = FALSE)), "^linear_regressor")
  deep <- dnn_regressor(mpg ~ wt, mtcars, hidden_units = 2, model_dir = new_folder())
  train(deep, steps = 2)
  expect_match(deparse1(update(deep, . ~ . + hp, evaluate = FALSE)), "^dnn_regressor")
})

test_that("sandwich works", {
  skip_if_not_installed("sandwich") # suggested
  weighted <- transform(mtcars, w = qsec)
  model <- linear_regressor(mpg ~ wt + factor(cyl), weighted, weight_column = "w", model_dir = new_folder())
  train(model)
  reference <- lm(mpg ~ wt + factor(cyl), weighted, weights = w)
  expect_equal(sandwich::vcovHC(model), sandwich::vcovHC(reference), tolerance = 1e-4)
  expect_equal(sandwich::sandwich(model), sandwich::sandwich(reference), tolerance = 1e-4)
  expect_equal(hatvalues(model), hatvalues(reference), tolerance = 1e-5)
  expect_equal(model.matrix(model), model.matrix(reference), ignore_attr = TRUE)
  model <- linear_classifier(am ~ wt, mtcars, model_dir = new_folder())
  train(model)
  reference <- glm(am ~ wt, binomial, mtcars)
  expect_equal(sandwich::vcovHC(model), sandwich::vcovHC(reference), tolerance = 1e-3)
  expect_equal(hatvalues(model), hatvalues(reference), tolerance = 1e-3)
})

test_that("emmeans works", {
  skip_if_not_installed("emmeans") # suggested
  cars <- transform(mtcars, cyl = factor(cyl))
  means <- function(model, ...) {
    as.data.frame(suppressMessages(emmeans::emmeans(model, ..., data = cars)))
  }
  for (formula in list(mpg ~ wt + cyl, mpg ~ poly(wt, 2) * cyl)) {
    pair <- fitted_pair(formula, cars, linear_regressor, lm, new_folder())
    expect_equal(means(pair$own, "cyl"), means(pair$theirs, "cyl"), tolerance = 1e-4, ignore_attr = TRUE)
  }
  model <- linear_classifier(am ~ wt + factor(vs), cars, model_dir = new_folder())
  train(model)
  reference <- glm(am ~ wt + factor(vs), binomial, cars)
  expect_equal(
    means(model, "vs", type = "response"), means(reference, "vs", type = "response"), tolerance = 1e-3,
    ignore_attr = TRUE
  )
})

test_that("drop1() and add1() print the tables of lm()", {
  model <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = new_folder())
  train(model)
  reference <- lm(mpg ~ wt + hp, mtcars)
  for (test in c("none", "F", "Chisq")) {
    expect_equal(as.list(drop1(model, test = test)), as.list(drop1(reference, test = test)), tolerance = 1e-4)
    expect_equal(
      as.list(add1(model, ~ . + qsec + am, test = test)),
      as.list(add1(reference, ~ . + qsec + am, test = test)), tolerance = 1e-4
    )
  }
  classifier <- linear_classifier(am ~ wt, mtcars, model_dir = new_folder())
  train(classifier)
  expect_error(drop1(classifier, test = "F"), "Chisq", class = "runhooks_error_invalid_argument")
  reference <- glm(am ~ wt, binomial, mtcars)
  for (test in c("none", "Chisq")) {
    expect_equal(
      as.list(drop1(classifier, test = test)), as.list(drop1(reference, test = test)), tolerance = 1e-4
    )
    expect_equal(
      as.list(add1(classifier, ~ . + hp, test = test)),
      as.list(add1(reference, ~ . + hp, test = test)), tolerance = 1e-4
    )
  }
})

test_that("R squared with an offset is that of summary.lm()", {
  formula <- mpg ~ wt + offset(hp / 10)
  model <- linear_regressor(formula, mtcars, model_dir = new_folder())
  train(model)
  expect_equal(generics::glance(model)$r.squared, summary(lm(formula, mtcars))$r.squared, tolerance = 1e-4)
  # R 4.3 changed the R squared of summary.lm() for models with an offset.
  frame <- training_frame(model, "glance")
  for (expected in list(list("4.2.3", 0.5068516), list("4.3.0", 0.6440408))) {
    measures <- fit_measures(model, frame, package_version(expected[[1]]))
    expect_equal(measures[["r.squared"]], expected[[2]], tolerance = 1e-4)
  }
})

test_that("drop1() and add1() use the rows of the model", {
  data <- transform(mtcars, hp = replace(hp, 3, NA))
  model <- linear_regressor(mpg ~ wt + hp, data, na.action = na.omit)
  suppressMessages(train(model))
  reference <- lm(mpg ~ wt + hp, data)
  expect_equal(drop1(model, test = "F"), drop1(reference, test = "F"), tolerance = 1e-3)
  own <- add1(model, ~ . + qsec, test = "F")
  expect_equal(own$RSS, add1(reference, ~ . + qsec, test = "F")$RSS, tolerance = 1e-3)
  expect_error(anova(model, reference), "compares models of runhooks, not a <lm> object")
})

test_that("add1() and step() find columns of data in the calling function", {
  cars_of <- function() transform(mtcars, hp = hp + 1)
  local({
    data_here <- cars_of()
    model <- linear_regressor(mpg ~ wt, data_here)
    train(model)
    reference <- lm(mpg ~ wt, data_here)
    expect_equal(add1(model, ~ . + qsec)$RSS, add1(reference, ~ . + qsec)$RSS, tolerance = 1e-3)
    chosen <- step(model, ~ . + qsec + hp, trace = 0)
    expect_equal(attr(terms(chosen), "term.labels"), c("wt", "hp"))
  })
})
