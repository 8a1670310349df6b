# Defaults of formula models: standardized numbers, an optimizer, and batches and steps that
# converge.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

test_that("models with default settings match lm() and glm() within two seconds", {
  skip_if_not_installed("carData")
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("MASS")
  fits <- new.env()
  sys.source(system.file("examples", "formula-fits.R", package = "runhooks"), fits)
  fits <- fits$fits
  expect_equal(nrow(fits), 27)
  is_number <- fits$measure == "RMSE"
  ratio <- fits$runhooks / fits$classic
  expect_true(all(ratio[is_number] < 1.02))
  expect_true(all(ratio[!is_number] > 0.99))
  # The median time is robust against other load on the machine.
  expect_lt(stats::median(fits$seconds), 2)
})

test_that("units and offsets of the data do not matter", {
  set.seed(3)
  n <- 200
  data <- data.frame(year = 2000 + runif(n, 0, 30), tiny = rnorm(n) * 1e-6, big = 1e9 + rnorm(n) * 1e3)
  data$y <- 1e7 + 3e5 * (data$year - 2015) + 1e12 * data$tiny + 50 * data$big + rnorm(n) * 1e3
  model <- linear_regressor(y ~ ., data, model_dir = new_folder())
  train(model)
  reference <- lm(y ~ ., data)
  error <- function(fit) sqrt(mean((data$y - fit)^2))
  # The tolerance is 1e-3, because float32 has 7 digits and the response has 8.
  expect_lt(error(predict(model, newdata = data)$.pred) / sd(data$y), 1e-3)
  small <- transform(data, y = (y - 1e7) * 1e-15)
  model <- linear_regressor(y ~ ., small, model_dir = new_folder())
  train(model)
  expect_equal(predict(model, newdata = small)$.pred, unname(fitted(lm(y ~ ., small))), tolerance = 1e-3)
})

test_that("losses, metrics and predictions are in the units of the data", {
  model <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = new_folder())
  history <- train(model)
  reference <- lm(mpg ~ wt + hp, mtcars)
  squares <- resid(reference)^2
  metrics <- evaluate(model, mtcars)
  expect_equal(metrics$average_loss, mean(squares), tolerance = 1e-5)
  expect_equal(metrics$loss, sum(squares), tolerance = 1e-5)
  expect_equal(metrics[["label/mean"]], mean(mtcars$mpg), tolerance = 1e-6)
  expect_equal(metrics[["prediction/mean"]], mean(mtcars$mpg), tolerance = 1e-5)
  last <- tail(history$losses$total_losses, 1)
  expect_equal(last, sum(squares), tolerance = 1e-5)
  expect_equal(evaluate(model, input_fn(mpg ~ wt + hp, mtcars))$loss, metrics$loss, tolerance = 1e-6)
})

test_that("each response has its own scale, also in models with a head", {
  pair <- linear_regressor(cbind(mpg, disp) ~ wt + hp, mtcars, model_dir = new_folder())
  train(pair)
  reference <- lm(cbind(mpg, disp) ~ wt + hp, mtcars)
  expect_equal(unname(as.matrix(predict(pair, newdata = mtcars))), unname(fitted(reference)),
    tolerance = 1e-4
  )
  expect_equal(
    evaluate(pair, mtcars)$average_loss, mean(resid(reference)^2), tolerance = 1e-4
  )
  head <- linear_estimator(regression_head(), mpg ~ wt + hp, mtcars, model_dir = new_folder())
  train(head)
  expect_equal(predict(head, newdata = mtcars)$.pred, unname(fitted(lm(mpg ~ wt + hp, mtcars))),
    tolerance = 1e-4
  )
  counts <- linear_estimator(
    poisson_regression_head(), carb ~ wt + hp, mtcars, model_dir = new_folder()
  )
  train(counts)
  reference <- glm(carb ~ wt + hp, poisson, mtcars)
  expect_equal(predict(counts, newdata = mtcars)$.pred, unname(fitted(reference)), tolerance = 1e-3)
})

