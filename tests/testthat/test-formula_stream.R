# Formulas on data that are read in chunks give the same numbers as a data frame, in bounded memory.

# Creates data of three chunks, in which rare values occur only in the last ones.
many_rows <- function(n = 20000) {
  set.seed(22)
  data <- data.frame(
    x = rexp(n) + 0.01, z = 1e4 + rnorm(n), k = sample(8:10, n, TRUE),
    g = sample(c("b", "d"), n, TRUE), big = rep(c(TRUE, FALSE), length.out = n)
  )
  data$k[n - 1:3] <- 7L
  data$g[n - 5:9] <- "a"
  data$z2 <- data$z + rnorm(n) / 100
  data$y <- 1e5 + 2 * log(data$x) + (data$g == "a") + data$k + rnorm(n)
  data$class <- c("no", "yes")[(data$y > mean(data$y)) + 1]
  data$class[n - 20:30] <- "maybe"
  data
}

# Creates a model from a data frame and one from a stream of the same rows.
twins <- function(make, formula, data, ..., stream = tensor_slices_dataset(data), env = parent.frame()) {
  folders <- c(withr::local_tempdir(.local_envir = env), withr::local_tempdir(.local_envir = env))
  frame <- make(formula, data = data, ..., model_dir = folders[1])
  withr::local_options(runhooks.values_in_memory = 0)
  suppressMessages(
    stream <- make(formula, data = stream, ..., model_dir = folders[2]),
    classes = "runhooks_message_learned"
  )
  list(frame = frame, stream = stream)
}

train_both <- function(models, steps = 30) {
  withr::local_options(runhooks.values_in_memory = 0)
  for (model in models) {
    suppressMessages(
      train(model, steps = steps, batch_size = 50, shuffle = FALSE),
      classes = c("runhooks_message_stream", "runhooks_message_omitted")
    )
  }
}

expect_twins <- function(models, data) {
  train_both(models)
  expect_equal(variable_value(models$stream), variable_value(models$frame), tolerance = 1e-4)
  subset <- data[c(1:50, nrow(data) - 0:50), ]
  expected <- predict(models$frame, newdata = subset)
  expect_equal(predict(models$stream, newdata = subset), expected, tolerance = 1e-5)
  rows <- tensor_slices_dataset(subset) %>% dataset_batch(16)
  expect_equal(predict(models$stream, newdata = rows), expected, tolerance = 1e-5)
  metrics <- evaluate(models$frame, subset)
  expect_equal(
    evaluate(models$stream, rows), metrics, tolerance = 1e-5, ignore_attr = TRUE
  )
}

test_that("levels, scales and collinearity match those of a data frame", {
  data <- many_rows()
  formulas <- list(
    y ~ log(x) + z + z2 + factor(k) * g + big, y ~ x:g + z:x + g:factor(k) + I(z^2),
    log(y) ~ (x + z)
  )
  for (formula in formulas) {
    models <- twins(linear_regressor, formula, data)
    expect_equal(
      models$stream$blueprint, models$frame$blueprint, tolerance = 1e-6,
      info = deparse(formula)
    )
    expect_equal(nobs(models$stream), 20000)
  }
  expect_twins(twins(linear_regressor, formulas[[1]], data), data)
})

test_that("all formula models accept streams", {
  data <- many_rows()
  expect_twins(twins(linear_classifier, class ~ log(x) + g, data), data)
  config <- run_config(tf_random_seed = 3)
  deep <- twins(function(...) dnn_regressor(8, ..., config = config), y ~ log(x) + g, data)
  expect_twins(deep, data)
  wide <- function(...) dnn_linear_combined_classifier(..., dnn_hidden_units = 4, config = config)
  expect_twins(twins(wide, class ~ x + factor(k) * g, data), data)
  data$count <- rpois(nrow(data), 2)
  counts <- function(...) linear_estimator(poisson_regression_head(), ...)
  expect_twins(twins(counts, count ~ x + g, data), data)
})

