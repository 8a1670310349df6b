# Models that test-estimator_strategy.R trains with one process and cluster_child.R with several.
# Each is a function of the number of processes and the configuration, and returns numbers. A global
# batch has 24 rows.

cluster_data <- local({
  set.seed(5)
  n <- 192
  data.frame(
    x = rnorm(n), z = runif(n, -1, 1), w = rep(c(0.5, 1, 2), n / 3),
    word = sample(letters[1:12], n, replace = TRUE), y = 0
  )
})
cluster_data$y <- with(cluster_data, 1 + 2 * x - z + as.integer(factor(word)) / 10)

cluster_input <- function(features, size, epochs = 3, data = cluster_data) {
  input_fn(
    data, tidyselect::all_of(features), "y", batch_size = 24 / size, shuffle = FALSE,
    num_epochs = epochs
  )
}

synchronized <- function(config) {
  strategy <- config$train_distribute
  if (is.null(strategy)) return(config)
  run_config(tf_random_seed = 11, train_distribute = mpi_strategy(sync_batch_norm = TRUE))
}

cluster_shuffled <- function() {
  input_fn(cluster_data, c(x, z), y, batch_size = 8, shuffle = TRUE, num_epochs = 3)
}

cluster_small <- function(config, ...) {
  linear_regressor(
    feature_columns(column_numeric("x"), column_numeric("z")), config = config,
    optimizer = tf$train$AdagradOptimizer(0.1), ...
  )
}

cluster_weights <- function(path) {
  if (!is.character(path)) path <- latest_checkpoint(runhooks:::model_dir(path))
  names <- grep("^linear", runhooks:::checkpoint_names(path), value = TRUE)
  runhooks:::cpp_checkpoint_values(path, names)
}

cluster_seen <- function(to) {
  session_run_hook(
    before_run = function(context) session_run_args("labels"),
    after_run = function(context, values) {
      to$seen <- c(to$seen, unlist(values$results, use.names = FALSE))
    }
  )
}

# Inputs for tests of a resumed training: rows in memory, files that are sharded by file, and
# one file that is sharded by record.
continued_inputs <- list(
  memory = function(size) cluster_shuffled(),
  files = function(size) cluster_batches(cluster_files(6), size),
  records = function(size) cluster_batches(cluster_records(), size)
)

# Trains two more steps, or to the end of the data if a checkpoint of files exists. Returns the
# messages, the labels that were read, and the weights before and after.
continue_training <- function(kind, path, size, ...) {
  before <- runhooks:::cpp_saved_global_step(path)
  model <- cluster_small(run_config(
    path, tf_random_seed = 11, checkpoint_input_pipeline = kind != "memory", ...
  ))
  folder <- runhooks:::model_dir(model)
  said <- character()
  rows <- new.env()
  withCallingHandlers(
    train(
      model, continued_inputs[[kind]](size), steps = if (kind == "memory" || before == 0) 2,
      hooks = cluster_seen(rows)
    ),
    message = function(one) {
      said <<- c(said, conditionMessage(one))
      invokeRestart("muffleMessage")
    }
  )
  list(
    said = said, step = runhooks:::cpp_saved_global_step(folder), seen = rows$seen,
    began = if (before > 0) cluster_weights(file.path(path, paste0("model.ckpt-", before))),
    ended = cluster_weights(model)
  )
}

continue_trainings <- function(path, size, ...) {
  kinds <- names(continued_inputs)
  lapply(stats::setNames(nm = kinds), function(kind) {
    continue_training(kind, file.path(path, kind), size, ...)
  })
}

evaluated_numbers <- function(size, config, hooks = NULL) {
  done <- suppressMessages(train_and_evaluate(
    cluster_small(config),
    train_spec(cluster_input(c("x", "z"), size, epochs = 4), max_steps = 20),
    eval_spec(
      cluster_input(c("x", "z"), 1, 1), hooks = hooks, start_delay_secs = 0, throttle_secs = 0
    )
  ))
  done$evaluations
}

