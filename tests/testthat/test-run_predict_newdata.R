# predict(newdata = ) returns one typed row per row of the data.

test_that("regressors return numbers", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 3)
  tidy <- predict(model, newdata = mtcars)
  expect_s3_class(tidy, "tbl_df")
  expect_named(tidy, ".pred")
  expect_equal(tidy$.pred, unlist(predict(model, mtcars_input())$predictions))
  expect_equal(predict(model, mtcars), tidy) # in the position of the input function
  expect_equal(predict(model, newdata = mtcars[5:1, c("cyl", "drat")])$.pred, tidy$.pred[5:1])
  expect_equal(predict(model, newdata = as.matrix(mtcars)), tidy)
  expect_equal(predict(model, newdata = mtcars[0, ]), tidy[0, ])
  expect_equal(predict(model, newdata = mtcars, type = "numeric"), tidy)
  expect_equal(nrow(predict(model, newdata = mtcars[rep(1:32, 80), ])), 2560)
})

test_that("several label dimensions are numbered", {
  data <- list(x = c(1, 2, 3), y = cbind(c(1, 2, 3), c(6, 4, 2)))
  model <- linear_regressor(
    column_numeric("x"), label_dimension = 2, model_dir = withr::local_tempdir()
  )
  train(model, input_fn(data, features = x, response = y), steps = 1)
  tidy <- predict(model, newdata = data["x"])
  expect_named(tidy, c(".pred_1", ".pred_2"))
  cells <- predict(model, input_fn(data, features = x))$predictions
  expect_equal(unname(as.matrix(tidy)), do.call(rbind, lapply(cells, as.vector)))
  expect_named(predict(model, newdata = list(x = numeric())), c(".pred_1", ".pred_2"))
})

