# Methods of R's generics for formula models.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

trained <- function(make, ..., steps = NULL) {
  set.seed(1)
  model <- make(..., model_dir = withr::local_tempdir(.local_envir = parent.frame()))
  train(model, steps = steps)
  model
}

test_that("coefficients match lm(), with its names", {
  data <- transform(mtcars, gear = factor(gear), cyl = as.character(cyl), size = ordered(carb > 2))
  formulas <- list(
    mpg ~ wt + hp, mpg ~ gear * wt, mpg ~ gear:wt, mpg ~ gear + cyl, mpg ~ poly(wt, 2) + (am == 1),
    mpg ~ size + log(hp), mpg ~ I(wt > 3) + I(wt < 2.5), mpg ~ . - gear - cyl - size
  )
  for (formula in formulas) {
    model <- trained(linear_regressor, formula, data)
    reference <- coef(lm(formula, data))
    expect_named(coef(model), names(reference))
    expect_equal(coef(model), reference, tolerance = 0.05)
  }
  # Coefficients are converted to the units of the data in double precision, so that they reproduce
  # the predictions.
  model <- trained(linear_regressor, mpg ~ gear * wt, data)
  design <- model.matrix(mpg ~ gear * wt, data)
  expect_equal(as.vector(design %*% coef(model)), predict(model)$.pred, tolerance = 1e-5)
  plain <- trained(linear_regressor, mpg ~ wt + hp, data, normalize = FALSE, steps = 50)
  expect_equal(
    as.vector(model.matrix(mpg ~ wt + hp, data) %*% coef(plain)), predict(plain)$.pred,
    tolerance = 1e-5
  )
  weighted <- trained(linear_regressor, mpg ~ ., mtcars, weight_column = "qsec")
  expect_false("qsec" %in% names(coef(weighted)))
})

test_that("coefficients of classes and of several responses", {
  skip_if_not_installed("carData")
  model <- trained(linear_classifier, lfp ~ k5 + age + lwg + wc, carData::Mroz)
  expect_equal(
    coef(model), coef(glm(lfp ~ k5 + age + lwg + wc, binomial, carData::Mroz)),
    tolerance = 0.02
  )
  kinds <- trained(linear_classifier, factor(cyl) ~ wt, mtcars)
  expect_equal(dimnames(coef(kinds)), list(c("6", "8"), c("(Intercept)", "wt")))
  both <- trained(linear_regressor, cbind(mpg, disp) ~ wt + hp, mtcars)
  expect_equal(coef(both), coef(lm(cbind(mpg, disp) ~ wt + hp, mtcars)), tolerance = 1e-3)
})

test_that("an aliased term has an NA coefficient, as in lm()", {
  data <- transform(mtcars, pounds = wt * 1000)
  model <- trained(linear_regressor, mpg ~ wt + pounds, data)
  expect_equal(coef(model), coef(lm(mpg ~ wt + pounds, data)), tolerance = 1e-3)
})

test_that("fitted values and residuals cover the training rows", {
  model <- trained(linear_regressor, mpg ~ wt + hp, mtcars)
  reference <- lm(mpg ~ wt + hp, mtcars)
  expect_equal(fitted(model), fitted(reference), tolerance = 1e-4)
  expect_equal(residuals(model), residuals(reference), tolerance = 1e-3)
  expect_equal(nobs(model), 32)
  expect_equal(formula(model), mpg ~ wt + hp, ignore_formula_env = TRUE)
  expect_equal(predict(model)$.pred, unname(fitted(model)))
  expect_equal(evaluate(model)$average_loss, mean(residuals(model)^2), tolerance = 1e-5)
  train(model, mtcars[1:10, ], steps = 1)
  expect_equal(nobs(model), 10)
  expect_named(fitted(model), rownames(mtcars)[1:10])
  classes <- trained(linear_classifier, am ~ wt, mtcars, steps = 100)
  expect_equal(unname(fitted(classes)), predict(classes)$.pred_1)
  expect_equal(residuals(classes), mtcars$am - fitted(classes), ignore_attr = "names")
  several <- trained(dnn_classifier, Species ~ ., iris, hidden_units = 4, steps = 10)
  expect_equal(dim(fitted(several)), c(150, 3))
  expect_equal(rowSums(residuals(several)), rep(0, 150), ignore_attr = "names", tolerance = 1e-6)
})

