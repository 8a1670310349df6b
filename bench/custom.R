# Two models written with tf$layers through estimator(): a dense net (784-256-128-10, batches of
# 128) and a convolutional one (5x5x32, pool, 5x5x64, pool, dense 1024, dropout; batches of 100), on
# 60,000 random images of 28 x 28. Prints examples per second, and the share of the machine's peak
# that the matrix products of a step use. The peak is that of a product of 1024 x 1024 matrices with
# as many threads, measured before and after each net, because the machine's speed varies. Prints
# the median of the rounds and, in parentheses, the best one.
#   Rscript bench/custom.R [seconds of a measurement] [rows] [rounds]
library(runhooks)

arguments <- commandArgs(TRUE)
seconds <- if (length(arguments) >= 1) as.numeric(arguments[[1]]) else 4
rows <- if (length(arguments) >= 2) as.integer(arguments[[2]]) else 60000L
rounds <- if (length(arguments) >= 3) as.integer(arguments[[3]]) else 5L

set.seed(1)
images <- matrix(stats::runif(rows * 784), rows)
labels <- sample(0:9, rows, replace = TRUE)

spec <- function(mode, logits, labels) {
  loss <- tf$losses$sparse_softmax_cross_entropy(tf$cast(labels, "int32"), logits)
  train_op <- tf$train$AdamOptimizer(1e-3)$minimize(loss, tf$train$get_global_step())
  estimator_spec(mode = mode, loss = loss, train_op = train_op)
}
dense_net <- function(features, labels, mode, params, config) {
  x <- tf$cast(features$image, "float32")
  x <- tf$layers$dense(x, 256, activation = tf$nn$relu)
  x <- tf$layers$dense(x, 128, activation = tf$nn$relu)
  spec(mode, tf$layers$dense(x, 10), labels)
}
conv_net <- function(features, labels, mode, params, config) {
  x <- tf$reshape(tf$cast(features$image, "float32"), list(-1L, 28L, 28L, 1L))
  x <- tf$layers$conv2d(x, 32, 5, padding = "same", activation = tf$nn$relu)
  x <- tf$layers$max_pooling2d(x, 2, 2)
  x <- tf$layers$conv2d(x, 64, 5, padding = "same", activation = tf$nn$relu)
  x <- tf$layers$max_pooling2d(x, 2, 2)
  x <- tf$layers$dense(tf$layers$flatten(x), 1024, activation = tf$nn$relu)
  x <- tf$layers$dropout(x, 0.4, training = mode == "train")
  spec(mode, tf$layers$dense(x, 10), labels)
}

# Multiplications per example in the products of a step. The first layer's input has no gradient.
dense_work <- 784 * 256 * 2 + (256 * 128 + 128 * 10) * 3
conv_work <- 28 * 28 * 25 * 32 * 2 + (14 * 14 * 25 * 32 * 64 + 3136 * 1024 + 1024 * 10) * 3

# GFLOP/s of the product of two n x n matrices, the best of some runs.
peak <- function(n = 1024L) {
  with(tf$Graph()$as_default(), {
    a <- tf$Variable(tf$random_normal(shape(n, n)))
    done <- tf$group(tf$matmul(a, a))
    sess <- tf$Session()
    on.exit(sess$close())
    sess$run(tf$global_variables_initializer())
    sess$run(done)
    took <- vapply(1:20, function(i) {
      begin <- Sys.time()
      sess$run(done)
      as.numeric(Sys.time() - begin, units = "secs")
    }, 0)
    2 * n^3 / min(took) / 1e9
  })
}

input_of <- function(batch) {
  function() {
    data <- tensor_slices_dataset(list(list(image = images), labels))
    data <- dataset_batch(dataset_repeat(data), batch, drop_remainder = TRUE)
    dataset_prefetch(data, 2)
  }
}

# Examples per second by the training's clock. Skips the first fifth of the steps, which includes
# building the graph, the first allocations and the reader's start.
rate_of <- function(net, steps) {
  est <- estimator(
    net$model_fn, model_dir = tempfile("bench"), config = run_config(
      tf_random_seed = 1, save_checkpoints_steps = 1e9, log_step_count_steps = NULL,
      save_summary_steps = 0
    )
  )
  clock <- train(est, input_of(net$batch), steps = steps)$input
  clock <- clock[clock$step >= steps / 5, ]
  (max(clock$rows) - min(clock$rows)) / (max(clock$seconds) - min(clock$seconds))
}

measure <- function(net, threads, steps) {
  options(runhooks.threads = threads)
  before <- peak()
  rate <- rate_of(net, steps)
  gflops <- 2 * rate * net$work / 1e9
  highest <- max(before, peak())
  c(rate = rate, gflops = gflops, peak = highest, share = 100 * gflops / highest)
}

nets <- list(
  dense = list(model_fn = dense_net, batch = 128L, work = dense_work),
  conv = list(model_fn = conv_net, batch = 100L, work = conv_work)
)
cases <- expand.grid(net = names(nets), threads = 1:2, stringsAsFactors = FALSE)
options(runhooks.threads = 1)
steps <- lapply(nets, function(net) max(50, ceiling(seconds * rate_of(net, 50) / net$batch)))
found <- lapply(seq_len(rounds), function(round) {
  Map(function(net, threads) measure(nets[[net]], threads, steps[[net]]), cases$net, cases$threads)
})
for (i in seq_len(nrow(cases))) {
  all <- vapply(found, `[[`, c(rate = 0, gflops = 0, peak = 0, share = 0), i)
  typical <- apply(all, 1, stats::median)
  best <- apply(all, 1, max)
  both <- function(what, digits) {
    sprintf("%.*f (%.*f)", digits, typical[[what]], digits, best[[what]])
  }
  cat(sprintf(
    "%s net, %d thread(s): %s examples/s, %s GFLOP/s, %s %% of %s\n", cases$net[[i]],
    cases$threads[[i]], both("rate", 0), both("gflops", 1), both("share", 0), both("peak", 1)
  ))
}
