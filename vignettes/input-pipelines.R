## ---- include = FALSE---------------------------------------------------------
knitr::opts_chunk$set(collapse = TRUE, comment = "#>")
set.seed(1)

## -----------------------------------------------------------------------------
library(runhooks)

## -----------------------------------------------------------------------------
range_dataset(0, 10) %>%
  dataset_map(function(x) x * x) %>%
  dataset_batch(4) %>%
  dataset_collect()

## -----------------------------------------------------------------------------
folder <- tempfile("measurements-")
dir.create(folder)
for (month in 1:12) {
  hour <- seq_len(24 * 30)
  rows <- data.frame(
    month = month, hour = hour %% 24,
    sensor = sample(c("north", "south"), length(hour), replace = TRUE)
  )
  rows$power <- 5 + 3 * cos(rows$hour / 24 * 2 * pi) + month / 6 + rnorm(length(hour), sd = 0.2)
  write.csv(rows, file.path(folder, sprintf("%02d.csv", month)), row.names = FALSE)
}

## -----------------------------------------------------------------------------
measurements <- make_csv_dataset(
  file.path(folder, "*.csv"), batch_size = 32, shuffle_buffer_size = 1000, num_parallel_reads = 4
)
str(dataset_collect(measurements, 1)[[1]])

## -----------------------------------------------------------------------------
columns <- feature_columns(
  column_bucketized(column_numeric("hour"), boundaries = seq(3, 21, 3)),
  column_numeric("month"),
  column_categorical_with_vocabulary_list("sensor", vocabulary_list = c("north", "south"))
)
model <- linear_regressor(columns)
history <- model %>% train(
  input_fn(measurements, c(hour, month, sensor), power), steps = 1500
)
history

## -----------------------------------------------------------------------------
spec <- csv_record_spec(file.path(folder, "01.csv"), defaults = list(1L, 0L, "unknown", 0))
spec

## -----------------------------------------------------------------------------
by_day <- file_list_dataset(file.path(folder, "*.csv"), shuffle = FALSE) %>%
  dataset_shard(num_shards = 2, index = 0) %>%
  dataset_interleave(
    function(file) text_line_dataset(file, record_spec = spec), cycle_length = 3
  ) %>%
  dataset_filter(function(record) record$hour < 18L) %>%
  dataset_map(function(record) {
    record$is_noon <- tf$equal(record$hour, 12L)
    record
  })
str(dataset_collect(by_day, 1))

## -----------------------------------------------------------------------------
files <- file.path(folder, sprintf("houses-%d.tfrecord", 1:3))
for (file in files) {
  houses <- data.frame(size = runif(200, 40, 200), garden = sample(c("yes", "no"), 200, TRUE))
  houses$price <- 2 * houses$size + 50 * (houses$garden == "yes") + rnorm(200, sd = 5)
  write_tfrecord(houses, file)
}

## -----------------------------------------------------------------------------
columns <- feature_columns(
  column_numeric("size"),
  column_categorical_with_vocabulary_list("garden", vocabulary_list = c("no", "yes"))
)
spec <- list(
  size = tf$FixedLenFeature(shape(1), tf$float32),
  garden = tf$FixedLenFeature(shape(1), tf$string),
  price = tf$FixedLenFeature(shape(1), tf$float32)
)
houses <- tfrecord_dataset(files, num_parallel_reads = 2) %>%
  dataset_shuffle(600) %>%
  dataset_repeat() %>%
  dataset_batch(64) %>%
  dataset_map(function(serialized) tf$parse_example(serialized, spec)) %>%
  dataset_prefetch(1)
model <- linear_regressor(columns, optimizer = tf$train$AdamOptimizer(1))
model %>% train(input_fn(houses, c(size, garden), price), steps = 1500)
unlist(variable_value(model, c(
  "linear/linear_model/size/weights", "linear/linear_model/garden/weights"
)))

## ---- eval = requireNamespace("RSQLite", quietly = TRUE)----------------------
#  database <- DBI::dbConnect(RSQLite::SQLite(), tempfile(fileext = ".sqlite"))
#  DBI::dbWriteTable(database, "cars", data.frame(car = rownames(mtcars), mtcars))
#  heavy <- sql_dataset(database, "SELECT mpg, wt, hp FROM cars WHERE wt > 2 ORDER BY car")
#  model <- linear_regressor(column_numeric("wt"), optimizer = tf$train$AdamOptimizer(0.5))
#  model %>% train(
#    heavy %>% dataset_repeat() %>% dataset_batch(8) %>% input_fn(wt, mpg), steps = 600
#  )
#  model %>% evaluate(heavy %>% dataset_batch(32) %>% input_fn(wt, mpg))
#  DBI::dbDisconnect(database)

## -----------------------------------------------------------------------------
throws <- function() {
  at <- 0
  generator_dataset(
    function() {
      at <<- at + 1
      angle <- (at * 0.618) %% 1.5
      list(angle = angle, distance = 10 * sin(2 * angle))
    },
    save = function() at,
    restore = function(state) at <<- state
  )
}
model <- dnn_regressor(
  c(16, 16), column_numeric("angle"),
  optimizer = tf$train$AdamOptimizer(0.02), activation_fn = "tanh"
)
model %>% train(throws() %>% dataset_batch(16) %>% input_fn(angle, distance), steps = 1000)
predict(model, newdata = data.frame(angle = c(pi / 12, pi / 4, pi / 2.4))) # 5, 10 and 5

## -----------------------------------------------------------------------------
data <- tensor_slices_dataset(mtcars[c("wt", "hp", "mpg")]) %>%
  dataset_shuffle(32) %>%
  dataset_repeat() %>%
  dataset_batch(8)
weights <- function(parts) {
  set.seed(7)
  model <- dnn_regressor(
    8, feature_columns(column_numeric("wt"), column_numeric("hp")), dropout = 0.2,
    config = run_config(save_checkpoints_steps = 50, checkpoint_input_pipeline = TRUE)
  )
  for (steps in parts) train(model, input_fn(data, c(wt, hp), mpg), steps = steps)
  variable_value(model)
}
identical(weights(200), weights(c(120, 50, 30)))

## -----------------------------------------------------------------------------
model <- linear_regressor(
  column_numeric("wt"), optimizer = tf$train$AdamOptimizer(0.5),
  config = run_config(save_checkpoints_steps = 100)
)
history <- train_and_evaluate(
  model,
  train_spec(input_fn(data, wt, mpg), max_steps = 500),
  eval_spec(input_fn(mpg ~ wt, mtcars), throttle_secs = 0)
)
subset(history$evaluations, metric == "average_loss")

## -----------------------------------------------------------------------------
slow <- tensor_slices_dataset(mtcars[c("wt", "mpg")]) %>%
  dataset_repeat() %>%
  dataset_map(function(record) {
    noise <- tf$random_uniform(c(150L, 150L))
    record$wt <- record$wt + 0 * tf$cast(tf$reduce_sum(tf$matmul(noise, noise)), "float64")
    record
  }) %>%
  dataset_batch(8)
history <- linear_regressor(column_numeric("wt")) %>%
  train(input_fn(slow, wt, mpg), steps = 50)
last <- tail(history$input, 1)
round(last$waited / last$seconds, 2)

## ---- include = FALSE---------------------------------------------------------
unlink(folder, recursive = TRUE)

