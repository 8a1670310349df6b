# A warm start and `checkpoint_path` of formula models use the scales and levels of the weights.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

test_that("a warm start takes over the scales of the numbers and of the response", {
  few <- mtcars[1:10, ]
  dnn <- function(...) dnn_regressor(mpg ~ wt + hp, hidden_units = 4, ...)
  wide <- function(...) {
    dnn_linear_combined_regressor(mpg ~ wt + hp, dnn_hidden_units = 4, linear_optimizer = "Adam", ...)
  }
  linear <- function(...) linear_regressor(mpg ~ wt * factor(am) + I(hp^2) + hp, optimizer = "Adam", ...)
  for (make in list(dnn, wide, linear)) {
    first <- make(data = mtcars, model_dir = new_folder())
    train(first, steps = 50)
    for (source in c(model_dir(first), latest_checkpoint(model_dir(first)))) {
      second <- make(data = few, model_dir = new_folder(), warm_start_from = source, learning_rate = 1e-12)
      train(second, steps = 1, batch_size = 10)
      expect_equal(predict(second, mtcars), predict(first, mtcars), tolerance = 1e-5)
    }
    settings <- warm_start_settings(model_dir(first))
    third <- make(data = few, model_dir = new_folder(), warm_start_from = settings, learning_rate = 1e-12)
    train(third, steps = 1, batch_size = 10)
    expect_equal(predict(third, mtcars), predict(first, mtcars), tolerance = 1e-5)
  }
})

test_that("a warm start takes over the orthogonal terms of a converged linear model", {
  formula <- mpg ~ poly(wt, 2, raw = TRUE) + hp * factor(am)
  first <- linear_regressor(formula, mtcars, model_dir = new_folder())
  train(first)
  second <- linear_regressor(
    formula, mtcars[1:20, ], optimizer = "Adam", learning_rate = 1e-12,
    warm_start_from = model_dir(first), model_dir = new_folder()
  )
  train(second, steps = 1)
  expect_equal(predict(second, mtcars), predict(first, mtcars), tolerance = 1e-4)
})

test_that("a warm start takes over the levels of factors", {
  make <- function(data, ...) {
    dnn_classifier(am ~ wt + cyl, data, hidden_units = 4, model_dir = new_folder(), ...)
  }
  data <- transform(mtcars, cyl = factor(cyl))
  first <- make(data)
  train(first, steps = 20)
  turned <- transform(data, cyl = factor(cyl, levels = c(8, 6, 4)))[c(1:3, 20:25), ]
  second <- make(turned, warm_start_from = model_dir(first), learning_rate = 1e-12)
  suppressMessages(train(second, steps = 1))
  expect_equal(predict(second, data), predict(first, data), tolerance = 1e-5)
})

test_that("a warm start from a model with other terms, classes or columns is an error", {
  first <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = new_folder())
  train(first)
  expect_failed_precondition <- function(expr, pattern) {
    expect_error(expr, pattern, class = "runhooks_error_failed_precondition")
  }
  start <- function(formula, data = mtcars, ...) {
    linear_regressor(formula, data, warm_start_from = model_dir(first), ..., model_dir = new_folder())
  }
  expect_failed_precondition(start(mpg ~ wt), "hp")
  expect_failed_precondition(start(mpg ~ wt + hp + qsec), "qsec")
  expect_failed_precondition(start(log(mpg) ~ wt + hp), "log\\(mpg\\)")
  expect_error(start(mpg ~ wt + hp, normalize = FALSE), "normalize = TRUE.*warm_start_from")
  expect_failed_precondition(
    linear_regressor(column_numeric("wt", "hp"), warm_start_from = model_dir(first)), "standardized"
  )
  plain <- linear_regressor(column_numeric("wt", "hp"), model_dir = new_folder())
  train(plain, input_fn(mpg ~ wt + hp, mtcars), steps = 1)
  expect_failed_precondition(
    linear_regressor(mpg ~ wt + hp, mtcars, warm_start_from = model_dir(plain)), "standardized"
  )
  classes <- linear_classifier(Species ~ Sepal.Width, iris[1:100, ], model_dir = new_folder())
  suppressMessages(train(classes, steps = 2))
  expect_failed_precondition(
    linear_classifier(
      Species ~ Sepal.Width, droplevels(iris[51:150, ]), warm_start_from = model_dir(classes)
    ),
    "label_vocabulary|n_classes"
  )
})

test_that("a selection of variables may come from a model with other terms", {
  first <- dnn_regressor(mpg ~ wt + hp, mtcars, hidden_units = c(4, 3), model_dir = new_folder())
  train(first, steps = 20)
  settings <- warm_start_settings(model_dir(first), "dnn/hiddenlayer_1.*")
  second <- dnn_regressor(
    qsec ~ wt + disp, mtcars, hidden_units = c(4, 3), warm_start_from = settings,
    learning_rate = 1e-12, model_dir = new_folder()
  )
  train(second, steps = 1)
  kernel <- function(model) variable_value(model, "dnn/hiddenlayer_1/kernel")[[1]]
  expect_equal(kernel(second), kernel(first), tolerance = 1e-5)
})

test_that("a checkpoint of a model with other scales or levels is an error", {
  make <- function(data, formula = mpg ~ wt) {
    dnn_regressor(formula, data, hidden_units = 4, model_dir = new_folder())
  }
  first <- make(mtcars)
  train(first, steps = 5)
  path <- latest_checkpoint(model_dir(first))
  other <- make(mtcars[1:10, ])
  train(other, steps = 5)
  same <- make(mtcars)
  expect_equal(predict(same, mtcars, checkpoint_path = path), predict(first, mtcars))
  for (use in list(
    function() predict(other, mtcars, checkpoint_path = path),
    function() evaluate(other, mtcars, checkpoint_path = path),
    function() export_savedmodel(other, new_folder(), checkpoint_path = path)
  )) {
    expect_error(use(), "standardized.*wt.*checkpoint_path", class = "runhooks_error")
  }
  levels <- make(transform(mtcars, cyl = factor(cyl)), mpg ~ cyl)
  train(levels, steps = 5)
  turned <- make(transform(mtcars, cyl = factor(cyl, c(8, 6, 4))), mpg ~ cyl)
  expect_error(
    predict(turned, data.frame(cyl = "4"), checkpoint_path = latest_checkpoint(model_dir(levels))),
    "cyl", class = "runhooks_error_failed_precondition"
  )
})
