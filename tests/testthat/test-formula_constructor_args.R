# The order of constructor arguments, and errors about unsupported ones.

test_that("formula and data can come first, second, or by name", {
  same <- function(...) {
    for (model in list(...)) {
      expect_equal(formula(model), mpg ~ wt, ignore_formula_env = TRUE)
      expect_equal(model$data, mtcars[c("mpg", "wt")])
      expect_named(model$blueprint$terms, "wt")
    }
  }
  same(
    linear_regressor(mpg ~ wt, mtcars), linear_regressor(formula = mpg ~ wt, data = mtcars),
    linear_regressor(mpg ~ wt, data = mtcars), linear_regressor(data = mtcars, mpg ~ wt),
    mtcars %>% linear_regressor(mpg ~ wt, data = .)
  )
  same(
    dnn_regressor(mpg ~ wt, mtcars, c(4, 2)), dnn_regressor(c(4, 2), mpg ~ wt, data = mtcars),
    dnn_regressor(mpg ~ wt, mtcars, hidden_units = c(4, 2)), dnn_regressor(c(4, 2), mpg ~ wt, mtcars),
    dnn_regressor(formula = mpg ~ wt, data = mtcars, hidden_units = 3),
    dnn_regressor(mpg ~ wt, c(4, 2), data = mtcars)
  )
  same(
    linear_estimator(regression_head(), mpg ~ wt, mtcars),
    linear_estimator(mpg ~ wt, mtcars, head = regression_head()),
    linear_estimator(mpg ~ wt, mtcars, regression_head()),
    dnn_linear_combined_regressor(mpg ~ wt, mtcars, dnn_hidden_units = 4),
    dnn_linear_combined_regressor(formula = mpg ~ wt, data = mtcars, dnn_hidden_units = 4)
  )
  expect_equal(
    formula(baseline_regressor(mpg ~ wt, mtcars)), mpg ~ wt, ignore_formula_env = TRUE
  )
})

test_that("a missing argument is an error that shows what to write", {
  expect_error(linear_regressor(), "feature_columns.*mpg ~ wt, data.*column_numeric\\(\"wt\"\\)")
  expect_error(linear_regressor(data = mtcars), "`formula` is missing")
  expect_error(linear_regressor(mtcars), "A data frame needs a formula")
  expect_error(linear_regressor(mpg ~ wt), "`data` is missing: a formula needs a data frame")
  expect_error(dnn_regressor(mpg ~ wt, data = mtcars), "hidden_units.*hidden_units = c\\(16, 8\\)")
  expect_error(dnn_classifier(), "hidden_units")
  expect_error(linear_estimator(mpg ~ wt, mtcars), "`head` is missing.*regression_head")
  expect_error(linear_regressor(formula = "mpg", data = mtcars), "must be a formula")
  expect_error(linear_regressor(mpg ~ wt, mtcars, data = mtcars), "given twice")
  expect_error(linear_regressor(mpg ~ wt, formula = mpg ~ hp, data = mtcars), "given twice")
  expect_error(linear_regressor(mpg ~ wt, mtcars, weight_column = "w"), "\"w\"")
})

test_that("an unknown argument is an error that names the right place", {
  refused <- function(says, ...) {
    expect_error(linear_regressor(mpg ~ wt, mtcars, ...), says, class = "runhooks_error_invalid_argument")
  }
  refused("no argument `epochs`.*train\\(model, data, num_epochs = 5\\)", epochs = 5)
  refused("train\\(model, data, batch_size = 8\\)", batch_size = 8)
  refused("weight_column = \"hp\"", weights = hp)
  refused("Did you mean `learning_rate`", lr = 0.1)
  refused("Did you mean `optimizer`", optimiser = "Adam")
  refused("poisson_regression_head", family = poisson)
  refused("Prepare the data", subset = cyl == 4)
  refused("Did you mean `normalize`", standardize = TRUE)
  refused("Its arguments are", unheard = 1)
  refused("Give the penalty to the optimizer", l2 = 1)
  refused("are for classifiers", class_weights = c(1, 2))
  refused("hook_learning_rate", learning_rate = function(step) 0.1)
  expect_error(linear_regressor(mpg = wt, mtcars), "write `mpg ~ wt`")
  expect_error(boosted_trees_regressor(mpg ~ wt, mtcars, nrounds = 5), "Did you mean `n_trees`")
  expect_error(
    dnn_regressor(mpg ~ wt, mtcars, hidden_units = c(8, 0)), "one for each layer; element 2 is 0"
  )
  expect_error(dnn_regressor(mpg ~ wt, mtcars, units = c(4, 2)), "Did you mean `hidden_units`")
  model <- linear_regressor(mpg ~ wt, mtcars)
  expect_error(train(model, mtcars, epochs = 3), "no argument `epochs`.*num_epochs")
  expect_error(train(model, mtcars, learning_rate = 1), "to the constructor")
  expect_error(train(model, validation_split = 0.2), "validation = data\\[test, \\]")
  expect_error(train(model, mtcars, batchsize = 8), "Did you mean `batch_size`")
  expect_error(predict(model, new_data = mtcars), "`new_data`.*predict\\(model, data\\)")
  expect_error(predict(model, newdata = mtcars, kind = 3), "no argument `kind`.*Its arguments are")
})

