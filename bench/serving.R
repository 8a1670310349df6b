# Costs per row of predictions by an exported model: wide and deep models, raw and parsing, one row
# and a thousand. The budget is 0.2 ms for one row.
#   Rscript bench/serving.R [repetitions]
library(runhooks)

repetitions <- c(as.integer(commandArgs(TRUE)), 2000L)[[1]]
set.seed(1)
n <- 1000L
data <- data.frame(
  x = stats::rnorm(n), z = stats::runif(n), w = sample(c("a", "b", "c"), n, TRUE),
  h = paste0("u", sample.int(500L, n, TRUE)), y = sample(0:1, n, TRUE)
)
words <- column_categorical_with_vocabulary_list("w", vocabulary_list = c("a", "b"))
hashed <- column_categorical_with_hash_bucket("h", hash_bucket_size = 100)
wide <- list(words, hashed, column_crossed(c("w", "h"), hash_bucket_size = 200))
deep <- list(column_numeric("x"), column_numeric("z"), column_embedding(hashed, dimension = 8))
models <- list(
  "linear" = list(wide, linear_classifier(wide)),
  "wide and deep" = list(c(wide, deep), dnn_linear_combined_classifier(
    linear_feature_columns = wide, dnn_feature_columns = deep, dnn_hidden_units = c(32, 16)
  ))
)
time_of <- function(expr, times) {
  expr <- substitute(expr)
  frame <- parent.frame()
  for (i in 1:20) eval(expr, frame)
  start <- proc.time()[["elapsed"]]
  for (i in seq_len(times)) eval(expr, frame)
  1000 * (proc.time()[["elapsed"]] - start) / times
}
cat(sprintf(
  "%-16s %-8s %-18s %10s %12s\n", "model", "receiver", "signature", "1 row (ms)", "1000 rows"
))
slowest <- 0
for (name in names(models)) {
  model <- models[[name]][[2]]
  features <- c("x", "z", "w", "h")
  suppressMessages(train(model, input_fn(data, features = features, response = "y"), steps = 20))
  spec <- tf$feature_column$make_parse_example_spec(models[[name]][[1]])
  parsing <- tf$estimator$export$build_parsing_serving_input_receiver_fn(spec)
  exports <- list(
    raw = export_savedmodel(model, tempfile()),
    parsing = export_savedmodel(model, tempfile(), parsing)
  )
  for (kind in names(exports)) {
    loaded <- load_savedmodel(exports[[kind]])
    for (signature in intersect(c("serving_default", "predict"), names(loaded$signatures))) {
      one <- data[1, features]
      single <- time_of(predict(loaded, one, signature), repetitions)
      many <- time_of(predict(loaded, data[features], signature), 10)
      slowest <- max(slowest, single)
      cat(sprintf("%-16s %-8s %-18s %10.3f %9.1f ms\n", name, kind, signature, single, many))
    }
  }
}
cat(sprintf("slowest row: %.3f ms (budget 0.2)\n", slowest))
