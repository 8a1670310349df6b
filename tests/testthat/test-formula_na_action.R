# Actions for NA in the data of a model: error, drop rows, or replace by constants.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

ozone <- Ozone ~ Solar.R + Wind + Temp

test_that("na.fail names the columns, the rows and the alternatives", {
  error <- expect_error(linear_regressor(ozone, airquality), class = "runhooks_error_invalid_argument")
  text <- conditionMessage(error)
  expect_match(text, "42 of 153 rows have NA")
  expect_match(text, "\"Ozone\": 37 rows, the first is row 5")
  expect_match(text, "\"Solar.R\": 7 rows")
  expect_match(text, "na.action = na.omit")
  expect_match(text, "list\\(Solar.R = 0\\)")
  model <- linear_regressor(mpg ~ wt, mtcars)
  bad <- transform(mtcars, wt = replace(wt, 3, NA))
  expect_error(train(model, bad), "1 of 32 rows has NA.*\"wt\": 1 row, the first is row 3")
  expect_error(evaluate(model, bad), "1 of 32 rows has NA")
  suppressWarnings(
    expect_error(linear_regressor(mpg ~ log(wt), transform(mtcars, wt = wt - 3)), "log\\(wt\\)")
  )
})

test_that("na.omit and na.exclude drop rows, as in lm()", {
  skip_if_not_installed("generics")
  reference <- lm(ozone, airquality)
  model <- linear_regressor(ozone, airquality, na.action = na.omit, model_dir = new_folder())
  expect_message(train(model), "Dropped 42 of 153 rows.*Solar.R.*Ozone",
    class = "runhooks_message_omitted"
  )
  expect_equal(nobs(model), 111)
  expect_equal(coef(model), coef(reference), tolerance = 1e-3)
  expect_equal(fitted(model), fitted(reference), tolerance = 1e-4)
  predicted <- predict(model, newdata = airquality)$.pred
  expect_equal(predicted, unname(predict(reference, airquality)), tolerance = 1e-4)
  expect_equal(sum(is.na(predicted)), 7)
  spread <- linear_regressor(ozone, airquality, na.action = "na.exclude", model_dir = new_folder())
  suppressMessages(train(spread, steps = 10))
  expect_length(fitted(spread), 153)
  expect_equal(sum(is.na(residuals(spread))), 42)
  expect_equal(nrow(generics::augment(spread)), 153)
  expect_equal(nrow(generics::augment(model)), 111)
  expect_error(
    train(model, transform(airquality, Wind = NA_real_)), "All rows have NA"
  )
})

test_that("constants replace NA and are stored", {
  known <- airquality[!is.na(airquality$Ozone), ]
  fit <- function(na.action, data = known, folder = tempfile()) {
    model <- linear_regressor(ozone, data, na.action = na.action, model_dir = folder,
      config = run_config(tf_random_seed = 1)
    )
    train(model, steps = 300, shuffle = FALSE)
    model
  }
  filled <- transform(known, Solar.R = ifelse(is.na(Solar.R), 150, Solar.R))
  complete_fit <- fit(na.fail, filled)
  expect_equal(predict(fit(list(Solar.R = 150)))$.pred, predict(complete_fit)$.pred)
  expect_equal(predict(fit(c(Solar.R = 150)))$.pred, predict(complete_fit)$.pred)
  middle <- mean(known$Solar.R, na.rm = TRUE)
  folder <- new_folder()
  model <- fit("mean", folder = folder)
  expect_equal(predict(model)$.pred, predict(fit(list(Solar.R = middle)))$.pred)
  later <- transform(known[1:3, ], Wind = NA_real_)
  expect_false(anyNA(predict(model, newdata = later)$.pred))
  # A model object that is constructed again from other data uses the stored constants.
  recreated <- linear_regressor(ozone, known[50:60, ], na.action = "mean", model_dir = folder)
  expect_equal(predict(recreated, newdata = later), predict(model, newdata = later))
  expect_false(anyNA(predict(fit("median"))$.pred))
})

test_that("an invalid na.action is an error", {
  model <- function(na.action) linear_regressor(ozone, airquality, na.action = na.action)
  expect_error(model("zero"), "\"zero\".*na.omit.*median")
  expect_error(model(na.pass), "requires a tree model")
  expect_error(model(list(40)), "must be one of")
  expect_error(model(list(Humidity = 3)), "\"Humidity\", which the formula does not use")
  expect_error(model(list(Ozone = 3)), "cannot fill in the response")
  expect_error(model(list(Wind = "much")), "\"much\" for \"Wind\", which is numbers")
  expect_error(model("mean"), "\"Ozone\": 37 rows.*Responses are not filled in")
  expect_error(linear_regressor(column_numeric("a"), na.action = na.omit), "requires a formula")
  expect_error(linear_regressor(column_numeric("a"), normalize = TRUE), "normalizer_fn")
})

