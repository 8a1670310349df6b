# Errors for arguments that the user probably confused with another argument.

words_of <- function(expr, class = "runhooks_error_invalid_argument") {
  error <- expect_error(expr, class = class)
  gsub("\\s+", " ", conditionMessage(error))
}

test_that("an incompatible model in a folder is compared by its columns first", {
  folder <- withr::local_tempdir()
  make <- function(formula, data = mtcars, maker = linear_regressor, ...) {
    maker(formula, data = data, model_dir = folder, ...)
  }
  first <- make(mpg ~ wt + hp)
  wider <- make(mpg ~ wt + qsec)
  other <- make(qsec ~ wt + hp)
  deep <- make(mpg ~ wt + hp, maker = dnn_regressor, hidden_units = 4)
  heavy <- make(mpg ~ wt + hp, transform(mtcars, wt = 2 * wt))
  train(first)
  precondition <- "runhooks_error_failed_precondition"
  expect_match(words_of(train(wider), precondition), "trained without the column 'qsec'")
  expect_match(words_of(predict(wider, newdata = mtcars), precondition), "column 'hp'")
  expect_match(words_of(evaluate(other, mtcars), precondition), "to predict 'mpg', not 'qsec'")
  expect_match(words_of(train(deep), precondition), "trained as linear_regressor\\(\\)")
  plain <- linear_regressor(mpg ~ wt + hp, mtcars, model_dir = folder)
  same_folder <- quote(update(plain, . ~ . + qsec, model_dir = folder))
  expect_match(words_of(eval(same_folder), precondition), "without the column 'qsec'")
  words <- words_of(train(heavy))
  expect_match(words, "wt: mean 3.217 and standard deviation 0.9631? there, mean 6.434")
  expect_no_match(words, "hp: mean")
})

expect_no_match <- function(text, words) expect_false(grepl(words, text))

test_that("empty data, swapped arguments and data in place of strings are named as such", {
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  for (expr in list(
    quote(train(model, mtcars[0, ])), quote(evaluate(model, mtcars[0, ])),
    quote(linear_regressor(mpg ~ wt, mtcars[0, ]))
  )) expect_match(words_of(eval(expr)), "The data have no rows")
  expect_match(words_of(train(mpg ~ wt)), "model <- linear_regressor(mpg ~ wt, data)", fixed = TRUE)
  expect_match(words_of(train(mtcars, model)), "Put the model first: `train(model, data)`", fixed = TRUE)
  expect_match(words_of(evaluate(mtcars, model)), "`evaluate(model, data)`", fixed = TRUE)
  expect_match(words_of(train(mtcars)), "Create a model from the data", fixed = TRUE)
  expect_match(words_of(text_line_dataset(mtcars)), "tensor_slices_dataset(data)", fixed = TRUE)
  expect_match(words_of(load_savedmodel(mtcars)), "single string, not a data frame", fixed = TRUE)
})

test_that("R functions that need values name the alternative for tensors", {
  ds <- tensor_slices_dataset(data.frame(age = c(20L, 31L, 112L), s = c("a", "b", "c")))
  words <- function(f) words_of(dataset_map(ds, f))
  expect_match(words(function(r) if (r$age > 30) 1 else 0), "tf$where(test, yes, no)", fixed = TRUE)
  expect_match(words(function(r) ifelse(r$age > 30, 1, 0)), "tf$where(test, yes, no)", fixed = TRUE)
  expect_match(words(function(r) pmax(r$age, 30)), "tf$maximum()", fixed = TRUE)
  expect_match(words(function(r) which(r$age > 30)), "tf$where()", fixed = TRUE)
  expect_error(dataset_map(ds, function(r) if (NA) 1), "missing value", class = "simpleError")
  expect_match(words(function(r) paste0(r$s, "x")), "tf$strings$join()", fixed = TRUE)
  expect_match(words(function(r) paste(r$s, "x")), "tf$string_join(", fixed = TRUE)
  expect_match(words(function(r) r$age > 3 && TRUE), "`a & b`", fixed = TRUE)
  expect_match(words(function(r) while (r$age > 3) 1), "on_values(", fixed = TRUE)
  # Errors of the user's function are not changed.
  expect_error(dataset_map(ds, function(r) stop("mine")), "mine", class = "simpleError")
  mean_of <- function(f) unlist(dataset_collect(dataset_map(dataset_batch(ds, 3), f)))
  expect_equal(mean_of(function(r) mean(r$age)), mean(c(20, 31, 112)))
  expect_equal(mean_of(function(r) mean(r$age > 25)), 2 / 3)
  expect_equal(mean_of(function(r) tf$reduce_mean(r$age)), 54)
})