test_that("mean() and sd() in a normalizer are errors that show what to write", {
  for (f in list(
    function(x) (x - mean(x)) / sd(x), function(x) x / sd(x), function(x) x / max(x),
    function(x) scale(x), function(x) x - median(x)
  )) {
    model <- linear_regressor(column_numeric("wt", normalizer_fn = f))
    expect_error(
      train(model, input_fn(mpg ~ wt, mtcars)), "a tensor has no values.*m <- mean\\(data\\$x\\)"
    )
  }
})

test_that("an unnamed formula is matched to the formula argument at any position", {
  folder <- withr::local_tempdir()
  model <- dnn_linear_combined_regressor(mpg ~ wt, mtcars, dnn_hidden_units = 4, model_dir = folder)
  expect_length(model$args$linear_feature_columns, 1)
  expect_length(model$args$dnn_feature_columns, 1)
  expect_error(
    dnn_regressor(mpg ~ wt, mtcars, hidden_units = "8"), "`hidden_units` must be", fixed = TRUE,
    class = "runhooks_error_invalid_argument"
  )
})

test_that("a list of columns is accepted as data, as in lm(), and other objects are errors", {
  columns <- as.list(mtcars[c("mpg", "wt")])
  model <- linear_regressor(mpg ~ wt, columns)
  expect_named(model$data, c("mpg", "wt"))
  folder <- withr::local_tempdir()
  expect_equal(model_dir(linear_regressor(mpg ~ wt, columns, model_dir = folder)), folder)
  invalid <- "runhooks_error_invalid_argument"
  for (wrong in list(3, as.environment(columns), mean)) {
    expect_error(linear_regressor(mpg ~ wt, wrong), "`data` must be a data frame", class = invalid)
  }
  expect_error(linear_regressor(mpg ~ wt, model_dir = 3, data = columns), "single string", class = invalid)
})

test_that("a formula that uses no column of the data is an error", {
  ys <- rnorm(32)
  xs <- rnorm(32)
  expect_error(
    linear_regressor(ys ~ xs, mtcars), "reads no column of `data`", class = "runhooks_error_not_found"
  )
  expect_silent(linear_regressor(mpg ~ xs, mtcars))
})

test_that("errors of formulas and arguments name what to write", {
  data <- data.frame(y = c(1, 3, 2), x = c(2, 1, 5), g = c("a", "b", "a"))
  fails <- function(code, message) expect_error(code, message, class = "runhooks_error")
  fails(linear_regressor(no_such_name, data), "write a formula: `linear_regressor\\(y ~ x, data\\)`")
  fails(linear_regressor(y ~ x^g, data), "`y ~ x\\^g` is invalid.*invalid power")
  fails(linear_regressor(y ~ x[1:2], data), "It has 2 values, but the data have 3 rows")
  fails(linear_regressor(y ~ x + strata(g), data), "Terms such as `strata\\(\\)`")
  fails(linear_regressor(y ~ ns(x, 2), data), "Write `splines::ns\\(x, 2\\)`")
  fails(dnn_regressor(y ~ x, data, hidden_units = 1, seed = 3), "run_config\\(tf_random_seed = 3\\)")
  model <- linear_regressor(data$y ~ data$x, data)
  train(model)
  fails(predict(model, data[1:2, ]), "Write `x`, the name of the column")
})
