# Missing values in trees go to the side with the better gain, in memory and by batches.

gappy <- function(n = 90, digits = 9) {
  set.seed(72)
  data <- data.frame(
    a = round(rnorm(n), digits), b = round(runif(n), digits), k = sample(1:9, n, TRUE),
    f = sample(c("u", "v", NA), n, TRUE)
  )
  data$y <- (data$a > 0.3) + (data$f %in% NA) + 0.02 * data$k
  # Missing values behave like the largest values of a, and like the smallest of k.
  data$a[seq(1, n, 5)] <- NA
  data$y[is.na(data$a)] <- data$y[is.na(data$a)] + 1
  data$k[seq(2, n, 7)] <- NA
  data$y[is.na(data$k)] <- data$y[is.na(data$k)] - 1
  data
}

gappy_model <- function(data = gappy(), ..., dir = withr::local_tempdir(.local_envir = parent.frame()),
                        formula = y ~ ., batch_size = NULL, steps = NULL) {
  model <- boosted_trees_regressor(
    formula, data, n_trees = 3L, max_depth = 3L, learning_rate = 0.5, model_dir = dir, l2_regularization = 0,
    min_node_weight = 0, ...
  )
  suppressMessages(suppressWarnings(if (is.null(batch_size)) {
    train(model, data, steps = steps)
  } else {
    train(model, data, batch_size = batch_size, shuffle = TRUE)
  }))
  model
}

trees_at <- function(model) variable_value(model, "boosted_trees:0_serialized")[[1]]

test_that("missing values go to the side with the better gain, and are a level of strings", {
  data <- gappy()
  model <- gappy_model(data)
  nodes <- as.data.frame(model)
  of <- function(feature) nodes$missing_goes_left[nodes$feature %in% feature & !grepl("missing", nodes$question)]
  expect_true(any(!of("a")))
  expect_true(all(of("k")))
  expect_true("f is not (missing)" %in% nodes$question)
  # If missing values always go to one side, the model explains less.
  least <- gappy_model(transform(data, a = ifelse(is.na(a), -100, a)))
  expect_lt(evaluate(model, data)$average_loss, evaluate(least, data)$average_loss + 1e-6)
  expect_gt(cor(predict(model, data)$.pred, data$y), 0.95)
  expect_setequal(feature_importances(model)$feature, c("a", "b", "k", "f"))
  parts <- predict(model, data, type = "contributions")
  expect_named(parts, c(".bias", "a", "b", "f", "k"))
  expect_equal(rowSums(parts), predict(model, data)$.pred, tolerance = 1e-5)
})

test_that("trees in memory and by batches agree on missing values", {
  # With few rows, sums equal TensorFlow's bit for bit; with many rows, they are sums of integers.
  for (data in list(gappy(), gappy(9000, digits = 1))) {
    memory <- gappy_model(data)
    batch <- gappy_model(data, batch_size = nrow(data))
    expect_equal(predict(memory, data), predict(batch, data), tolerance = 1e-5)
    nodes <- as.data.frame(memory)
    # If a split separates only missing values, two splits are equivalent.
    if (nrow(data) == 90) expect_equal(nodes, as.data.frame(batch), tolerance = 1e-5)
    expect_true(any(!nodes$missing_goes_left, na.rm = TRUE))
  }
})

test_that("a resumed training with missing values has the same bits", {
  data <- gappy()
  dir <- withr::local_tempdir()
  for (steps in c(2, 3)) gappy_model(data, dir = dir, steps = steps)
  expect_identical(trees_at(gappy_model(data, dir = dir)), trees_at(gappy_model(data)))
})

test_that("NA in predict() is handled, whether or not the training had missing values", {
  data <- gappy()
  full <- data[complete.cases(data), ]
  model <- gappy_model(full)
  expect_null(model$spec$missing_features[1][[1]])
  low <- transform(full, a = -1e6, b = -1e6, k = -1e6)
  expect_identical(predict(model, transform(full, a = NA, b = NA, k = NA)), predict(model, low))
  no_word <- predict(model, transform(full, f = NA))
  expect_warning(
    new <- predict(model, transform(full, f = "new")), class = "runhooks_warning_new_levels"
  )
  expect_identical(no_word, new)
  # If the training data had missing values, a new level counts as missing.
  model <- gappy_model(data)
  suppressWarnings(new <- predict(model, transform(data, f = "new")))
  expect_identical(new, predict(model, transform(data, f = NA)))
  suppressWarnings(new <- predict(model, transform(data, f = "")))
  expect_identical(new, predict(model, transform(data, f = NA)))
})

test_that("a model object on a folder uses the missing values of its training", {
  data <- gappy()
  dir <- withr::local_tempdir()
  model <- gappy_model(data, dir = dir)
  full <- data[complete.cases(data), ]
  again <- boosted_trees_regressor(y ~ ., full, n_trees = 3L, max_depth = 3L, learning_rate = 0.5, model_dir = dir)
  expect_identical(predict(again, data), predict(model, data))
  other <- withr::local_tempdir()
  model <- gappy_model(full, dir = other)
  again <- boosted_trees_regressor(y ~ ., data, n_trees = 3L, max_depth = 3L, learning_rate = 0.5, model_dir = other)
  expect_identical(predict(again, data), predict(model, data))
})

