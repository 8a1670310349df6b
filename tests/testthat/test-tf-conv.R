# Convolution, pooling and their layers, compared with TensorFlow (golden/custom.json, from
# tests/golden/make_custom.py) and with plain R.

waves <- function(shape, pace) {
  values <- sin(pace * seq_len(prod(shape)))
  aperm(array(values, rev(shape)), rev(seq_along(shape)))
}
flat <- function(x) if (length(dim(x)) > 1) as.vector(aperm(x)) else as.vector(x)

wave_initializer <- function(pace) {
  function(shape, dtype = NULL, partition_info = NULL) {
    tf$constant(waves(unlist(shape), pace) * 0.3, dtype = "float32")
  }
}

test_that("a network with all these layers trains as in TensorFlow", {
  golden <- jsonlite::read_json(test_path("golden", "custom.json"), simplifyVector = TRUE)
  with(tf$Graph()$as_default(), {
    x <- tf$constant(waves(c(6, 8, 7, 2), 0.7), dtype = "float32")
    labels <- tf$constant(c(0L, 1L, 2L, 3L, 4L, 0L))
    conv1 <- tf$layers$conv2d(
      x, 3, c(3, 3), padding = "same", activation = tf$nn$relu,
      kernel_initializer = wave_initializer(1.1)
    )
    pool1 <- tf$layers$max_pooling2d(conv1, c(2, 2), 2)
    conv2 <- tf$layers$conv2d(
      pool1, 4, 2, strides = c(1, 2), kernel_initializer = wave_initializer(1.3)
    )
    pool2 <- tf$layers$average_pooling2d(conv2, 2, 1, padding = "same")
    row <- tf$layers$conv1d(
      tf$reshape(pool2, c(6, -1, 4)), 5, 2, kernel_initializer = wave_initializer(1.7)
    )
    row <- tf$layers$max_pooling1d(row, 2, 1)
    back <- tf$layers$conv2d_transpose(
      conv2, 2, c(2, 3), strides = 2, kernel_initializer = wave_initializer(0.9)
    )
    joined <- tf$concat(list(tf$layers$flatten(row), tf$layers$flatten(back)), axis = 1)
    logits <- tf$layers$dense(joined, 5, kernel_initializer = wave_initializer(0.3))
    loss <- tf$losses$sparse_softmax_cross_entropy(labels, logits)
    step <- tf$train$MomentumOptimizer(0.05, 0.9)$minimize(loss)
    variables <- tf$trainable_variables()
    expect_equal(vapply(variables, function(v) v$name, ""), golden$names)
    tensors <- list(conv1, pool1, conv2, pool2, row, back)
    expect_equal(vapply(tensors, function(t) t$name, ""), golden$tensors[, 1])
    shapes <- vapply(tensors, function(t) format(t$get_shape()$text), "")
    expect_equal(shapes, golden$tensors[, 2])
    with(tf$Session() %as% session, {
      session$run(tf$global_variables_initializer())
      losses <- replicate(5, session$run(list(loss, step))[[1]])
      values <- session$run(variables)
    })
    expect_equal(losses, golden$losses, tolerance = 1e-5)
    for (i in seq_along(values)) {
      expect_equal(flat(values[[i]]), golden$values[[i]], tolerance = 1e-5)
    }
  })
})

test_that("a convolution is the sum over the window, whatever the number of threads", {
  x <- waves(c(9, 6, 5, 3), 0.3)
  w <- waves(c(2, 3, 3, 4), 0.7)
  by_hand <- function(n, i, j, k) sum(x[n, i + 0:1, j + 0:2, ] * w[, , , k])
  places <- expand.grid(n = 1:9, i = 1:5, j = 1:3, k = 1:4)
  expected <- array(do.call(mapply, c(list(by_hand), unname(places))), c(9, 5, 3, 4))
  compute <- function(threads) {
    withr::local_options(runhooks.threads = threads)
    with(tf$Graph()$as_default(), {
      input <- tf$constant(x)
      filter <- tf$constant(w)
      y <- tf$nn$conv2d(input, filter, c(1, 1, 1, 1), "VALID")
      grads <- tf$gradients(tf$reduce_sum(tf$square(y)), list(input, filter))
      with(tf$Session() %as% session, session$run(c(list(y), grads)))
    })
  }
  one <- compute(1)
  expect_equal(one[[1]], expected, ignore_attr = TRUE)
  expect_identical(compute(2), one)
})