test_that("factors, interactions, polynomials and weights match lm()", {
  data <- transform(mtcars, gear = factor(gear), cyl = factor(cyl))
  formulas <- list(
    mpg ~ gear * wt, mpg ~ gear:wt, mpg ~ wt + wt:gear, mpg ~ gear * cyl, mpg ~ gear:cyl,
    mpg ~ poly(wt, 2) + log(hp), mpg ~ wt + I(wt^2), mpg ~ wt * hp, mpg ~ scale(wt) + (am == 1)
  )
  for (formula in formulas) {
    set.seed(1)
    model <- linear_regressor(formula, data, model_dir = new_folder())
    train(model)
    reference <- lm(formula, data)
    error <- function(fit) sqrt(mean((data$mpg - fit)^2))
    expect_lt(error(predict(model, newdata = data)$.pred), 1.005 * error(fitted(reference)))
  }
  model <- linear_regressor(mpg ~ wt + hp, data, weight_column = "qsec", model_dir = new_folder())
  train(model)
  reference <- lm(mpg ~ wt + hp, data, weights = qsec)
  expect_equal(predict(model, newdata = data)$.pred, unname(fitted(reference)), tolerance = 1e-4)
})

test_that("interactions of strings are distinguished exactly", {
  data <- expand.grid(a = c("x", "x:y", "z\\"), b = c("y:u", "u", "x"), stringsAsFactors = FALSE)
  data$y <- seq_len(nrow(data))^2
  model <- linear_regressor(y ~ a:b, data, model_dir = new_folder())
  train(model)
  expect_equal(predict(model, newdata = data)$.pred, data$y, tolerance = 1e-3)
  expect_warning(
    predict(model, newdata = data.frame(a = "x", b = "none")), "\"b\": \"none\"",
    class = "runhooks_warning_new_levels"
  )
  some <- linear_regressor(y ~ a * b, data[-1, ], model_dir = new_folder())
  train(some)
  expect_warning(predict(some, newdata = data[1, ]), "\"a:b\"", class = "runhooks_warning_new_levels")
})

test_that("the scaling of the data is stored in the folder as plain data", {
  folder <- new_folder()
  model <- linear_regressor(mpg ~ wt + poly(hp, 2) + factor(gear), mtcars, model_dir = folder)
  train(model, steps = 20)
  expected <- predict(model, newdata = mtcars)
  recreated <- linear_regressor(mpg ~ wt + poly(hp, 2) + factor(gear), mtcars, model_dir = folder)
  expect_equal(predict(recreated, newdata = mtcars), expected)
  # A model on the same folder from other data, with other means and fewer levels, uses the scales
  # and levels of the folder.
  folder <- new_folder()
  model <- linear_regressor(mpg ~ wt + gear, transform(mtcars, gear = factor(gear)), model_dir = folder)
  train(model, steps = 20)
  some <- transform(mtcars[mtcars$gear > 3, ], gear = factor(gear))
  later <- linear_regressor(mpg ~ wt + gear, some, model_dir = folder)
  expect_equal(predict(later, newdata = some), predict(model, newdata = some))
  plain <- linear_regressor(mpg ~ wt, mtcars, model_dir = new_folder(), normalize = FALSE)
  train(plain, steps = 5)
  same <- linear_regressor(mpg ~ wt, mtcars, model_dir = model_dir(plain))
  expect_equal(predict(same, newdata = mtcars), predict(plain, newdata = mtcars))
  expect_error(
    linear_regressor(mpg ~ wt, mtcars, model_dir = model_dir(plain), normalize = TRUE),
    "normalize = FALSE"
  )
  basis <- linear_regressor(mpg ~ poly(wt, 2), mtcars, model_dir = new_folder())
  train(basis, steps = 5)
  expect_error(
    linear_regressor(mpg ~ poly(wt, 2), mtcars[1:9, ], model_dir = model_dir(basis)),
    "poly\\(wt, 2\\).*differs between these data"
  )
})

test_that("an object that is older than another model's training in its folder is an error", {
  folder <- new_folder()
  first <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder)
  second <- linear_regressor(mpg ~ wt, mtcars[1:9, ], model_dir = folder)
  train(second, steps = 5)
  expect_error(predict(first, newdata = mtcars), "standardized\\s+differently")
})

