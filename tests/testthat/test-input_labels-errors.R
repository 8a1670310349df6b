# Invalid data for canned estimators. The error names column, value and row of the data before
# anything is run or written. Other files test invalid columns (column_categorical), tensors
# (model_heads), and NA in numbers and dates (input_fn, input_labels).

bad_data <- function(n = 30) {
  data.frame(
    x = seq_len(n) / 10, z = rep(c(-1, 0, 1), length.out = n), s = rep(c("a", "b", "c"), n / 3),
    i = rep(0:2, length.out = n), f = factor(rep(c("u", "v"), n / 2)), w = 1,
    two = rep(0:1, n / 2), three = rep(0:2, n / 3), word = rep(c("no", "yes"), n / 2), y = n:1 / n
  )
}

changed <- function(column, row, value, data = bad_data()) {
  data[[column]][[row]] <- value
  data
}

# Batches are shuffled, so the row in a message must be converted to a row of the data.
input_of <- function(response, data, features = c("x", "z", "w")) {
  input_fn(data, features = tidyselect::all_of(features), response = tidyselect::all_of(response),
    batch_size = 7
  )
}

two_numbers <- function() column_numeric("x", "z")

classifiers <- list(
  linear = function(...) linear_classifier(two_numbers(), ...),
  dnn = function(...) dnn_classifier(4, two_numbers(), ...),
  combined = function(...) {
    dnn_linear_combined_classifier(
      linear_feature_columns = two_numbers(), dnn_feature_columns = two_numbers(),
      dnn_hidden_units = 4, ...
    )
  },
  head = function(..., n_classes = 2) {
    head <- if (n_classes == 2) binary_class_head(...) else multi_class_head(n_classes, ...)
    dnn_estimator(head, 4, two_numbers())
  }
)
regressors <- list(
  linear = function(...) linear_regressor(two_numbers(), ...),
  dnn = function(...) dnn_regressor(4, two_numbers(), ...),
  combined = function(...) {
    dnn_linear_combined_regressor(
      linear_feature_columns = two_numbers(), dnn_feature_columns = two_numbers(),
      dnn_hidden_units = 4, ...
    )
  },
  head = function(...) linear_estimator(regression_head(...), two_numbers())
)

# Training rejects the data without writing, and evaluating a trained model gives the same message.
expect_refused <- function(model, bad, good, words) {
  expect_bad <- function(expr) {
    expect_error(suppressMessages(expr), words, class = "runhooks_error_invalid_argument")
  }
  expect_bad(train(model, bad))
  expect_equal(list.files(model_dir(model), all.files = TRUE, no.. = TRUE), character())
  suppressMessages(train(model, good, steps = 1))
  expect_bad(evaluate(model, bad))
}

test_that("labels that are not classes are errors that name column, value and row", {
  data <- bad_data()
  for (make in classifiers) {
    good <- input_of("two", data)
    two <- function(row, value) input_of("two", changed("two", row, value))
    expect_refused(
      make(), two(21, 2L), good, "\"two\".*0 to n_classes - 1, which is 1.*2 in row 21"
    )
    expect_error(train(make(), two(30, -1)), "\"two\".*Got -1 in row 30")
    fraction <- input_of("three", changed("three", 9, 0.5))
    expect_error(train(make(n_classes = 3), fraction), "\"three\".*Got 0.5 in row 9")
    words <- input_of("word", data)
    perhaps <- changed("word", 29, "perhaps")
    model <- make(label_vocabulary = c("no", "yes"))
    expect_refused(
      model, input_of("word", perhaps), words, "\"word\".*label_vocabulary.*\"perhaps\" in row 29"
    )
    perhaps$word <- factor(perhaps$word)
    expect_error(evaluate(model, input_of("word", perhaps)), "\"perhaps\" in row 29")
    expect_error(
      evaluate(model, input_of("word", changed("word", 4, NA))), "\"word\".*1 value is NA.*row 4"
    )
    expect_error(train(make(), words), "\"word\".*class numbers, not strings.*\"no\" in row 1")
  }
})

