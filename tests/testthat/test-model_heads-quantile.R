# quantile_head() predicts quantiles of the label.

noisy <- function(n = 400) {
  withr::with_seed(1, {
    x <- stats::runif(n)
    data.frame(x = x, y = 10 + 3 * x + (0.5 + x) * stats::rnorm(n))
  })
}

test_that("the right share of labels is below each quantile", {
  data <- noisy()
  model <- linear_estimator(quantile_head(), y ~ x, data, learning_rate = 0.5)
  train(model, data, steps = 2000, batch_size = 400)
  result <- evaluate(model, data)
  expect_named(
    result,
    c("average_loss", "coverage/0.1", "coverage/0.5", "coverage/0.9", "loss", "global_step")
  )
  for (q in c(0.1, 0.5, 0.9)) {
    expect_equal(result[[paste0("coverage/", q)]], q, tolerance = 0.05, info = q)
  }
  predicted <- predict(model, newdata = data)
  expect_named(predicted, c(".pred_0.1", ".pred_0.5", ".pred_0.9"))
  expect_identical(predict(model, newdata = data, type = "quantile"), predicted)
  # The noise grows with x, and so does the distance between quantiles.
  spread <- predicted$.pred_0.9 - predicted$.pred_0.1
  expect_gt(stats::cor(spread, data$x), 0.9)
  expect_equal(ncol(predict(model, newdata = data[0, ])), 3)
  expect_equal(ncol(fitted(model)), 3)
  expect_error(residuals(model), "3 numbers for 1 in each row")
  expect_named(summary(model)$measures, "average_loss")
})

test_that("the loss is the pinball loss", {
  data <- data.frame(x = 0, y = c(1, -2))
  model <- linear_estimator(
    quantile_head(quantiles = c(0.25, 0.75), loss_reduction = "sum"), column_numeric("x")
  )
  input <- input_fn(data, features = x, response = y, batch_size = 2)
  loss <- suppressWarnings(evaluate(model, input))$loss
  expect_equal(loss, mean(c(0.25, 0.75)) * 1 + mean(c(0.75, 0.25)) * 2, tolerance = 1e-6)
})

test_that("invalid quantiles are errors when the head is created", {
  expect_error(quantile_head(quantiles = c(0.5, 0.1)), "element 2 is 0.1")
  expect_error(quantile_head(quantiles = 1), "`quantiles` must be numbers between 0 and 1")
  data <- transform(noisy(30), word = "a")
  model <- linear_estimator(quantile_head(), column_numeric("x"))
  expect_error(
    train(model, input_fn(data, features = x, response = word)), "\"word\" must be numbers"
  )
})
