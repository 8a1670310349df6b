# Formula models: columns, training schema, and data frames in place of input functions.

cars_frame <- function() {
  transform(mtcars, gear = factor(gear), cyl = as.character(cyl), am = am == 1)
}

column_classes <- function(model, slot = "feature_columns") {
  columns <- model$args[[slot]]
  setNames(
    vapply(columns, function(column) class(column)[[1]], ""),
    vapply(columns, `[[`, "", "name")
  )
}

test_that("a formula is a shortcut for columns and an input function", {
  config <- run_config(tf_random_seed = 1)
  short <- linear_regressor(
    mpg ~ drat + cyl, data = mtcars, config = config, model_dir = withr::local_tempdir(),
    normalize = FALSE, optimizer = "Ftrl"
  )
  long <- mtcars_model()
  train(short, mtcars, batch_size = 8, shuffle = FALSE, num_epochs = 1)
  train(long, mtcars_input(shuffle = FALSE))
  expect_equal(variable_value(short), variable_value(long))
  expect_equal(evaluate(short, mtcars), evaluate(long, mtcars_input(batch_size = 128)))
  expect_equal(predict(short, newdata = mtcars), predict(long, newdata = mtcars))
  expect_equal(evaluate(short, mtcars_input()), evaluate(long, mtcars_input()))
  expect_false("data" %in% names(short$args))
  expect_lt(length(serialize(short$blueprint, NULL)), 2000)
})

test_that("terms become columns by their type", {
  data <- cars_frame()
  formula <- mpg ~ gear * cyl + log(hp) + wt:disp + gear:wt + am + poly(drat, 2)
  expect_equal(column_classes(linear_regressor(formula, data = data)), c(
    gear = "VocabularyListCategoricalColumn", cyl = "VocabularyListCategoricalColumn",
    "log(hp)" = "NumericColumn", am = "NumericColumn", "poly(drat, 2)" = "NumericColumn",
    "gear:cyl" = "VocabularyListCategoricalColumn", "wt:disp" = "NumericColumn",
    gear_weighted_by_wt = "WeightedCategoricalColumn"
  ))
  deep <- dnn_regressor(4, formula, data = data)
  expect_equal(unname(column_classes(deep)[c(1, 6, 8)]), rep("IndicatorColumn", 3))
  train(deep, data)
  expect_equal(nrow(predict(deep, newdata = data)), 32)
  expect_setequal(
    names(column_classes(linear_regressor(mpg ~ . - hp - wt, data = data))),
    setdiff(names(mtcars), c("mpg", "hp", "wt"))
  )
  weighted <- linear_regressor(mpg ~ ., data = data, weight_column = "wt")
  expect_false("wt" %in% names(column_classes(weighted)))
  train(weighted, data)
  expect_equal(nrow(predict(weighted, newdata = data[setdiff(names(data), c("wt", "mpg"))])), 32)
})

test_that("a product of numbers is a feature", {
  fit <- function(formula, data) {
    model <- linear_regressor(formula, data = data, model_dir = withr::local_tempdir())
    train(model, data, shuffle = FALSE)
    predict(model, newdata = data)
  }
  product <- transform(mtcars, product = wt * drat)
  expect_equal(fit(mpg ~ wt:drat, mtcars), fit(mpg ~ product, product))
  expect_equal(
    fit(mpg ~ wt * drat, mtcars), fit(mpg ~ wt + drat + product, product),
    tolerance = 1e-6 # summed in another order
  )
})

test_that("powers, bases and factors in a formula use the training parameters for new data", {
  formula <- mpg ~ I(wt^2) + poly(hp, 2) + factor(gear) + as.character(cyl):wt
  for (make in list(linear_regressor, function(...) dnn_regressor(3, ...))) {
    model <- make(formula, data = mtcars, model_dir = withr::local_tempdir())
    train(model, mtcars, num_epochs = 20)
    expected <- predict(model, newdata = mtcars)$.pred
    rows <- c(32, 7, 1)
    few <- mtcars[rows, c("wt", "hp", "gear", "cyl")]
    # The tolerance is needed because the matrix product of 3 rows sums in another order than that
    # of 32.
    expect_no_warning(
      expect_equal(predict(model, newdata = few)$.pred, expected[rows], tolerance = 1e-6)
    )
    few$gear[[2]] <- 9
    expect_warning(predict(model, newdata = few), "factor\\(gear\\).*\"9\"")
  }
})

