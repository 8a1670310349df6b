# tf$layers has TensorFlow 1.15's names and numbers (golden/random.json, from
# tests/golden/make_random.py).

names_in <- function(graph, collection) {
  vapply(graph$get_collection(collection), function(item) item$name, "")
}

test_that("a network of layers has TensorFlow's numbers and names", {
  golden <- read_golden("random.json")$layers
  graph <- tf$Graph()
  built <- with_graph(graph, {
    tf$set_random_seed(42)
    x <- tf$placeholder(tf$float32, list(NULL, 3), name = "x")
    hidden <- tf$layers$dense(x, 5, activation = tf$nn$tanh)
    dropped <- tf$layers$dropout(hidden, 0.4, training = TRUE)
    normal <- tf$layers$batch_normalization(dropped, momentum = 0.9, training = TRUE)
    logits <- tf$layers$dense(normal, 2, use_bias = FALSE, name = "logits")
    infer <- tf$layers$batch_normalization(
      hidden, momentum = 0.9, name = "batch_normalization", reuse = TRUE
    )
    list(
      fetches = list(hidden, dropped, normal, logits), infer = infer,
      updates = graph$get_collection("update_ops"), init = tf$global_variables_initializer(),
      variables = tf$global_variables()
    )
  })
  expect_identical(names_in(graph, "trainable_variables"), unlist(golden$trainable))
  updates <- sub(":0$", "", names_in(graph, "update_ops"))
  expect_identical(updates, unlist(golden$updates))
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  session$run(built$init)
  feed <- list("x:0" = golden_array(golden$x))
  for (step in golden$steps) {
    values <- session$run(built$fetches, feed_dict = feed)
    session$run(built$updates, feed_dict = feed)
    for (i in 1:4) expect_close(values[[i]], step[[i]], paste("layer", i))
    expect_identical(values[[2]] == 0, golden_array(step[[2]]) == 0)
  }
  for (variable in built$variables) {
    expect_close(session$run(variable), golden$variables[[variable$name]], variable$name)
  }
  expect_length(built$variables, length(golden$variables))
  expect_close(session$run(built$infer, feed_dict = feed), golden$inference, "inference")
})

test_that("layers are named and reused as in TensorFlow", {
  graph <- tf$Graph()
  with_graph(graph, {
    x <- tf$zeros(c(2, 3))
    tf$layers$dense(tf$layers$dense(x, 4), 2)
    with(tf$variable_scope("tower"), tf$layers$dense(x, 1))
    again <- tf$layers$dense(x, 4, name = "dense", reuse = TRUE)
    expect_error(tf$layers$dense(x, 4, name = "dense"), "already exists")
    expect_error(tf$layers$dense(x, 5, name = "dense", reuse = TRUE), "shape")
    expect_equal(dim(tf$layers$dense(tf$zeros(c(2, 5, 3)), 7)), c(2, 5, 7))
  })
  expect_identical(
    names_in(graph, "variables")[1:6],
    paste0(
      c("dense", "dense", "dense_1", "dense_1", "tower/dense", "tower/dense"),
      c("/kernel:0", "/bias:0")
    )
  )
  expect_equal(again$op$type, "BiasAdd")
})

test_that("a layer on three dimensions multiplies the last one", {
  graph <- tf$Graph()
  x <- array(seq(-1, 1, length.out = 12), c(2, 2, 3))
  kernel <- matrix(1:6 / 4, 3)
  built <- with_graph(graph, {
    y <- tf$layers$dense(
      tf$constant(x), 2, kernel_initializer = tf$constant_initializer(kernel),
      bias_initializer = 0.5
    )
    list(y, tf$layers$flatten(tf$constant(x)))
  })
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  session$run(with_graph(graph, tf$global_variables_initializer()))
  values <- session$run(built)
  for (i in 1:2) expect_equal(values[[1]][i, , ], x[i, , ] %*% kernel + 0.5, tolerance = 1e-6)
  expect_equal(values[[2]], t(apply(x, 1, row_major)))
})

test_that("regularizers add to the losses; initializers can be any function", {
  graph <- tf$Graph()
  with_graph(graph, {
    tf$layers$dense(
      tf$ones(c(1, 2)), 2, kernel_initializer = tf$constant_initializer(3), name = "h",
      kernel_regularizer = tf$contrib$layers$l2_regularizer(0.1),
      bias_initializer = function(shape, dtype, ...) tf$ones(shape, dtype),
      bias_regularizer = function(w) tf$reduce_sum(w)
    )
    total <- tf$losses$get_regularization_loss()
    session <- tf$Session()
    session$run(tf$global_variables_initializer())
    expect_equal(session$run(total), 0.1 * 4 * 9 / 2 + 2, tolerance = 1e-6)
    session$close()
  })
  expect_match(names_in(graph, "regularization_losses")[[1]], "^h/kernel/Regularizer/")
})