test_that("classes that count from 1, and labels with several values, are errors with advice", {
  data <- transform(bad_data(), one = two + 1, day = as.Date("2024-01-01"), l = two == 1)
  data$both <- cbind(data$two, data$two)
  data$ragged <- lapply(data$two, function(n) seq_len(n + 1))
  data$l[[5]] <- NA
  model <- function(...) linear_classifier(two_numbers(), ...)
  expect_snapshot_text({
    train(model(), input_of("one", data))
    train(model(), input_of("both", data))
    train(model(), input_of("ragged", data))
    train(model(label_vocabulary = c("no", "yes")), input_of("two", data))
    train(model(), input_of("day", data))
    train(model(), input_of("l", data))
    train(model(), input_of(character(), data))
  })
  data <- bad_data()
  for (response in list(data$two == 1, data$two, as.double(data$two), data$f)) {
    data$response <- response
    expect_no_error(suppressMessages(train(model(), input_of("response", data))))
  }
  # The label of a single logit may be a probability.
  expect_no_error(train(model(), input_of("y", data)))
})

test_that("strings are not labels of regressors", {
  data <- bad_data()
  for (make in regressors) {
    good <- input_of("y", data)
    expect_refused(make(), input_of("word", data), good, "\"word\".*numbers.*strings.*\"no\"")
    expect_error(train(make(), input_of("f", data)), "\"f\".*numbers.*a factor.*\"u\"")
    infinite <- input_of("y", changed("y", 8, 1e39))
    expect_error(train(make(), infinite), "\"y\" must be below 3.4e38.*Got 1e\\+39 in row 8")
  }
  expect_error(
    train(linear_regressor(two_numbers(), label_dimension = 2), input_of("y", data)),
    "\"y\" must have 2 values in each row, not 1.*label_dimension"
  )
})

test_that("errors of heads state which numbers are valid", {
  data <- bad_data()
  head_model <- function(head) linear_estimator(head, two_numbers())
  expect_refused(
    head_model(logistic_regression_head()), input_of("y", changed("y", 12, 1.5)),
    input_of("y", data), "\"y\" must be in the range \\[0, 1\\].*Got 1.5 in row 12"
  )
  expect_refused(
    head_model(poisson_regression_head()), input_of("three", changed("three", 3, -2L)),
    input_of("three", data), "\"three\" must be 0 or more.*Got -2 in row 3"
  )
  partial <- poisson_regression_head(compute_full_loss = FALSE)
  expect_no_error(train(head_model(partial), input_of("z", data)))
  data$flags <- cbind(data$two, 1 - data$two)
  bad <- data
  bad$flags[17, 2] <- 3
  expect_refused(
    head_model(multi_label_head(2)), input_of("flags", bad), input_of("flags", data),
    "\"flags\" must be 0 or 1.*Got 3 in row 17"
  )
})

test_that("lists of strings are labels of a multi-label head", {
  data <- bad_data()
  data$tags <- lapply(seq_len(30), function(i) c("red", "blue")[c(i %% 2 == 0, i %% 3 == 0)])
  data$flags <- cbind(seq_len(30) %% 2 == 0, seq_len(30) %% 3 == 0)
  fit <- function(response, ...) {
    model <- linear_estimator(
      multi_label_head(2, ...), two_numbers(), config = run_config(tf_random_seed = 1)
    )
    train(model, input_of(response, data))
    list(variable_value(model), evaluate(model, input_of(response, data))$auc)
  }
  expect_equal(fit("tags", label_vocabulary = c("red", "blue")), fit("flags"))
  data$tags[[14]] <- c("red", "pink")
  expect_error(
    fit("tags", label_vocabulary = c("red", "blue")),
    "\"tags\".*label_vocabulary.*\"pink\" in row 14"
  )
  expect_error(fit("tags"), "\"tags\" must be class numbers, not strings.*label_vocabulary")
})

