# Empty fields and NULL are NA for formula models, also after transformations of the dataset.

new_folder <- function() withr::local_tempdir(.local_envir = parent.frame())

gappy_csv <- function() {
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = parent.frame())
  writeLines(c("y,x,i,s", "1,2.5,3,a", "2,,,b", "3,4,5,", "4,5.5,6,c", "5,6,8,a", "7,7,7,b"), file)
  file
}

test_that("dataset_map() and similar functions pass on NA of empty fields", {
  csv <- make_csv_dataset(gappy_csv(), batch_size = 2, num_epochs = 1, shuffle = FALSE)
  more <- function(r) {
    r$x <- 2 * r$x
    r$i <- r$i + 1L
    r
  }
  mapped <- dataset_map(csv, more)
  # Without a formula, the values are those that TensorFlow reads.
  expect_identical(as.vector(dataset_collect(mapped)[[1]]$x), c(5, 0))
  expect_identical(as.vector(dataset_collect(mapped)[[1]]$i), c(4L, 1L))
  for (formula in list(y ~ x, y ~ i, y ~ x + s)) {
    expect_error(linear_regressor(formula, mapped), "has? NA|have NA", class = "runhooks_error")
  }
  model <- linear_regressor(y ~ x + i, mapped, na.action = na.omit, model_dir = new_folder())
  suppressMessages(train(model))
  data <- data.frame(y = c(1, 3, 4, 5, 7), x = 2 * c(2.5, 4, 5.5, 6, 7), i = c(3, 5, 6, 8, 7) + 1)
  expect_equal(coef(model), coef(lm(y ~ x + i, data)), tolerance = 1e-4)
  positive <- dataset_filter(mapped, function(r) tf$reduce_all(r$y > 0L))
  expect_error(linear_regressor(y ~ i, positive), "\"i\": 1 row", class = "runhooks_error")
  rows <- dataset_flat_map(mapped, tensor_slices_dataset)
  expect_error(linear_regressor(y ~ i, rows), "\"i\": 1 row", class = "runhooks_error")
})

test_that("a function that drops NA is reported", {
  csv <- make_csv_dataset(gappy_csv(), batch_size = 2, num_epochs = 1, shuffle = FALSE)
  odd <- dataset_map(csv, function(r) {
    r$g <- tf$gather(c(10, 20, 30, 40, 50, 60, 70, 80, 90), r$i)
    r["y" == names(r) | "g" == names(r)]
  })
  expect_message(
    model <- linear_regressor(y ~ g, odd, model_dir = new_folder()), "does not support NA",
    class = "runhooks_message_gaps"
  )
  suppressMessages(train(model))
  expect_equal(nobs(model), 6)
})

test_that("data without a representation of NA are an informative error", {
  skip_if_not_installed("RSQLite") # suggested
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection))
  rows <- data.frame(y = c(1, 2, 3, 4), x = c(1, NA, 3, 5), b = c(TRUE, NA, FALSE, TRUE), i = c(1L, NA, 3L, 4L))
  DBI::dbWriteTable(connection, "rows", rows)
  query <- sql_dataset(connection, "SELECT * FROM rows ORDER BY y")
  expect_error(dataset_collect(query), "is NULL in row 2; type", class = "runhooks_error")
  mapped <- dataset_map(query, function(r) {
    r$i <- r$i + 1L
    r
  })
  expect_error(linear_regressor(y ~ i, mapped), "\"i\": 1 row, the first is row 2", class = "runhooks_error")
  expect_error(linear_regressor(y ~ b, mapped), "\"b\": 1 row, the first is row 2", class = "runhooks_error")
  filtered <- dataset_filter(query, function(r) r$i > 2L)
  model <- linear_regressor(y ~ i, filtered, model_dir = new_folder())
  expect_equal(nobs(model), 2)
  file <- gappy_csv()
  spec <- csv_record_spec(file, types = c("float32", "float32", "int64", "string"))
  wide <- dataset_decode_delim(dataset_skip(text_line_dataset(file), 1), spec)
  expect_error(linear_regressor(y ~ i, wide), "column|Field|field|NA", class = "runhooks_error")
})

test_that("a string for missing values among the numbers of a CSV is reported", {
  file <- withr::local_tempfile(fileext = ".csv")
  data <- airquality
  data$Wind <- as.character(data$Wind)
  data$Wind[3] <- "n/a"
  write.csv(data, file, row.names = FALSE)
  csv <- make_csv_dataset(file, batch_size = 8, num_epochs = 1, shuffle = FALSE)
  expect_error(
    linear_regressor(Ozone ~ Temp, csv), "Ozone.*na_value = \"NA\"",
    class = "runhooks_error_invalid_argument"
  )
  expect_message(
    linear_regressor(Temp ~ Solar.R, csv), "\"Solar.R\".*na_value = \"NA\"",
    class = "runhooks_message_na_word"
  )
  expect_message(linear_regressor(Temp ~ Wind, csv), "na_value = \"n/a\"")
  withr::with_options(list(runhooks.values_in_memory = 0), {
    expect_error(linear_regressor(Ozone ~ Temp, csv), "na_value = \"NA\"")
  })
  model <- linear_regressor(feature_columns(column_numeric("Temp")))
  expect_error(
    train(model, input_fn(csv, features = Temp, response = Ozone)), "na_value", class = "runhooks_error"
  )
  expect_no_message(linear_regressor(Temp ~ f, transform(data, f = c("1", "2", "K"))))
  read <- make_csv_dataset(file, batch_size = 8, num_epochs = 1, na_value = "NA")
  fitted <- linear_regressor(Ozone ~ Temp, read, na.action = na.omit)
  expect_equal(nobs(fitted), sum(!is.na(data$Ozone)))
})
