# Cases of bench/waits.R: steps of models.

lines <- c(lines, list(
  "W1, linear, batch 8" = line("steps/s", "JAX's scan", "2,200,000", function() {
    figures(steps_a_second(of_cars(), cars(), 5e5), of_jax("W1"))
  }),
  "W2, iris, hidden 10 and 10, batch 32" = line("steps/s", "JAX's scan", "300,000", function() {
    features <- names(iris)[1:4]
    model <- dnn_classifier(
      c(10, 10), feature_columns = lapply(features, column_numeric), n_classes = 3, config = quiet()
    )
    input <- input_fn(iris, features, "Species", batch_size = 32, num_epochs = NULL)
    figures(steps_a_second(model, input, 1e5), of_jax("W2"))
  }),
  "W3, dense 784-256-128-10, batch 256" = line("GFLOP/s", "a product of 1,024", "0.75 of it", function() {
    model <- dnn_classifier(
      c(256, 128), feature_columns = list(column_numeric("x", shape = 784)), n_classes = 10,
      config = quiet()
    )
    flops <- 2 * 256 * (2 * 784 * 256 + 3 * 256 * 128 + 3 * 128 * 10)
    figures(
      gflops_of_training(model, pictures(4096, 784)(256), flops, 300), gflops_of_product()
    )
  }),
  "conv net of MNIST, batch 64" = line("GFLOP/s", "a product of 1,024", "0.75 of it", function() {
    flops <- 2 * 64 * (2 * 784 * 25 * 32 + 3 * (196 * 25 * 32 * 64 + 3136 * 1024 + 1024 * 10))
    figures(
      gflops_of_training(estimator(convolutions, config = quiet()), pictures(640, 784)(64), flops, 20),
      gflops_of_product()
    )
  }),
  "W3 beside JAX" = line("GFLOP/s", "JAX", "1 time", function() {
    figures(lines[["W3, dense 784-256-128-10, batch 256"]]$measure()[["ours"]], of_jax("W3"))
  }),
  "conv net beside JAX" = line("GFLOP/s", "JAX", "1 time", function() {
    figures(lines[["conv net of MNIST, batch 64"]]$measure()[["ours"]], of_jax("conv"))
  }),
  "500 numeric columns, batch 128" = line("us a step", "one matrix of 500", "2 times", function() {
    options(runhooks.threads = 1L)
    data <- numeric_frame(5000, 500)
    features <- paste0("V", 1:500)
    columns <- linear_regressor(lapply(features, column_numeric), config = quiet())
    matrix <- linear_regressor(list(column_numeric("x", shape = 500)), config = quiet())
    whole <- list(x = as.matrix(data[features]), y = data$y)
    figures(
      1e6 / steps_a_second(columns, input_fn(
        data, features = features, response = "y", batch_size = 128, num_epochs = NULL
      ), 3000),
      1e6 / steps_a_second(matrix, input_fn(
        whole, features = "x", response = "y", batch_size = 128, num_epochs = NULL
      ), 3000)
    )
  }),
  "1,000 columns to the first step" = line("ms", "250 columns, 4 times", "150; linear", function() {
    first <- function(n) {
      data <- numeric_frame(1000, n)
      features <- paste0("V", seq_len(n))
      1000 * clock({
        model <- linear_regressor(lapply(features, column_numeric), config = quiet())
        train(model, input_fn(data, features = features, response = "y"), steps = 1)
      })
    }
    first(2)
    figures(first(1000), 4 * first(250))
  }),
  "200 embeddings of 8, batch 128" = line("us a step", "10, 20 times", "linear", function() {
    figures(embeddings(200), 20 * embeddings(10))
  }),
  "W4, wide and deep, batch 256" = line("rows/s", "", "2,000,000", function() {
    made <- wide_and_deep(100000)
    figures(256 * steps_a_second(made$model, made$input, 800))
  }),
  "W5, linear of 30 hashed columns" = line("rows/s", "", "2,500,000", function() {
    set.seed(1)
    names <- paste0("c", 1:30)
    ids <- function(name) as.integer(pmin(exp(stats::rexp(5e5, 0.25)), 1e6))
    data <- stats::setNames(lapply(names, ids), names)
    data$y <- stats::runif(5e5)
    model <- linear_regressor(
      column_categorical_with_hash_bucket(names, hash_bucket_size = 1e5, dtype = "int32"),
      optimizer = tf$train$FtrlOptimizer(0.05), config = quiet()
    )
    input <- input_fn(
      data, features = tidyselect::all_of(names), response = "y", batch_size = 1024,
      num_epochs = NULL, shuffle = FALSE
    )
    figures(1024 * steps_a_second(model, input, 488))
  })
))