test_that("a stream that fits into memory is read once, like a data frame", {
  rows <- tensor_slices_dataset(mtcars)
  model <- linear_regressor(mpg ~ wt + factor(cyl), rows, model_dir = withr::local_tempdir())
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ wt + factor(cyl), mtcars)), tolerance = 1e-4)
  expect_s3_class(model$data, "data.frame")
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(mtcars, file, row.names = FALSE)
  csv <- make_csv_dataset(file, 5, label_name = "mpg", num_epochs = 1, shuffle = FALSE)
  model <- linear_regressor(mpg ~ wt + factor(cyl), csv, model_dir = withr::local_tempdir())
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ wt + factor(cyl), mtcars)), tolerance = 1e-4)
  other <- linear_regressor(mpg ~ wt + factor(cyl), mtcars, model_dir = withr::local_tempdir())
  train(other, csv)
  expect_equal(coef(other), coef(model), tolerance = 1e-5)
})

test_that("rows with NA are treated like those of a data frame", {
  data <- many_rows(10000)
  data$x[c(3, 9000)] <- NA
  data$g[c(5, 9100)] <- NA
  stream <- tensor_slices_dataset(data)
  withr::local_options(runhooks.values_in_memory = 0)
  error <- expect_error(linear_regressor(y ~ x + g, stream), class = "runhooks_error_invalid_argument")
  expect_match(conditionMessage(error), "4 of 10000 rows have NA", fixed = TRUE)
  expect_match(conditionMessage(error), "\"x\": 2 rows, the first is row 3", fixed = TRUE)
  for (action in list(na.omit, list(x = 2, g = "b"))) {
    models <- twins(linear_regressor, y ~ log(x) + g, data, na.action = action)
    expect_equal(models$stream$blueprint, models$frame$blueprint, tolerance = 1e-6)
    expect_twins(models, data[c(1, 2, 4, 6:10000), ])
  }
  data$g[is.na(data$g)] <- "b"
  models <- twins(linear_regressor, y ~ log(x) + g, data, na.action = "mean")
  expect_equal(models$stream$blueprint, models$frame$blueprint, tolerance = 1e-6)
  expect_error(
    linear_regressor(y ~ x + g, stream, na.action = "median"), "needs all rows in memory", fixed = TRUE
  )
  models <- twins(linear_regressor, y ~ log(x) + g, data, na.action = na.omit)
  expect_message(train(models$stream, steps = 2), class = "runhooks_message_omitted")
})

test_that("empty fields of a CSV are NA for a formula, and TensorFlow's 0 for other models", {
  file <- withr::local_tempfile(fileext = ".csv")
  cars <- mtcars
  cars$g <- rep(c("a", "b"), 16)
  cars$wt[3] <- NA
  cars$cyl[5] <- NA
  cars$g[7] <- NA
  write.csv(cars, file, row.names = FALSE, na = "")
  expected <- coef(lm(mpg ~ wt + cyl + g, cars))
  spec <- csv_record_spec(file)
  expect_identical(unname(setNames(spec$types, spec$names)[c("wt", "cyl")]), c("float32", "int32"))
  sources <- list(
    lines = text_line_dataset(file, record_spec = spec),
    behind = dataset_shuffle(dataset_take(text_line_dataset(file, record_spec = spec), 32), 5),
    decoded = dataset_decode_delim(dataset_skip(text_line_dataset(file), 1), spec),
    csv = make_csv_dataset(file, 5, label_name = "mpg", num_epochs = 1),
    ahead = make_csv_dataset(file, 5, num_epochs = 1, prefetch_buffer_size = 2, shuffle = FALSE)
  )
  for (name in names(sources)) {
    source <- sources[[name]]
    for (limit in c(1e6, 0)) {
      withr::local_options(runhooks.values_in_memory = limit)
      error <- expect_error(linear_regressor(mpg ~ wt + cyl + g, source), info = name)
      expect_match(conditionMessage(error), "3 of 32 rows have NA", fixed = TRUE)
    }
    withr::local_options(runhooks.values_in_memory = 1e6)
    model <- linear_regressor(
      mpg ~ wt + cyl + g, source, na.action = na.omit, model_dir = withr::local_tempdir()
    )
    train(model)
    expect_equal(coef(model), expected, tolerance = 1e-4, info = name)
  }
  collected <- dataset_collect(sources$ahead, 1)[[1]]
  expect_identical(c(collected$wt[3], collected$cyl[5]), c(0, 0))
  own <- csv_record_spec(file, defaults = as.list(ifelse(spec$types == "string", "b", 3)))
  model <- linear_regressor(
    mpg ~ wt + cyl + g, text_line_dataset(file, record_spec = own), model_dir = withr::local_tempdir()
  )
  train(model)
  cars[is.na(cars)] <- 3
  cars$g[7] <- "b"
  expect_equal(coef(model), coef(lm(mpg ~ wt + cyl + g, cars)), tolerance = 1e-4)
})