# Returns the rows of each step of two passes, dropout's mask in the first step, and the final
# weights.
drawn_numbers <- function(size, config) {
  model_fn <- function(features, labels, mode, params, config) {
    x <- tf$cast(features, tf$float32)
    dropped <- tf$reshape(tf$nn$dropout(tf$ones_like(x), rate = 0.5), c(-1L, 1L), name = "dropped")
    predicted <- tf$squeeze(tf$layers$dense(x * dropped, 1L), 1L)
    loss <- tf$losses$mean_squared_error(labels, predicted)
    step <- tf$train$AdagradOptimizer(0.1)$minimize(loss, global_step = tf$train$get_global_step())
    estimator_spec(mode = mode, loss = loss, train_op = step)
  }
  rows <- list()
  dropped <- NULL
  looks <- session_run_hook(
    before_run = function(context) session_run_args("labels", "dropped:0"),
    after_run = function(context, values) {
      rows[[length(rows) + 1]] <<- as.numeric(values$results[[1]])
      if (is.null(dropped)) dropped <<- as.numeric(values$results[[2]])
    }
  )
  model <- estimator(model_fn, model_dir = NULL, config = config)
  data <- data.frame(x = cluster_data$x, row = seq_len(192))
  input <- input_fn(data, x, row, batch_size = 24 / size, num_epochs = 2, shuffle = TRUE)
  suppressMessages(train(model, input, hooks = looks))
  path <- latest_checkpoint(runhooks:::model_dir(model))
  weights <- runhooks:::cpp_checkpoint_values(path, c("dense/kernel", "dense/bias"))
  list(rows = unlist(rows), dropped = dropped, weights = weights)
}

# Returns evaluations and predictions of one model, on inputs that are sharded and on some that are
# not.
asked_numbers <- function(size, config, hooks = NULL) {
  quietly <- function(expr) unlist(suppressMessages(expr))
  model <- dnn_classifier(
    hidden_units = 4, feature_columns = feature_columns(column_numeric("x"), column_numeric("z")),
    config = config, optimizer = tf$train$AdagradOptimizer(0.1)
  )
  data <- transform(cluster_data, y = as.integer(y > 1))
  input <- function(rows, ...) input_fn(data[rows, ], c(x, z), y, ...)
  train(model, input(1:192, batch_size = 24 / size, shuffle = FALSE), steps = 5)
  stream <- function() {
    rows <- tensor_slices_dataset(as.list(data[c("x", "z", "y")]))
    batches <- dataset_batch(dataset_shuffle(rows, 60), 20)
    input_fn(batches, features = c(x, z), response = y)
  }
  given <- function() {
    list(list(x = tf$constant(data$x[1:9]), z = tf$constant(data$z[1:9])), tf$constant(data$y[1:9]))
  }
  own_part <- function(input_context) {
    rows <- tensor_slices_dataset(as.list(data[c("x", "z", "y")]))
    size <- input_context$num_input_pipelines
    part <- dataset_shard(dataset_batch(rows, 32), size, input_context$input_pipeline_id)
    batch <- iterator_get_next(make_iterator_one_shot(part))
    list(batch[c("x", "z")], batch$y)
  }
  largest <- add_metrics(model, function(features, labels, predictions) {
    most <- tf$Variable(0, trainable = FALSE, collections = list("local_variables"))
    seen <- tf$reduce_max(tf$cast(predictions$logits, tf$float32))
    list(largest = list(tf$add(most, 0), tf$assign(most, tf$maximum(most, seen))))
  })
  order <- function(...) unname(unlist(predict(model, input(...), predict_keys = "logits")))
  list(
    short_batch = quietly(evaluate(model, input(1:190, batch_size = 17, shuffle = FALSE), hooks = hooks)),
    shuffled = quietly(evaluate(model, input(1:190, batch_size = 17, shuffle = TRUE, num_epochs = 2))),
    one_batch = quietly(evaluate(model, input(1:50, batch_size = 128, shuffle = FALSE))),
    steps = quietly(evaluate(model, input(1:190, batch_size = 17, shuffle = FALSE), steps = 7)),
    one_step = quietly(evaluate(model, input(1:190, batch_size = 17, shuffle = FALSE), steps = 1)),
    stream = quietly(evaluate(model, stream())), context = quietly(evaluate(model, own_part)), given = quietly(evaluate(model, given, steps = 3)),
    largest = quietly(evaluate(largest, input(1:190, batch_size = 17, shuffle = FALSE))),
    order = order(1:190, batch_size = 17), order_one = order(1:5, batch_size = 128),
    order_again = order(1:50, batch_size = 16, num_epochs = 2),
    batches = lengths(lapply(predict(
      model, input(1:50, batch_size = 16), predict_keys = "logits", simplify = FALSE,
      yield_single_examples = FALSE
    ), unlist)),
    iterated = unlist(iterate(predict(
      model, input(1:50, batch_size = 16), predict_keys = "logits", as_iterable = TRUE
    ))),
    newdata = predict(model, newdata = data[1:50, ], type = "prob")
  )
}

