# Tests formulas with other terms than plain numbers and factors, compared with lm() and glm(), and
# formulas that are rejected.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

expect_as_lm <- function(formula, data, make = linear_regressor, fit = lm, ...) {
  folder <- withr::local_tempdir(.local_envir = parent.frame())
  model <- make(formula, data, model_dir = folder, ...)
  suppressMessages(train(model))
  expect_no_warning(coefficients <- coef(model), class = "runhooks_warning_not_converged")
  theirs <- coef(fit(formula, data = data))
  expect_named(coefficients, names(theirs))
  expect_equal(unname(coefficients), unname(theirs), tolerance = 1e-3, label = deparse(formula, 500))
  invisible(model)
}

logistic <- function(...) glm(..., family = binomial())

test_that("a formula may have no features", {
  model <- expect_as_lm(mpg ~ 1, mtcars)
  expect_equal(predict(model, newdata = mtcars[1:3, ])$.pred, rep(mean(mtcars$mpg), 3), tolerance = 1e-6)
  expect_equal(nobs(model), 32)
  expect_equal(AIC(model), AIC(lm(mpg ~ 1, mtcars)), tolerance = 1e-6)
  interval <- predict(model, newdata = mtcars[1:2, ], interval = "prediction")
  expected <- predict(lm(mpg ~ 1, mtcars), mtcars[1:2, ], interval = "prediction")
  expect_equal(interval$.pred_upper, unname(expected[, "upr"]), tolerance = 1e-5)
  expect_as_lm(am ~ 1, mtcars, linear_classifier, logistic)
  counts <- linear_estimator(
    poisson_regression_head(), carb ~ offset(log(wt)), mtcars, model_dir = new_folder()
  )
  train(counts)
  expect_equal(coef(counts), coef(glm(carb ~ offset(log(wt)), poisson, mtcars)), tolerance = 1e-4)
  # Other models than linear ones need features.
  expect_error(dnn_regressor(mpg ~ 1, mtcars, hidden_units = 3), "no features")
  expect_error(boosted_trees_regressor(mpg ~ 1, mtcars), "no features")
})

test_that("a factor can replace the intercept", {
  for (formula in list(mpg ~ factor(cyl) - 1, mpg ~ 0 + factor(cyl) + wt, mpg ~ 0 + wt:hp + factor(am):factor(gear))) {
    expect_as_lm(formula, mtcars)
  }
  expect_as_lm(am ~ 0 + factor(vs) + wt, mtcars, linear_classifier, logistic)
})

test_that("models of numbers without an intercept match lm() and glm()", {
  data <- transform(mtcars, far = 1000 + wt, day = as.POSIXct("2020-01-01", tz = "UTC") + 86400 * seq_len(32))
  for (formula in list(
    mpg ~ 0 + wt, mpg ~ wt + hp - 1, mpg ~ 0 + wt:factor(cyl), mpg ~ 0 + far + wt + hp, mpg ~ 0 + day,
    mpg ~ 0 + wt + wt:factor(am), mpg ~ 0 + poly(wt, 2), cbind(mpg, qsec) ~ 0 + wt + hp,
    mpg ~ 0 + wt + offset(qsec)
  )) {
    reference <- lm(formula, data)
    model <- linear_regressor(formula, data, model_dir = new_folder())
    suppressMessages(train(model))
    label <- deparse(formula)
    expect_no_warning(coefficients <- coef(model))
    expect_equal(coefficients, coef(reference), tolerance = 1e-3, label = label)
    expect_equal(fitted(model), fitted(reference), tolerance = 1e-3, label = label, ignore_attr = TRUE)
    expect_equal(vcov(model), vcov(reference), tolerance = 1e-2, label = label, ignore_attr = TRUE)
    expect_identical(variable_value(model, "linear/linear_model/bias_weights")[[1]][[1]], 0)
    if (is.matrix(coefficients) || label == "mpg ~ 0 + wt + offset(qsec)") next
    expect_equal(
      summary(model)$measures[["r.squared"]], summary(reference)$r.squared, tolerance = 1e-4,
      label = label
    )
  }
  expect_equal(
    summary(expect_as_lm(mpg ~ 0 + factor(cyl), mtcars))$measures[["r.squared"]],
    summary(lm(mpg ~ 0 + factor(cyl), mtcars))$r.squared, tolerance = 1e-5
  )
  expect_as_lm(am ~ 0 + wt + hp, mtcars, linear_classifier, logistic)
  plain <- linear_regressor(
    mpg ~ 0 + wt, mtcars, normalize = FALSE, optimizer = "Adam", model_dir = new_folder()
  )
  train(plain, batch_size = 32, num_epochs = 300)
  expect_equal(suppressWarnings(coef(plain)), coef(lm(mpg ~ 0 + wt, mtcars)), tolerance = 0.02)
  expect_error(linear_regressor(mpg ~ 0, mtcars), "neither features nor an intercept")
})

