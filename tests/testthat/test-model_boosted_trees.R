# Boosted trees in the training loop: stopping, resuming, and rejected data.

tree_data <- function(n = 80) {
  set.seed(71)
  data <- data.frame(x = rnorm(n), z = runif(n), c = sample(c("a", "b"), n, TRUE))
  data$y <- sin(2 * data$x) + data$z + (data$c == "a") + 0.1 * rnorm(n)
  data
}

tree_input <- function(data = tree_data(), batch_size = 20, ..., features = c("x", "z", "c")) {
  input_fn(
    data, features = tidyselect::all_of(features), response = "y", batch_size = batch_size,
    num_epochs = NULL, shuffle = FALSE, ...
  )
}

words_c <- function() column_categorical_with_vocabulary_list("c", vocabulary_list = c("a", "b"))

tree_model <- function(model_dir = withr::local_tempdir(.local_envir = parent.frame()), ...,
                       config = run_config(tf_random_seed = 1)) {
  boosted_trees_regressor(
    list(column_numeric("x"), column_bucketized(column_numeric("z"), c(0.25, 0.5, 0.75)),
      column_indicator(words_c())
    ),
    model_dir = model_dir, config = config, n_trees = 3, max_depth = 3, n_batches_per_layer = 4, ...
  )
}

serialized_trees <- function(model) variable_value(model, "boosted_trees:0_serialized")[[1]]

quietly <- function(x) suppressMessages(suppressWarnings(x))

test_that("training ends with the last tree, and does not change a finished model", {
  model <- tree_model()
  expect_no_message(expect_no_warning(train(model, tree_input(), steps = 1000)))
  # The 4 batches that scan the data do not count as steps.
  expect_equal(variable_value(model, "global_step")[[1]], 3 * 3 * 4)
  before <- serialized_trees(model)
  messages <- capture.output(type = "message", expect_warning(
    train(model, tree_input(), steps = 10), "made no steps", class = "runhooks_warning_no_steps"
  ))
  expect_match(paste(messages, collapse = " "), "3 of 3 trees")
  expect_identical(serialized_trees(model), before)
  expect_equal(variable_value(model, "global_step")[[1]], 36)
  expect_equal(tail(run_history(model_dir(model))$steps, 1), 0)
})

test_that("training in parts, also within a layer or the scan of the data, has the same bits", {
  whole <- tree_model(center_bias = TRUE)
  input <- tree_input()
  quietly(train(whole, input))
  config <- run_config(tf_random_seed = 1, checkpoint_input_pipeline = TRUE)
  pieces <- tree_model(center_bias = TRUE, config = config)
  stop_after <- function(n) {
    runs <- 0
    session_run_hook(after_run = function(context, values) {
      runs <<- runs + 1
      if (runs == n) context$request_stop()
    })
  }
  for (n in c(3, 2, 7, 5, 1)) quietly(train(pieces, tree_input(), hooks = stop_after(n)))
  quietly(train(pieces, tree_input()))
  expect_identical(serialized_trees(pieces), serialized_trees(whole))
  expect_identical(
    variable_value(pieces, "boosted_trees/QuantileAccumulator:0_bucket_boundaries_0"),
    variable_value(whole, "boosted_trees/QuantileAccumulator:0_bucket_boundaries_0")
  )
})

test_that("a training without a complete layer reports so", {
  model <- tree_model()
  stop_after <- session_run_hook(after_run = function(context, values) context$request_stop())
  messages <- capture.output(train(model, tree_input(), hooks = stop_after), type = "message")
  expect_match(paste(messages, collapse = " "), "No layer has grown")
})

test_that("constant features raise a warning", {
  data <- transform(tree_data(), x = 1, z = 0, c = "a")
  expect_warning(train(tree_model(), tree_input(data)), "No split of the trees reduces the loss")
})

test_that("columns that cannot be split are errors that name them", {
  expect_invalid_columns <- function(columns, words) {
    model <- boosted_trees_regressor(columns, model_dir = withr::local_tempdir())
    expect_error(
      train(model, tree_input(), steps = 1), words, class = "runhooks_error_invalid_argument"
    )
  }
  expect_invalid_columns(words_c(), "cannot split column 'c', which is categorical")
  expect_invalid_columns(column_embedding(words_c(), 2), "cannot split column 'c_embedding'")
})

test_that("invalid arguments are errors", {
  expect_invalid <- function(..., words) {
    expect_error(
      boosted_trees_regressor(column_numeric("x"), ...), words,
      class = "runhooks_error_invalid_argument"
    )
  }
  expect_invalid(n_batches_per_layer = 0, words = "n_batches_per_layer")
  expect_invalid(n_trees = 0, words = "n_trees")
  expect_invalid(max_depth = 21, words = "max_depth")
  expect_invalid(learning_rate = 0, words = "learning_rate")
  expect_invalid(l2_regularization = -1, words = "l2_regularization")
  expect_invalid(pruning_mode = "some", words = "pruning_mode")
  expect_invalid(quantile_sketch_epsilon = 0.5, words = "quantile_sketch_epsilon")
  expect_invalid(tree_complexity = 0.1, words = "no effect without pruning")
  expect_invalid(optimizer = "SGD", words = "no argument")
  expect_error(boosted_trees_classifier(column_numeric("x"), n_classes = 1), "n_classes")
})

