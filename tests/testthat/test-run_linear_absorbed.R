# Coefficients of factors with many levels.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

large_factor <- function(n = 4000, k = 250) {
  set.seed(3)
  data <- data.frame(f = factor(sample(k, n, TRUE)), x = rnorm(n), z = rexp(n), w = rep(1:2, n / 2))
  data$y <- as.numeric(data$f) / k + data$x - data$z + rnorm(n)
  data$c <- factor(rbinom(n, 1, plogis(data$x)))
  data$counts <- rpois(n, exp(data$x / 3))
  data
}

test_that("coef() of a factor with many levels is that of lm() and glm()", {
  data <- large_factor()
  text <- transform(data, f = as.character(f))
  cases <- list(
    list(y ~ f + x, data, NULL), list(y ~ x + f + log(z), data, "w"), list(y ~ f + offset(x), data, NULL),
    list(y ~ f, text, NULL), list(y ~ addNA(f) + x, data[-(1:3), ], NULL)
  )
  for (case in cases) {
    model <- linear_regressor(case[[1]], case[[2]], weight_column = case[[3]], model_dir = new_folder())
    train(model)
    own <- case[[2]]
    own$weight <- if (is.null(case[[3]])) 1 else own$w
    frame <- training_frame(model, "coef")
    expect_false(is.null(absorbed_fit(model, frame)))
    expect_no_warning(coefficients <- coef(model))
    expect_equal(coefficients, coef(lm(case[[1]], own, weights = weight)), tolerance = 1e-3)
    expect_equal(coefficients, linear_fit(model, "coef")$coefficients[, 1], tolerance = 1e-6)
  }
  counts <- linear_estimator(poisson_regression_head(), counts ~ f + x, data, model_dir = new_folder())
  train(counts)
  expect_equal(
    suppressWarnings(coef(counts)), linear_fit(counts, "coef")$coefficients[, 1],
    tolerance = 1e-6
  )
})

test_that("the distance to the optimum is that of the dense computation", {
  data <- large_factor()
  models <- list(
    linear_regressor(y ~ f + x, data, weight_column = "w", model_dir = new_folder()),
    linear_classifier(c ~ f + x, data, model_dir = new_folder())
  )
  for (model in models) {
    train(model, steps = 5)
    frame <- training_frame(model, "coef")
    own <- absorbed_fit(model, frame)
    dense <- linear_fit(model, "coef")
    expect_equal(own$distance, newton_step_size(dense), tolerance = 1e-6)
    expect_equal(own$gradient, dense$gradient, tolerance = 1e-6)
  }
  expect_warning(coef(models[[1]]), class = "runhooks_warning_not_converged")
})

test_that("coefficients that are not determined are NA, as in lm()", {
  data <- large_factor()
  data$of_level <- as.numeric(data$f)
  for (formula in list(y ~ f + of_level, y ~ of_level + f + x)) {
    model <- linear_regressor(formula, data, model_dir = new_folder())
    train(model)
    expect_identical(is.na(coef(model)), is.na(coef(lm(formula, data))))
  }
})

without_absorbing <- function(code) {
  namespace <- asNamespace("runhooks")
  least <- min_levels_to_absorb
  assign_least <- function(x) {
    unlockBinding("min_levels_to_absorb", namespace)
    assign("min_levels_to_absorb", x, envir = namespace)
    lockBinding("min_levels_to_absorb", namespace)
  }
  assign_least(Inf)
  on.exit(assign_least(least))
  force(code)
}

test_that("inference without a design matrix is that of the dense computation", {
  data <- large_factor()
  models <- list(
    linear_regressor(y ~ x + f + log(z), data, weight_column = "w", model_dir = new_folder()),
    linear_regressor(y ~ f + offset(x), data, model_dir = new_folder()),
    linear_estimator(
      poisson_regression_head(), counts ~ f + x, data = data, model_dir = new_folder()
    )
  )
  rows <- data[c(1:5, 7), ]
  rows$x[2] <- NA
  functions <- list(
    vcov, confint, deviance, df.residual, logLik, sigma, function(m) summary(m)$coefficients,
    function(m) generics::tidy(m, conf.int = TRUE), generics::glance,
    function(m) predict(m, rows, interval = "confidence"),
    function(m) coef(summary(m))
  )
  for (model in models) {
    suppressMessages(train(model))
    expect_false(is.null(absorbed_fit(model, training_frame(model, "coef"))))
    own <- suppressWarnings(lapply(functions, function(f) f(model)))
    dense <- without_absorbing(suppressWarnings(lapply(functions, function(f) f(model))))
    expect_equal(own, dense, tolerance = 1e-5)
  }
})

test_that("a design matrix of gigabytes is an error before it is allocated", {
  data <- large_factor(40000, 3000)
  data$g <- rev(data$f)
  model <- linear_regressor(y ~ f + g, data, model_dir = new_folder())
  suppressWarnings(suppressMessages(train(model, steps = 2)))
  error_class <- "runhooks_error_resource_exhausted"
  for (f in list(coef, vcov, summary, confint, anova)) {
    expect_error(f(model), "40,000 rows.*6,000 columns.*1.9 GB", class = error_class)
  }
})

test_that("inference with 5,000 levels takes little time and memory", {
  skip_on_cran() # time
  data <- large_factor(50000, 5000)
  model <- linear_regressor(y ~ f + x, data, model_dir = new_folder())
  suppressMessages(train(model))
  gc(reset = TRUE)
  before <- sum(gc()[, 2])
  time <- system.time(coefficients <- suppressWarnings(coef(model)))
  expect_length(coefficients, 5001)
  expect_lt(time[["user.self"]], 2)
  expect_lt(sum(gc()[, 6]) - before, 300)
  functions <- list(vcov, summary, function(model) generics::tidy(model, conf.int = TRUE))
  for (f in functions) {
    gc(reset = TRUE)
    time <- system.time(suppressWarnings(f(model)))
    expect_lt(time[["user.self"]], 5)
    expect_lt(sum(gc()[, 6]) - before, 500)
  }
})