test_that("operations that need all rows are errors for a stream", {
  withr::local_options(runhooks.values_in_memory = 0)
  data <- many_rows(9000)
  stream <- tensor_slices_dataset(data)
  refused <- function(expr, words) {
    error <- expect_error(expr, class = "runhooks_error_invalid_argument")
    expect_match(gsub("\\s+", " ", conditionMessage(error)), words, fixed = TRUE)
  }
  for (term in c("poly(x, 2)", "scale(x)", "I(x - mean(x))", "cut(x, 3)", "cumsum(x)", "rank(x)")) {
    formula <- stats::reformulate(term, "y")
    refused(linear_regressor(formula, stream), "depends on all rows")
  }
  expect_no_error(linear_regressor(y ~ poly(x, 2, raw = TRUE) + cut(x, c(0, 1, Inf)), stream))
  refused(linear_regressor(y ~ x, dataset_repeat(stream)), "never end")
  refused(linear_regressor(y ~ x, range_dataset(0, 3)), "must be records: named lists")
  refused(linear_regressor(y ~ x, dataset_take(stream, 0)), "The data have no rows")
  refused(linear_regressor(stream), "needs a formula")
  model <- suppressMessages(linear_regressor(y ~ x, stream, model_dir = withr::local_tempdir()))
  suppressMessages(train(model, steps = 2))
  for (method in list(coef, summary, residuals, fitted, vcov, confint, logLik)) {
    refused(method(model), "needs the rows in memory, but the data of this model are a stream of 9,000 rows")
  }
  # These methods work if the data fit into memory.
  withr::local_options(runhooks.values_in_memory = 1e6)
  expect_length(residuals(model), 9000)
  columns <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  refused(train(columns, stream), "requires a model from a formula")
  # Messages about a row of a chunk also give its number in the data.
  data$x[8999] <- Inf
  error <- expect_error(linear_regressor(y ~ x, tensor_slices_dataset(data)))
  withr::local_options(runhooks.values_in_memory = 0)
  refused(linear_regressor(y ~ x, tensor_slices_dataset(data)), "Row 1 is row 8,193 of the data")
})

test_that("the order of levels is that of the whole stream", {
  withr::local_options(runhooks.values_in_memory = 0)
  data <- data.frame(y = rnorm(9000), k = rep(c(10, 8), c(8500, 500)))
  data$k[9000] <- 9
  levels_of <- function(formula) {
    model <- suppressMessages(linear_regressor(formula, tensor_slices_dataset(data)))
    model$blueprint$variables[[1]]$levels
  }
  expect_identical(levels_of(y ~ factor(k)), c("8", "9", "10"))
  expect_identical(levels_of(y ~ factor(k, levels = c(9, 8, 10))), c("9", "8", "10"))
  expect_identical(levels_of(y ~ cut(k, c(7, 8, 9, 10))), c("(7,8]", "(8,9]", "(9,10]"))
  data$g <- letters[data$k]
  expect_identical(levels_of(y ~ factor(g)), c("h", "i", "j"))
  error <- expect_error(levels_of(y ~ factor(g, levels = rev(sort(unique(g))))))
  expect_match(conditionMessage(error), "Specify the levels", fixed = TRUE)
})