test_that("classifiers return a factor and probabilities", {
  words <- transform(mtcars, gear = c("three", "four", "five")[gear - 2])
  model <- dnn_classifier(
    4, column_numeric("wt", "hp"), n_classes = 3, label_vocabulary = c("three", "four", "five"),
    model_dir = withr::local_tempdir(), config = run_config(tf_random_seed = 1)
  )
  train(model, input_fn(gear ~ wt + hp, words, num_epochs = 3))
  tidy <- predict(model, newdata = mtcars)
  expect_named(tidy, c(".pred_class", ".pred_three", ".pred_four", ".pred_five"))
  expect_s3_class(tidy$.pred_class, "factor")
  expect_equal(levels(tidy$.pred_class), c("three", "four", "five"))
  expect_equal(rowSums(tidy[-1]), rep(1, 32), tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(as.integer(tidy$.pred_class), max.col(as.matrix(tidy[-1])))
  expect_equal(predict(model, newdata = mtcars, type = "class"), tidy[1])
  expect_equal(predict(model, newdata = mtcars, type = "prob"), tidy[-1])
  expect_equal(predict(model, newdata = mtcars[0, ]), tidy[0, ])
  shown <- predict(model, input_fn(gear ~ wt + hp, words))
  expect_equal(as.character(tidy$.pred_class), unlist(shown$classes))
})

test_that("head estimators work like other models", {
  columns <- column_numeric("wt")
  binary <- linear_estimator(binary_class_head(), columns, model_dir = withr::local_tempdir())
  factors <- transform(mtcars, am = factor(am, labels = c("auto", "manual")))
  suppressMessages(train(binary, input_fn(am ~ wt, factors), steps = 1))
  expect_named(predict(binary, newdata = mtcars), c(".pred_class", ".pred_auto", ".pred_manual"))
  poisson <- linear_estimator(
    poisson_regression_head(), columns, model_dir = withr::local_tempdir()
  )
  train(poisson, input_fn(carb ~ wt, mtcars), steps = 1)
  expect_true(all(predict(poisson, newdata = mtcars)$.pred > 0))
  labels <- list(wt = mtcars$wt, y = cbind(mtcars$am, mtcars$vs) == 1)
  several <- linear_estimator(multi_label_head(2), columns, model_dir = withr::local_tempdir())
  train(several, input_fn(labels, features = wt, response = y), steps = 1)
  expect_named(predict(several, newdata = mtcars), c(".pred_0", ".pred_1"))
  baseline <- baseline_regressor(model_dir = withr::local_tempdir())
  train(baseline, input_fn(mpg ~ wt, mtcars), steps = 5)
  expect_equal(nrow(predict(baseline, newdata = mtcars["mpg"])), 32)
})

test_that("computed features are computed for new data", {
  model <- linear_regressor(column_numeric("log(hp)"), model_dir = withr::local_tempdir())
  train(model, input_fn(mpg ~ log(hp), mtcars), steps = 1)
  expect_equal(
    predict(model, newdata = mtcars)$.pred,
    unlist(predict(model, input_fn(mpg ~ log(hp), mtcars))$predictions)
  )
})

test_that("incompatible arguments are errors", {
  model <- mtcars_model()
  expect_error(
    predict(model, newdata = mtcars["drat"]), "lack a feature.*\"cyl\"",
    class = "runhooks_error_not_found"
  )
  expect_error(predict(model, newdata = mtcars["wt"]), "\"drat\" and \"cyl\"")
  expect_error(predict(model, newdata = mtcars, input_fn = mtcars_input()), "Give either")
  expect_error(predict(model, mtcars_input(), type = "prob"), "needs a data frame")
  expect_error(predict(model, newdata = mtcars, type = "class"), "type.*\"numeric\"")
  expect_error(predict(model, newdata = 1:3), "newdata.*data frame")
  bad <- transform(mtcars, drat = replace(drat, c(2, 7), c(NA, Inf)))
  expect_error(predict(model, newdata = bad), "\"drat\".*the first in row 7")
  head <- multi_head(list(regression_head(name = "a"), regression_head(name = "b")))
  expect_error(
    predict(linear_estimator(head, column_numeric("wt")), newdata = mtcars), "one head"
  )
})

test_that("a number that leaves float32 inside the model gives one warning", {
  data <- transform(mtcars, gear = factor(gear), two = factor(vs))
  rows <- data[1:4, ]
  rows$wt[2] <- 1e200
  rows$hp[3:4] <- c(-1e200, NA)
  infinite <- "runhooks_warning_infinite"
  models <- list(
    dnn_regressor(mpg ~ wt + hp, data, hidden_units = c(4, 4), activation_fn = NULL),
    dnn_classifier(gear ~ wt + hp, data, hidden_units = 4, activation_fn = NULL),
    linear_classifier(two ~ wt + hp + qsec, data)
  )
  for (model in models) {
    suppressWarnings(suppressMessages(train(model, steps = 5)))
    labels <- model_labels(model)
    types <- if (labels$n_classes > 0) list(NULL, "class", "prob") else list(NULL, "response")
    for (type in types) {
      for (i in 1:2) {
        warnings <- testthat::capture_warnings(found <- predict(model, rows, type = type))
        expect_length(warnings, 1)
        expect_match(warnings, "row [23] is")
        expect_false(is.nan(found[[1]][[4]]))
      }
    }
    expect_no_warning(predict(model, data))
    complete <- rows[1:3, ]
    expect_warning(evaluate(model, complete), "loss of the evaluation", class = infinite)
  }
  # if the probabilities are NaN, no class is the most probable one
  expect_true(is.na(suppressWarnings(predict(models[[2]], rows[2:3, ], type = "class"))[[1]][[2]]))
  input <- input_fn(mpg ~ wt + hp, rows[1:3, ], shuffle = FALSE)
  expect_warning(predict(models[[1]], input), "row 2 is", class = infinite)
  expect_warning(evaluate(models[[1]], input), class = infinite)
})

test_that("a prediction that is too large for float32 gives a warning", {
  model <- linear_regressor(mpg ~ wt, mtcars)
  train(model)
  data <- data.frame(wt = c(2, 1e39))
  for (i in 1:3) {
    expect_warning(
      predictions <- predict(model, data), "row 2 is -Inf", class = "runhooks_warning_infinite"
    )
    expect_identical(is.finite(predictions$.pred), c(TRUE, FALSE))
  }
  counts <- linear_estimator(carb ~ wt, mtcars, head = poisson_regression_head())
  train(counts)
  expect_warning(
    predict(counts, data.frame(wt = 1e5)), "row 1 is Inf", class = "runhooks_warning_infinite"
  )
  expect_silent(predict(counts, data.frame(wt = 1e5), type = "link"))
})

test_that("the second argument is newdata, and functions are input functions in any place", {
  expect_equal(names(formals(predict.tf_estimator))[1:2], c("object", "newdata"))
  model <- linear_regressor(mpg ~ wt, mtcars)
  suppressMessages(train(model))
  expected <- predict(model, newdata = mtcars)
  expect_equal(predict(model, mtcars), expected)
  expect_equal(predict(model, input_fn = mtcars), expected)
  expect_equal(predict(model, tensor_slices_dataset(mtcars)), expected)
  expect_equal(predict(model, as.matrix(mtcars)), expected)
  expect_equal(predict(model), expected)
  input <- input_fn(mpg ~ wt, mtcars)
  keyed <- predict(model, input)
  expect_equal(unlist(keyed$predictions), expected$.pred)
  expect_equal(predict(model, input_fn = input), keyed)
  expect_equal(predict(model, newdata = input), keyed)
  plain <- function() dataset_batch(tensor_slices_dataset(mtcars["wt"]), 32)
  columns <- linear_regressor(column_numeric("wt"), model_dir = withr::local_tempdir())
  train(columns, input, steps = 1)
  expect_equal(nrow(predict(columns, plain)), 32)
  expect_named(predict(columns, mtcars), ".pred")
  for (wrong in list(c(wt = 3), 5, "a")) {
    expect_error(
      predict(model, wrong), "`newdata` must be a data frame", class = "runhooks_error_invalid_argument"
    )
  }
  expect_error(predict(model, mtcars, input_fn = input), "not both", class = "runhooks_error")
  expect_error(predict(columns), "`newdata` is missing", class = "runhooks_error")
})

test_that("intervals and deviances of several responses have their names", {
  model <- linear_regressor(cbind(mpg, qsec) ~ wt, mtcars)
  train(model)
  shown <- predict(model, mtcars[1:2, ], interval = "confidence")
  expect_named(shown[1:3], c(".pred_mpg", ".pred_lower_mpg", ".pred_upper_mpg"))
  expect_equal(deviance(model), deviance(lm(cbind(mpg, qsec) ~ wt, mtcars)), tolerance = 1e-5)
})
