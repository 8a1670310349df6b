# Effect of prefetching on a network whose step takes longer than producing a batch: the share of
# time that steps wait for input (history$input), with and without dataset_prefetch(); medians of
# three rounds.

library(runhooks)

rows <- 20000
width <- 64
set.seed(1)
table <- list(x = matrix(rnorm(rows * width), rows), y = rnorm(rows))

batches <- function() {
  tensor_slices_dataset(table) %>%
    dataset_shuffle(2000, seed = 1) %>%
    dataset_repeat() %>%
    dataset_map(function(record) {
      record$x <- tf$tanh(record$x)
      record
    }) %>%
    dataset_batch(256)
}

measured <- function(data) {
  model <- dnn_regressor(c(512, 512), column_numeric("x", shape = width),
    config = run_config(tf_random_seed = 1, save_checkpoints_secs = NULL))
  history <- train(model, input_fn(data, x, y), steps = 150)
  last <- tail(history$input, 1)
  c(waited = last$waited / last$seconds, rows_per_sec = last$rows_per_sec)
}

options(runhooks.progress = FALSE, runhooks.threads = 1)
kinds <- list(plain = batches(), prefetched = dataset_prefetch(batches(), 2))
runs <- replicate(3, vapply(kinds, measured, c(waited = 0, rows_per_sec = 0)))
medians <- apply(runs, c(1, 2), median)
print(data.frame(
  waited = sprintf("%.1f %%", 100 * medians["waited", ]),
  rows_per_sec = format(round(medians["rows_per_sec", ]), big.mark = ","),
  row.names = colnames(medians)
))