test_that("a damaged checkpoint is an error, and none of it is used", {
  model <- tree_model()
  quietly(train(model, tree_input()))
  file <- paste0(latest_checkpoint(model_dir(model)), ".data-00000-of-00001")
  bytes <- readBin(file, "raw", 1e6)
  trees <- variable_value(model, "boosted_trees:0_serialized")[[1]]
  at <- grepRaw(trees, bytes, fixed = TRUE) + length(trees) %/% 2
  bytes[[at]] <- xor(bytes[[at]], as.raw(0xff))
  writeBin(bytes, file)
  input <- input_fn(tree_data(), features = c("x", "z", "c"), response = "y")
  expect_error(
    evaluate(model, input), "'boosted_trees:0_serialized' does not match its checksum",
    class = "runhooks_error_data_loss"
  )
  expect_error(feature_importances(model), class = "runhooks_error_data_loss")
})

test_that("a model directory with other trees is an error", {
  dir <- withr::local_tempdir()
  quietly(train(tree_model(dir), tree_input()))
  other <- boosted_trees_regressor(column_numeric("x"), model_dir = dir)
  expect_error(train(other, tree_input()), "contains a different model", class = "runhooks_error_failed_precondition")
})

test_that("early stopping drops the trees after the best evaluation", {
  data <- tree_data(60)
  noise <- transform(data, y = rev(data$y))
  model <- boosted_trees_regressor(y ~ x + z, data, n_trees = 40L, max_depth = 4L, learning_rate = 1)
  quietly(train(
    model, data, validation = noise,
    stop = early_stopping("loss", patience = 3, every_n_steps = 4L)
  ))
  expect_lt(length(unique(as.data.frame(model)$tree)), 30)
})

test_that("heads of several logits, counts and quantiles grow trees", {
  data <- tree_data()
  data$k <- rpois(80, exp(data$z))
  for (head in list(poisson_regression_head(), multi_class_head(3))) {
    labels <- if (head$type == "multi_class_head") pmin(data$k, 2) else data$k
    model <- boosted_trees_estimator(head, column_numeric("x"), n_trees = 3, max_depth = 2)
    input <- input_fn(
      transform(data, y = labels), features = "x", response = "y", batch_size = 80, num_epochs = NULL
    )
    first <- NULL
    losses <- c()
    record <- session_run_hook(
      before_run = function(context) session_run_args("loss"),
      after_run = function(context, values) losses <<- c(losses, values$results[[1]])
    )
    quietly(train(model, input, hooks = record))
    expect_lt(losses[[length(losses)]], losses[[1]])
  }
})

test_that("three classes that are fully learned stay learned", {
  # In float32, probabilities round to 0 and 1, so a step could be the quotient of two rounding
  # errors. Such a step would change every prediction.
  model <- boosted_trees_classifier(
    Species ~ ., iris, n_trees = 160, max_depth = 3, learning_rate = 0.2, l2_regularization = 0,
    min_node_weight = 0, model_dir = withr::local_tempdir()
  )
  train(model)
  expect_equal(evaluate(model, iris)$accuracy, 1)
  expect_lt(evaluate(model, iris)$average_loss, 1e-4)
  values <- as.matrix(as.data.frame(model)[paste0("value_", 1:3)])
  expect_lt(max(abs(values)), 3)
})

test_that("the weight column weights the quantiles", {
  data <- data.frame(x = (1:300) / 7, w = rep(c(1, 100), c(270, 30)))
  data$y <- sin(data$x / 4)
  # Returns the largest share of the weights between two boundaries of buckets.
  largest_gap <- function(model) {
    name <- grep("bucket_boundaries", variable_names(model), value = TRUE)
    place <- findInterval(data$x, variable_value(model, name)[[1]] + 1e-5)
    max(rowsum(data$w, place)) / sum(data$w)
  }
  trained <- function(...) {
    model <- boosted_trees_regressor(
      column_numeric("x"), n_batches_per_layer = 1L, n_trees = 1L, max_depth = 2L,
      quantile_sketch_epsilon = 0.1, ...
    )
    input <- input_fn(
      data, features = c("x", "w"), response = "y", batch_size = nrow(data),
      num_epochs = NULL, shuffle = FALSE
    )
    train(model, input, steps = 4)
    model
  }
  expect_gt(largest_gap(trained()), 0.25)
  expect_lt(largest_gap(trained(weight_column = "w")), 0.2)
  expect_lt(largest_gap(trained(weight_column = column_numeric("w"))), 0.2)
  by_formula <- boosted_trees_regressor(
    y ~ x, data, weight_column = "w", quantile_sketch_epsilon = 0.1, n_trees = 1
  )
  train(by_formula)
  expect_lt(largest_gap(by_formula), 0.2)

  # Rows of weight 0 are ignored.
  data$w[data$x < 10] <- 0
  model <- trained(weight_column = "w")
  name <- grep("bucket_boundaries", variable_names(model), value = TRUE)
  expect_gte(min(variable_value(model, name)[[1]]), 10 - 1e-5)
})

test_that("center_bias starts the trees of three classes at the logarithms of their shares", {
  data <- data.frame(x = rep(1, 60), y = factor(rep(c("a", "b", "c"), c(10, 20, 30))))
  model <- boosted_trees_classifier(
    y ~ x, data, center_bias = TRUE, n_trees = 1, learning_rate = 1e-6, l2_regularization = 0
  )
  train(model)
  shares <- predict(model, data[1, ], type = "prob")
  expect_equal(unlist(shares, use.names = FALSE), c(1, 2, 3) / 6, tolerance = 0.01)
})
