# Influence of rows, and simulated responses.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

trained <- function(make, ...) {
  model <- make(...)
  suppressMessages(train(model))
  model
}

pairs_of_models <- function() {
  data <- transform(warpbreaks, w = rep(1:3, 18), k = as.numeric(breaks > 26))
  cars <- transform(mtcars, am = factor(am))
  list(
    list(trained(linear_regressor, mpg ~ wt + hp, mtcars), lm(mpg ~ wt + hp, mtcars)),
    list(
      trained(linear_regressor, mpg ~ wt + factor(cyl), mtcars, weight_column = "gear"),
      lm(mpg ~ wt + factor(cyl), mtcars, weights = gear)
    ),
    list(trained(linear_classifier, am ~ hp + qsec, cars), glm(am ~ hp + qsec, binomial, cars)),
    list(
      trained(linear_estimator, poisson_regression_head(), breaks ~ wool + tension, data),
      glm(breaks ~ wool + tension, poisson, data)
    )
  )
}

test_that("influence(), rstudent() and dfbeta() are those of lm() and glm()", {
  for (pair in pairs_of_models()) {
    own <- influence(pair[[1]])
    other <- influence(pair[[2]])
    expect_named(own, names(other))
    for (name in names(other)) {
      expect_equal(own[[name]], other[[name]], tolerance = 1e-2, label = name)
    }
    expect_equal(rstudent(pair[[1]]), rstudent(pair[[2]]), tolerance = 1e-3)
    expect_equal(dfbeta(pair[[1]]), dfbeta(pair[[2]]), tolerance = 1e-2)
    expect_null(influence(pair[[1]], do.coef = FALSE)$coefficients)
  }
})

test_that("simulate() draws the responses of simulate() of lm() and glm()", {
  for (pair in pairs_of_models()) {
    own <- simulate(pair[[1]], nsim = 3, seed = 1)
    other <- simulate(pair[[2]], nsim = 3, seed = 1)
    expect_equal(own, other, tolerance = 1e-3, ignore_attr = "seed")
    set.seed(5)
    before <- .Random.seed
    simulate(pair[[1]], seed = 2)
    expect_identical(.Random.seed, before)
  }
})

test_that("models without a likelihood, or with several outputs, are errors", {
  classes <- trained(linear_classifier, Species ~ Sepal.Width, iris)
  trees <- trained(boosted_trees_regressor, mpg ~ wt, mtcars, n_trees = 2)
  for (f in list(influence, rstudent, simulate)) {
    expect_error(f(classes), "one linear predictor", class = "runhooks_error_invalid_argument")
    expect_error(f(trees), "linear model", class = "runhooks_error_invalid_argument")
  }
})

test_that("rows of weight 0 and omitted rows are treated as by lm() and glm()", {
  data <- transform(warpbreaks, w = rep(c(2, 0, 1), 18), u = sqrt(seq_len(54) %% 11))
  data$u[[5]] <- NA
  rownames(data) <- paste0("r", 54:1)
  padded <- na.exclude
  pairs <- list(
    list(
      trained(linear_regressor, breaks ~ wool + tension, data, weight_column = "w"),
      lm(breaks ~ wool + tension, data, weights = w)
    ),
    list(
      trained(linear_estimator, poisson_regression_head(weight_column = "w"), breaks ~ wool, data),
      glm(breaks ~ wool, poisson, data, weights = w)
    ),
    list(
      trained(linear_regressor, breaks ~ wool + u, data, na.action = padded),
      lm(breaks ~ wool + u, data, na.action = padded)
    )
  )
  for (pair in pairs) {
    for (fun in list(rstandard, rstudent, cooks.distance, hatvalues, dfbeta)) {
      expect_equal(fun(pair[[1]]), fun(pair[[2]]), tolerance = 1e-3)
    }
    expect_equal(influence(pair[[1]])$sigma, influence(pair[[2]])$sigma, tolerance = 1e-3)
  }
  drawn <- simulate(pairs[[3]][[1]], nsim = 2, seed = 1)
  expect_equal(rownames(drawn), rownames(data))
  expect_equal(which(is.na(drawn$sim_2)), 5)
})
