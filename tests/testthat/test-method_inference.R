# Statistical inference for linear models, as in lm() and glm().

trained <- function(make, ...) {
  model <- make(..., model_dir = withr::local_tempdir(.local_envir = parent.frame()))
  train(model)
  model
}

test_that("regressors match lm()", {
  skip_if_not_installed("generics")
  data <- transform(mtcars, gear = factor(gear))
  model <- trained(linear_regressor, mpg ~ wt * gear + hp, data)
  reference <- lm(mpg ~ wt * gear + hp, data)
  expect_equal(vcov(model), vcov(reference), tolerance = 1e-4)
  expect_equal(confint(model), confint(reference), tolerance = 1e-4)
  expect_equal(confint(model, "hp", level = 0.5), confint(reference, "hp", level = 0.5), tolerance = 1e-4)
  expect_equal(sigma(model), sigma(reference), tolerance = 1e-6)
  expect_equal(deviance(model), deviance(reference), tolerance = 1e-6)
  expect_equal(df.residual(model), df.residual(reference))
  expect_equal(logLik(model), logLik(reference), tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(c(AIC(model), BIC(model)), c(AIC(reference), BIC(reference)), tolerance = 1e-6)
  expect_equal(summary(model)$coefficients, summary(reference)$coefficients, tolerance = 1e-3)
  new <- data[c(3, 30, 7), ]
  for (interval in c("confidence", "prediction")) {
    ours <- predict(model, newdata = new, interval = interval, level = 0.9)
    expect_named(ours, c(".pred", ".pred_lower", ".pred_upper"))
    theirs <- predict(reference, new, interval = interval, level = 0.9)
    expect_equal(unname(as.matrix(ours)), unname(theirs), tolerance = 1e-4)
  }
  tidy <- generics::tidy(model, conf.int = TRUE, conf.level = 0.9)
  expect_named(tidy, c(
    "term", "estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high"
  ))
  expect_equal(
    unname(as.matrix(tidy[c("conf.low", "conf.high")])), unname(confint(reference, level = 0.9)),
    tolerance = 1e-4
  )
  expect_match(capture.output(print(summary(model))), "Std. Error t value", all = FALSE)
  expect_match(capture.output(print(summary(model))), "rmse", all = FALSE)
})

test_that("weights are used by all methods", {
  skip_if_not_installed("generics")
  model <- trained(linear_regressor, mpg ~ wt + hp, mtcars, weight_column = "qsec")
  reference <- lm(mpg ~ wt + hp, mtcars, weights = qsec)
  expect_equal(vcov(model), vcov(reference), tolerance = 1e-4)
  expect_equal(sigma(model), sigma(reference), tolerance = 1e-6)
  expect_equal(as.numeric(logLik(model)), as.numeric(logLik(reference)), tolerance = 1e-6)
  one <- generics::glance(model)
  expect_equal(one$r.squared, summary(reference)$r.squared, tolerance = 1e-6)
  expect_equal(one$rmse^2, weighted.mean(resid(reference)^2, mtcars$qsec), tolerance = 1e-6)
  expect_equal(one$sigma, sigma(reference), tolerance = 1e-6)
  expect_equal(
    unname(summary(model)$measures), c(one$rmse, one$r.squared)
  )
})

test_that("classifiers and count models match glm()", {
  model <- trained(linear_classifier, am ~ wt, mtcars)
  reference <- glm(am ~ wt, binomial, mtcars, epsilon = 1e-12)
  expect_equal(vcov(model), vcov(reference), tolerance = 1e-3)
  expect_equal(confint(model), confint.default(reference), tolerance = 1e-3, ignore_attr = TRUE)
  expect_equal(summary(model)$coefficients, summary(reference)$coefficients, tolerance = 1e-3)
  expect_equal(deviance(model), deviance(reference), tolerance = 1e-6)
  expect_equal(AIC(model), AIC(reference), tolerance = 1e-6)
  link <- predict(model, newdata = mtcars, type = "link")$.pred
  expect_equal(link, unname(predict(reference)), tolerance = 1e-4)
  response <- predict(model, newdata = mtcars, type = "response")$.pred
  expect_equal(response, unname(predict(reference, type = "response")), tolerance = 1e-4)
  both <- predict(model, newdata = mtcars[1:4, ], interval = "confidence", type = "link")
  se <- predict(reference, mtcars[1:4, ], se.fit = TRUE)
  expect_equal(both$.pred_upper, unname(se$fit + qnorm(0.975) * se$se.fit), tolerance = 1e-3)
  shown <- predict(model, newdata = mtcars[1:4, ], interval = "confidence")
  expect_equal(shown$.pred_upper, plogis(both$.pred_upper))
  expect_error(predict(model, newdata = mtcars, interval = "prediction"), "not for a")
  counts <- trained(function(...) linear_estimator(poisson_regression_head(), ...), carb ~ wt, mtcars)
  reference <- glm(carb ~ wt, poisson, mtcars, epsilon = 1e-12)
  expect_equal(vcov(counts), vcov(reference), tolerance = 1e-3)
  expect_equal(c(deviance(counts), AIC(counts)), c(deviance(reference), AIC(reference)), tolerance = 1e-5)
  expect_equal(
    predict(counts, newdata = mtcars, type = "link")$.pred, unname(predict(reference)), tolerance = 1e-4
  )
})

test_that("several responses and classes have a joint covariance", {
  skip_if_not_installed("generics")
  both <- trained(linear_regressor, cbind(mpg, disp) ~ wt + hp, mtcars)
  reference <- lm(cbind(mpg, disp) ~ wt + hp, mtcars)
  expect_equal(vcov(both), vcov(reference), tolerance = 1e-3)
  expect_equal(sigma(both), unname(sigma(reference)), tolerance = 1e-5)
  data <- transform(iris, Species = Species)
  kinds <- trained(linear_classifier, cyl ~ mpg, transform(mtcars, cyl = factor(gear)))
  # The reference is the finite differences of the log-likelihood.
  beta <- coef(kinds)
  x <- cbind(1, mtcars$mpg)
  y <- factor(mtcars$gear)
  log_likelihood <- function(b) {
    eta <- cbind(0, x %*% t(matrix(b, 2)[, ]))
    sum(eta[cbind(seq_along(y), as.integer(y))] - log(rowSums(exp(eta))))
  }
  hessian <- stats::optimHess(as.vector(beta), log_likelihood)
  order <- as.vector(t(matrix(seq_along(beta), 2)))
  expect_equal(unname(vcov(kinds)), solve(-hessian)[order, order], tolerance = 0.02)
  expect_equal(as.numeric(logLik(kinds)), log_likelihood(as.vector(beta)), tolerance = 1e-6)
  expect_equal(nrow(generics::tidy(kinds, conf.int = TRUE)), 4)
})

test_that("aliased coefficients are NA, as in lm()", {
  data <- transform(mtcars, pounds = wt * 1000)
  model <- trained(linear_regressor, mpg ~ wt + pounds + hp, data)
  reference <- lm(mpg ~ wt + pounds + hp, data)
  expect_equal(is.na(vcov(model)["pounds", "hp"]), TRUE)
  expect_equal(confint(model), confint(reference), tolerance = 1e-4)
  shown <- predict(model, newdata = data, interval = "confidence")
  theirs <- suppressWarnings(predict(reference, data, interval = "confidence"))
  expect_equal(unname(as.matrix(shown)), unname(theirs), tolerance = 1e-4)
  gaps <- transform(data[1:2, ], hp = c(NA, 100))
  expect_equal(is.na(predict(model, newdata = gaps, interval = "confidence")$.pred), c(TRUE, FALSE))
})

test_that("models without a likelihood are errors that name them", {
  deep <- dnn_regressor(mpg ~ wt, mtcars, hidden_units = 2, model_dir = withr::local_tempdir())
  train(deep, steps = 2)
  expect_error(vcov(deep), "needs a linear model; this is a deep regressor")
  expect_error(predict(deep, newdata = mtcars, interval = "confidence"), "linear model")
  quantiles <- linear_estimator(
    quantile_head(), mpg ~ wt, mtcars, model_dir = withr::local_tempdir()
  )
  train(quantiles, steps = 2)
  expect_error(confint(quantiles), "whose loss is a likelihood")
  model <- trained(linear_regressor, mpg ~ wt, mtcars)
  expect_error(predict(model, newdata = mtcars, interval = "both"), "\"confidence\" or \"prediction\"")
  expect_error(confint(model, level = 95), "between 0 and 1")
  expect_error(confint(model, "nobody"), "`parm` must be among \"\\(Intercept\\)\"", class = "runhooks_error")
  expect_error(confint(model, 99), "`parm` must be among", class = "runhooks_error")
  expect_error(predict(model, newdata = mtcars, level = 0.9), "there is no `interval`", class = "runhooks_error")
  expect_error(predict(mtcars_model(), newdata = mtcars, interval = "confidence"), "created from a formula")
})

test_that("unsupported intervals are errors that list the supported ones", {
  expect_invalid <- function(expr, words) {
    expect_error(expr, words, class = "runhooks_error_invalid_argument")
  }
  several <- linear_classifier(Species ~ Sepal.Width, iris, model_dir = withr::local_tempdir())
  train(several)
  expect_invalid(
    predict(several, newdata = iris[1:2, ], interval = "confidence"), "3 classes.*confint"
  )
  two <- linear_classifier(am ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(two)
  expect_invalid(
    predict(two, newdata = mtcars[1:2, ], interval = "prediction"), "do not have normal errors"
  )
})

test_that("weights, dropped rows and case diagnostics match lm() and glm()", {
  air <- transform(airquality, w = Day)
  for (action in list(na.omit, na.exclude)) {
    model <- linear_regressor(
      Ozone ~ Wind + Solar.R, air, weight_column = "w", na.action = action
    )
    suppressMessages(train(model))
    classic <- lm(Ozone ~ Wind + Solar.R, air, weights = w, na.action = action)
    expect_equal(weights(model), weights(classic), ignore_attr = TRUE)
    expect_equal(na.action(model), na.action(classic))
    expect_equal(rstandard(model), rstandard(classic), tolerance = 1e-4, ignore_attr = TRUE)
    expect_equal(
      cooks.distance(model), cooks.distance(classic), tolerance = 1e-4, ignore_attr = TRUE
    )
  }
  model <- linear_classifier(am ~ wt, mtcars)
  train(model)
  classic <- glm(am ~ wt, binomial, mtcars)
  expect_null(weights(model))
  expect_null(na.action(model))
  expect_equal(rstandard(model), rstandard(classic), tolerance = 1e-3)
  for (type in c("pearson", "deviance")) {
    expect_equal(rstandard(model, type = type), rstandard(classic, type = type), tolerance = 1e-3)
  }
  expect_error(rstandard(model, type = "working"), class = "runhooks_error_invalid_argument")
  expect_equal(sigma(model), sigma(classic), tolerance = 1e-4)
  expect_equal(cooks.distance(model), cooks.distance(classic), tolerance = 1e-3)
  expect_error(weights(model, type = "working"), "type", class = "runhooks_error_invalid_argument")
})

test_that("sigma() and the default of rstandard() follow the version of R", {
  inside <- asNamespace("runhooks")
  expect_identical(inside$rstandard_types(package_version("4.5.3")), c("deviance", "pearson"))
  expect_identical(inside$rstandard_types(package_version("4.6.0")), c("pearson", "deviance"))
  model <- linear_classifier(am ~ wt, mtcars)
  train(model)
  fit <- inside$inference_fit(model, "sigma")
  before <- sqrt(deviance(model) / df.residual(model))
  expect_equal(inside$fit_sigma(fit, package_version("4.5.3")), before)
  expect_identical(inside$fit_sigma(fit, package_version("4.6.0")), 1)
})

test_that("glance() has the measures of summary() of lm()", {
  skip_if_not_installed("generics")
  cases <- list(
    list(mpg ~ wt + factor(cyl), NULL), list(mpg ~ 0 + wt, NULL), list(mpg ~ 1, NULL),
    list(mpg ~ wt + I(2 * wt) + offset(hp / 10), "gear")
  )
  for (case in cases) {
    model <- linear_regressor(case[[1]], mtcars, weight_column = case[[2]])
    suppressMessages(train(model))
    reference <- if (is.null(case[[2]])) lm(case[[1]], mtcars) else lm(case[[1]], mtcars, weights = gear)
    one <- generics::glance(model)
    said <- summary(reference)
    expect_equal(one$adj.r.squared, said$adj.r.squared, tolerance = 1e-4)
    f <- said$fstatistic
    if (is.null(f)) f <- c(NA_real_, NA, NA)
    expect_equal(c(one$statistic, one$df), unname(f[1:2]), tolerance = 1e-4)
    expect_equal(one$p.value, unname(pf(f[1], f[2], f[3], lower.tail = FALSE)), tolerance = 1e-3)
  }
})

test_that("augment() keeps row names in a column, as broom does", {
  skip_if_not_installed("generics")
  model <- linear_regressor(mpg ~ wt, mtcars)
  train(model)
  expect_identical(generics::augment(model)$.rownames, rownames(mtcars))
  expect_identical(names(generics::augment(model))[[1]], ".rownames")
  new <- generics::augment(model, newdata = mtcars[3:4, "wt", drop = FALSE])
  expect_named(new, c(".rownames", "wt", ".fitted"))
  plain <- mtcars
  rownames(plain) <- NULL
  expect_false(".rownames" %in% names(generics::augment(model, newdata = plain)))
  expect_false(".rownames" %in% names(generics::augment(model, newdata = plain[3:5, ])))
})

test_that("confint() leaves out coefficients, and summary() has the members of summary.lm()", {
  model <- linear_regressor(mpg ~ wt + hp, mtcars)
  train(model)
  reference <- lm(mpg ~ wt + hp, mtcars)
  expect_equal(confint(model, -1), confint(reference, -1), tolerance = 1e-3)
  expect_error(confint(model, c(-1, 2)), "`parm` must be among", class = "runhooks_error_invalid_argument")
  for (name in c("r.squared", "adj.r.squared", "sigma")) {
    expect_equal(summary(model)[[name]], summary(reference)[[name]], tolerance = 1e-4)
  }
  expect_error(summary(model)$r.squard, "r.squared", class = "runhooks_error_not_found")
})