test_that("a model without an intercept resumes, is exported, and reads a stream", {
  folder <- new_folder()
  model <- linear_regressor(mpg ~ 0 + wt + hp, mtcars, model_dir = folder)
  train(model, steps = 2)
  recreated <- linear_regressor(mpg ~ 0 + wt + hp, mtcars, model_dir = folder)
  train(recreated)
  reference <- lm(mpg ~ 0 + wt + hp, mtcars)
  expect_equal(coef(recreated), coef(reference), tolerance = 1e-3)
  expect_error(
    linear_regressor(mpg ~ wt + hp, mtcars, model_dir = folder), "without an intercept.*is with",
    class = "runhooks_error_failed_precondition"
  )
  path <- export_savedmodel(recreated, file.path(new_folder(), "exported"))
  served <- predict(load_savedmodel(path), mtcars[1:3, ])
  expect_equal(unname(unlist(served)), unname(fitted(reference)[1:3]), tolerance = 1e-3)
  file <- withr::local_tempfile(fileext = ".csv")
  set.seed(3)
  many <- data.frame(a = rnorm(20000, 5), b = runif(20000))
  many$y <- 2 * many$a - 3 * many$b + rnorm(20000, 0, 0.1)
  write.csv(many, file, row.names = FALSE)
  stream <- make_csv_dataset(file, batch_size = 1000, num_epochs = 1, shuffle = FALSE)
  streamed <- linear_regressor(y ~ 0 + a + b, stream, model_dir = new_folder())
  suppressMessages(train(streamed))
  expect_identical(variable_value(streamed, "linear/linear_model/bias_weights")[[1]][[1]], 0)
  expected <- predict(lm(y ~ 0 + a + b, many), many[1:5, ])
  expect_equal(predict(streamed, newdata = many[1:5, ])$.pred, unname(expected), tolerance = 0.02)
})

test_that("products with matrices are products with their columns", {
  data <- transform(mtcars, am = factor(am))
  data$m <- unname(as.matrix(mtcars[c("hp", "qsec")]))
  for (formula in list(
    mpg ~ poly(wt, 2) * am, mpg ~ poly(wt, 2):hp, mpg ~ splines::ns(wt, 3):am, mpg ~ m:wt + m,
    mpg ~ poly(wt, 2):poly(qsec, 2)
  )) {
    model <- expect_as_lm(formula, data)
    expected <- unname(predict(lm(formula, data), data[3:9, ]))
    expect_equal(predict(model, newdata = data[3:9, ])$.pred, expected, tolerance = 1e-4)
  }
  folder <- new_folder()
  model <- linear_regressor(mpg ~ poly(wt, 2) * am, data, model_dir = folder)
  train(model)
  recreated <- linear_regressor(mpg ~ poly(wt, 2) * am, data, model_dir = folder)
  expect_identical(coef(recreated), coef(model))
  expect_error(linear_regressor(mpg ~ poly(wt, 2) * am, data[1:20, ], model_dir = folder), "differs between these data")
})

