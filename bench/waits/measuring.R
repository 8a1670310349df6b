# Helpers of the cases of bench/waits.R: clocks, models, data.

line <- function(unit, peer, goal, measure) {
  list(unit = unit, peer = peer, goal = goal, measure = measure)
}
figures <- function(ours, peer = NA) c(ours = unname(ours), peer = unname(peer))

# --- timing

clock <- function(expr) system.time(expr, gcFirst = FALSE)[["elapsed"]]
# Milliseconds of a call, the median of five blocks.
ms_of <- function(call, calls) {
  for (i in seq_len(min(calls, 20))) call()
  block <- function() 1000 * clock(for (i in seq_len(calls)) call()) / calls
  stats::median(replicate(5, block()))
}
# Seconds from the start of a new R until it has evaluated `script`.
seconds_of_r <- function(script) {
  started <- as.numeric(Sys.time())
  said <- system2(
    file.path(R.home("bin"), "Rscript"),
    c("-e", shQuote(paste(script, "cat(format(as.numeric(Sys.time()), digits = 16))", sep = ";"))),
    stdout = TRUE, stderr = FALSE
  )
  as.numeric(said[[length(said)]]) - started
}
# MB of a new R that has evaluated `script`.
memory_of_r <- function(script) {
  status <- "cat(grep('^VmRSS', readLines('/proc/self/status'), value = TRUE))"
  said <- system2(
    file.path(R.home("bin"), "Rscript"), c("-e", shQuote(paste(script, status, sep = ";"))),
    stdout = TRUE, stderr = FALSE
  )
  as.numeric(gsub("\\D", "", said[[length(said)]])) / 1024
}
memory_mb <- function(what) {
  text <- grep(paste0("^", what, ":"), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("\\D", "", text)) / 1024
}
# Steps per second, from a short and a long training.
steps_a_second <- function(model, input, steps, hooks = NULL) {
  train(model, input, steps = 1, hooks = hooks)
  one <- clock(train(model, input, steps = 1, hooks = hooks))
  (steps - 1) / (clock(train(model, input, steps = steps, hooks = hooks)) - one)
}

# --- models

