words <- c("a", "b", "d")
data <- data.frame(x = c(1, 2, 3, 4), c = c("a", "b", "d", "a"), y = c(1, 2, 4, 3))
column <- function() column_categorical_with_vocabulary_list("c", vocabulary_list = words)

input <- function() {
  input_fn(data, c(x, c), y, batch_size = 4, shuffle = FALSE, num_epochs = NULL)
}

trained <- function(model) {
  shapes <- NULL
  inspect <- session_run_hook(begin = function() {
    variables <- tf$global_variables()
    shapes <<- vapply(variables, function(v) paste(unlist(v$shape$as_list()), collapse = "x"), "")
    names(shapes) <<- vapply(variables, function(v) sub(":0$", "", v$name), "")
  })
  train(model, input(), steps = 3, hooks = inspect)
  suppressMessages(values <- variable_value(model))
  list(shapes = shapes, names = variable_names(model), values = values, model = model)
}

test_that("a linear model's variables are partitioned as in TensorFlow", {
  linear <- function(partitioner = NULL) {
    trained(linear_regressor(list(column_numeric("x"), column()), partitioner = partitioner))
  }
  cut <- linear(tf$fixed_size_partitioner(2L))
  expect_identical(
    cut$shapes[grepl("/c/weights/part_.$", names(cut$shapes))],
    setNames(c("2x1", "1x1"), paste0("linear/linear_model/c/weights/part_", 0:1))
  )
  expect_true(all(
    c("linear/linear_model/x/weights/part_0", "linear/linear_model/bias_weights/part_0") %in%
      names(cut$shapes)
  ))
  # The checkpoint stores the whole variable, but the optimizer's slots of each partition.
  slots <- paste0("linear/linear_model/c/weights/part_", c(0, 0, 1, 1), c("/Ftrl", "/Ftrl_1"))
  expect_true(all(c("linear/linear_model/c/weights", slots) %in% cut$names))
  expect_message(variable_value(cut$model), "part_1/Ftrl")
  expect_identical(dim(cut$values[["linear/linear_model/c/weights"]]), c(3L, 1L))
  whole <- linear()
  train(cut$model, input(), steps = 1)
  expect_identical(variable_value(cut$model, "global_step")[[1]], 4)
  for (name in setdiff(names(whole$values), slots)) {
    expect_equal(cut$values[[name]], whole$values[[name]], tolerance = 1e-6, label = name)
  }
})

test_that("a DNN partitions the variables of its input layer", {
  embedded <- list(column_numeric("x"), column_embedding(column(), 3))
  cut <- trained(dnn_regressor(4, embedded, input_layer_partitioner = tf$fixed_size_partitioner(2)))
  embedding <- "dnn/input_from_feature_columns/input_layer/c_embedding/embedding_weights"
  expect_identical(unname(cut$shapes[paste0(embedding, "/part_", 0:1)]), c("2x3", "1x3"))
  expect_false("dnn/hiddenlayer_0/kernel/part_1" %in% names(cut$shapes))
  slots <- paste0(embedding, "/t_", 0:1, "/Adagrad")
  expect_true(all(c(embedding, slots) %in% cut$names))

  rows_in_two <- function(shape, dtype) c(min(shape[[1]], 2), rep(1, length(shape) - 1))
  both <- trained(dnn_linear_combined_regressor(
    linear_feature_columns = column(), dnn_feature_columns = embedded, dnn_hidden_units = 4,
    input_layer_partitioner = rows_in_two
  ))
  expect_true(all(
    c(paste0(embedding, "/part_1"), "linear/linear_model/c/weights/part_1") %in% names(both$shapes)
  ))
})

# Replays random cases of tests/golden/make_partitions.py, with the seed in the file. Rows outside a
# batch do not change in any partition.
test_that("partitions are updated by rows, as in TensorFlow", {
  golden <- read_golden("partitions.json")
  expect_gte(length(golden$cases), 36)
  for (k in seq_along(golden$cases)) {
    case <- golden$cases[[k]]
    rows <- do.call(rbind, lapply(case$rows, unlist))
    words <- function(key) {
      column_categorical_with_vocabulary_list(key, vocabulary_list = unlist(case$words))
    }
    columns <- list(words("c"))
    if (!is.null(case$embedding)) {
      columns[[2]] <- column_embedding(words("e"), case$embedding$dimension,
        combiner = case$embedding$combiner, initializer = tf$constant_initializer(0.4),
        max_norm = case$embedding$max_norm
      )
    }
    optimizer <- function() {
      arguments <- case$args
      step <- tf$train$get_or_create_global_step()
      if (identical(arguments$learning_rate, "decayed")) {
        arguments$learning_rate <- tf$train$exponential_decay(0.3, step, 1L, 0.7)
      }
      if (case$optimizer == "AdagradDAOptimizer") arguments$global_step <- step
      do.call(tf$train[[case$optimizer]], arguments)
    }
    model <- linear_regressor(columns,
      optimizer = optimizer, partitioner = tf$fixed_size_partitioner(case$parts),
      sparse_combiner = case$sparse_combiner
    )
    data <- list(c = rows, e = rows, y = unlist(case$y))
    train(model, input_fn(data,
      features = if (is.null(case$embedding)) "c" else c("c", "e"), response = "y",
      batch_size = golden$batch, shuffle = FALSE
    ), steps = golden$steps)
    suppressMessages(values <- variable_value(model))
    for (name in names(case$variables)) {
      expected <- do.call(rbind, lapply(case$variables[[name]], unlist))
      expect_length(values[[name]], length(expected))
      error <- max(abs(as.vector(values[[name]]) - as.vector(expected)) / (1 + abs(expected)))
      expect_lte(error, 1e-5, label = paste("case", k, case$optimizer, name))
    }
  }
})

test_that("partitioners choose the same number of partitions as TensorFlow", {
  expect_identical(tf$fixed_size_partitioner(4)(c(3L, 5L), "float32"), c(3, 1))
  expect_identical(tf$fixed_size_partitioner(2, axis = 1)(c(3L, 5L), "float32"), c(1, 2))
  # Reference: tf.min_max_variable_partitioner and tf.variable_axis_size_partitioner of TensorFlow
  # 1.15.
  by_size <- tf$min_max_variable_partitioner(8L, min_slice_size = 1000)
  expect_identical(by_size(c(100L, 10L), "float32"), c(4, 1))
  expect_identical(by_size(c(1000L, 10L), "float64"), c(8, 1))
  expect_identical(by_size(c(2L, 10L), "float32"), c(1, 1))
  by_axis <- tf$variable_axis_size_partitioner(1000)
  expect_identical(by_axis(c(100L, 10L), "float32"), c(4, 1))
  expect_identical(by_axis(c(7L, 300L), "float32"), c(7, 1))
  expect_identical(
    tf$variable_axis_size_partitioner(1000, max_shards = 3)(c(100L, 10L), "float32"), c(3, 1)
  )
})

test_that("an invalid partitioner is an error", {
  fails <- function(partitioner) {
    trained(linear_regressor(column(), partitioner = partitioner))
  }
  expect_snapshot_text({
    fails(2)
    fails(function(shape, dtype) 2)
    fails(function(shape, dtype) c(9, 1))
    fails(function(shape, dtype) stop("no parts"))
    fails(tf$fixed_size_partitioner(2, axis = 7))
  })
})