test_that("a formula model trains on an input function of a dataset, and resumes", {
  cars <- transform(mtcars, am = c("auto", "manual")[am + 1])
  batches <- tensor_slices_dataset(cars) %>% dataset_batch(8)
  model <- linear_regressor(mpg ~ log(wt) + factor(cyl), mtcars, model_dir = withr::local_tempdir())
  input <- input_fn(batches, features = c(wt, cyl), response = mpg)
  train(model, input)
  expect_equal(nrow(predict(model, newdata = mtcars)), 32)
  expect_equal(
    evaluate(model, input)$average_loss, evaluate(model, mtcars)$average_loss, tolerance = 1e-5
  )
  expect_equal(
    unlist(predict(model, input)$predictions), predict(model, newdata = mtcars)$.pred,
    tolerance = 1e-5
  )
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ log(wt) + factor(cyl), mtcars)), tolerance = 1e-3)
  recreated <- linear_regressor(mpg ~ log(wt) + factor(cyl), mtcars, model_dir = model_dir(model))
  expect_equal(predict(recreated, newdata = cars), predict(model, newdata = cars))
  classes <- linear_classifier(am ~ log(wt), cars, model_dir = withr::local_tempdir())
  train(classes, input_fn(batches, features = wt, response = am))
  expect_identical(levels(predict(classes, newdata = cars)$.pred_class), c("auto", "manual"))
  expect_error(
    train(model, input_fn(batches, features = wt, response = mpg)), "lacks \"cyl\"", fixed = TRUE
  )
  expect_error(
    train(model, input_fn(batches, features = c(wt, cyl), response = hp)), "predicts \"mpg\"",
    fixed = TRUE
  )
})

test_that("validation, early stopping and exports match those of a model on a data frame", {
  withr::local_options(runhooks.values_in_memory = 0)
  data <- many_rows(9000)
  stream <- tensor_slices_dataset(data)
  model <- suppressMessages(
    linear_regressor(y ~ log(x) + g, stream, model_dir = withr::local_tempdir())
  )
  history <- suppressMessages(train(model, steps = 20, validation = stream))
  expect_true(is.finite(history$validation$average_loss[1]))
  spec <- eval_spec(stream, steps = 2)
  suppressMessages(train_and_evaluate(model, train_spec(stream, max_steps = 25), spec))
  exported <- suppressMessages(export_savedmodel(model, withr::local_tempdir()))
  expect_true(dir.exists(exported))
})

test_that("a database query is a stream", {
  skip_if_not_installed("RSQLite") # suggested
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  # A pass that was not completed leaves an open result, about which the database warns.
  withr::defer(suppressWarnings(DBI::dbDisconnect(connection)))
  data <- many_rows(9000)[c("y", "x", "g")]
  DBI::dbWriteTable(connection, "t", data)
  table <- sql_dataset(connection, "SELECT * FROM t ORDER BY rowid")
  models <- twins(linear_regressor, y ~ log(x) + g, data, stream = table)
  expect_equal(models$stream$blueprint, models$frame$blueprint, tolerance = 1e-6)
  expect_twins(models, data)
  expect_error(linear_regressor(y ~ x, connection), "not the connection", fixed = TRUE)
})

