# wide_deep() of parsnip, and offsets.

skip_if_not_installed("parsnip", "1.5.0")

invalid <- "runhooks_error_invalid_argument"

cars_data <- function() {
  transform(mtcars, am = factor(am, labels = c("auto", "manual")), cyl = factor(cyl))
}

engine <- function(spec, ...) parsnip::set_engine(spec, "runhooks", ...)

test_that("wide_deep() equals the direct calls", {
  cars <- cars_data()
  spec <- wide_deep(
    "regression", hidden_units = c(6, 3), dropout = 0.1, epochs = 15, activation = "elu",
    learn_rate = 0.05
  )
  fitted <- generics::fit(engine(spec, batch_size = 8, seed = 3), mpg ~ wt * cyl, cars)
  direct <- dnn_linear_combined_regressor(
    mpg ~ wt * cyl, cars, dnn_hidden_units = c(6, 3), dnn_dropout = 0.1, dnn_activation_fn = "elu",
    learning_rate = 0.05, config = run_config(tf_random_seed = 3)
  )
  train(direct, num_epochs = 15, batch_size = 8)
  expect_equal(predict(fitted, cars)$.pred, predict(direct, cars)$.pred, tolerance = 1e-12)
  classes <- wide_deep("classification", hidden_units = 4, epochs = 5)
  adam <- engine(classes, seed = 1, linear_optimizer = "Adam", dnn_optimizer = "Adam")
  fitted <- generics::fit(adam, am ~ wt + cyl, cars)
  direct <- dnn_linear_combined_classifier(
    am ~ wt + cyl, cars, dnn_hidden_units = 4, linear_optimizer = "Adam", dnn_optimizer = "Adam",
    config = run_config(tf_random_seed = 1)
  )
  train(direct, num_epochs = 5, batch_size = 32)
  found <- predict(fitted, cars, type = "prob")
  expect_named(found, c(".pred_auto", ".pred_manual"))
  expect_equal(found, predict(direct, cars, type = "prob"), tolerance = 1e-12)
  expect_identical(levels(predict(fitted, cars)$.pred_class), c("auto", "manual"))
})

test_that("wide_deep() is a specification like those of parsnip", {
  spec <- wide_deep("regression", hidden_units = 4, epochs = 3)
  expect_output(print(spec), "Model Specification \\(regression\\)")
  expect_identical(rlang::eval_tidy(update(spec, epochs = 7)$args$epochs), 7)
  expect_identical(update(spec), spec)
  expect_identical(rlang::eval_tidy(update(spec, tibble::tibble(epochs = 8))$args$epochs), 8)
  expect_error(generics::fit(wide_deep(), mpg ~ wt, mtcars), "mode")
  expect_error(wide_deep("quantile regression"), "quantile")
  x <- mtcars[c("wt", "hp")]
  by_xy <- parsnip::fit_xy(engine(spec, seed = 1), x, mtcars$mpg)
  by_formula <- generics::fit(engine(spec, seed = 1), mpg ~ wt + hp, mtcars)
  expect_equal(predict(by_xy, x), predict(by_formula, mtcars), tolerance = 1e-12)
  expect_error(
    generics::fit(wide_deep("regression", hidden_units = 0), mpg ~ wt, mtcars), "hidden_units",
    class = invalid
  )
  expect_error(
    generics::fit(engine(spec, optimizer = "Adam"), mpg ~ wt, mtcars), "linear_optimizer",
    class = invalid
  )
  skip_if_not_installed("workflows")
  flow <- workflows::workflow(mpg ~ wt + hp, engine(spec, seed = 1))
  expect_equal(
    predict(generics::fit(flow, mtcars), mtcars), predict(by_xy, x), tolerance = 1e-12
  )
  skip_if_not_installed("tune", "2.0.0")
  skip_if_not_installed("rsample")
  skip_on_cran()
  tuned <- wide_deep("regression", hidden_units = tune::tune(), epochs = tune::tune())
  set.seed(1)
  result <- tune::tune_grid(
    workflows::workflow(mpg ~ wt + hp, engine(tuned, seed = 1)), rsample::vfold_cv(mtcars, 2),
    grid = expand.grid(hidden_units = c(2, 4), epochs = c(1, 3))
  )
  expect_identical(nrow(tune::collect_metrics(result)), 8L)
  best <- tune::select_best(result, metric = "rmse")
  final <- tune::finalize_workflow(workflows::workflow(mpg ~ wt + hp, engine(tuned)), best)
  expect_s3_class(generics::fit(final, mtcars), "workflow")
})

test_that("an offset is a column, an argument of the engine or a term of the formula", {
  withr::local_seed(2)
  data <- data.frame(x = rnorm(200), e = runif(200, -1, 1))
  data$z <- factor(sample(c("u", "v"), 200, TRUE))
  eta <- 0.3 + 0.5 * data$x + (data$z == "v") + data$e
  data$number <- eta + rnorm(200)
  data$count <- rpois(200, exp(eta))
  data$yes <- factor(ifelse(runif(200) < plogis(eta), "yes", "no"))
  cases <- list(
    list(parsnip::linear_reg(), "number", gaussian(), "numeric"),
    list(parsnip::poisson_reg(), "count", poisson(), "numeric"),
    list(parsnip::logistic_reg(), "yes", binomial(), "prob")
  )
  for (case in cases) {
    formula <- stats::reformulate(c("x", "z", "offset(e)"), case[[2]])
    expected <- unname(predict(glm(formula, case[[3]], data), data, type = "response"))
    spec <- engine(case[[1]], offset = "e")
    predicted <- function(fitted, rows) {
      found <- predict(fitted, rows, type = case[[4]])
      found[[ncol(found)]]
    }
    short <- stats::reformulate(c("x", "z"), case[[2]])
    for (fitted in list(
      generics::fit(engine(case[[1]]), formula, data), generics::fit(spec, short, data),
      generics::fit(spec, update(short, . ~ . + e), data),
      parsnip::fit_xy(spec, data[c("x", "z", "e")], data[[case[[2]]]])
    )) {
      expect_equal(predicted(fitted, data), expected, tolerance = 1e-3, label = case[[2]])
    }
    skip_if_not_installed("recipes")
    skip_if_not_installed("workflows")
    recipe <- recipes::recipe(update(short, . ~ . + e), data)
    fitted <- generics::fit(workflows::workflow(recipe, spec), data)
    expect_equal(predicted(fitted, data), expected, tolerance = 1e-3, label = case[[2]])
  }
  for (bad in list("nothing", 3, c("x", "e"), "number")) {
    spec <- engine(parsnip::linear_reg(), offset = bad)
    expect_error(generics::fit(spec, number ~ x, data), "`offset` must be", class = invalid)
  }
  words <- engine(parsnip::linear_reg(), offset = "z")
  expect_error(generics::fit(words, number ~ x, data), "offset", class = "runhooks_error")
  three <- engine(parsnip::multinom_reg(), offset = "Sepal.Width")
  expect_error(generics::fit(three, Species ~ Sepal.Length, iris), "3 classes", class = invalid)
  net <- engine(parsnip::mlp("regression"), offset = "e")
  expect_error(generics::fit(net, number ~ x, data), "no argument `offset`", class = invalid)
})