test_that("dates, times and time differences are the same numbers as in lm()", {
  data <- transform(mtcars, day = as.Date("2020-01-01") + seq_len(32))
  data$time <- as.POSIXct("2020-01-01", tz = "UTC") + 3600 * seq_len(32)
  data$wait <- as.difftime(as.numeric(seq_len(32))^2, units = "hours")
  for (formula in list(mpg ~ day, mpg ~ time + wt, mpg ~ wait, mpg ~ day * factor(am))) {
    expect_as_lm(formula, data)
  }
  folder <- new_folder()
  model <- linear_regressor(mpg ~ wait, data, model_dir = folder)
  train(model)
  expected <- unname(predict(lm(mpg ~ wait, data)))
  other <- data
  units(other$wait) <- "days"
  expect_equal(predict(model, newdata = other)$.pred, expected, tolerance = 1e-4)
  interval <- predict(model, newdata = other, interval = "confidence")
  expect_equal(interval$.pred, expected, tolerance = 1e-4)
  recreated <- linear_regressor(mpg ~ wait, other, model_dir = folder)
  expect_equal(unname(fitted(recreated)), expected, tolerance = 1e-4)
  expect_equal(coef(recreated)[["wait"]], 24 * coef(model)[["wait"]], tolerance = 1e-6)
  expect_error(
    predict(model, newdata = transform(data, wait = as.numeric(wait))),
    "It was <difftime>, but is now <numeric>"
  )
  days <- transform(data, wait = day)
  expect_error(linear_regressor(mpg ~ wait, days, model_dir = folder), "is now <Date>")
  expect_error(linear_regressor(day ~ wt, data), "as.numeric")
  data$parts <- as.POSIXlt(data$time)
  model <- linear_regressor(mpg ~ parts, data, model_dir = new_folder())
  train(model)
  expect_equal(unname(coef(model)), unname(coef(lm(mpg ~ time, data))), tolerance = 1e-4)
})

test_that("lists and class counts are errors that name them", {
  data <- data.frame(y = 1:4, s = c(3, 5, 8, 9), f = c(7, 5, 2, 1))
  data$l <- list(1, 2, 3, 4)
  for (formula in list(y ~ l, l ~ y, y ~ s + l)) {
    expect_error(linear_regressor(formula, data), "\"l\" in the formula must be a vector", class = "runhooks_error")
  }
  expect_error(linear_classifier(l ~ y, data), "\"l\" in the formula", class = "runhooks_error")
  expect_error(dnn_regressor(y ~ l, data, hidden_units = 2), "\"l\" in the formula", class = "runhooks_error")
  expect_error(
    linear_classifier(cbind(s, f) ~ y, data), "`cbind\\(s, f\\)` of a classifier must be one class",
    class = "runhooks_error"
  )
  # The alternative that the message suggests gives glm()'s model.
  long <- data.frame(y = rep(data$y, 2), n = c(data$s, data$f), is_s = rep(1:0, each = 4))
  model <- linear_classifier(is_s ~ y, long, weight_column = "n", model_dir = new_folder())
  train(model)
  expect_equal(coef(model), coef(glm(cbind(s, f) ~ y, binomial, data)), tolerance = 1e-4)
})

test_that("rows of weight 0 are ignored, and some row must have a positive weight", {
  skip_if_not_installed("generics")
  data <- transform(mtcars, w = rep(0:1, 16))
  model <- linear_regressor(mpg ~ wt, data, weight_column = "w", model_dir = new_folder())
  train(model)
  reference <- lm(mpg ~ wt, data, weights = w)
  expect_equal(nobs(model), nobs(reference))
  expect_equal(generics::glance(model)$nobs, nobs(reference))
  for (f in list(sigma, df.residual, AIC, BIC)) expect_equal(f(model), f(reference), tolerance = 1e-5)
  # Collinearity is determined from the rows with positive weight, as in lm().
  few <- transform(mtcars, w = rep(1:0, c(5, 27)))
  model <- linear_regressor(mpg ~ wt + hp + factor(cyl), few, weight_column = "w", model_dir = new_folder())
  suppressMessages(train(model))
  reference <- lm(mpg ~ wt + hp + factor(cyl), few, weights = w)
  expect_equal(coef(model), coef(reference), tolerance = 1e-3)
  expect_equal(vcov(model), vcov(reference), tolerance = 1e-3)
  expect_equal(anova(model)[["Sum Sq"]], anova(reference)[["Sum Sq"]], tolerance = 1e-3)
  none <- transform(mtcars, w = 0)
  model <- linear_regressor(mpg ~ wt, none, weight_column = "w", model_dir = new_folder())
  expect_error(train(model), "All weights in \"w\" are 0", class = "runhooks_error")
})

