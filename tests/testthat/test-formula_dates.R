# Models compute in single precision, so numbers that vary little compared with their size lose
# digits unless an origin is subtracted.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

error_of <- function(model, data) sqrt(evaluate(model, data)$average_loss)

test_that("deep models standardize numbers that vary little compared with their size", {
  y <- sin((0:199) / 20)
  fit <- function(x) {
    data <- data.frame(x = x, y = y)
    model <- dnn_regressor(
      y ~ x, data, hidden_units = c(8, 8), config = run_config(tf_random_seed = 1),
      model_dir = new_folder()
    )
    suppressMessages(train(model, steps = 300))
    predict(model, data)
  }
  unshifted <- fit(0:199 + 0)
  expect_equal(fit(as.POSIXct("2024-01-01", tz = "UTC") + 0:199), unshifted, tolerance = 1e-3)
  expect_equal(fit(1e10 + 0:199), unshifted, tolerance = 1e-3)
})

test_that("trees distinguish large numbers", {
  y <- sin((0:199) / 20)
  fit <- function(x, ...) {
    data <- data.frame(x = x, y = y)
    model <- boosted_trees_regressor(y ~ x, data, n_trees = 20, max_depth = 4, ...)
    train(model)
    model
  }
  unshifted <- fit(0:199 + 0)
  for (from in c(2e7, 1e9, -3e9, 1e12)) {
    x <- from + 0:199
    shifted <- fit(x)
    expect_equal(predict(shifted, data.frame(x = x)), predict(unshifted, data.frame(x = x - from)))
    expect_equal(error_of(shifted, data.frame(x = x, y = y)), error_of(unshifted, data.frame(x = 0:199, y = y)))
    nodes <- as.data.frame(shifted)
    splits <- nodes[!nodes$is_leaf, ]
    expect_equal(splits$threshold - from, as.data.frame(unshifted)$threshold[!nodes$is_leaf])
    expect_identical(splits$question, paste("x <=", format(splits$threshold, digits = 15, trim = TRUE)))
    # a missing value is predicted like a number below the smallest one
    expect_identical(predict(shifted, data.frame(x = NA_real_)), predict(shifted, data.frame(x = x[1] - 1e6)))
  }
  expect_identical(predict(fit(as.integer(2e7 + 0:199)), data.frame(x = 2e7 + 5)), predict(unshifted, data.frame(x = 5)))
})

test_that("a tree model on a folder keeps the origin of its training", {
  data <- data.frame(x = 1e9 + 0:99, z = 1:100, y = 1:100)
  folder <- new_folder()
  make <- function(data) boosted_trees_regressor(y ~ x + z, data, n_trees = 5, model_dir = folder)
  model <- make(data)
  train(model)
  recreated <- make(transform(data, x = 1:100, z = 1e9 + z))
  expect_identical(predict(recreated, data), predict(model, data))
  restored <- withr::local_tempfile(fileext = ".rds")
  saveRDS(model, restored)
  expect_identical(predict(readRDS(restored), data), predict(model, data))
})

test_that("small numbers of trees keep their bits", {
  model <- boosted_trees_regressor(y ~ x, data.frame(x = rnorm(99), y = 1:99), model_dir = new_folder())
  expect_null(model$blueprint$terms$x$center)
})

test_that("trees report different numbers that single precision makes equal", {
  data <- data.frame(x = c(0, 2^31 + 0:198), y = rnorm(200))
  expect_message(
    boosted_trees_regressor(y ~ x, data, model_dir = new_folder()), "\"x\".*single precision",
    class = "runhooks_message_precision"
  )
})