test_that("learning_rate sets the rate of a named optimizer", {
  rate_of <- function(...) {
    model <- linear_regressor(..., model_dir = new_folder())
    model$spec$optimizer$learning_rate
  }
  expect_equal(rate_of(mpg ~ wt, mtcars, optimizer = "Adam", learning_rate = 0.01), 0.01)
  expect_equal(rate_of(mpg ~ wt, mtcars, learning_rate = 0.5), 0.5)
  expect_equal(rate_of(column_numeric("wt"), optimizer = "SGD", learning_rate = 1e-3), 1e-3)
  both <- dnn_linear_combined_regressor(
    mpg ~ wt, mtcars, dnn_hidden_units = 4, learning_rate = 0.02, dnn_optimizer = "SGD"
  )
  expect_equal(both$spec$dnn_optimizer$learning_rate, 0.02)
  expect_equal(both$spec$linear_optimizer$learning_rate, 0.02)
  expect_error(rate_of(mpg ~ wt, mtcars, learning_rate = -1), "positive number, not -1")
  expect_error(
    rate_of(mpg ~ wt, mtcars, optimizer = tf$train$AdamOptimizer(0.1), learning_rate = 0.1),
    "its own rate.*optimizer = \"Adam\", learning_rate = 0.1"
  )
  expect_error(rate_of(mpg ~ wt, mtcars, optimizer = "Adamm", learning_rate = 1), "cannot be \"Adamm\"")
  fit <- function(...) {
    model <- linear_regressor(
      column_numeric("wt"), ..., model_dir = new_folder(), config = run_config(tf_random_seed = 1)
    )
    train(model, input_fn(mpg ~ wt, mtcars), steps = 1)
    variable_value(model)
  }
  expect_equal(
    fit(optimizer = "Adam", learning_rate = 0.03), fit(optimizer = tf$train$AdamOptimizer(0.03))
  )
})

test_that("models of feature columns keep TensorFlow's optimizers, rates and losses", {
  expect_equal(mtcars_model()$spec$optimizer, "Ftrl")
  deep <- dnn_regressor(4, column_numeric("wt"))
  expect_equal(deep$spec$optimizer, "Adagrad")
  expect_null(mtcars_model()$spec$label_scale)
  expect_null(deep$args$feature_columns$center)
})

test_that("tiny responses are scaled, and too large ones are refused", {
  data <- transform(cars, tiny = dist * 1e-200, large = dist * 1e25)
  model <- linear_regressor(tiny ~ speed, data, model_dir = new_folder())
  train(model)
  fit <- predict(model, data)$.pred * 1e200
  expect_equal(fit, unname(fitted(lm(dist ~ speed, cars))), tolerance = 1e-5)
  expect_error(
    linear_regressor(large ~ speed, data), "`large` is too large.*I\\(large / 1e\\+26\\)",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("a response of numbers as text is refused with the conversion", {
  data <- transform(cars, text = as.character(dist), f = factor(dist))
  expect_error(linear_regressor(text ~ speed, data), "as.numeric\\(text\\)")
  expect_error(linear_regressor(f ~ speed, data), "as.numeric\\(as.character\\(f\\)\\)")
})

test_that("tiny weights of rows do not end the training early", {
  data <- transform(mtcars, am = factor(am), w = gear * 1e-9)
  model <- linear_regressor(mpg ~ wt + hp, data, weight_column = "w", model_dir = new_folder())
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ wt + hp, data, weights = w)), tolerance = 1e-4)
  classifier <- linear_classifier(am ~ hp + qsec, data, weight_column = "w", model_dir = new_folder())
  train(classifier)
  reference <- suppressWarnings(glm(am ~ hp + qsec, binomial, data, weights = gear))
  expect_equal(coef(classifier), coef(reference), tolerance = 1e-2)
})

test_that("training of a class without rows ends at the minimum of the others", {
  set.seed(2)
  data <- data.frame(x = rnorm(120), z = rnorm(120))
  data$k <- sample(c("a", "b", "c"), 120, TRUE)
  reference <- linear_classifier(k ~ x, data, model_dir = new_folder())
  train(reference)
  orders <- list(c("c", "b", "a", "z"), c("z", "a", "b", "c"), c("a", "b", "c", "z"))
  for (levels in orders) {
    data$r <- factor(data$k, levels)
    model <- linear_classifier(r ~ x, data, model_dir = new_folder())
    suppressMessages(train(model))
    loss <- evaluate(model, data)$average_loss
    expect_equal(loss, evaluate(reference, data)$average_loss, tolerance = 1e-4)
  }
})

test_that("a directory that lost the record of its scales is reported", {
  folder <- withr::local_tempdir()
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = folder)
  train(model)
  unlink(file.path(folder, record_file))
  expect_error(
    predict(model, mtcars), "no file 'runhooks.data'", class = "runhooks_error_failed_precondition"
  )
  expect_warning(
    linear_regressor(mpg ~ wt, mtcars[1:9, ], model_dir = folder), "numbers are not standardized",
    class = "runhooks_warning_no_record"
  )
})