test_that("a factor with one level has no separate coefficient", {
  data <- transform(mtcars, f = factor("a"), g = "b")
  model <- linear_regressor(mpg ~ wt + f + g, data, model_dir = new_folder())
  suppressMessages(train(model))
  expect_equal(coef(model)[1:2], coef(lm(mpg ~ wt, data)), tolerance = 1e-5)
  expect_equal(coef(model)[3:4], c(fa = NA_real_, gb = NA_real_))
  interval <- predict(model, newdata = data[1:2, ], interval = "confidence")
  expected <- predict(lm(mpg ~ wt, data), data[1:2, ], interval = "confidence")
  expect_equal(interval$.pred_lower, unname(expected[, "lwr"]), tolerance = 1e-5)
})

test_that("a class without rows is reported", {
  data <- transform(mtcars, am = factor(am, levels = 0:2))
  expect_message(
    linear_classifier(am ~ wt, data, model_dir = new_folder()), "class \"2\" of \"am\"",
    class = "runhooks_message_empty_class"
  )
  expect_no_message(
    linear_classifier(am ~ wt, droplevels(data), model_dir = new_folder()),
    class = "runhooks_message_empty_class"
  )
})

test_that("column names and strings work in any encoding", {
  if (!l10n_info()$`UTF-8`) withr::local_locale(c(LC_CTYPE = "C.UTF-8"))
  unmarked <- function(x) {
    Encoding(x) <- "unknown"
    x
  }
  set.seed(3)
  words <- unmarked(c("\u00e4", "\u00df", "z"))
  data <- data.frame(y = rnorm(30), size = rnorm(30), word = rep(words, 10))
  names(data)[2] <- unmarked("gr\u00f6\u00dfe")
  model <- linear_regressor(y ~ ., data, model_dir = new_folder())
  train(model)
  expect_equal(sort(unname(fitted(model))), sort(unname(fitted(lm(y ~ ., data)))), tolerance = 1e-4)
  classes <- linear_classifier(word ~ y, data, model_dir = new_folder())
  train(classes, steps = 2)
  expect_setequal(levels(predict(classes, newdata = data)$.pred_class), words)
})

test_that("operators within a product work, and the term has lm()'s name", {
  cars <- transform(mtcars, manual = am == 1, am = factor(am), vs = factor(vs), gear = factor(gear))
  formulas <- list(
    mpg ~ (wt > 3) * hp, mpg ~ (!manual) * wt, mpg ~ (carb %% 2):hp + wt, mpg ~ I(-wt):hp + hp,
    mpg ~ vs:am + am, mpg ~ gear:am + am + vs:am:wt, mpg ~ wt:am + am + qsec - 1
  )
  for (formula in formulas) {
    model <- linear_regressor(formula, cars)
    suppressMessages(train(model))
    classic <- lm(formula, cars)
    expect_equal(coef(model), coef(classic), tolerance = 1e-4, label = deparse(formula))
    expect_equal(rownames(anova(model)), rownames(anova(classic)))
    expect_equal(
      as.matrix(predict(model, newdata = cars[3:6, ], interval = "confidence")),
      suppressWarnings(predict(classic, cars[3:6, ], interval = "confidence")),
      tolerance = 1e-4, ignore_attr = TRUE
    )
  }
  # The parentheses matter: glm() would deparse and parse this formula differently, so `slow`
  # replaces the term.
  model <- linear_classifier(am ~ (qsec > 18) * hp, mtcars)
  train(model)
  classic <- glm(am ~ slow * hp, binomial, transform(mtcars, slow = qsec > 18))
  expect_equal(anova(model)$Deviance, anova(classic)$Deviance, tolerance = 1e-4)
})
