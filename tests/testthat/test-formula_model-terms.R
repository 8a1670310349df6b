# Terms of formulas compared with lm() and glm(): coefficients, predictions, intervals.

own_square <- function(x) x^2 / 10
cutoff <- 3

terms_data <- function() {
  data <- transform(mtcars, gear = factor(gear), cyl = factor(cyl), strokes = letters[carb])
  data$exposure <- seq(1, 3, length.out = 32)
  data
}

# Returns the largest difference, absolute for numbers below 1 and relative for others.
distance <- function(ours, theirs) {
  max(abs(unname(ours) - unname(theirs)) / pmax(1, abs(theirs)), na.rm = TRUE)
}

expect_as_lm <- function(formula, data = terms_data(), few = data[c(3, 1), ]) {
  info <- paste(deparse(formula), collapse = "")
  model <- linear_regressor(formula, data, model_dir = withr::local_tempdir())
  train(model)
  theirs <- lm(formula, data)
  ours <- coef(model)
  expect_identical(names(ours), names(coef(theirs)), info = info)
  expect_identical(is.na(ours), is.na(coef(theirs)), info = info)
  expect_lt(distance(ours, coef(theirs)), 1e-3)
  expect_lt(distance(predict(model, newdata = few)$.pred, predict(theirs, few)), 1e-3)
  interval <- predict(model, newdata = few, interval = "confidence")
  expected <- predict(theirs, few, interval = "confidence")
  expect_lt(distance(as.matrix(interval), expected), 1e-3)
}

test_that("terms have the values that model.frame() computes", {
  formulas <- list(
    mpg ~ sin(wt * pi), mpg ~ own_square(wt) + I(hp > cutoff * 40), mpg ~ (wt + hp + cyl)^2,
    mpg ~ cyl / wt, mpg ~ cyl + wt %in% cyl, mpg ~ cyl + am %in% cyl, mpg ~ C(cyl, sum) + wt,
    mpg ~ C(cyl, contr.helmert) * wt, mpg ~ factor(letters[carb]) + wt,
    mpg ~ wt + I(LETTERS[gear] == "C"), mpg ~ factor(month.name[carb], levels = month.name[1:8]),
    mpg ~ (wt + hp + qsec)^2 - wt:hp, mpg ~ cyl:gear, mpg ~ wt + ordered(cyl),
    mpg ~ splines::ns(wt, 3), mpg ~ scale(wt) + hp, mpg ~ interaction(vs, am)
  )
  for (formula in formulas) suppressWarnings(expect_as_lm(formula))
  local({
    shift <- 2
    within <- function(x) x - shift
    expect_as_lm(mpg ~ within(wt) + hp)
  })
})

test_that("offset() is added without a weight", {
  for (formula in list(
    mpg ~ wt + offset(hp / 100), log(mpg) ~ cyl + offset(-wt / 10), mpg ~ wt + offset(hp) + offset(qsec),
    mpg ~ offset(1e6 + hp) + wt * cyl
  )) expect_as_lm(formula)
  data <- terms_data()
  counts <- linear_estimator(
    poisson_regression_head(), carb ~ wt + offset(log(exposure)), data,
    model_dir = withr::local_tempdir()
  )
  train(counts)
  theirs <- glm(carb ~ wt + offset(log(exposure)), poisson, data)
  expect_lt(distance(coef(counts), coef(theirs)), 1e-3)
  expect_lt(distance(sqrt(diag(vcov(counts))), sqrt(diag(vcov(theirs)))), 1e-2)
  expect_equal(deviance(counts), deviance(theirs), tolerance = 1e-5)
  classes <- linear_classifier(
    am ~ wt + offset(wt^2 / 10), data, normalize = FALSE, model_dir = withr::local_tempdir()
  )
  train(classes)
  theirs <- glm(am ~ wt + offset(wt^2 / 10), binomial, data)
  expect_lt(distance(coef(classes), coef(theirs)), 1e-2)
  # The model can be constructed again on its folder, exported, and combined with a deep part.
  recreated <- linear_estimator(
    poisson_regression_head(), carb ~ wt + offset(log(exposure)), data[1:20, ],
    model_dir = model_dir(counts)
  )
  expect_equal(predict(recreated, newdata = data), predict(counts, newdata = data))
  path <- suppressMessages(export_savedmodel(counts, withr::local_tempdir()))
  expect_true(file.exists(file.path(path, "saved_model.pb")))
  wide <- dnn_linear_combined_regressor(
    mpg ~ wt + offset(hp), data, dnn_hidden_units = 4, model_dir = withr::local_tempdir()
  )
  train(wide, steps = 5)
  shifted <- transform(data, hp = hp + 10)
  expect_equal(
    predict(wide, newdata = shifted)$.pred, predict(wide, newdata = data)$.pred + 10, tolerance = 1e-3
  )
  refused <- function(expr, words) expect_error(expr, words, class = "runhooks_error_invalid_argument")
  refused(dnn_regressor(4, mpg ~ wt + offset(hp), data), "linear part")
  refused(linear_classifier(cyl ~ wt + offset(hp), data), "two classes; the response has 3")
  refused(linear_regressor(mpg ~ wt + offset(strokes), data), "must be one number per row")
  refused(boosted_trees_regressor(mpg ~ offset(hp), data), "no features|linear part")
  data$hp[2] <- NA
  refused(linear_regressor(mpg ~ wt + offset(hp), data), "have NA|has NA")
})