test_that("update() constructs the model of a changed call", {
  model <- linear_regressor(mpg ~ wt, mtcars)
  expect_equal(model$call, quote(linear_regressor(formula = mpg ~ wt, data = mtcars)))
  wider <- update(model, . ~ . + hp, optimizer = "Adam")
  expect_equal(formula(wider), mpg ~ wt + hp, ignore_formula_env = TRUE)
  expect_equal(wider$spec$optimizer, "Adam")
  changed <- update(model, log(.) ~ ., data = mtcars[1:20, ], evaluate = FALSE)
  expect_equal(
    deparse(changed, 200), "linear_regressor(formula = log(mpg) ~ wt, data = mtcars[1:20, ])"
  )
  deep <- dnn_regressor(mpg ~ wt, mtcars, c(4, 2))
  expect_equal(
    deep$call, quote(dnn_regressor(formula = mpg ~ wt, data = mtcars, hidden_units = c(4, 2)))
  )
  expect_equal(update(deep, hidden_units = 3)$spec$hidden_units, 3)
  expect_error(update(mtcars_model(), . ~ .), "created from a formula")
})

test_that("print() shows the model and its progress", {
  model <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = new_folder())
  expect_output(print(model), "Linear regressor: mpg ~ wt \\+ hp\n.*LBFGS, over all rows.*not trained yet")
  train(model)
  output <- capture.output(print(model))
  pattern <- "trained on 32 rows for [1-9][0-9]? steps, last average loss 6.095"
  expect_match(output[[3]], pattern, all = FALSE)
  expect_no_match(output, "TensorFlow")
  recreated <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = model_dir(model))
  expect_equal(capture.output(print(recreated)), output)
  both <- dnn_linear_combined_regressor(mpg ~ wt, mtcars, dnn_hidden_units = 4)
  expect_output(print(both), "Wide and deep.*linear Ftrl .*0.1.*dnn Adam .*0.001")
  head <- linear_estimator(regression_head(), mpg ~ wt, mtcars)
  expect_output(print(head), "Linear model with regression_head")
  shown <- capture.output(print(summary(model)))
  expect_match(shown, "Coefficients:", all = FALSE)
  expect_match(shown, "rmse 2.469, r.squared 0.8268", all = FALSE)
  classes <- trained(linear_classifier, am ~ wt, mtcars)
  expect_match(capture.output(print(summary(classes))), "accuracy 0.9", all = FALSE)
  expect_output(print(mtcars_model()), "A TensorFlow regressor")
})

test_that("input functions and configurations print a few lines", {
  shown <- capture.output(print(input_fn(mpg ~ wt + hp, mtcars, batch_size = 8, num_epochs = NULL)))
  expect_equal(shown, c(
    "An input function of 32 rows", "  features: hp, wt", "  response: mpg",
    "  batches of 8, shuffled except in prediction, repeated forever"
  ))
  shown <- capture.output(print(run_config(tf_random_seed = 11)))
  expect_lt(length(shown), 6)
  expect_match(paste(shown, collapse = " "), "tf_random_seed = 11")
})

test_that("tidy tables match the conventions of generics", {
  skip_if_not_installed("generics")
  model <- trained(linear_regressor, mpg ~ wt + hp, mtcars)
  terms <- generics::tidy(model)
  expect_equal(terms$term, c("(Intercept)", "wt", "hp"))
  expect_equal(terms$estimate, unname(coef(model)))
  one <- generics::glance(model)
  expect_equal(one$nobs, 32)
  expect_equal(one$rmse, sqrt(mean(residuals(model)^2)))
  rows <- generics::augment(model)
  expect_equal(rows$.resid, unname(residuals(model)))
  expect_named(generics::augment(model, newdata = mtcars[1:2, c("wt", "hp")]), c(".rownames", "wt", "hp", ".fitted"))
  # The class setosa is linearly separable, so its coefficients have no finite optimum.
  classes <- trained(linear_classifier, Species ~ ., iris, steps = 200)
  expect_warning(
    expect_equal(nrow(generics::tidy(classes)), 10), class = "runhooks_warning_not_converged"
  )
  kinds <- trained(linear_classifier, gear ~ mpg, mtcars)
  expect_named(generics::glance(kinds), c(
    "nobs", "steps", "accuracy", "average_loss", "logLik", "AIC", "BIC", "deviance", "df.residual"
  ))
  expect_equal(generics::augment(classes)$.pred_class, predict(classes)$.pred_class)
  before <- one$steps
  history <- train(model, steps = 10)
  expect_equal(as.data.frame(generics::tidy(history)), as.data.frame(history))
  expect_equal(generics::glance(history)$steps, before + 10)
})

