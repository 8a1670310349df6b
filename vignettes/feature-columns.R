## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", fig.width = 6.5, fig.height = 3.5)
options(runhooks.progress = FALSE)
set.seed(1)

## -----------------------------------------------------------------------------
library(runhooks)

## -----------------------------------------------------------------------------
seen <- function(columns, ...) {
  with(tf$Graph()$as_default(), {
    layer <- input_layer(lapply(list(...), tf$constant), columns)
    session <- tf$Session()
    session$run(list(tf$global_variables_initializer(), tf$tables_initializer()))
    values <- session$run(layer)
    session$close()
    values
  })
}
seen(column_numeric("age"), age = c(20, 40, 60))

## -----------------------------------------------------------------------------
age <- column_numeric("age", normalizer_fn = function(x) (x - 40) / 20)
seen(age, age = c(20, 40, 60))

## -----------------------------------------------------------------------------
buckets <- column_bucketized(column_numeric("age"), boundaries = c(25, 40, 60))
seen(buckets, age = c(20, 25, 39, 70))

## -----------------------------------------------------------------------------
round(seen(column_cyclic("hour", period = 24), hour = c(0, 6, 12, 23)), 2)

## -----------------------------------------------------------------------------
colors <- column_categorical_with_vocabulary_list(
  "color", vocabulary_list = c("red", "green", "blue")
)
seen(column_indicator(colors), color = c("green", "red", "pink"))
open_end <- column_categorical_with_vocabulary_list(
  "color", vocabulary_list = c("red", "green"), num_oov_buckets = 1
)
seen(column_indicator(open_end), color = c("green", "red", "pink"))

## -----------------------------------------------------------------------------
hashed <- column_categorical_with_hash_bucket("color", hash_bucket_size = 6)
seen(column_indicator(hashed), color = c("green", "red", "pink"))

## -----------------------------------------------------------------------------
seen(column_embedding(colors, dimension = 2), color = c("green", "red", "green"))

## -----------------------------------------------------------------------------
pairs <- column_crossed(list(buckets, "color"), hash_bucket_size = 200)
pairs$name
max.col(seen(column_indicator(pairs), age = c(20, 20, 70), color = c("red", "green", "red")))

## -----------------------------------------------------------------------------
diamonds_columns <- feature_columns(
  names = c("depth", "table", "cut", "color", "clarity", "x", "y", "z"),
  c(depth, table) ~ column_numeric(),
  one_of("x", "y", "z") ~ column_numeric(),
  starts_with("c") ~ column_categorical_with_hash_bucket(hash_bucket_size = 100)
)
vapply(diamonds_columns, function(column) column$name, "")

## -----------------------------------------------------------------------------
n <- 6000
rides <- data.frame(
  hour = sample(0:23, n, replace = TRUE), day = sample(c("weekday", "weekend"), n, TRUE, c(5, 2)),
  temperature = runif(n, -5, 35)
)
commute <- dnorm(rides$hour, 8, 1.3) + dnorm(rides$hour, 17.5, 1.6)
leisure <- dnorm(rides$hour, 14, 3.5)
rides$rented <- with(rides, 20 +
  500 * ifelse(day == "weekday", commute, 1.2 * leisure) * plogis((temperature - 8) / 5) +
  rnorm(n, sd = 8))
testing <- sample(n, 2000)

day <- column_categorical_with_vocabulary_list("day", vocabulary_list = c("weekday", "weekend"))
temperature <- column_numeric("temperature", normalizer_fn = function(x) (x - 15) / 12)
hour <- column_numeric("hour", normalizer_fn = function(x) (x - 12) / 7)
hours <- column_bucketized(column_numeric("hour"), boundaries = 1:23)
warmth <- column_bucketized(column_numeric("temperature"), boundaries = c(0, 5, 10, 15, 20, 25))
models <- list(
  "numbers and a word" = list(hour, temperature, day),
  "hours on a circle" = list(column_cyclic("hour", period = 24), temperature, day),
  "hours in buckets" = list(hours, temperature, day),
  "and crossed with the day" = list(
    hours, temperature, day, column_crossed(list(hours, "day"), 500)
  ),
  "and with the warmth" = list(
    hours, warmth, day, column_crossed(list(hours, "day"), 500),
    column_crossed(list(hours, warmth, "day"), 5000)
  )
)
rmse <- function(columns) {
  model <- linear_regressor(columns, optimizer = tf$train$AdamOptimizer(1))
  input <- function(rows, ...) input_fn(rented ~ ., rides[rows, ], batch_size = 200, ...)
  train(model, input(-testing, num_epochs = 60))
  sqrt(evaluate(model, input(testing))$average_loss)
}
data.frame(rmse = round(vapply(models, rmse, 0), 2))

## -----------------------------------------------------------------------------
deep <- dnn_regressor(
  c(64, 32), list(column_cyclic("hour", period = 24), temperature, column_indicator(day)),
  optimizer = tf$train$AdamOptimizer(0.005)
)
input <- function(rows, ...) input_fn(rented ~ ., rides[rows, ], batch_size = 200, ...)
train(deep, input(-testing, num_epochs = 60))
sqrt(evaluate(deep, input(testing))$average_loss)

