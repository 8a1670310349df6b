# Two models written with tf$layers through estimator(): a dense net (784-256-128-10, batches of 128)
# and a convolutional one (5x5x32, pool, 5x5x64, pool, dense 1024, dropout; batches of 100), on 60,000
# random images of 28 x 28. Prints examples a second, and the share of the machine's peak that the
# matrix products of a step would take: the peak is that of a product of 1024 x 1024 matrices in the
# same run, with as many threads. One-thread and two-thread figures come in turns.
#   Rscript bench/custom.R [seconds of a measurement] [rows]
library(runhooks)

arguments <- commandArgs(TRUE)
seconds <- if (length(arguments) >= 1) as.numeric(arguments[[1]]) else 5
rows <- if (length(arguments) >= 2) as.integer(arguments[[2]]) else 60000L

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

# Multiplications of one example in the products of a step. The first layer's input has no gradient.
dense_work <- 784 * 256 * 2 + (256 * 128 + 128 * 10) * 3
conv_work <- 28 * 28 * 25 * 32 * 2 + (14 * 14 * 25 * 32 * 64 + 3136 * 1024 + 1024 * 10) * 3

# GFLOP/s of the product of two n x n matrices, the best of some runs.
peak <- function(n = 1024L) {
  with(tf$Graph()$as_default(), {
    a <- tf$Variable(tf$random_normal(shape(n, n)))
    product <- tf$matmul(a, a)
    done <- tf$group(product)
    sess <- tf$Session()
    on.exit(sess$close())
    sess$run(tf$global_variables_initializer())
    sess$run(done)
    took <- vapply(1:20, function(i) system.time(sess$run(done))[["elapsed"]], 0)
    2 * n^3 / min(took[took > 0]) / 1e9
  })
}

input_of <- function(batch) {
  function() {
    data <- tensor_slices_dataset(list(list(image = images), labels))
    data <- dataset_batch(dataset_repeat(data), batch, drop_remainder = TRUE)
    dataset_prefetch(data, 2)
  }
}

# Examples a second, by the training's own clock: the first fifth of the steps is left out, and with it
# the building of the graph, the first allocations and the reader's start.
measure <- function(model_fn, batch) {
  rate_of <- function(steps) {
    est <- estimator(
      model_fn, model_dir = tempfile("bench"), config = run_config(
        tf_random_seed = 1, save_checkpoints_steps = 1e9, log_step_count_steps = NULL,
        save_summary_steps = 0
      )
    )
    clock <- train(est, input_of(batch), steps = steps)$input
    clock <- clock[clock$step >= steps / 5, ]
    (max(clock$rows) - min(clock$rows)) / (max(clock$seconds) - min(clock$seconds))
  }
  rate_of(max(50, ceiling(seconds * rate_of(50) / batch)))
}

for (threads in 1:2) {
  options(runhooks.threads = threads)
  gflops <- peak()
  for (net in c("dense", "conv")) {
    is_dense <- net == "dense"
    rate <- measure(if (is_dense) dense_net else conv_net, if (is_dense) 128L else 100L)
    work <- 2 * rate * (if (is_dense) dense_work else conv_work) / 1e9
    cat(sprintf(
      "%s net, %d thread(s): %.0f examples/s, %.1f GFLOP/s, %.0f%% of %.1f\n",
      net, threads, rate, work, 100 * work / gflops, gflops
    ))
  }
}