test_that("weights are non-negative numbers", {
  data <- bad_data()
  for (make in c(classifiers, regressors[1])) {
    model <- make(weight_column = "w")
    negative <- input_of("two", changed("w", 23, -0.5))
    expect_refused(
      model, negative, input_of("two", data), "weights \"w\".*0 or more.*-0.5 in row 23"
    )
    expect_equal(nrow(predict(model, negative)), 30)
  }
  model <- function(...) linear_regressor(two_numbers(), ...)
  weighted <- function(value) input_of("y", transform(bad_data(), w = value))
  expect_error(
    train(model(weight_column = "w"), weighted("1")), "\"w\" must be numbers, not strings"
  )
  expect_error(
    train(model(weight_column = "w"), weighted(factor("1"))), "\"w\" must be numbers, not a factor"
  )
  expect_error(weighted(c(1, 1, Inf, rep(1, 27))), "\"w\" must be finite numbers.*row 3")
  expect_error(model(weight_column = NA_character_), "weight_column")
  expect_error(
    train(model(weight_column = "nobody"), input_of("y", data)), "nobody.*w, x, z",
    class = "runhooks_error_not_found"
  )
  # The result of a normalizer is checked, not its input.
  turned <- column_numeric("w", normalizer_fn = function(x) -x)
  expect_no_error(train(model(weight_column = turned), weighted(-1)))
  expect_error(train(model(weight_column = turned), weighted(1)), "Got -1 in row 1 of the batch")
})

test_that("a missing feature is an error that names it, in every call", {
  data <- bad_data()
  for (make in c(classifiers[1:3], regressors[4])) {
    model <- make()
    expect_missing <- function(expr) {
      expect_error(expr, "\\bz\\b.*\\bx\\b", class = "runhooks_error_not_found")
    }
    expect_missing(train(model, input_of("two", data, "x")))
    train(model, input_of("two", data))
    expect_missing(evaluate(model, input_of("two", data, "x")))
    expect_missing(predict(model, input_of(character(), data, "x")))
    expect_missing(predict(model, newdata = data["x"]))
    text <- transform(data, x = as.character(x))
    was_numbers <- "\"x\".*was numbers and is now strings.*\"0.1\""
    expect_error(evaluate(model, input_of("two", text)), was_numbers)
    expect_error(predict(model, newdata = text), was_numbers)
  }
})

test_that("two columns for one variable are errors before anything is written", {
  data <- bad_data()
  words <- list(
    column_categorical_with_hash_bucket("s", hash_bucket_size = 9),
    column_categorical_with_vocabulary_list("s", vocabulary_list = c("a", "b"))
  )
  pair <- list(column_numeric("x"), column_numeric("x", default_value = 1))
  dense <- lapply(words, column_indicator)
  models <- list(
    linear_regressor(pair), linear_regressor(words), dnn_regressor(3, pair),
    dnn_classifier(3, dense), linear_estimator(regression_head(), words),
    dnn_linear_combined_regressor(
      linear_feature_columns = pair, dnn_feature_columns = column_numeric("z"), dnn_hidden_units = 3
    ),
    dnn_linear_combined_regressor(
      linear_feature_columns = words[[1]], dnn_feature_columns = dense, dnn_hidden_units = 3
    )
  )
  for (model in models) {
    expect_error(
      train(model, input_of("two", data, c("x", "z", "s"))), "Duplicate feature column name.*'[xs]",
      class = "runhooks_error_invalid_argument"
    )
    expect_equal(list.files(model_dir(model), all.files = TRUE, no.. = TRUE), character())
  }
})