test_that("dropout preserves the mean, and noise_shape shares decisions", {
  graph <- tf$Graph()
  built <- with_graph(graph, {
    tf$set_random_seed(3)
    x <- tf$ones(c(200, 50))
    list(
      plain = tf$nn$dropout(x, keep_prob = 0.8),
      rows = tf$nn$dropout(x, rate = 0.5, noise_shape = c(200, 1)),
      none = tf$layers$dropout(x, 0.5), all = tf$nn$dropout(x, rate = 0)
    )
  })
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  values <- session$run(built)
  expect_setequal(unique(as.vector(values$plain)), c(0, 1.25))
  expect_equal(mean(values$plain), 1, tolerance = 0.02)
  expect_true(all(apply(values$rows, 1, function(row) length(unique(row)) == 1)))
  expect_true(all(values$none == 1) && all(values$all == 1))
  with_graph(graph, {
    expect_error(tf$nn$dropout(tf$ones(2), rate = 1), "rate")
    expect_error(tf$nn$dropout(tf$ones(2)), "rate.*keep_prob")
    expect_error(tf$nn$dropout(tf$ones(2, "int32"), rate = 0.5), "floating")
  })
})

test_that("fully_connected uses relu by default, and has no bias with a normalizer", {
  graph <- tf$Graph()
  with_graph(graph, {
    y <- tf$contrib$layers$fully_connected(tf$ones(c(2, 3)), 4)
    expect_equal(y$op$type, "Relu")
    tf$contrib$layers$fully_connected(
      y, 2, activation_fn = NULL, normalizer_fn = tf$layers$batch_normalization,
      normalizer_params = list(training = TRUE)
    )
  })
  expect_identical(
    names_in(graph, "trainable_variables"),
    c(
      "fully_connected/weights:0", "fully_connected/biases:0", "fully_connected_1/weights:0",
      "fully_connected_1/batch_normalization/gamma:0",
      "fully_connected_1/batch_normalization/beta:0"
    )
  )
})

test_that("moments and batch_normalization use the given axes", {
  x <- matrix(c(1, 2, 3, 4, 5, 9), 2)
  graph <- tf$Graph()
  built <- with_graph(graph, {
    m <- tf$nn$moments(tf$constant(x), axes = 0)
    list(
      m, tf$nn$moments(tf$constant(x), c(0, 1), keep_dims = TRUE),
      tf$nn$batch_normalization(tf$constant(x), m[[1]], m[[2]], 1, NULL, 1e-3)
    )
  })
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  values <- session$run(built)
  variance <- apply(x, 2, function(column) mean((column - mean(column))^2))
  expect_equal(as.vector(values[[1]][[1]]), colMeans(x))
  expect_equal(as.vector(values[[1]][[2]]), variance)
  expect_equal(dim(values[[2]][[1]]), c(1, 1))
  expect_equal(
    values[[3]], scale(x, colMeans(x), sqrt(variance + 1e-3)) + 1, tolerance = 1e-6,
    ignore_attr = TRUE
  )
})

test_that("activity regularizers are per row, and dropout's mode can be a tensor", {
  with(tf$Graph()$as_default(), {
    training <- tf$placeholder_with_default(FALSE, list())
    x <- tf$ones(c(4L, 2L))
    tf$layers$dense(
      x, 3L,
      kernel_initializer = tf$ones_initializer(),
      activity_regularizer = function(y) tf$reduce_sum(y)
    )
    dropped <- tf$layers$dropout(tf$ones(c(10L, 100L)), 0.5, training = training, seed = 1)
    expect_equal(tf$losses$get_regularization_losses()[[1]]$name, "dense/ActivityRegularizer/truediv:0")
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      # The regularization loss is 6, as in TensorFlow 1.15.
      expect_equal(session$run(tf$losses$get_regularization_losses()[[1]]), 6)
      expect_true(all(session$run(dropped) == 1))
      now <- session$run(dropped, feed_dict = list("PlaceholderWithDefault:0" = TRUE))
      expect_setequal(unique(as.vector(now)), c(0, 2))
    })
  })
})
