# Networks as expressions and SQL: tidypredict and orbital.

skip_on_cran()
skip_if_not_installed("tidypredict")
skip_if_not_installed("dplyr")

network <- function(make, ..., steps = 50) {
  withr::local_seed(7)
  model <- make(...)
  suppressWarnings(suppressMessages(train(model, steps = steps)))
  model
}

# Expects that the greatest difference is small in units of the spread of the predictions.
expect_same <- function(found, expected) {
  expect_identical(is.na(found), is.na(expected))
  size <- pmax(abs(expected), stats::sd(expected, na.rm = TRUE))
  expect_lt(max(abs(found - expected) / size, na.rm = TRUE), 1e-6)
}

test_that("networks with each activation are expressions and SQL", {
  data <- sql_data()
  rows <- gappy(data)
  for (activation in c(list(NULL), names(activation_expressions))) {
    model <- network(
      dnn_regressor, y ~ x + f, data, hidden_units = 2, activation_fn = activation
    )
    expect_same(computed(model, rows)[[1]], predict(model, rows)$.pred)
  }
  model <- network(dnn_regressor, y ~ x + log(w + 1) + f + l, data, hidden_units = c(3, 2))
  expect_same(computed(model, rows)[[1]], predict(model, rows)$.pred)
  # the inputs are far from zero, where exp() overflows
  far <- transform(data, x = 1e5 * x)
  for (activation in c("tanh", "sigmoid", "elu", "selu", "softplus", "swish")) {
    model <- network(
      dnn_regressor, y ~ x, data, hidden_units = 2, activation_fn = activation
    )
    expect_same(computed(model, far)[[1]], predict(model, far)$.pred)
  }
})

test_that("networks of classes and counts are expressions and SQL", {
  data <- sql_data()
  rows <- gappy(data)
  model <- network(dnn_classifier, two ~ x + f, data, hidden_units = 2, batch_norm = TRUE)
  expected <- suppressWarnings(predict(model, rows, type = "prob"))
  expect_same(computed(model, rows)[[1]], expected$.pred_yes)
  model <- network(dnn_classifier, three ~ x + f, data, hidden_units = c(2, 2))
  expected <- suppressWarnings(predict(model, rows, type = "prob"))
  found <- computed(model, rows)
  for (k in 1:3) expect_same(found[[k]], expected[[k]])
  model <- network(
    dnn_estimator, poisson_regression_head(), count ~ x + f, data = data, hidden_units = 2
  )
  expect_same(computed(model, rows)[[1]], predict(model, rows)[[1]])
  model <- network(dnn_regressor, cbind(y, w) ~ x, data, hidden_units = 2)
  found <- computed(model, rows)
  for (k in 1:2) expect_same(found[[k]], predict(model, rows)[[k]])
})

test_that("wide and deep models are expressions and SQL, with new levels and filled values", {
  data <- sql_data()
  data$g <- factor(sample(c("u", "v"), nrow(data), TRUE))
  rows <- gappy(data)
  formula <- y ~ x * f + f:g + l + offset(w / 2)
  model <- network(dnn_linear_combined_regressor, formula, data, dnn_hidden_units = 2)
  levels(rows$f) <- c("a", "b c", "new")
  expect_same(computed(model, rows)[[1]], suppressWarnings(predict(model, rows)$.pred))
  model <- network(
    dnn_linear_combined_classifier, three ~ x + f, rows, dnn_hidden_units = 2, na.action = na.omit
  )
  found <- computed(model, rows)
  expected <- suppressWarnings(predict(model, rows, type = "prob"))
  for (k in 1:3) expect_same(found[[k]], expected[[k]])
  model <- network(dnn_regressor, y ~ x + I(x * w), rows, hidden_units = 2, na.action = "mean")
  expect_false(anyNA(predict(model, rows)))
  expect_same(computed(model, rows)[[1]], predict(model, rows)$.pred)
})

