# A linear formula model minimizes the loss, so its coefficients match lm() and glm().

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

test_that("coefficients and standard errors match lm() and glm(), including collinear terms", {
  cases <- optimum_cases()
  expect_gte(length(cases), 30)
  for (case in cases) {
    label <- paste(deparse(case$formula, 500), "of", case$name)
    expect_no_warning(found <- compare_optimum(case), message = "converged")
    expect_true(found$same_terms, label = label)
    expect_lt(found$coefficients, 1e-3, label = label)
    expect_lt(found$standard_errors, 0.01, label = label)
  }
})

test_that("each iteration is a step for hooks, and training stops at convergence", {
  seen <- 0
  hook <- session_run_hook(
    before_run = function(context) session_run_args(norm = "gradient_norm"),
    after_run = function(context, values) seen <<- c(seen, values$results$norm)
  )
  model <- linear_regressor(mpg ~ ., mtcars, model_dir = new_folder())
  history <- train(model, hooks = hook)
  expect_lt(length(seen), 60)
  expect_equal(length(seen) - 1, history$params$steps)
  expect_lt(tail(seen, 1), 1e-4 * max(seen))
  expect_equal(variable_value(model, "global_step")[[1]], history$params$steps)
  expect_match(paste(unlist(run_history(model)), collapse = " "), "StopWhenConvergedHook")
  before <- coef(model)
  train(model, steps = 5)
  expect_equal(coef(model), before, tolerance = 1e-6)
  # This optimizer has no learning rate, so a hook cannot set it.
  rate <- hook_learning_rate(function(step) 0.1)
  expect_error(train(model, steps = 1, hooks = rate), "learning rate")
  few <- linear_regressor(mpg ~ wt, mtcars, model_dir = new_folder())
  expect_equal(train(few, steps = 30)$params$steps, 30)
})

test_that("a model that has not converged warns and reports the distance", {
  skip_if_not_installed("generics")
  model <- linear_regressor(mpg ~ ., mtcars, model_dir = new_folder(), optimizer = "Ftrl")
  train(model, steps = 20)
  for (f in list(coef, summary, vcov, confint, generics::tidy, generics::glance)) {
    expect_warning(f(model), "norm of the gradient is", class = "runhooks_warning_not_converged")
  }
  apart <- data.frame(x = 1:20, y = rep(0:1, each = 10))
  model <- linear_classifier(y ~ x, apart, model_dir = new_folder())
  # Separable classes have no minimum.
  expect_no_warning(train(model))
  expect_warning(coef(model), class = "runhooks_warning_not_converged")
  short <- linear_classifier(vs ~ mpg + I(mpg^2), mtcars, model_dir = new_folder())
  expect_warning(
    train(short, steps = 3, hooks = hook_stop_when_converged()),
    "not converged in 3 steps: the norm of the gradient is", class = "runhooks_warning_not_converged"
  )
  # Mini-batches also train, and end near the optimum.
  set.seed(4)
  data <- data.frame(x = rnorm(500))
  data$y <- 2 * data$x + rnorm(500)
  model <- linear_regressor(y ~ x, data, model_dir = new_folder())
  train(model, batch_size = 50, num_epochs = 100)
  near <- suppressWarnings(coef(model))
  expect_equal(near, coef(lm(y ~ x, data)), tolerance = 0.1)
  # A further training on all rows starts from these weights and reaches the optimum.
  train(model)
  expect_equal(coef(model), coef(lm(y ~ x, data)), tolerance = 1e-5)
})

test_that("large counts and fractions also reach the optimum", {
  counts <- data.frame(x = 1:20)
  counts$y <- round(exp(counts$x / 2))
  model <- linear_estimator(poisson_regression_head(), y ~ x, counts, model_dir = new_folder())
  train(model)
  expect_equal(coef(model), coef(glm(y ~ x, poisson, counts)), tolerance = 1e-4)
  shares <- transform(counts, y = plogis(sin(x) + x / 10))
  model <- linear_estimator(logistic_regression_head(), y ~ x, shares, model_dir = new_folder())
  train(model)
  reference <- suppressWarnings(glm(y ~ x, binomial, shares))
  expect_equal(coef(model), coef(reference), tolerance = 1e-4)
})

test_that("penalties match the requested ones", {
  z <- function(x) (x - mean(x)) / sqrt(mean((x - mean(x))^2))
  x <- apply(mtcars[c("wt", "hp", "qsec")], 2, z)
  y <- z(mtcars$mpg)
  fit <- function(...) {
    model <- linear_regressor(
      mpg ~ wt + hp + qsec, mtcars, model_dir = new_folder(), optimizer = tf$train$LBFGSOptimizer(...)
    )
    train(model)
    unlist(variable_value(model)[paste0("linear/linear_model/", c("wt", "hp", "qsec"), "/weights")])
  }
  ridge <- solve(crossprod(x) + 3 * diag(3), crossprod(x, y))
  expect_equal(unname(fit(l2_regularization_strength = 3)), as.vector(ridge), tolerance = 1e-5)
  l1 <- 12
  lasso <- unname(fit(l1_regularization_strength = l1))
  slope <- as.vector(2 * crossprod(x, x %*% lasso - y))
  is_zero <- lasso == 0
  expect_true(any(is_zero) && !all(is_zero))
  expect_equal(slope[!is_zero], -l1 * sign(lasso[!is_zero]), tolerance = 1e-4)
  expect_true(all(abs(slope[is_zero]) <= l1))
  model <- linear_regressor(
    mpg ~ wt, mtcars, model_dir = new_folder(),
    optimizer = tf$train$LBFGSOptimizer(l2_regularization_strength = 1)
  )
  train(model)
  expect_no_warning(coef(model))
  expect_error(vcov(model), "penalizes weights")
})

