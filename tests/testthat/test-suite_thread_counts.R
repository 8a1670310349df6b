# Results are the same for any number of threads, even more than the machine has.

thread_counts <- c(2L, 3L, 5L, 8L, 16L)
steps <- at_length(300L, 60L) # enough to try every parallel mode of a plan

on_threads <- function(threads, fit) {
  use_threads() # reads the options now, so that training does not reset the number
  cpp_kernel_threads_set(threads)
  on.exit({
    the$thread_settings <- NULL
    use_threads()
  })
  fit()
}

expect_same_bits <- function(fit) {
  one <- on_threads(1L, fit)
  expect_gt(length(one), 1)
  for (threads in thread_counts) {
    expect_identical(on_threads(threads, fit), one, info = paste(threads, "threads"))
  }
}

trained <- function(model, input, ...) {
  losses <- suppressMessages(train(model, input, ...))$losses$total_losses
  names <- variable_names(model)
  c(list(losses), lapply(setNames(names, names), function(name) variable_value(model, name)))
}

set.seed(1)
n <- 4000
rows <- data.frame(
  x = stats::runif(n), z = stats::rnorm(n),
  a = sample(letters, n, TRUE), b = sample(LETTERS, n, TRUE)
)
rows$y <- rows$x - rows$z^2 + (rows$a > "k")
rows_input <- function(features = c("x", "z", "a", "b"), batch_size = 512) {
  input_fn(
    rows, features = tidyselect::all_of(features), response = "y", batch_size = batch_size,
    num_epochs = NULL
  )
}
config <- function() run_config(tf_random_seed = 3, save_summary_steps = NULL)
numbers <- list(column_numeric("x"), column_numeric("z"))
words <- column_categorical_with_hash_bucket(c("a", "b"), hash_bucket_size = 5000)

test_that("a linear model has the same bits for 1 to 16 threads", {
  columns <- c(numbers, words, list(column_crossed(c("a", "b"), 20000)))
  expect_same_bits(function() {
    trained(linear_regressor(columns, config = config()), rows_input(), steps = steps)
  })
})

test_that("a deep network has the same bits for 1 to 16 threads", {
  expect_same_bits(function() {
    model <- dnn_regressor(numbers, hidden_units = c(100, 50), dropout = 0.2, config = config())
    trained(model, rows_input(c("x", "z")), steps = steps)
  })
})

test_that("a wide and deep model has the same bits for 1 to 16 threads", {
  expect_same_bits(function() {
    model <- dnn_linear_combined_regressor(
      linear_feature_columns = c(words, list(column_crossed(c("a", "b"), 300))),
      dnn_feature_columns = c(numbers, lapply(words, column_embedding, 16)),
      dnn_hidden_units = c(64, 32), config = config()
    )
    trained(model, rows_input(), steps = steps)
  })
})

test_that("boosted trees have the same bits for 1 to 16 threads", {
  data <- data.frame(x = sin(seq_len(30000)), z = cos(seq_len(30000) * 3))
  data$y <- data$x * data$z + round(data$z)
  expect_same_bits(function() {
    model <- boosted_trees_regressor(y ~ ., data, n_trees = 5L, max_depth = 4L)
    suppressWarnings(train(model, data))
    list(variable_names(model), predict(model, data[1:500, ]))
  })
  # Training of trees uses all threads, so all 16 must have started.
  if (dir.exists("/proc/self/task")) expect_gte(length(list.files("/proc/self/task")), 16)
})

test_that("convolutions and batch normalization have the same bits for 1 to 16 threads", {
  images <- matrix(stats::runif(200 * 144), 200)
  labels <- rep(0:3, 50)
  net <- function(features, labels, mode, params, config) {
    x <- tf$reshape(tf$cast(features$image, "float32"), list(-1L, 12L, 12L, 1L))
    x <- tf$layers$conv2d(x, 8, 3, padding = "same", activation = tf$nn$relu)
    x <- tf$layers$batch_normalization(x, training = mode == "train")
    x <- tf$layers$max_pooling2d(x, 2, 2)
    x <- tf$layers$dense(tf$layers$flatten(x), 40, activation = tf$nn$relu)
    logits <- tf$layers$dense(x, 4)
    loss <- tf$losses$sparse_softmax_cross_entropy(tf$cast(labels, "int32"), logits)
    updates <- tf$get_collection(tf$GraphKeys$UPDATE_OPS)
    train_op <- with(tf$control_dependencies(updates), {
      tf$train$AdamOptimizer(1e-3)$minimize(loss, tf$train$get_global_step())
    })
    estimator_spec(mode = mode, loss = loss, train_op = train_op)
  }
  input <- function() {
    data <- tensor_slices_dataset(list(list(image = images), labels))
    dataset_batch(dataset_repeat(data), 50, drop_remainder = TRUE)
  }
  expect_same_bits(function() trained(estimator(net, config = config()), input, steps = steps))
})
