# Numbers that hardly vary within the levels of a factor. The model reaches the coefficients of lm()
# and glm(), or warns that it has not.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

# Creates numbers that differ from the mean of their group by about `eps`.
grouped <- function(eps, levels = 5, size = 200, mean = 1) {
  g <- factor(rep(seq_len(levels), length.out = size))
  middle <- mean * rnorm(levels)[g]
  data.frame(g, middle, x = middle + eps * rnorm(size))
}

expect_same_as <- function(make, formula, data, reference, ...) {
  model <- make(formula, data, model_dir = withr::local_tempdir())
  label <- deparse(formula, 500)
  expect_no_warning(suppressMessages(train(model)), class = "runhooks_warning_not_converged")
  expect_no_warning(actual <- coef(summary(model)), class = "runhooks_warning_not_converged")
  theirs <- coef(summary(reference))
  actual <- actual[rownames(theirs), ]
  deviations <- abs(actual[, 1] - theirs[, 1]) / pmax(abs(theirs[, 1]), theirs[, 2])
  expect_lt(max(deviations), 1e-3, label = label)
  expect_lt(max(abs(actual[, 2] / theirs[, 2] - 1)), 0.01, label = label)
  invisible(model)
}

test_that("a number that a factor nearly determines has lm()'s coefficient", {
  set.seed(22)
  for (eps in c(1e-1, 1e-3, 1e-4)) {
    for (levels in c(2, 40)) {
      data <- grouped(eps, levels, mean = 100)
      data$y <- data$middle + 3 / eps * (data$x - data$middle) + rnorm(nrow(data))
      data$z <- data$x + eps * rnorm(nrow(data))
      for (formula in list(y ~ x + g, y ~ g + x + z, y ~ x * g, y ~ x + I(x^2) + g)) {
        expect_same_as(linear_regressor, formula, data, lm(formula, data))
      }
    }
  }
  data$h <- factor(rep(1:3, length.out = nrow(data)))
  data$w <- data$x + as.integer(data$h)
  for (formula in list(y ~ w + g + h, y ~ w + g:h)) {
    expect_same_as(linear_regressor, formula, data, lm(formula, data))
  }
})

test_that("classifiers with such numbers match glm()", {
  set.seed(22)
  data <- grouped(1e-3, mean = 10)
  data$y <- as.integer(runif(nrow(data)) < plogis(1e3 * (data$x - data$middle)))
  for (formula in list(y ~ x + g, y ~ x * g)) {
    expect_same_as(linear_classifier, formula, data, glm(formula, binomial, data))
  }
})

test_that("predictions, other objects on the folder and exports use the same function", {
  set.seed(22)
  data <- grouped(1e-3, mean = 10)
  data$y <- data$middle + 1e3 * (data$x - data$middle) + as.integer(data$g) * data$x + rnorm(200)
  folder <- new_folder()
  model <- linear_regressor(y ~ x * g, data, model_dir = folder)
  train(model)
  expected <- unname(predict(lm(y ~ x * g, data)))
  expect_equal(predict(model, newdata = data)$.pred, expected, tolerance = 1e-5)
  recreated <- linear_regressor(y ~ x * g, data, model_dir = folder)
  expect_identical(coef(recreated), coef(model))
  # The model uses the means in the folder, not those of fewer rows.
  recreated <- linear_regressor(y ~ x * g, data[1:150, ], model_dir = folder)
  expect_equal(predict(recreated, newdata = data)$.pred, expected, tolerance = 1e-5)
  # In a level that is new, the model uses the slope but no mean.
  new <- data.frame(x = c(0, 1), g = "other")
  predicted <- suppressWarnings(predict(model, newdata = new))$.pred
  expect_true(all(is.finite(predicted)))
  loaded <- load_savedmodel(export_savedmodel(model, new_folder()))
  exported <- predict(loaded, data[c("x", "g")])
  expect_equal(as.vector(unlist(exported)), expected, tolerance = 1e-5)
})

test_that("a number that a factor determines is dropped, as in lm()", {
  data <- transform(mtcars, gear = factor(gear), weight = c(2, 5, 7)[gear - 2])
  model <- linear_regressor(mpg ~ gear + weight + wt, data, model_dir = new_folder())
  train(model)
  reference <- lm(mpg ~ gear + weight + wt, data)
  expect_equal(coef(model), coef(reference), tolerance = 1e-5)
  expect_identical(is.na(coef(model)), is.na(coef(reference)))
})

test_that("residuals below single precision are reported", {
  set.seed(22)
  data <- data.frame(x = rnorm(100), u = rnorm(100))
  data$y <- 1 + 100 * data$x + 1e-6 * (data$u + rnorm(100))
  model <- linear_regressor(y ~ x + u, data, model_dir = new_folder())
  train(model)
  expect_warning(coef(model), "single precision", class = "runhooks_warning_not_converged")
  data$y <- 1 + 100 * data$x
  exact <- linear_regressor(y ~ x + u, data, model_dir = new_folder())
  train(exact)
  expect_no_warning(coef(exact))
  expect_equal(unname(coef(exact)), c(1, 100, 0), tolerance = 1e-6)
})

fit_model <- function(formula, data, ...) {
  model <- linear_regressor(formula, data, model_dir = tempfile(), ...)
  suppressMessages(train(model))
  model
}

test_that("standard errors that are due to rounding raise a warning, as in lm()", {
  skip_if_not_installed("generics")
  set.seed(5)
  kind <- "runhooks_warning_perfect_fit"
  data <- data.frame(x = 1:50 + 0, z = rnorm(50))
  noise <- rnorm(50)
  for (size in c(1e-3, 1e-7, 0)) {
    data$y <- 3 + 2 * data$x - data$z + size * noise
    model <- fit_model(y ~ x + z, data)
    expect_no_warning(expect_equal(coef(model), coef(lm(y ~ x + z, data)), tolerance = 1e-6))
    readers <- list(
      summary, vcov, confint, sigma, logLik, generics::tidy, generics::glance,
      function(model) predict(model, newdata = data[1:2, ], interval = "confidence")
    )
    for (read in readers) {
      if (size == 1e-3) expect_no_warning(read(model)) else expect_warning(read(model), class = kind)
    }
    if (size != 1e-3) next
    actual <- sqrt(diag(vcov(model)))
    expect_equal(actual, sqrt(diag(vcov(lm(y ~ x + z, data)))), tolerance = 0.01)
  }
  # A constant response also gives the warning; a fit without residual degrees of freedom does not.
  data$y <- 4
  expect_warning(summary(fit_model(y ~ x, data)), class = kind)
  expect_no_warning(summary(fit_model(dist ~ speed, cars[c(1, 9), ])), class = kind)
})

test_that("coefficients of a factor with many levels take little longer than lm()", {
  set.seed(6)
  n <- 2500
  data <- data.frame(g = factor(rep(1:160, length.out = n)), x = rnorm(n))
  data$y <- as.integer(data$g) / 10 + data$x + rnorm(n)
  data$w <- runif(n)
  model <- fit_model(y ~ g + x, data)
  least <- function(f) min(replicate(3, system.time(f(), gcFirst = FALSE)[["user.self"]]))
  actual <- least(function() coef(model))
  theirs <- least(function() lm(y ~ g + x, data))
  expect_lt(actual, 3 * theirs + 0.02)
  # Weights change the information matrix.
  weighted <- fit_model(y ~ g + x, data, weight_column = "w")
  expect_equal(vcov(weighted), vcov(lm(y ~ g + x, data, weights = w)), tolerance = 1e-3)
})