test_that("unused arguments of methods are errors, and residuals() matches glm()", {
  model <- linear_regressor(mpg ~ wt, mtcars, weight_column = "hp", model_dir = withr::local_tempdir())
  train(model)
  for (method in list(
    coef, vcov, confint, sigma, deviance, df.residual, logLik, residuals, fitted, summary, nobs, formula
  )) expect_match(words_of(method(model, nope = 1)), "has no argument `nope`")
  expect_match(words_of(residuals(model, type = "partial")), "`type` must be")
  theirs <- lm(mpg ~ wt, mtcars, weights = hp)
  for (type in c("response", "pearson", "deviance", "working")) {
    expect_equal(residuals(model, type = type), residuals(theirs, type), tolerance = 1e-3)
  }
  classes <- linear_classifier(am ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(classes)
  theirs <- glm(am ~ wt, binomial, mtcars)
  for (type in c("response", "pearson", "deviance", "working")) {
    expect_equal(residuals(classes, type = type), residuals(theirs, type), tolerance = 1e-2)
  }
  collinear <- linear_regressor(
    mpg ~ wt + I(2 * wt), mtcars, model_dir = withr::local_tempdir()
  )
  train(collinear)
  expect_length(coef(collinear, complete = FALSE), 2)
  expect_equal(dim(vcov(collinear, complete = FALSE)), c(2L, 2L))
  expect_equal(dim(vcov(collinear)), c(3L, 3L))
})

test_that("train() warns of more weights than rows if there is no validation data", {
  deep <- function(width) {
    dnn_regressor(mpg ~ wt + hp, mtcars, hidden_units = width, model_dir = withr::local_tempdir(
      .local_envir = parent.frame()
    ))
  }
  many <- deep(8) # 2 * 8 + 8 + 8 + 1
  expect_message(
    train(many, steps = 1), "more weights (33) than rows (32)", fixed = TRUE,
    class = "runhooks_message_few_rows"
  )
  expect_no_message(train(many, steps = 1), class = "runhooks_message_few_rows")
  expect_no_message(train(deep(7), steps = 1), class = "runhooks_message_few_rows")
  expect_no_message(
    train(deep(8), mtcars[1:24, ], steps = 1, validation = mtcars[25:32, ]),
    class = "runhooks_message_few_rows"
  )
})

test_that("constant features are named when training begins", {
  data <- data.frame(y = c(1, 2, 4), x = 1:3, z = 3, g = c("a", "b", "a"))
  model <- linear_regressor(y ~ x + z, data, model_dir = withr::local_tempdir())
  expect_message(train(model, steps = 1), "\"z\" (3)", fixed = TRUE, class = "runhooks_message_constant")
  column <- column_categorical_with_vocabulary_list("g", vocabulary_list = c("A", "B"))
  model <- linear_regressor(column, model_dir = withr::local_tempdir())
  input <- input_fn(data, features = g, response = y)
  expect_message(
    train(model, input), "No value of \"g\" is in the vocabulary", class = "runhooks_message_no_match"
  )
  messages <- testthat::capture_messages(train(model, input))
  expect_false(any(grepl("vocabulary", messages)))
})

test_that("labels and predictions of shapes that broadcast to a square raise a warning", {
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  train(model, steps = 2)
  square <- add_metrics(model, function(labels, predictions) {
    list(off = tf$metrics$mean(tf$abs(tf$cast(labels, "float32") - predictions$predictions)))
  })
  plain <- add_metrics(model, function(labels, predictions) {
    list(mae = tf$metrics$mean_absolute_error(labels, predictions$predictions))
  })
  expect_no_warning(evaluate(plain, mtcars))
  direct <- add_metrics(model, function(labels, predictions) {
    list(off = tf$metrics$mean(labels - tf$cast(predictions$predictions, "float64")))
  })
  expect_warning(evaluate(direct, mtcars), class = "runhooks_warning_broadcast")
})

test_that("a history of evaluations may have none", {
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  hook <- hook_history_saver(evaluations = TRUE)
  history <- train(model, validation = mtcars, hooks = hook, max_steps = 3)
  expect_gt(nrow(history$evaluations), 0)
  history <- suppressMessages(train(model, validation = mtcars, hooks = hook, max_steps = 3))
  expect_equal(nrow(history$evaluations), 0)
})

test_that("an R function that cannot take tensors is named in a model_fn, too", {
  model <- estimator(function(features, labels, mode) {
    if (features$wt > 3) 1 else 0
  })
  expect_error(train(model, input_fn(mtcars, wt, mpg)), "tf$where(test, yes, no)", fixed = TRUE)
})
