# Messages of tree models about unsuitable data, folders and arguments.

ill_data <- function(n = 60) {
  set.seed(74)
  data <- data.frame(x = rnorm(n), f = factor(sample(c("a", "b"), n, TRUE)))
  data$y <- data$x + (data$f == "a")
  data$class <- ifelse(data$y > 0, "yes", "no")
  data
}

fitted_trees <- function(formula = y ~ x + f, data = ill_data(), ...) {
  model <- boosted_trees_regressor(
    formula, data, n_trees = 3L, max_depth = 2L, model_dir = withr::local_tempdir(.local_envir = parent.frame()), ...
  )
  suppressMessages(suppressWarnings(train(model)))
  model
}

test_that("constant features are named in a warning, and the model predicts the mean", {
  data <- transform(ill_data(), x = 1, f = factor("a"))
  model <- boosted_trees_regressor(y ~ x + f, data, n_trees = 3L, max_depth = 2L)
  expect_warning(
    messages <- testthat::capture_messages(train(model)), "No split of the trees reduces the loss",
    class = "runhooks_warning_trees"
  )
  pattern <- "\"f\" \\(a\\),? and \"x\" \\(1\\)"
  expect_match(paste(messages, collapse = ""), pattern)
  expect_equal(predict(model, data)$.pred, rep(mean(data$y), nrow(data)), tolerance = 1e-5)
  # A constant feature with missing values can still be split.
  gappy <- transform(ill_data(), x = ifelse(y > 0, NA, 1))
  model <- fitted_trees(y ~ x, gappy)
  expect_true("x is missing" %in% as.data.frame(model)$question)
})

test_that("invalid labels are errors that name the rows", {
  data <- ill_data()
  data$k <- rep(0:3, 15)
  expect_invalid_response <- function(model, response, words) {
    input <- input_fn(data, features = x, response = tidyselect::all_of(response))
    expect_error(train(model, input), words, class = "runhooks_error_invalid_argument")
    expect_null(latest_checkpoint(model_dir(model)))
  }
  column <- column_numeric("x")
  classes <- function(...) {
    boosted_trees_classifier(column, n_batches_per_layer = 1, ..., model_dir = withr::local_tempdir())
  }
  expect_invalid_response(classes(), "k", "from 0 to n_classes - 1.*Got 2 in row 3")
  expect_invalid_response(classes(n_classes = 3), "k", "Got 3 in row 4")
  expect_invalid_response(classes(label_vocabulary = c("yes", "maybe")), "class", "\"no\"")
  expect_invalid_response(boosted_trees_regressor(column), "class", "must be numbers")
  data$k <- data$k - 1
  expect_invalid_response(
    boosted_trees_estimator(poisson_regression_head(), column), "k", "Got -1 in row 1"
  )
})

test_that("a feature of another type is an error in predict(), and a new level is reported", {
  model <- fitted_trees()
  data <- ill_data()
  expect_error(
    predict(model, transform(data, x = "a")), "\"x\".*numbers and is now strings",
    class = "runhooks_error_invalid_argument"
  )
  expect_error(
    predict(model, transform(data, f = 1)), "\"f\".*a factor and is now numbers",
    class = "runhooks_error_invalid_argument"
  )
  expect_error(predict(model, data["x"]), "\"f\"", class = "runhooks_error_not_found")
  expect_warning(
    new <- predict(model, transform(data, f = "c")), "match no split.*\"f\": \"c\"",
    class = "runhooks_warning_new_levels"
  )
  expect_false(anyNA(new$.pred))
  expect_error(predict(model, transform(data, x = Inf)), "\"x\"", class = "runhooks_error_invalid_argument")
})

test_that("more batches per layer than the data have are reported, and training can resume", {
  data <- ill_data()
  model <- boosted_trees_regressor(
    column_numeric("x"), n_batches_per_layer = 20, n_trees = 1, max_depth = 1,
    model_dir = withr::local_tempdir()
  )
  input <- function(epochs) {
    input_fn(data, features = x, response = y, batch_size = 10, num_epochs = epochs, shuffle = FALSE)
  }
  messages <- capture.output(train(model, input(1)), type = "message")
  expect_match(paste(messages, collapse = " "), "ended after 6 steps, but a layer takes 20 batches")
  expect_equal(nrow(as.data.frame(model)), 0)
  expect_error(feature_importances(model), NA)
  messages <- capture.output(train(model, input(NULL)), type = "message")
  expect_equal(sum(!as.data.frame(model)$is_leaf), 1)
  # For data in memory, each layer uses all rows, whatever the number of batches.
  model <- fitted_trees(n_batches_per_layer = 4L)
  expect_equal(variable_value(model, "global_step")[[1]], 3 * 2 * 4)
})

test_that("an offset is an error that suggests an alternative", {
  for (make in list(
    function(formula) boosted_trees_regressor(formula, ill_data()),
    function(formula) boosted_trees_estimator(formula, ill_data(), head = poisson_regression_head())
  )) {
    expect_error(make(y ~ f + offset(x)), "linear part.*y - a", class = "runhooks_error_invalid_argument")
  }
})

test_that("a tree checkpoint with features that the model lacks is an error", {
  wide <- boosted_trees_regressor(
    list(column_numeric("x"), column_numeric("z")), n_batches_per_layer = 1, n_trees = 4, max_depth = 2,
    model_dir = withr::local_tempdir()
  )
  data <- transform(ill_data(), z = y, x = 0)
  suppressMessages(train(wide, input_fn(data, features = c(x, z), response = y, num_epochs = NULL, batch_size = 60)))
  path <- latest_checkpoint(model_dir(wide))
  narrow <- boosted_trees_regressor(
    column_numeric("x"), n_batches_per_layer = 1, n_trees = 4, max_depth = 2, model_dir = withr::local_tempdir()
  )
  input <- input_fn(data, features = x, batch_size = 60)
  expect_error(
    predict(narrow, input, checkpoint_path = path), "trained with the column 'z', which this model lacks",
    class = "runhooks_error_failed_precondition"
  )
})
