# "" and NA as levels of strings and factors in formulas.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

blank_data <- function(n = 60) {
  set.seed(1)
  f <- sample(c("", "q", "r"), n, TRUE)
  data.frame(y = rnorm(n) + (f == ""), f = f, k = factor(sample(c("b", ""), n, TRUE)), x = rnorm(n))
}

test_that("an empty string is a level of strings and factors, as in lm()", {
  data <- blank_data()
  for (formula in list(y ~ f, y ~ k + x, y ~ f * k, y ~ f:x)) {
    for (action in list(na.fail, na.omit, "mean")) {
      model <- linear_regressor(formula, data, na.action = action, model_dir = new_folder())
      train(model)
      reference <- lm(formula, data)
      expect_equal(nobs(model), 60)
      expect_equal(coef(model), coef(reference), tolerance = 1e-4)
      expect_equal(predict(model, data[1:9, ])$.pred, unname(predict(reference, data[1:9, ])), tolerance = 1e-4)
    }
  }
  one <- predict(model, data.frame(f = "", x = 2))$.pred
  expect_equal(one, unname(predict(reference, data.frame(f = "", x = 2))), tolerance = 1e-4)
  band <- predict(model, data[1:3, ], interval = "confidence")
  expect_equal(
    unname(as.matrix(band)), unname(predict(reference, data[1:3, ], interval = "confidence")),
    tolerance = 1e-3
  )
  restored <- withr::local_tempfile(fileext = ".rds")
  saveRDS(model, restored)
  expect_identical(predict(readRDS(restored), data), predict(model, data))
})

test_that("NA next to an empty string is missing, and only NA is filled in", {
  data <- blank_data()
  data$f[c(4, 7)] <- NA
  expect_error(linear_regressor(y ~ f, data), "2 of 60 rows have NA.*row 4", class = "runhooks_error")
  model <- linear_regressor(y ~ f, data, na.action = na.omit, model_dir = new_folder())
  suppressMessages(train(model))
  expect_equal(coef(model), coef(lm(y ~ f, data)), tolerance = 1e-4)
  expect_equal(which(is.na(predict(model, data)$.pred)), c(4, 7))
  filled <- linear_regressor(y ~ f, data, na.action = list(f = "q"), model_dir = new_folder())
  train(filled)
  reference <- lm(y ~ f, transform(data, f = replace(f, is.na(f), "q")))
  expect_equal(coef(filled), coef(reference), tolerance = 1e-4)
  blank <- linear_regressor(y ~ f, data, na.action = list(f = ""), model_dir = new_folder())
  train(blank)
  reference <- lm(y ~ f, transform(data, f = replace(f, is.na(f), "")))
  expect_equal(coef(blank), coef(reference), tolerance = 1e-4)
})

test_that("an empty string that training has not seen is a new level", {
  data <- blank_data()
  model <- linear_regressor(y ~ f, subset(data, f != ""), model_dir = new_folder())
  train(model)
  expect_warning(
    new <- predict(model, data.frame(f = c("", "q"))), "\"f\": \"\"",
    class = "runhooks_warning_new_levels"
  )
  expect_false(anyNA(new$.pred))
})

test_that("an empty string is a level of deep models, classifiers and trees", {
  data <- blank_data(200)
  data$y <- 3 * (data$f == "") + (data$k == "")
  data$c <- ifelse(data$f == "", "yes", "no")
  means <- predict(lm(y ~ f + k, data), data)
  deep <- dnn_regressor(y ~ f + k, data, hidden_units = 8, model_dir = new_folder())
  train(deep)
  expect_equal(predict(deep, data)$.pred, unname(means), tolerance = 0.1)
  trees <- boosted_trees_regressor(y ~ f + k, data, n_trees = 20, model_dir = new_folder())
  train(trees)
  expect_gt(cor(predict(trees, data)$.pred, means), 0.99)
  expect_true("f is not \"\"" %in% as.data.frame(trees)$question)
  missing <- data
  missing$f[1:9] <- NA
  missing$y[1:9] <- 10
  for (action in list(na.omit, na.pass)) {
    trees <- boosted_trees_regressor(y ~ f + k, missing, n_trees = 20, na.action = action, model_dir = new_folder())
    suppressMessages(train(trees))
    # NA is missing, and not ""
    expect_gt(cor(predict(trees, data[10:200, ])$.pred, means[10:200]), 0.95)
    at <- predict(trees, data.frame(f = c("", NA), k = "b"))$.pred
    if (identical(action, na.pass)) expect_gt(abs(diff(at)), 0.5) else expect_equal(is.na(at), c(FALSE, TRUE))
  }
  classes <- linear_classifier(c ~ k + x, data, model_dir = new_folder())
  train(classes)
  expect_equal(coef(classes), coef(glm(factor(c) ~ k + x, binomial, data)), tolerance = 1e-3)
})