test_that("feature columns of networks are expressions and SQL", {
  data <- sql_data()
  data$f <- as.character(data$f)
  data$id <- sample(0:4, nrow(data), TRUE)
  data$hour <- runif(nrow(data), 0, 24)
  words <- column_categorical_with_vocabulary_list("f", vocabulary_list = c("a", "b c"))
  others <- column_categorical_with_vocabulary_list(
    "f", vocabulary_list = c("a", "d"), default_value = 1
  )
  ids <- column_categorical_with_identity("id", num_buckets = 6)
  cut_points <- c(-0.3, 0.1, 1)
  deep <- list(
    column_numeric("w", default_value = 2), column_embedding(words, 2), column_indicator(ids),
    column_bucketized(column_numeric("x"), boundaries = cut_points), column_cyclic("hour", period = 24)
  )
  wide <- list(others, column_categorical_weighted(ids, weight_feature_key = "w"), column_numeric("x"))
  rows <- data
  rows$f[3:4] <- NA
  rows$w[5] <- rows$x[6] <- NA
  rows$id[8] <- NA
  rows$x[9:11] <- cut_points
  input <- input_fn(y ~ x + w + f + id + hour, data, num_epochs = 5)
  model <- dnn_linear_combined_regressor(
    linear_feature_columns = wide, dnn_feature_columns = deep, dnn_hidden_units = 2
  )
  suppressMessages(train(model, input))
  expect_same(computed(model, rows)[[1]], suppressWarnings(predict(model, rows)$.pred))
  shared <- column_shared_embedding(list(words, others), 2)
  model <- dnn_regressor(c(shared[1], list(column_embedding(ids, 3, max_norm = 0.1))), hidden_units = 2)
  suppressMessages(train(model, input))
  expect_same(computed(model, rows)[[1]], suppressWarnings(predict(model, rows)$.pred))
  model <- linear_regressor(wide)
  suppressMessages(train(model, input))
  expect_same(computed(model, rows)[[1]], suppressWarnings(predict(model, rows)$.pred))
})

test_that("models without an expression are errors that name the cause", {
  data <- sql_data(50)
  invalid <- "runhooks_error_invalid_argument"
  fit <- function(...) tidypredict::tidypredict_fit(network(..., steps = 1))
  deep <- function(...) fit(dnn_regressor, ..., data = data, hidden_units = 2)
  expect_error(deep(y ~ poly(x, 2)), "poly", class = invalid)
  expect_error(deep(y ~ cut(x, 3)), "cut", class = invalid)
  expect_error(deep(y ~ x, activation_fn = "softmax"), "softmax", class = invalid)
  expect_error(deep(y ~ x, activation_fn = function(x) 2 * x), "R function", class = invalid)
  hashed <- column_categorical_with_hash_bucket("f", hash_bucket_size = 10)
  scaled <- column_numeric("x", normalizer_fn = function(x) x / 2)
  for (column in list(column_embedding(hashed, 2), scaled)) {
    model <- dnn_regressor(list(column), hidden_units = 2)
    train(model, input_fn(y ~ x + f, transform(data, f = as.character(f))), steps = 1)
    expect_error(tidypredict::tidypredict_fit(model), "has no expression", class = invalid)
  }
  expect_error(
    fit(dnn_regressor, y ~ x + w, data, hidden_units = c(40, 40, 40)), "orbital", class = invalid
  )
})

test_that("orbital() predicts networks in R and in a database", {
  skip_if_not_installed("orbital", "0.5.0")
  skip_if_not_installed("parsnip", "1.5.0")
  data <- sql_data()
  rows <- gappy(data)
  rows$f <- as.character(rows$f)
  spec <- parsnip::mlp(hidden_units = c(6, 5, 4), epochs = 2, activation = "tanh")
  for (response in c("y", "two", "three")) {
    mode <- if (response == "y") "regression" else "classification"
    engine <- parsnip::set_engine(parsnip::set_mode(spec, mode), "runhooks", seed = 1)
    formula <- stats::reformulate(c("x", "w", "f"), response)
    fitted <- suppressWarnings(suppressMessages(generics::fit(engine, formula, data)))
    type <- if (response == "y") "numeric" else c("class", "prob")
    found <- orbital::orbital(fitted, type = type)
    expected <- lapply(type, function(type) predict(fitted, rows, type = type))
    expected <- as.list(do.call(cbind, expected))
    here <- as.list(predict(found, rows))[names(expected)]
    tables <- list(here)
    for (connection in databases()) {
      DBI::dbWriteTable(connection, "data", rows)
      there <- dplyr::collect(predict(found, dplyr::tbl(connection, "data")))
      tables <- c(tables, list(as.list(there)[names(expected)]))
      DBI::dbDisconnect(connection)
    }
    for (table in tables) {
      for (name in names(expected)) {
        if (is.factor(expected[[name]])) {
          expect_identical(table[[name]], as.character(expected[[name]]))
        } else {
          expect_same(table[[name]], expected[[name]])
        }
      }
    }
  }
})