test_that("pooling ignores padding", {
  with(tf$Graph()$as_default(), {
    x <- tf$constant(array(-(1:9) + 0, c(1, 3, 3, 1)), dtype = "float64")
    largest <- tf$nn$max_pool(x, c(1, 2, 2, 1), c(1, 2, 2, 1), "SAME")
    mean <- tf$nn$avg_pool(x, c(1, 2, 2, 1), c(1, 2, 2, 1), "SAME")
    with(tf$Session() %as% session, {
      expect_equal(as.vector(session$run(largest)), -c(1, 3, 7, 9))
      expect_equal(as.vector(session$run(mean)), -c(3, 4.5, 7.5, 9))
    })
  })
})

test_that("invalid images, windows and filters are errors that name them", {
  with(tf$Graph()$as_default(), {
    x <- tf$ones(shape(2, 4, 4, 3))
    expect_error(tf$layers$conv2d(tf$ones(shape(2, 4)), 1, 2), "expected ndim=4, found ndim=2")
    expect_error(tf$layers$conv2d(x, 1, 5), "image of 4 cells is smaller than a window")
    expect_error(tf$layers$conv2d(x, 0, 2), "`filters` must be 1 or more")
    expect_error(tf$layers$conv2d(x, 1, c(2, 2, 2)), "`kernel_size`")
    expect_error(tf$layers$conv2d(x, 1, 2, padding = "some"), "must be one of")
    expect_error(tf$nn$conv2d(x, tf$ones(shape(2, 2, 2, 1)), 1, "SAME"), "has 3 channels")
    expect_error(
      tf$layers$max_pooling2d(x, 2, 2, data_format = "channels_first"), "channels last",
      class = "runhooks_error_unimplemented"
    )
    expect_error(tf$nn$max_pool(x, c(2, 2, 2, 1), 1, "SAME"), "height and width")
    expect_error(
      tf$layers$conv2d(tf$placeholder("float32", shape(NULL, 4, 4, NULL)), 1, 2), "channel dimension"
    )
  })
})

test_that("a depthwise convolution convolves each channel separately", {
  with(tf$Graph()$as_default(), {
    x <- tf$constant(waves(c(2, 5, 6, 3), 0.7), dtype = "float64")
    w <- tf$constant(waves(c(2, 3, 3, 2), 1.1), dtype = "float64")
    strides <- c(1, 2, 2, 1)
    together <- tf$nn$depthwise_conv2d(x, w, strides, "SAME")
    apart <- lapply(1:3, function(channel) {
      tf$nn$conv2d(
        x[, , , channel:channel, drop = FALSE], w[, , channel:channel, , drop = FALSE], strides,
        "SAME"
      )
    })
    mixing <- tf$constant(waves(c(1, 1, 6, 4), 0.3), dtype = "float64")
    mixed <- tf$nn$separable_conv2d(x, w, mixing, strides, "SAME")
    in_two_steps <- tf$nn$conv2d(together, mixing, c(1, 1, 1, 1), "VALID")
    found <- with(tf$Session() %as% sess, {
      sess$run(list(together, tf$concat(apart, 3L), mixed, in_two_steps))
    })
    expect_equal(found[[1]], found[[2]], tolerance = 1e-12)
    expect_identical(found[[3]], found[[4]])
    expect_error(tf$nn$depthwise_conv2d(x, w[, , 1:2, ], strides, "SAME"), "must have equal depth")
  })
})