test_that("computed terms of new data are computed as in training", {
  scale_by <- 100
  half <- function(x) x / 2
  model <- linear_regressor(
    mpg ~ scale(wt) + half(hp / scale_by) + poly(drat, 2), data = mtcars,
    model_dir = withr::local_tempdir()
  )
  train(model, mtcars, num_epochs = 10)
  expected <- predict(model, newdata = mtcars)$.pred
  rm(scale_by, half)
  expect_equal(predict(model, newdata = mtcars[3, c("wt", "hp", "drat")])$.pred, expected[[3]])
})

test_that("classifiers take their classes from the response", {
  model <- linear_classifier(Species ~ ., data = iris, model_dir = withr::local_tempdir())
  expect_equal(model$args$n_classes, 3)
  train(model, iris, num_epochs = 60)
  expect_gt(evaluate(model, iris)$accuracy, 0.8)
  tidy <- predict(model, newdata = iris[150:1, 1:4], type = "class")
  expect_gt(mean(tidy$.pred_class == iris$Species[150:1]), 0.8)
  expect_equal(levels(tidy$.pred_class), levels(iris$Species))
  classes <- function(formula, data) {
    model <- dnn_classifier(4, formula, data = data, model_dir = withr::local_tempdir())
    train(model, data)
    evaluate(model, data)
    levels(predict(model, newdata = data)$.pred_class)
  }
  expect_equal(classes(cyl ~ wt, mtcars), c("4", "6", "8"))
  expect_equal(classes(cyl ~ wt, cars_frame()), c("4", "6", "8"))
  expect_equal(classes(am ~ wt, cars_frame()), c("FALSE", "TRUE"))
  expect_equal(classes(am ~ wt, mtcars), c("0", "1"))
})

test_that("wide and deep, baseline and head models accept formulas", {
  data <- cars_frame()
  both <- dnn_linear_combined_classifier(
    am ~ gear * cyl + wt, data = data, dnn_hidden_units = 4
  )
  expect_named(column_classes(both, "linear_feature_columns"), c("gear", "cyl", "wt", "gear:cyl"))
  expect_named(
    column_classes(both, "dnn_feature_columns"), c("gear_indicator", "cyl_indicator", "wt")
  )
  train(both, data)
  expect_equal(nrow(predict(both, newdata = data[2:1, ])), 2)
  apart <- dnn_linear_combined_regressor(
    linear_feature_columns = mpg ~ gear, dnn_feature_columns = ~ wt + hp, dnn_hidden_units = 4,
    data = data
  )
  train(apart, data)
  expect_named(evaluate(apart, data)[1], "average_loss")
  baseline <- baseline_classifier(gear ~ ., data = data)
  train(baseline, data)
  expect_equal(names(predict(baseline, newdata = data))[-1], paste0(".pred_", 3:5))
  head <- linear_estimator(multi_class_head(3), gear ~ wt, data = data)
  suppressMessages(train(head, data))
  expect_equal(levels(predict(head, newdata = data)$.pred_class), c("3", "4", "5"))
  pair <- linear_regressor(cbind(mpg, hp) ~ wt, data = data)
  train(pair, data)
  expect_named(predict(pair, newdata = data), c(".pred_mpg", ".pred_hp"))
})

test_that("new strings in the data are missing values, with one warning", {
  data <- cars_frame()
  model <- linear_regressor(mpg ~ gear + cyl, data = data, model_dir = withr::local_tempdir())
  train(model, data, num_epochs = 10)
  new <- transform(data[1:3, ], gear = factor(c("7", "4", "4")), cyl = c("6", "3", NA))
  warnings <- testthat::capture_warnings(predicted <- predict(model, newdata = new))
  expect_length(warnings, 1)
  expect_match(warnings, "\"gear\": \"7\"")
  expect_match(warnings, "\"cyl\": \"3\"")
  # A new level has no weight; a missing value has no prediction.
  expect_equal(is.na(predicted$.pred), c(FALSE, FALSE, TRUE))
})