test_that("orthogonalized collinear numbers are stored, exported and applied to new data", {
  folder <- new_folder()
  model <- linear_regressor(weight ~ height + I(height^2), women, model_dir = folder)
  train(model)
  new <- data.frame(height = c(58.5, 66, 80))
  reference <- lm(weight ~ height + I(height^2), women)
  expect_equal(predict(model, newdata = new)$.pred, unname(predict(reference, new)), tolerance = 1e-5)
  again <- linear_regressor(weight ~ height + I(height^2), women[4:9, ], model_dir = folder)
  expect_equal(predict(again, newdata = new), predict(model, newdata = new))
  expect_match(checkpoint_names(latest_checkpoint(folder)), "^linear/linear_model/height/weights$",
    all = FALSE
  )
  export <- export_savedmodel(model, withr::local_tempdir())
  served <- load_savedmodel(export)
  features <- data.frame(height = new$height, check.names = FALSE)
  features[["I(height^2)"]] <- new$height^2
  expect_equal(unlist(predict(served, newdata = features)[[1]]), unname(predict(reference, new)),
    tolerance = 1e-3
  )
})

test_that("large responses with small differences keep their precision", {
  set.seed(5)
  data <- data.frame(x = runif(100))
  data$y <- 1e9 + data$x + rnorm(100, 0, 0.01)
  reference <- lm(y ~ x, data)
  model <- linear_regressor(y ~ x, data, model_dir = new_folder())
  train(model)
  expect_equal(coef(model), coef(reference), tolerance = 1e-6)
  expect_equal(coef(model)[["x"]], coef(reference)[["x"]], tolerance = 1e-4)
  predicted <- predict(model, newdata = data)$.pred
  expect_equal(predicted - 1e9, unname(fitted(reference)) - 1e9, tolerance = 1e-4)
  expect_equal(coef(lm(predicted ~ x, data))[["x"]], coef(reference)[["x"]], tolerance = 1e-4)
  expect_equal(evaluate(model, data)$average_loss, mean(resid(reference)^2), tolerance = 1e-3)
  expect_equal(sd(residuals(model)), sd(resid(reference)), tolerance = 1e-4)
  median <- linear_estimator(quantile_head(0.5), y ~ x, data, model_dir = new_folder())
  train(median, steps = 1000)
  expect_lt(mean(abs(data$y - predict(median, newdata = data)[[1]])), 0.02)
  deep <- dnn_regressor(y ~ x, data, hidden_units = 4, model_dir = new_folder())
  train(deep, steps = 300)
  expect_lt(sd(data$y - predict(deep, newdata = data)$.pred), 0.2)
})

test_that("the graph size is linear in the number of columns", {
  sizes <- vapply(c(20, 40), function(columns) {
    data <- data.frame(y = 1:6, matrix(sin(seq_len(6 * columns)), 6))
    model <- linear_regressor(y ~ ., data, model_dir = withr::local_tempdir())
    suppressMessages(train(model, steps = 1))
    file.size(file.path(model_dir(model), "graph.pbtxt"))
  }, 0)
  expect_lt(sizes[[2]] / sizes[[1]], 2.2)
})

test_that("train() says that a regression is not at its optimum after its last step", {
  set.seed(1)
  d <- data.frame(y = rnorm(50), a = rnorm(50), b = rnorm(50))
  model <- linear_regressor(y ~ a + b, d)
  suppressWarnings(train(model, steps = 1))
  expect_warning(warn_unfinished_fit(model), class = "runhooks_warning_not_converged")
  train(model)
  expect_no_warning(warn_unfinished_fit(model))
  classes <- linear_classifier(a ~ b, transform(d, a = a > 0))
  suppressWarnings(train(classes, steps = 1))
  expect_no_warning(warn_unfinished_fit(classes))
})

test_that("the advice of a model that has not converged fits its optimizer", {
  d <- data.frame(y = rnorm(50), a = rnorm(50), b = rnorm(50))
  model <- linear_regressor(y ~ a + b, d)
  suppressWarnings(train(model, steps = 1))
  expect_warning(coef(model), "steps = 1000")
  other <- linear_regressor(y ~ a + b, d, optimizer = "SGD")
  suppressWarnings(train(other, steps = 1))
  expect_warning(coef(other), "default optimizer")
})

test_that("intervals use the data of the last training if the model has no others", {
  model <- axe_data.tf_estimator(linear_regressor(mpg ~ wt, mtcars))
  train(model, mtcars)
  expected <- predict(lm(mpg ~ wt, mtcars), mtcars[1:2, ], interval = "confidence")
  intervals <- predict(model, mtcars[1:2, ], interval = "confidence")
  expect_equal(as.matrix(intervals), unname(expected), tolerance = 1e-4, ignore_attr = TRUE)
  expect_error(
    predict(axe_data.tf_estimator(model), mtcars[1:2, ], interval = "confidence"), "were removed"
  )
})
