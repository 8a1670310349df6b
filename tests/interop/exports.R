# Exports of canned estimators with every kind of column, with raw and parsing receivers, and of a
# custom model. Writes the SavedModel and case.json of each: rows, serialized examples and
# predictions. exports_check.py compares them with TensorFlow's.
#   Rscript tests/interop/exports.R FOLDER SEED
library(runhooks)

arguments <- commandArgs(TRUE)
folder <- arguments[[1]]
set.seed(as.integer(arguments[[2]]))
n <- 24L
words <- c("red", "green", "blue")
data <- data.frame(
  x = stats::rnorm(n), z = stats::runif(n, 0, 4), i = sample(0:6, n, TRUE),
  w = sample(c(words, "other"), n, TRUE), g = sample(c(words, "other"), n, TRUE),
  h = paste0("u", sample.int(30L, n, TRUE)), hi = sample.int(50L, n, TRUE),
  c2 = sample(0:1, n, TRUE), c3 = sample(0:2, n, TRUE), stringsAsFactors = FALSE
)
data$y <- data$x + data$i / 3 + stats::rnorm(n)
data$mw <- round(stats::runif(n, 0.2, 3), 2)
vocabulary <- file.path(folder, "words.txt")
writeLines(words, vocabulary)

bucketized <- function() column_bucketized(column_numeric("x"), c(-0.5, 0, 0.5))
listed <- function(key) {
  column_categorical_with_vocabulary_list(key, vocabulary_list = words, num_oov_buckets = 1L)
}
hashed <- function() column_categorical_with_hash_bucket("h", hash_bucket_size = 11)
weighted <- function() {
  column_categorical_weighted(column_categorical_with_hash_bucket("g", hash_bucket_size = 8), "mw")
}
wide <- function() {
  list(
    column_numeric("z"), bucketized(), hashed(), listed("w"), weighted(),
    column_categorical_with_vocabulary_file("g", vocabulary_file = vocabulary, vocabulary_size = 3),
    column_categorical_with_identity("i", num_buckets = 5, default_value = 2),
    column_categorical_with_hash_bucket("hi", hash_bucket_size = 6, dtype = tf$int32),
    # TensorFlow hashes a cross of a sparse string and a column differently, so it is left out.
    column_crossed(c("w", "h"), hash_bucket_size = 17, hash_key = 5)
  )
}
deep <- function() {
  c(
    list(
      column_numeric("x"), bucketized(), column_indicator(hashed()), column_indicator(weighted()),
      column_embedding(hashed(), dimension = 3, combiner = "sqrtn", max_norm = 0.4),
      column_embedding(column_crossed(c("w", "h"), hash_bucket_size = 13), dimension = 2)
    ),
    column_shared_embedding(list(listed("w"), listed("g")), dimension = 2)
  )
}
config <- run_config(tf_random_seed = 5)
models <- list(
  linear_regressor = list("y", wide(), linear_regressor(wide(), config = config)),
  linear_classifier = list("c3", wide(), linear_classifier(wide(), n_classes = 3, config = config)),
  dnn_regressor = list("y", deep(), dnn_regressor(c(4, 3), deep(), config = config)),
  dnn_classifier = list(
    "c2", deep(), dnn_classifier(4, deep(), batch_norm = TRUE, config = config)
  ),
  combined_regressor = list("y", c(wide(), deep()), dnn_linear_combined_regressor(
    linear_feature_columns = wide(), dnn_feature_columns = deep(), dnn_hidden_units = 3,
    config = config
  )),
  combined_classifier = list("c2", c(wide(), deep()), dnn_linear_combined_classifier(
    linear_feature_columns = wide(), dnn_feature_columns = deep(), dnn_hidden_units = 3,
    config = config
  )),
  baseline_classifier = list(
    "c3", list(column_numeric("x")), baseline_classifier(n_classes = 3, config = config)
  ),
  parts = list("y", wide(), linear_regressor(
    wide(), partitioner = tf$fixed_size_partitioner(2), config = config
  ))
)
features <- c("x", "z", "i", "w", "g", "h", "hi", "mw")

read_records <- function(path) {
  bytes <- readBin(path, "raw", file.size(path))
  all <- character()
  at <- 1
  while (at < length(bytes)) {
    size <- sum(as.integer(bytes[at + 0:3]) * 256^(0:3))
    all <- c(all, jsonlite::base64_enc(bytes[at + 11 + seq_len(size)]))
    at <- at + size + 16
  }
  all
}
# The features in the types that the columns read.
records <- tempfile()
write_tfrecord(data[features], records)
examples <- read_records(records)

for (name in names(models)) {
  model <- models[[name]][[3]]
  input <- function(shuffle) {
    input_fn(data, features = features, response = models[[name]][[1]], shuffle = shuffle)
  }
  suppressMessages(utils::capture.output(train(model, input(TRUE), steps = 5)))
  predicted <- predict(model, input(FALSE))
  keys <- intersect(names(predicted), c("predictions", "logits", "probabilities", "classes"))
  spec <- tf$feature_column$make_parse_example_spec(models[[name]][[2]])
  parsing <- tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
  where <- file.path(folder, name)
  export_savedmodel(model, file.path(where, "raw"))
  export_savedmodel(model, file.path(where, "parsing"), parsing, strip_default_attrs = TRUE)
  case <- list(
    rows = lapply(data[features], as.list), examples = examples,
    predicted = lapply(predicted[keys], function(x) lapply(x, as.vector))
  )
  jsonlite::write_json(case, file.path(where, "case.json"), digits = NA, auto_unbox = TRUE)
}