test_that("NULL of a database is NA for a formula", {
  skip_if_not_installed("RSQLite") # suggested
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(suppressWarnings(DBI::dbDisconnect(connection)))
  cars <- transform(mtcars, g = rep(c("a", "b"), 16), gear = as.integer(gear))
  cars$wt[3] <- NA
  cars$gear[4] <- NA
  cars$g[5] <- NA
  DBI::dbWriteTable(connection, "cars", cars)
  table <- sql_dataset(connection, "SELECT * FROM cars ORDER BY rowid")
  for (limit in c(1e6, 0)) {
    withr::local_options(runhooks.values_in_memory = limit)
    error <- expect_error(linear_regressor(mpg ~ wt + gear + g, table))
    expect_match(conditionMessage(error), "3 of 32 rows have NA", fixed = TRUE)
  }
  expect_error(dataset_collect(table), "NULL in row 4", fixed = TRUE)
  withr::local_options(runhooks.values_in_memory = 1e6)
  model <- linear_regressor(
    mpg ~ wt + gear + g, table, na.action = na.omit, model_dir = withr::local_tempdir()
  )
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ wt + gear + g, cars)), tolerance = 1e-4)
})

test_that("a dbplyr table is a stream, including its pending operations", {
  skip_if_not_installed("RSQLite") # suggested
  skip_if_not_installed("dbplyr") # suggested
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(suppressWarnings(DBI::dbDisconnect(connection)))
  DBI::dbWriteTable(connection, "cars", mtcars)
  table <- dplyr::mutate(
    dplyr::filter(dplyr::tbl(connection, "cars"), hp > 100), heavy = wt * 1000
  )
  strong <- transform(mtcars[mtcars$hp > 100, ], heavy = wt * 1000)
  model <- linear_regressor(mpg ~ heavy + factor(cyl), table, model_dir = withr::local_tempdir())
  train(model)
  expect_equal(coef(model), coef(lm(mpg ~ heavy + factor(cyl), strong)), tolerance = 1e-4)
  expect_equal(predict(model, table), predict(model, newdata = strong))
  expect_equal(evaluate(model, table)$average_loss, evaluate(model, strong)$average_loss)
  withr::local_options(runhooks.values_in_memory = 0)
  rows <- suppressMessages(
    linear_regressor(mpg ~ heavy + factor(cyl), table, model_dir = withr::local_tempdir())
  )
  suppressMessages(train(rows, steps = 5))
  expect_equal(nrow(predict(rows, table)), nrow(strong))
})

test_that("training resumes within a stream", {
  withr::local_options(runhooks.values_in_memory = 0)
  data <- many_rows(9000)
  run <- function(parts) {
    model <- suppressMessages(
      linear_regressor(y ~ log(x) + g, tensor_slices_dataset(data),
        model_dir = withr::local_tempdir(.local_envir = parent.frame()),
        config = run_config(tf_random_seed = 5)
      )
    )
    for (steps in parts) suppressMessages(train(model, steps = steps, batch_size = 500))
    variable_value(model)
  }
  expect_identical(run(c(7, 30)), run(37))
})

test_that("memory use does not depend on the number of rows", {
  skip_if_not(file.exists("/proc/self/clear_refs")) # the kernel can reset its peak counter
  file <- withr::local_tempfile(fileext = ".csv")
  withr::local_options(runhooks.values_in_memory = 0)
  peak <- function(copies) {
    block <- sprintf("%d,%.5f,word-%d-of-many", 1:10000, rnorm(10000), 1:10000 %% 50)
    connection <- file(file, "w")
    writeLines("y,x,g", connection)
    for (i in seq_len(copies)) writeLines(block, connection)
    close(connection)
    gc()
    writeLines("5", "/proc/self/clear_refs")
    data <- text_line_dataset(file, record_spec = csv_record_spec(file))
    model <- suppressMessages(linear_regressor(y ~ x + g, data, model_dir = withr::local_tempdir()))
    suppressMessages(train(model, num_epochs = 1, batch_size = 2000))
    line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024
  }
  peak(2)
  subset <- peak(2)
  expect_lt(peak(20) - subset, 12)
})