trained_numbers <- function(model, input, evaluated, ...) {
  history <- suppressMessages(train(model, input, hooks = hook_history_saver(every_n_step = 1), ...))
  losses <- history$losses
  path <- latest_checkpoint(runhooks:::model_dir(model))
  values <- runhooks:::cpp_checkpoint_values(path, runhooks:::checkpoint_names(path))
  is_model <- !grepl("^runhooks/", names(values))
  list(
    losses = as.numeric(losses$total_losses), means = as.numeric(losses$mean_losses),
    values = values[is_model], evaluated = suppressMessages(evaluate(model, evaluated))
  )
}

# Creates trees on four columns, including a column of strings and one with missing values. The data
# are the first `rows` rows of scaled copies of `cluster_data`; `batches` is the number per layer.
cluster_trees <- function(make, response, config, size, rows = 192, batches = 1, ...) {
  data <- do.call(rbind, lapply(seq_len(ceiling(rows / 192)), function(i) {
    transform(cluster_data, x = x * i, m = ifelse(seq_along(x) %% 7 == 3, NaN, z * x))
  }))[seq_len(rows), ]
  data$class <- findInterval(data$y, c(0.5, 2))
  data$is_large <- as.integer(data$y > 1)
  columns <- feature_columns(
    column_numeric("x"), column_numeric("m"),
    column_bucketized(column_numeric("z"), c(-0.5, 0, 0.5)),
    column_indicator(column_categorical_with_vocabulary_list("word", vocabulary_list = letters[1:12]))
  )
  model <- make(
    columns, n_batches_per_layer = batches, n_trees = 3, max_depth = 3, missing_features = "m",
    config = config, ...
  )
  features <- c("x", "m", "z", "word")
  input <- function(batch_size, ...) {
    input_fn(
      data, tidyselect::all_of(features), tidyselect::all_of(response), batch_size = batch_size,
      shuffle = FALSE, ...
    )
  }
  list(
    model = model, input = input(ceiling(rows / batches / size), num_epochs = NULL),
    evaluated = input(100)
  )
}

cluster_tree_values <- function(model) {
  path <- latest_checkpoint(runhooks:::model_dir(model))
  trees <- as.data.frame(model)
  c(as.list(trees[setdiff(names(trees), "gain")]), runhooks:::cpp_checkpoint_values(path, "global_step"))
}

cluster_tree_numbers <- function(...) {
  given <- cluster_trees(...)
  numbers <- trained_numbers(given$model, given$input, given$evaluated)
  numbers$bits <- numbers$values
  numbers$values <- cluster_tree_values(given$model)
  numbers
}

# Writes the rows of `cluster_data` to `n` files: row i to file i mod n. `rows` gives the number of
# rows of each file.
cluster_files <- function(n, rows = rep(192 / n, n)) {
  folder <- tempfile("files-")
  dir.create(folder)
  for (i in seq_len(n)) {
    own <- cluster_data[seq(i, by = n, length.out = rows[[i]]), c("x", "z", "y")]
    utils::write.csv(own, file.path(folder, paste0(i, ".csv")), row.names = FALSE)
  }
  list.files(folder, full.names = TRUE)
}