test_that("values that do not fit a column are errors that name the row", {
  data <- bad_data()
  ids <- column_categorical_with_identity("i", num_buckets = 3)
  for (column in list(ids, column_crossed(c(ids, "s"), hash_bucket_size = 9))) {
    model <- linear_regressor(column)
    good <- input_of("y", data, c("i", "s"))
    bad <- changed("i", 26, 7L)
    expect_refused(
      model, input_of("y", bad, c("i", "s")), good, "\"i\" must have ids from 0 to 2.*7 in row 26"
    )
    expect_error(predict(model, newdata = bad), "\"i\" must have ids from 0 to 2.*7 in row 26")
  }
  expect_no_error(train(linear_regressor(ids), input_of("y", changed("i", 26, -1L), "i")))
  large <- input_of("y", changed("x", 5, -1e300), "x")
  expect_error(train(linear_regressor(column_numeric("x")), large), "\"x\".*3.4e38.*row 5")
  # Many rows take another code path.
  for (bad in c(1e39, -Inf)) {
    many <- data.frame(x = c(rnorm(2e4), NA), y = 0)
    many$x[[12345]] <- bad
    many$x[[20001]] <- 0
    input <- function() input_fn(many, features = x, response = y)
    expect_error(train(linear_regressor(column_numeric("x")), input()), "\"x\".*12345")
  }
  logarithm <- column_numeric("x", normalizer_fn = function(x) log(abs(x)))
  expect_no_error(train(linear_regressor(logarithm), large))
  weighted <- column_categorical_weighted(
    column_categorical_with_hash_bucket("s", hash_bucket_size = 9), "f"
  )
  expect_error(
    train(linear_regressor(weighted), input_of("y", data, c("s", "f"))),
    "weights \"f\" must be numbers, not a factor.*\"u\" in row 1"
  )
  data$f <- cbind(data$x, data$x)
  expect_error(
    train(linear_regressor(weighted), input_of("y", data, c("s", "f"))),
    "'s_weighted_by_f'.*feature 'f' has 2 and column 's' 1"
  )
})

test_that("invalid vocabularies and boundaries are errors", {
  file <- withr::local_tempfile(lines = c("1", "two"))
  empty <- withr::local_tempfile(lines = character())
  hide <- function(lines) gsub("'/[^']*'", "'FILE'", lines)
  words <- function(...) column_categorical_with_vocabulary_file("x", ...)
  expect_snapshot_text(transform = hide, {
    words(vocabulary_file = tempdir())
    words(vocabulary_file = empty)
    words(vocabulary_file = file, dtype = tf$int64)
    words(vocabulary_file = file, vocabulary_size = 0)
    column_categorical_with_vocabulary_list("x", vocabulary_list = c(1, 2.5))
    column_categorical_with_vocabulary_list("x", vocabulary_list = list("a", 1))
    column_bucketized(column_numeric("x"), boundaries = c(1, NA, 2))
    column_bucketized(column_numeric("x"), boundaries = c("1", "2"))
    column_categorical_with_hash_bucket("x", hash_bucket_size = NA)
    column_categorical_with_hash_bucket("x", hash_bucket_size = 2.5)
  })
})

test_that("a vocabulary file that changes or disappears is detected", {
  data <- bad_data()
  file <- withr::local_tempfile(lines = c("a", "b"))
  sized <- column_categorical_with_vocabulary_file(
    "s", vocabulary_file = file, vocabulary_size = 2
  )
  model <- linear_regressor(sized)
  train(model, input_of("y", data, "s"))
  writeLines("a", file)
  expect_error(predict(model, newdata = data), "has 1 line, but vocabulary_size is 2")
  unlink(file)
  for (call in list(train, evaluate)) {
    expect_error(
      call(model, input_of("y", data, "s")), "column 's': Cannot read",
      class = "runhooks_error_not_found"
    )
  }
})

test_that("a loss that is not finite ends the training", {
  data <- bad_data()
  for (make in regressors) {
    expect_error(
      train(make(), input_of("y", transform(data, y = y * 3e38))),
      "NaN loss during training.*The loss is infinite",
      class = "runhooks_error_nan_loss"
    )
  }
  steep <- linear_regressor(two_numbers(), optimizer = tf$train$GradientDescentOptimizer(1e30))
  expect_error(
    train(steep, input_of("y", data), steps = 9), "NaN loss", class = "runhooks_error_nan_loss"
  )
})
