# Tests which parts of the formula's environment a model stores.

saved_size <- function(model) length(serialize(model, NULL))

test_that("a saved model does not contain the environment of the function that made it", {
  made_there <- function() {
    large <- stats::rnorm(1e6)
    k <- 2
    twice <- function(x) k * x
    unused <- function(x) large[[1]] * x
    linear_regressor(mpg ~ twice(wt) + I(hp^k), mtcars)
  }
  model <- made_there()
  expect_lt(saved_size(model), 60000)
  suppressMessages(train(model, steps = 3))
  expect_lt(saved_size(model), 70000)
  called <- (function() {
    large <- stats::rnorm(1e6)
    do.call(linear_regressor, list(mpg ~ wt, mtcars))
  })()
  expect_lt(saved_size(called), 60000)
})

test_that("user functions of a formula work in another session, with their dependencies", {
  model <- (function() {
    large <- stats::rnorm(1e5)
    k <- 3
    inner <- function(x) if (length(x) > 1e6) inner(x[-1]) else x / k
    outer <- function(x, by = k) sapply(x, "inner") + by
    linear_regressor(mpg ~ outer(wt), mtcars)
  })()
  suppressMessages(train(model, steps = 3))
  expected <- predict(model)$.pred
  file <- withr::local_tempfile()
  saveRDS(model, file)
  expect_lt(file.size(file), 30000)
  script <- sprintf(
    "library(runhooks); m <- readRDS('%s'); k <- 'no'; cat(sprintf('%%.9g', predict(m, newdata = mtcars)$.pred))",
    file
  )
  output <- processx::run(child_rscript(), c("-e", script), env = child_env())$stdout
  expect_equal(as.numeric(strsplit(output, " ")[[1]]), expected, tolerance = 1e-7)
})

test_that("a function in the global environment is saved with the variables that it uses", {
  script <- "
    library(runhooks)
    k <- 5
    shift <- function(x) x + k
    m <- linear_regressor(mpg ~ shift(wt), mtcars)
    suppressMessages(train(m, steps = 2))
    one <- predict(m, newdata = mtcars)
    bytes <- serialize(m, NULL)
    k <- 100
    rm(shift)
    stopifnot(identical(predict(unserialize(bytes), newdata = mtcars), one))
    stopifnot(identical(predict(m, newdata = mtcars), one))
    cat('done')
  "
  expect_match(processx::run(child_rscript(), c("-e", script), env = child_env())$stdout, "done")
})

test_that("a function that calls get() keeps its environment", {
  model <- (function() {
    k <- 4
    odd <- function(x) x * get(paste0("", "k"))
    linear_regressor(mpg ~ odd(wt), mtcars)
  })()
  suppressMessages(train(model, steps = 2))
  expect_equal(
    suppressMessages(predict(unserialize(serialize(model, NULL)), newdata = mtcars)),
    predict(model, newdata = mtcars)
  )
})

test_that("missing arguments and failing promises in the environment are ignored", {
  model <- (function(unused, odd = stop("never")) {
    f <- function(x, unused = 1, odd = 2) x + unused
    linear_regressor(mpg ~ f(wt), mtcars)
  })()
  expect_s3_class(model, "tf_estimator")
})

test_that("functions of packages are not saved", {
  memo <- new.env()
  for (f in list(stats::sd, base::paste, sum)) expect_identical(lean_value(f, memo), f)
  expect_null(memo$pairs)
})