test_that("models and histories are drawn with and without ggplot2", {
  skip_if_not_installed("ggplot2")
  model <- trained(linear_regressor, mpg ~ wt + hp, mtcars)
  classes <- trained(linear_classifier, am ~ wt, mtcars, steps = 20)
  withr::local_pdf(NULL)
  expect_identical(plot(model), model)
  plot(model, which = 2)
  plot(classes)
  expect_s3_class(ggplot2::autoplot(model), "ggplot")
  expect_s3_class(ggplot2::autoplot(classes), "ggplot")
  expect_s3_class(ggplot2::autoplot(train(model, steps = 10)), "ggplot")
  built <- ggplot2::ggplot_build(ggplot2::autoplot(model))
  expect_equal(nrow(built$data[[2]]), 32)
})

test_that("unsupported generics are errors that suggest alternatives", {
  skip_if_not_installed("generics")
  model <- linear_regressor(mpg ~ wt, mtcars)
  for (f in list(coef, fitted, residuals, summary, plot, generics::glance)) {
    expect_error(f(model), "trained model.*train\\(model\\)", class = "runhooks_error_not_found")
  }
  deep <- dnn_regressor(mpg ~ wt, mtcars, 4)
  expect_error(coef(deep), "needs a linear model; this is a deep regressor")
  for (f in list(coef, nobs, formula, generics::augment)) {
    expect_error(f(mtcars_model()), "created from a formula|trained model")
  }
  history <- train(model, steps = 1)
  for (f in list(predict, evaluate, train, coef, model_dir)) {
    expect_error(f(history), "this is the history that `train\\(\\)`")
  }
  expect_error(train(mtcars_model()), "input_fn.*missing.*Give a data frame or an")
})

test_that("a model and its training data survive saveRDS()", {
  model <- trained(linear_regressor, mpg ~ wt, mtcars, steps = 50)
  file <- withr::local_tempfile()
  saveRDS(model, file)
  expect_equal(coef(readRDS(file)), coef(model))
  expect_lt(file.size(file), 60000)
})

test_that("library(runhooks) masks nothing of dplyr and tidyr, in either order", {
  skip_if_not_installed("dplyr")
  skip_if_not_installed("tidyr")
  script <- "
    for (package in commandArgs(TRUE)) suppressPackageStartupMessages(library(package, character.only = TRUE))
    said <- conflicts(detail = TRUE)
    ours <- said[['package:runhooks']]
    theirs <- unlist(said[c('package:dplyr', 'package:tidyr')])
    both <- intersect(ours, theirs)
    same <- vapply(both, function(name) {
      identical(get(name, 'package:runhooks'), get(name, 'package:dplyr'))
    }, NA)
    cat(both[!same])
  "
  orders <- list(c("runhooks", "dplyr", "tidyr"), c("dplyr", "tidyr", "runhooks"))
  for (packages in orders) {
    ended <- processx::run(child_rscript(), c("-e", script, packages), env = child_env())
    expect_equal(ended$stdout, "")
  }
  script <- "library(dplyr); library(tidyr); cat('|'); library(runhooks)"
  output <- processx::run(
    child_rscript(), c("-e", script), env = child_env(), stderr_to_stdout = TRUE
  )$stdout
  expect_no_match(sub(".*[|]", "", output), "masked")
})

test_that("residuals of probabilities that single precision rounds to 1 are finite", {
  data <- data.frame(x = c(-3, -2, -1, -0.5, 0.5, 1, 2, 40), y = c(0, 0, 1, 0, 1, 0, 1, 1))
  model <- linear_classifier(y ~ x, data)
  train(model)
  theirs <- suppressWarnings(glm(y ~ x, binomial, data)) # a fitted probability is 1
  expect_equal(fitted(model)[[8]], 1)
  for (type in c("pearson", "deviance", "working")) {
    ours <- residuals(model, type = type)
    expect_true(all(is.finite(ours)))
    expect_equal(ours, residuals(theirs, type), tolerance = 1e-2)
  }
  expect_lt(abs(residuals(model, type = "pearson")[[8]]), 1e-4)
})