test_that("NA in strings is handled like NA in numbers", {
  data <- transform(mtcars, gear = factor(gear), cyl = as.character(cyl))
  data$gear[[2]] <- NA
  data$cyl[[3]] <- NA
  data$cyl[[5]] <- NA
  expect_error(
    linear_regressor(mpg ~ gear + cyl + wt, data),
    "3 of 32 rows have NA.*\"gear\": 1 row, the first is row 2.*\"cyl\": 2 rows.*list\\(gear = \"3\"\\)"
  )
  expect_error(linear_regressor(mpg ~ gear, data, na.action = "mean"), "1 of 32 rows has NA")
  fewer_rows <- linear_regressor(mpg ~ gear * cyl + wt, data, na.action = na.omit, model_dir = new_folder())
  expect_message(train(fewer_rows, steps = 20), "Dropped 3 of 32 rows")
  expect_equal(nobs(fewer_rows), 29)
  expect_equal(which(is.na(predict(fewer_rows, newdata = data)$.pred)), c(2, 3, 5))
  complete <- data[-c(2, 3, 5), ]
  suppressMessages(train(fewer_rows))
  expect_s3_class(summary(fewer_rows), "summary.tf_estimator")
  expect_equal(coef(fewer_rows), coef(lm(mpg ~ gear * cyl + wt, complete)), tolerance = 1e-4)
  words <- linear_regressor(mpg ~ gear, data, na.action = list(gear = "4"), model_dir = new_folder())
  train(words, steps = 20)
  expect_equal(predict(words)$.pred[[2]], predict(words)$.pred[[1]])
  # A missing response is never replaced.
  unknown <- transform(mtcars, am = factor(am))
  unknown$am[[4]] <- NA
  expect_error(linear_classifier(am ~ wt, unknown), "1 of 32 rows has NA.*\"am\"")
  known <- linear_classifier(am ~ wt, unknown, na.action = na.omit, model_dir = new_folder())
  suppressMessages(train(known, steps = 2))
  expect_equal(nobs(known), 31)
  expect_error(suppressMessages(train(known, transform(unknown, am = NA))), "All rows have NA")
})

test_that("terms that cannot be computed with NA are computed from the other rows", {
  model <- linear_regressor(
    Ozone ~ poly(Solar.R, 2) + Wind, airquality, na.action = na.omit, model_dir = new_folder()
  )
  suppressMessages(train(model))
  complete <- airquality[!is.na(airquality$Solar.R), ]
  reference <- lm(Ozone ~ poly(Solar.R, 2) + Wind, complete)
  predicted <- predict(model, newdata = airquality)$.pred
  expect_equal(predicted[!is.na(predicted)], unname(predict(reference, complete)), tolerance = 1e-3)
  expect_equal(is.na(predicted), is.na(airquality$Solar.R))
})

test_that("class predictions also have NA rows", {
  model <- linear_classifier(Species ~ ., iris, model_dir = new_folder())
  train(model, steps = 50)
  new <- iris[c(1, 60, 120), 1:4]
  new[2, 3] <- NA
  predicted <- predict(model, newdata = new)
  expect_equal(is.na(predicted$.pred_class), c(FALSE, TRUE, FALSE))
  expect_equal(predicted[c(1, 3), ], predict(model, newdata = new[c(1, 3), ]))
  none <- predict(model, newdata = transform(new, Sepal.Width = NA_real_))
  expect_equal(dim(none), c(3, 4))
  expect_true(all(is.na(none)))
})

test_that("column_numeric(default_value = ) replaces NA; without it, NA is an error", {
  data <- transform(mtcars, wt = replace(wt, c(2, 5), NA))
  full <- transform(mtcars, wt = replace(wt, c(2, 5), 3))
  fit <- function(column, data) {
    model <- linear_regressor(
      column, model_dir = tempfile(), config = run_config(tf_random_seed = 1)
    )
    train(model, input_fn(mpg ~ wt, data), steps = 1)
    model
  }
  model <- fit(column_numeric("wt", default_value = 3), data)
  expect_equal(variable_value(model), variable_value(fit(column_numeric("wt"), full)))
  expect_equal(predict(model, newdata = data), predict(model, newdata = full))
  expect_error(
    fit(column_numeric("wt"), data), "\"wt\".*2 values are NA.*first in row 2.*default_value"
  )
  plain <- fit(column_numeric("wt"), full)
  expect_equal(which(is.na(predict(plain, newdata = data)$.pred)), c(2, 5))
  pair <- data.frame(y = 1:3)
  pair$x <- cbind(c(1, NA, 3), c(4, 5, NA))
  complete_fit <- data.frame(y = 1:3)
  complete_fit$x <- cbind(c(1, 7, 3), c(4, 5, 8))
  wide <- linear_regressor(
    column_numeric("x", shape = 2, default_value = c(7, 8)), model_dir = new_folder()
  )
  train(wide, input_fn(pair, features = "x", response = "y"))
  expect_equal(predict(wide, newdata = pair), predict(wide, newdata = complete_fit))
})

test_that("a row with a missing weight counts as incomplete", {
  data <- transform(mtcars, w = replace(qsec, c(1, 7), NA))
  folder <- withr::local_tempdir()
  expect_error(linear_regressor(mpg ~ wt, data, weight_column = "w"), "2 of 32 rows.*\"w\"")
  model <- linear_regressor(
    mpg ~ wt, data, weight_column = "w", na.action = na.omit, model_dir = folder
  )
  expect_message(train(model), "Dropped 2 of 32 rows.*\"w\"")
  reference <- lm(mpg ~ wt, data, weights = w)
  expect_equal(coef(model), coef(reference), tolerance = 1e-5)
  expect_equal(fitted(model), fitted(reference), tolerance = 1e-5)
  expect_equal(nobs(model), 30)
  expect_false(anyNA(predict(model, newdata = data)$.pred))
})
