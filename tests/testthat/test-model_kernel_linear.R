# kernel_linear_*(), linear models on random Fourier features.

rings <- function(n = 200) {
  withr::with_seed(2, {
    radius <- rep(c(0.5, 1.5), each = n / 2)
    angle <- stats::runif(n, 0, 2 * pi)
    data.frame(
      a = radius * cos(angle), b = radius * sin(angle),
      ring = factor(ifelse(radius < 1, "inner", "outer"))
    )
  })
}

test_that("a kernel separates classes that a line cannot", {
  data <- rings()
  accuracy <- function(make, ...) {
    model <- make(ring ~ a + b, data, config = run_config(tf_random_seed = 1), ...)
    train(model, steps = 300, batch_size = 200)
    mean(predict(model, newdata = data)$.pred_class == data$ring)
  }
  expect_lt(accuracy(linear_classifier), 0.7)
  expect_gt(accuracy(kernel_linear_classifier), 0.95)
})

test_that("the random features are fixed and stored with the model", {
  folder <- withr::local_tempdir()
  data <- data.frame(x = seq(-3, 3, length.out = 120))
  data$y <- sin(2 * data$x)
  make <- function(...) {
    kernel_linear_regressor(
      column_numeric("x"), model_dir = folder, optimizer = tf$train$AdamOptimizer(0.05),
      loss_reduction = "mean", stddev = 0.7, ...
    )
  }
  input <- input_fn(data, features = x, response = y, batch_size = 120, num_epochs = NULL)
  model <- make()
  train(model, input, steps = 1)
  omega <- variable_value(model, "kernel_linear/omega")[[1]]
  expect_equal(dim(omega), c(1, 256))
  expect_equal(stats::sd(omega), 1 / 0.7, tolerance = 0.2)
  train(model, input, steps = 600)
  expect_identical(variable_value(model, "kernel_linear/omega")[[1]], omega)
  expect_equal(predict(model, newdata = data)$.pred, data$y, tolerance = 0.05)
  expect_equal(predict(make(), newdata = data)$.pred, predict(model, newdata = data)$.pred)
  # Such arguments must agree with the metadata in the model directory.
  expect_error(
    predict(make(output_dim = 64), newdata = data), "`output_dim` was 256 and is now 64"
  )
})

test_that("print() describes a model without code for its family", {
  model <- kernel_linear_classifier(ring ~ a + b, rings())
  expect_output(print(model), "Kernel classifier: ring ~ a \\+ b")
  expect_output(print(model), "optimizer: Ftrl \\(learning rate 0.2\\)")
  train(model, steps = 2)
  expect_error(coef(model), "needs a linear model; this is a kernel classifier")
  expect_error(kernel_linear_regressor(column_numeric("x"), stddev = 0), "`stddev`.*positive")
  head <- kernel_linear_estimator(regression_head(), column_numeric("x"))
  expect_s3_class(head, "tf_estimator_estimator_kernel_linear_estimator")
})