test_that("the response on the right-hand side is dropped, as in lm()", {
  expect_warning(
    model <- linear_regressor(mpg ~ mpg + wt, mtcars, model_dir = withr::local_tempdir()),
    class = "runhooks_warning_response"
  )
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ wt, mtcars)), tolerance = 1e-4)
  expect_error(suppressWarnings(linear_regressor(mpg ~ mpg, mtcars)), "no features")
})

test_that("later data need only the columns that the formula uses", {
  data <- terms_data()
  model <- linear_regressor(mpg ~ C(cyl, sum) + sin(pi * wt), data, model_dir = withr::local_tempdir())
  train(model)
  expect_error(
    predict(model, newdata = data["cyl"]), "feature of the model: \"wt\"", fixed = TRUE,
    class = "runhooks_error_not_found"
  )
})

test_that("a logical in products, or without its main effect, has both of its values", {
  data <- transform(terms_data(), auto = am == 0, v = vs == 1)
  formulas <- list(
    mpg ~ wt:auto, mpg ~ auto:cyl, mpg ~ cyl * auto, mpg ~ cyl * auto * wt, mpg ~ auto:v, mpg ~ auto / wt,
    mpg ~ (wt > 3):hp, mpg ~ 0 + auto, mpg ~ 0 + wt + auto, mpg ~ 0 + auto:wt, mpg ~ auto:poly(wt, 2)
  )
  # lm() warns of rank deficiency
  for (formula in formulas) suppressWarnings(expect_as_lm(formula, data))

  model <- linear_regressor(mpg ~ cyl * auto, data)
  train(model)
  few <- data[c(3, 1, 8), ]
  others <- list(
    number = transform(few, auto = as.numeric(auto)), word = transform(few, auto = as.character(auto))
  )
  for (other in others) expect_equal(predict(model, other), predict(model, few))
  plain <- linear_regressor(mpg ~ wt + auto, data)
  train(plain)
  for (other in others) expect_equal(predict(plain, other), predict(plain, few))
  expect_error(
    predict(plain, transform(few, auto = 2)), "was a logical in training.*Use TRUE and FALSE",
    class = "runhooks_error_invalid_argument"
  )
  few$auto[[2]] <- NA
  expect_equal(is.na(predict(model, few)$.pred), c(FALSE, TRUE, FALSE))
})

test_that("a model of the words TRUE and FALSE, as of a CSV file, predicts from logicals", {
  data <- transform(mtcars, auto = as.character(am == 0))
  model <- linear_regressor(mpg ~ wt + auto, data)
  train(model)
  expect_equal(predict(model, transform(data, auto = am == 0)), predict(model, data))
  expect_error(
    linear_regressor(mpg ~ auto, transform(data, auto = replace(auto, 2, NA)), na.action = "median"),
    "list\\(auto = \"FALSE\"\\)` replaces NA by a level"
  )
})

test_that("random effects are refused, and a logical `|` is a feature", {
  refused <- function(formula) {
    expect_error(linear_regressor(formula, mtcars), "Random effects", class = "runhooks_error_invalid_argument")
  }
  for (formula in list(
    mpg ~ 1 | cyl, mpg ~ wt + (1 | cyl), mpg ~ wt + (wt | cyl), mpg ~ (1 + wt | cyl), mpg ~ wt + (0 + wt || gear)
  )) {
    refused(formula)
  }
  model <- linear_regressor(mpg ~ wt + (vs | am) + I(hp > 100 | cyl == 4), mtcars)
  train(model)
  expect_equal(unname(coef(model)), unname(coef(lm(formula(model), mtcars))), tolerance = 1e-4)
})

test_that("an infinite value in new data is reported in the words of a formula", {
  model <- linear_regressor(mpg ~ wt + log(hp), mtcars)
  train(model)
  new <- mtcars[1:3, ]
  new$wt[2] <- Inf
  error <- expect_error(predict(model, new), "\"wt\".*infinite.*row 2", class = "runhooks_error_invalid_argument")
  expect_no_match(conditionMessage(error), "column_numeric")
  new$wt[1] <- NA
  new$hp[3] <- 0
  error <- expect_error(predict(model, new[c(1, 3), ]), "log\\(hp\\).*infinite.*row 2")
  error <- expect_error(predict(model, new), "\"wt\".*1 value is infinite.*row 2")
  expect_no_match(conditionMessage(error), "column_numeric")
})

test_that("a Period in a formula is refused by name", {
  skip_if_not_installed("lubridate")
  data <- data.frame(y = rnorm(9), x = 1:9)
  data$span <- lubridate::hours(1:9)
  expect_error(linear_regressor(y ~ span + x, data), "\"span\" in the formula is a Period")
  expect_error(boosted_trees_regressor(y ~ span, data), "is a Period")
  data$span <- as.numeric(data$span, "hours")
  expect_s3_class(linear_regressor(y ~ span + x, data), "tf_estimator")
})