test_that("x and y, input functions and exports accept the level of an empty string", {
  data <- blank_data()
  model <- linear_regressor(x = data["f"], y = data$y, model_dir = new_folder())
  train(model)
  expect_equal(coef(model), coef(lm(y ~ f, data)), tolerance = 1e-4)
  recreated <- linear_regressor(y ~ f, data, model_dir = new_folder())
  train(recreated, input_fn(data, f, y, batch_size = 60, num_epochs = NULL), steps = 100)
  expect_equal(coef(recreated), coef(lm(y ~ f, data)), tolerance = 1e-3)
  rows <- predict(recreated, input_fn(data[1:5, ], f))
  expect_equal(unlist(rows), predict(recreated, data[1:5, ])$.pred, ignore_attr = TRUE)
  loaded <- load_savedmodel(export_savedmodel(recreated, new_folder()))
  served <- unlist(predict(loaded, data[1:5, "f", drop = FALSE], signature = "predict"))
  expect_equal(as.vector(served), predict(recreated, data[1:5, ])$.pred, tolerance = 1e-5)
})

na_data <- function(n = 60) {
  set.seed(1)
  f <- sample(c("p", "q", NA), n, TRUE)
  data.frame(y = rnorm(n) + is.na(f), f = addNA(f), g = f, x = rnorm(n), k = gl(2, n / 2))
}

test_that("NA is a level of factors that have it, as in lm()", {
  data <- na_data()
  new <- data.frame(f = c(NA, "q"), g = c(NA, "q"), x = 1, k = "2")
  formulas <- list(
    y ~ f, y ~ f + x, y ~ f:x, y ~ f * k, y ~ addNA(g), y ~ factor(g, exclude = NULL)
  )
  for (formula in formulas) {
    model <- linear_regressor(formula, data, model_dir = new_folder())
    train(model)
    reference <- lm(formula, data)
    expect_equal(nobs(model), 60)
    expect_equal(coef(model), coef(reference), tolerance = 1e-4)
    expect_equal(predict(model, new)$.pred, unname(predict(reference, new)), tolerance = 1e-4)
    expect_equal(
      predict(model, new, interval = "confidence")$.pred_lower,
      unname(predict(reference, new, interval = "confidence")[, "lwr"]), tolerance = 1e-3
    )
  }
  restored <- withr::local_tempfile(fileext = ".rds")
  saveRDS(model, restored)
  expect_identical(predict(readRDS(restored), new), predict(model, new))
})

test_that("a level NA without rows changes nothing", {
  data <- na_data()
  data <- data[!is.na(data$g), ]
  model <- linear_regressor(y ~ f + x, data, model_dir = new_folder())
  train(model)
  expect_equal(coef(model), coef(lm(y ~ f + x, data)), tolerance = 1e-4)
  classes <- linear_classifier(f ~ x, data, model_dir = new_folder())
  train(classes)
  expect_equal(coef(classes), coef(glm(f ~ x, binomial, data)), tolerance = 1e-3)
  expect_error(linear_classifier(f ~ x, na_data()), "rows have NA.*\"f\"", class = "runhooks_error")
})

test_that("NA is a level of deep models and trees, and of models that are made again", {
  data <- na_data(200)
  data$y <- 3 * is.na(data$g) + (data$k == "1")
  deep <- dnn_regressor(y ~ f + k, data, hidden_units = 8, model_dir = new_folder())
  train(deep)
  expect_equal(predict(deep, data)$.pred, data$y, tolerance = 0.1)
  for (action in list(na.fail, na.pass)) {
    folder <- new_folder()
    make <- function(data) {
      boosted_trees_regressor(y ~ f + k, data, n_trees = 20, na.action = action, model_dir = folder)
    }
    trees <- make(data)
    train(trees)
    expect_gt(cor(predict(trees, data)$.pred, data$y), 0.99)
    expect_true("f is not (NA)" %in% as.data.frame(trees)$question)
    expect_identical(predict(trees, transform(data, f = g)), predict(trees, data))
    recreated <- make(data[data$f %in% "p", ])
    expect_identical(predict(recreated, data), predict(trees, data))
  }
})

test_that("a level NA that training has not seen is missing", {
  data <- na_data()
  model <- linear_regressor(y ~ g, data, na.action = na.omit, model_dir = new_folder())
  suppressMessages(train(model))
  missing <- is.na(predict(model, transform(data, g = f))$.pred)
  expect_identical(missing, is.na(data$g))
})

test_that("input functions and exports accept the level NA", {
  data <- na_data()
  model <- linear_regressor(y ~ f, data, model_dir = new_folder())
  train(model, input_fn(data, f, y, batch_size = 60, num_epochs = NULL), steps = 100)
  expect_equal(coef(model), coef(lm(y ~ f, data)), tolerance = 1e-3)
  rows <- predict(model, input_fn(data[1:5, ], f))
  expect_equal(unlist(rows), predict(model, data[1:5, ])$.pred, ignore_attr = TRUE)
  expect_equal(evaluate(model, input_fn(data, f, y))$average_loss, mean(residuals(lm(y ~ f, data))^2), tolerance = 1e-4)
})