cluster_records <- function() {
  path <- tempfile(fileext = ".tfrecord")
  write_tfrecord(cluster_data[c("x", "z", "y")], path)
  path
}

# Creates batches that interleave one row of each file, so that a step's rows are the same however
# the files are sharded.
cluster_batches <- function(files, size, reads = identity, batch_size = 24 / size) {
  rows <- if (endsWith(files[[1]], ".tfrecord")) {
    number <- tf$FixedLenFeature(list(), tf$float32)
    dataset_map(tfrecord_dataset(files), function(record) {
      tf$parse_single_example(record, list(x = number, z = number, y = number))
    })
  } else {
    spec <- csv_record_spec(files[[1]])
    read_files(files, text_line_dataset, record_spec = spec, parallel_files = length(files))
  }
  input_fn(dataset_batch(reads(rows), batch_size), features = c(x, z), response = y)
}

cluster_models <- list(
  # Reads files that are sharded by file (enough for 2 and 3 processes) and by record.
  files = function(size, config) {
    input <- cluster_batches(cluster_files(6), size)
    trained_numbers(cluster_small(config), input, cluster_input(c("x", "z"), 1, 1))
  },
  records = function(size, config) {
    input <- cluster_batches(cluster_files(1), size)
    trained_numbers(cluster_small(config), input, cluster_input(c("x", "z"), 1, 1))
  },
  linear = function(size, config) {
    model <- linear_regressor(
      feature_columns(column_numeric("x"), column_numeric("z")), config = config,
      optimizer = tf$train$AdagradOptimizer(0.1), weight_column = "w"
    )
    features <- c("x", "z", "w")
    trained_numbers(model, cluster_input(features, size), cluster_input(features, 1, 1))
  },
  deep = function(size, config) {
    model <- dnn_regressor(
      hidden_units = c(8, 4), feature_columns(column_numeric("x"), column_numeric("z")),
      config = config, optimizer = tf$train$GradientDescentOptimizer(0.001)
    )
    features <- c("x", "z")
    trained_numbers(model, cluster_input(features, size), cluster_input(features, 1, 1))
  },
  wide_and_deep = function(size, config) {
    words <- column_categorical_with_vocabulary_list("word", vocabulary_list = letters[1:12])
    model <- dnn_linear_combined_regressor(
      linear_feature_columns = words, linear_optimizer = tf$train$AdagradOptimizer(0.05),
      dnn_feature_columns = feature_columns(column_numeric("x"), column_embedding(words, 3)),
      dnn_hidden_units = 6, dnn_optimizer = tf$train$AdagradOptimizer(0.05), config = config
    )
    features <- c("x", "word")
    trained_numbers(model, cluster_input(features, size), cluster_input(features, 1, 1))
  },
  stream = function(size, config) {
    model <- linear_regressor(
      feature_columns(column_numeric("x"), column_numeric("z")), config = config,
      optimizer = tf$train$AdagradOptimizer(0.1)
    )
    data <- tensor_slices_dataset(as.list(cluster_data[c("x", "z", "y")]))
    batches <- dataset_batch(dataset_shuffle(data, 50, seed = 3), 24 / size)
    input <- input_fn(batches, features = c(x, z), response = y)
    trained_numbers(model, input, cluster_input(c("x", "z"), 1, 1))
  },
  trees = function(size, config) {
    cluster_tree_numbers(boosted_trees_regressor, "y", config, size, rows = 191, center_bias = TRUE)
  },
  trees_of_two_classes = function(size, config) {
    cluster_tree_numbers(boosted_trees_classifier, "is_large", config, size)
  },
  # With this many rows, sums of gradients are exact only if they are sums of whole numbers.
  trees_of_many_rows = function(size, config) {
    cluster_tree_numbers(boosted_trees_regressor, "y", config, size, rows = 9000)
  },
  trees_of_batches = function(size, config) {
    cluster_tree_numbers(
      boosted_trees_classifier, "is_large", config, size, batches = 2, center_bias = TRUE
    )
  },
  trees_of_classes = function(size, config) {
    cluster_tree_numbers(boosted_trees_classifier, "class", config, size, batches = 2, n_classes = 3)
  },
  # Trains formula models with all rows in each step: LBFGS and trees.
  formula = function(size, config) {
    numbers <- function(make, values, ...) {
      model <- make(y ~ x + z + word, data = cluster_data[1:191, ], config = config, ...)
      suppressMessages(train(model))
      list(values = values(model), evaluated = suppressMessages(evaluate(model, cluster_data)))
    }
    linear <- numbers(linear_regressor, function(model) as.list(coef(model)))
    trees <- numbers(boosted_trees_regressor, cluster_tree_values, n_trees = 3, max_depth = 3)
    list(values = c(linear$values, trees$values), evaluated = cbind(linear$evaluated, trees$evaluated))
  },
  # Batch normalization uses statistics of all processes, and gradients flow through them.
  normalized = function(size, config) {
    model <- dnn_regressor(
      hidden_units = c(6, 4), feature_columns(column_numeric("x"), column_numeric("z")),
      config = synchronized(config), batch_norm = TRUE,
      optimizer = tf$train$GradientDescentOptimizer(0.001)
    )
    features <- c("x", "z")
    trained_numbers(model, cluster_input(features, size), cluster_input(features, 1, 1))
  },
  normalized_images = function(size, config) {
    model_fn <- function(features, labels, mode, params, config) {
      images <- tf$reshape(tf$cast(features, tf$float32), c(-1L, 1L, 2L, 1L))
      images <- tf$layers$batch_normalization(
        tf$concat(list(images, tf$square(images)), 3L), training = mode == "train"
      )
      predicted <- tf$squeeze(tf$layers$dense(tf$layers$flatten(images), 1L), 1L)
      loss <- tf$losses$mean_squared_error(labels, predicted)
      step <- tf$train$GradientDescentOptimizer(0.05)$minimize(loss, global_step = tf$train$get_global_step())
      train_op <- do.call(tf$group, c(list(step), tf$get_collection("update_ops")))
      estimator_spec(mode = mode, loss = loss, train_op = train_op)
    }
    model <- estimator(model_fn, model_dir = NULL, config = synchronized(config))
    features <- c("x", "z")
    trained_numbers(model, cluster_input(features, size), cluster_input(features, 1, 1))
  },
  context = function(size, config) {
    model <- cluster_small(config)
    input <- function(input_context) {
      data <- tensor_slices_dataset(as.list(cluster_data[c("x", "z", "y")]))
      batches <- dataset_batch(dataset_shuffle(data, 50, seed = 4), 24 / size)
      of_all <- input_context$num_input_pipelines
      batch <- iterator_get_next(make_iterator_one_shot(
        dataset_shard(batches, of_all, input_context$input_pipeline_id)
      ))
      list(batch[c("x", "z")], batch$y)
    }
    trained_numbers(model, input, cluster_input(c("x", "z"), 1, 1))
  },
  # The moving averages of batch normalization are averaged over the processes. The statistics are
  # local, so the loss must not depend on them.
  custom = function(size, config) {
    model_fn <- function(features, labels, mode, params, config) {
      x <- tf$cast(features, tf$float32)
      beside <- tf$layers$batch_normalization(x, training = mode == "train", trainable = FALSE)
      predicted <- tf$squeeze(tf$layers$dense(x, 1L, kernel_initializer = tf$zeros_initializer()), 1L)
      if (mode == "infer") return(estimator_spec(predictions = list(y = predicted), mode = mode))
      loss <- tf$reduce_mean(tf$square(predicted - tf$cast(labels, tf$float32)))
      optimizer <- tf$train$GradientDescentOptimizer(0.05)
      pairs <- optimizer$compute_gradients(loss)
      step <- optimizer$apply_gradients(pairs, global_step = tf$train$get_global_step())
      updates <- tf$get_collection("update_ops")
      train_op <- do.call(tf$group, c(list(step, beside$op), updates))
      estimator_spec(mode = mode, loss = loss, train_op = train_op)
    }
    model <- estimator(model_fn, model_dir = NULL, config = config)
    features <- c("x", "z")
    trained_numbers(model, cluster_input(features, size), cluster_input(features, 1, 1))
  }
)