test_that("unsupported formulas are errors", {
  data <- cars_frame()
  data$day <- Sys.Date()
  expect_error(linear_regressor(mpg ~ wt), "data.*missing")
  expect_error(linear_regressor(column_numeric("wt"), data = mtcars), "requires a formula")
  expect_error(linear_regressor(~wt, data = data), "response on its left")
  expect_error(dnn_regressor(mpg ~ wt - 1, data = data, hidden_units = 2), "intercept.*mpg ~ wt - 1")
  expect_error(boosted_trees_regressor(mpg ~ 0 + wt, data = data), "intercept")
  expect_error(dnn_regressor(mpg ~ 1, data = data, hidden_units = 2), "no features")
  expect_error(linear_regressor(day ~ wt, data = data), "\"day\".*as.numeric")
  expect_error(linear_regressor(mpg ~ horses, data = data), "no column `horses`")
  expect_error(linear_regressor(gear ~ wt, data = data), "\"gear\".*numbers, not.*a factor.*\"4\"")
  expect_error(linear_classifier(qsec ~ wt, data = data), "at least two classes.*fractions")
  expect_error(linear_classifier(mpg ~ wt, data = transform(data, mpg = 1)), "It has 1")
  expect_error(train(mtcars_model(), mtcars), "input_fn must be a function.*formula")
  model <- linear_regressor(mpg ~ wt + gear, data = data, model_dir = withr::local_tempdir())
  expect_error(train(model, data["wt"]), "\"gear\"", class = "runhooks_error_not_found")
  expect_error(train(model, transform(data, gear = 1)), "\"gear\".*was a factor and is now numbers")
  expect_error(train(model, transform(data, wt = "a")), "\"wt\".*was numbers and is now strings")
  expect_error(train(model, data, batch_size = 0), "batch_size")
})

test_that("a data frame is read as often as the steps need, or as requested", {
  model <- linear_regressor(mpg ~ wt, data = mtcars)
  train(model, mtcars, batch_size = 8, num_epochs = 1)
  expect_equal(variable_value(model, "global_step")[[1]], 4)
  train(model, mtcars, batch_size = 8, steps = 10)
  expect_equal(variable_value(model, "global_step")[[1]], 14)
  train(model, mtcars, batch_size = 8, max_steps = 30)
  expect_equal(variable_value(model, "global_step")[[1]], 30)
  train(model, mtcars, batch_size = 8, steps = 10, num_epochs = 1)
  expect_equal(variable_value(model, "global_step")[[1]], 34)
})

test_that("new data of another type or width are refused with the conversion", {
  data <- transform(mtcars, day = as.Date("2024-01-01") + 0:31)
  model <- linear_regressor(mpg ~ wt + day, data)
  train(model)
  few <- data[1:2, ]
  fails <- function(newdata, message) {
    expect_error(predict(model, newdata), message, class = "runhooks_error")
  }
  fails(transform(few, day = as.character(day)), "Convert it with `as.Date\\(\\)`")
  few$wt <- cbind(few$wt, 1)
  fails(few, "\"wt\" has 2 columns, but it had 1 in training")
  fails(setNames(data, sub("wt", "Wt", names(data))), "Did you mean \"Wt\"")
  expect_error(predict(model, data, se.fit = TRUE), "interval = \"confidence\"")
  expect_error(predict(model, data, typ = "link"), "`predict\\(\\)` has no argument `typ`")
})

test_that("data in a wrong place or of a wrong kind are refused in the words of a formula", {
  model <- linear_regressor(mpg ~ wt, mtcars)
  train(model)
  fails <- function(code, message) {
    expect_error(code, message, class = "runhooks_error_invalid_argument")
  }
  fails(train(model, data = mtcars), "The data are the second argument: `train\\(model, data\\)`")
  fails(evaluate(model, "mtcars"), "must be a data frame, a dataset or an input function")
  fails(train(model, model), "not a model")
  fails(train(model, batch_size = 1:2), "`batch_size` must be a positive whole number")
  fails(predict(model, mtcars, predict_keys = "logits"), "`predict_keys` needs an input function")
  fails(linear_classifier(factor(am) ~ wt, mtcars, n_classes = 3), "has 2 classes, but `n_classes` is 3")
})