quiet <- function() {
  run_config(
    tf_random_seed = 1, save_checkpoints_steps = 1e9, log_step_count_steps = NULL,
    save_summary_steps = 0
  )
}
of_cars <- function() {
  linear_regressor(
    feature_columns(column_numeric("drat"), column_numeric("cyl")), config = quiet()
  )
}
cars <- function() {
  input_fn(
    mtcars, features = c("drat", "cyl"), response = "mpg", batch_size = 8L, num_epochs = NULL
  )
}
numeric_frame <- function(rows, width) {
  set.seed(1)
  data <- as.data.frame(matrix(stats::runif(rows * width), rows))
  data$y <- stats::runif(rows)
  data
}
step_hook <- function() {
  losses <- numeric(1e5)
  i <- 0L
  session_run_hook(
    before_run = function(context) {
      session_run_args(loss = "linear/head/weighted_loss/Sum:0")
    },
    after_run = function(context, values) {
      i <<- i + 1L
      losses[[i]] <<- values$results$loss
    }
  )
}
floor_of <- function() {
  Rcpp::sourceCpp("bench/floor.cpp", cacheDir = tempdir(), env = globalenv())
}
# The result of bench/waits/peers.py with the same name, or NA without a Python with JAX.
of_jax <- function(what) {
  python <- Sys.getenv("RUNHOOKS_JAX_PYTHON")
  if (!nzchar(python)) return(NA)
  said <- system2(python, c("bench/waits/peers.py", what), stdout = TRUE, stderr = FALSE)
  as.numeric(said[[length(said)]])
}
wide_and_deep <- function(rows) {
  set.seed(1)
  sizes <- c(9, 16, 7, 15, 6, 5, 2, 42)
  words <- paste0("w", seq_along(sizes))
  data <- lapply(sizes, function(n) {
    paste0("v", sample.int(n, rows, replace = TRUE, prob = 1 / seq_len(n)))
  })
  names(data) <- words
  for (k in 1:5) data[[paste0("n", k)]] <- stats::runif(rows)
  data$y <- as.numeric(stats::runif(rows) < data$n1)
  hashed <- lapply(words, column_categorical_with_hash_bucket, hash_bucket_size = 1000)
  crosses <- list(
    column_crossed(c("w2", "w4"), 1e4), column_crossed(c("w1", "w2", "w4"), 1e5),
    column_crossed(c("w8", "w4"), 1e5)
  )
  deep <- c(lapply(paste0("n", 1:5), column_numeric), lapply(hashed, column_embedding, dimension = 8))
  model <- dnn_linear_combined_classifier(
    linear_feature_columns = c(hashed, crosses), dnn_feature_columns = deep,
    dnn_hidden_units = c(100, 50), config = quiet()
  )
  features <- setdiff(names(data), "y")
  list(model = model, input = input_fn(
    as.data.frame(data), features = tidyselect::all_of(features), response = "y",
    batch_size = 256, num_epochs = NULL
  ))
}
embeddings <- function(n) {
  set.seed(1)
  names <- paste0("e", seq_len(n))
  data <- lapply(names, function(name) sample.int(1000, 2000, replace = TRUE) - 1L)
  data <- as.data.frame(stats::setNames(data, names))
  data$y <- stats::runif(2000)
  columns <- lapply(names, function(name) {
    column_embedding(column_categorical_with_identity(name, num_buckets = 1000), dimension = 8)
  })
  input <- input_fn(
    data, features = tidyselect::all_of(names), response = "y", batch_size = 128, num_epochs = NULL
  )
  1e6 / steps_a_second(dnn_regressor(16L, feature_columns = columns, config = quiet()), input, 500)
}
# Multiplications and additions per second of a product of 1,024 x 1,024 matrices, in 1e9.
gflops_of_product <- function() {
  with(tf$Graph()$as_default(), {
    x <- tf$Variable(tf$random_uniform(c(1024L, 1024L)))
    product <- tf$matmul(x, x)$op
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      ms <- ms_of(function() session$run(product), 10)
      2 * 1024^3 / ms / 1e6
    })
  })
}
gflops_of_training <- function(model, input, flops_of_step, steps) {
  flops_of_step * steps_a_second(model, input, steps) / 1e9
}
pictures <- function(rows, width) {
  set.seed(1)
  data <- list(x = matrix(stats::runif(rows * width), rows), y = sample(0:9, rows, TRUE))
  function(batch) {
    input_fn(data, features = "x", response = "y", batch_size = batch, num_epochs = NULL)
  }
}
convolutions <- function(features, labels, mode, params, config) {
  # R's numbers are float64.
  x <- tf$reshape(tf$cast(features$x, tf$float32), c(-1L, 28L, 28L, 1L)) %>%
    tf$layers$conv2d(32, 5, padding = "same", activation = tf$nn$relu) %>%
    tf$layers$max_pooling2d(2, 2) %>%
    tf$layers$conv2d(64, 5, padding = "same", activation = tf$nn$relu) %>%
    tf$layers$max_pooling2d(2, 2) %>%
    tf$layers$flatten() %>%
    tf$layers$dense(1024, activation = tf$nn$relu) %>%
    tf$layers$dense(10)
  loss <- tf$losses$sparse_softmax_cross_entropy(labels, x)
  step <- tf$train$GradientDescentOptimizer(0.01)$minimize(
    loss, global_step = tf$train$get_global_step()
  )
  estimator_spec(mode = mode, loss = loss, train_op = step)
}

# --- the peak memory of a training above that of the process before

training_memory <- function(model, input) {
  gc()
  before <- memory_mb("VmRSS")
  writeLines("5", "/proc/self/clear_refs")
  train(model, input, steps = 200)
  memory_mb("VmHWM") - before
}