test_that("other NA actions work as for all models", {
  data <- gappy()
  expect_error(gappy_model(data, na.action = na.fail), "have NA", class = "runhooks_error_invalid_argument")
  omitted <- gappy_model(data, na.action = na.omit)
  whole <- gappy_model(data[complete.cases(data), ])
  expect_identical(trees_at(omitted), trees_at(whole))
  expect_error(gappy_model(transform(data, y = ifelse(a > 1, NA, y))), "\"y\"", class = "runhooks_error")
  expect_error(
    linear_regressor(y ~ ., data, na.action = na.pass), "requires a tree model",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("exports, evaluations, interactions, matrices and streams handle missing values", {
  data <- gappy()
  model <- gappy_model(data)
  expect_equal(
    evaluate(model, data)$average_loss, mean((predict(model, data)$.pred - data$y)^2), tolerance = 1e-4
  )
  model <- gappy_model(data, formula = y ~ a:k + I(a^2) + f)
  expect_equal(sum(is.na(predict(model, data)$.pred)), 0)
  wide <- data["y"]
  wide$m <- cbind(data$a, data$k)
  model <- gappy_model(wide)
  expect_true(any(grepl("^m\\[2\\]", as.data.frame(model)$question)))
  expect_equal(sum(is.na(predict(model, wide)$.pred)), 0)

  file <- withr::local_tempfile(fileext = ".csv")
  # Empty fields of a numeric first column are read as NA.
  utils::write.csv(transform(data, k = as.numeric(k)), file, row.names = FALSE, na = "")
  stream <- make_csv_dataset(file, 30, num_epochs = 1, shuffle = FALSE)
  streamed <- suppressMessages(
    boosted_trees_regressor(y ~ ., stream, n_trees = 3L, max_depth = 3L, n_batches_per_layer = 3L)
  )
  expect_setequal(unlist(streamed$spec$missing_features), c("a", "k"))
  suppressMessages(suppressWarnings(train(streamed, stream)))
  expect_gt(cor(predict(streamed, data)$.pred, data$y), 0.8)
})

test_that("columns declare by name which of them may have missing values", {
  data <- gappy()[c("a", "k", "y")]
  data$k <- as.numeric(data$k)
  make <- function(...) {
    boosted_trees_regressor(
      list(column_numeric("a"), column_numeric("k")), n_trees = 2, max_depth = 2,
      n_batches_per_layer = 1, model_dir = withr::local_tempdir(.local_envir = parent.frame(2)), ...
    )
  }
  input <- input_fn(data, features = c(a, k), response = y, batch_size = 90, num_epochs = NULL)
  model <- make(missing_features = c("a", "k"))
  suppressMessages(train(model, input))
  expect_true("a" %in% as.data.frame(model)$feature)
  expect_equal(sum(is.na(predict(model, newdata = data)$.pred)), 0)
  expect_error(train(make(missing_features = "a"), input), "\"k\"", class = "runhooks_error_invalid_argument")
  expect_error(train(make(missing_features = c("a", "k", "z")), input), "contains 'z'", class = "runhooks_error_invalid_argument")
  expect_error(make(missing_features = 1), "names of features", class = "runhooks_error_invalid_argument")
})

test_that("dates, times and time differences are features of trees", {
  set.seed(73)
  n <- 200
  data <- data.frame(day = as.Date("2020-01-01") + sample(n), y = 0)
  data$time <- as.POSIXct("2024-03-01", tz = "UTC") + sample(n)
  data$since <- data$day - as.Date("2019-12-31")
  data$ok <- rnorm(n) > 0
  data$y <- (data$day > as.Date("2020-02-29")) + (data$time > as.POSIXct("2024-03-01", tz = "UTC") + 100)
  question <- function(formula) {
    model <- gappy_model(data, formula = formula)
    unique(as.data.frame(model)$question[as.data.frame(model)$depth == 0])
  }
  expect_match(question(y ~ day), "day <= 2020-0[23]", all = FALSE)
  # float32 cannot represent all seconds since 1970.
  data$y <- as.numeric(data$time > as.POSIXct("2024-03-01", tz = "UTC") + 100)
  expect_match(question(y ~ time), "time <= 2024-03-01 00:01:(39|40) UTC", all = FALSE)
  model <- gappy_model(data, formula = y ~ time)
  expect_gt(cor(predict(model, data)$.pred, data$y), 0.98)
  local <- transform(data, time = as.POSIXlt(time, tz = "Asia/Tokyo"))
  expect_identical(predict(model, local), predict(model, data))
  expect_error(
    predict(model, transform(data, time = as.numeric(time))), "different type than in training",
    class = "runhooks_error_invalid_argument"
  )
  model <- gappy_model(data, formula = y ~ since)
  hours <- transform(data, since = as.difftime(as.numeric(since) * 24, units = "hours"))
  expect_identical(predict(model, hours), predict(model, data))
  expect_match(question(y ~ ok), "ok <= 0", all = FALSE)
})
