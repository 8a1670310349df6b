# Arguments work as in TensorFlow 1.15 or are errors. Expected values are TensorFlow's.

run_in_graph <- function(expr, init = FALSE) {
  graph <- tf$Graph()
  tensors <- with_graph(graph, expr)
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  if (init) session$run(with_graph(graph, tf$global_variables_initializer()))
  session$run(tensors)
}

test_that("positional arguments match TensorFlow's", {
  a <- c(1, -2)
  expect_equal(
    run_in_graph(tf$stack(list(tf$constant(a), tf$constant(3 * a)), 1L)),
    matrix(c(1, -2, 3, -6), 2)
  )
  expect_equal(as.vector(run_in_graph(tf$nn$leaky_relu(tf$constant(a), 0.5))), c(1, -1))
  expect_equal(
    lapply(run_in_graph(tf$unstack(tf$constant(matrix(1:6, 2)), 3L, 1L)), as.vector),
    list(1:2, 3:4, 5:6)
  )
  bias <- array(c(1, 2), 2)
  expect_equal(
    run_in_graph(tf$nn$bias_add(tf$constant(diag(2)), tf$constant(bias), "NHWC")),
    matrix(c(2, 1, 2, 3), 2)
  )
  graph <- tf$Graph()
  with_graph(graph, {
    expect_identical(tf$add(tf$constant(1), 2, "sum")$name, "sum:0")
    expect_identical(tf$stack(list(1, 2))$name, "stack:0")
    expect_identical(tf$concat(list(tf$constant(a), tf$constant(a)), 0L, "both")$name, "both:0")
    expect_identical(dim(tf$reshape(tf$constant(1:6), c(-1, 2))), c(3L, 2L))
  })
})

test_that("deprecated argument names are accepted, but not together with the new ones", {
  m <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  expect_equal(
    run_in_graph(tf$reduce_sum(tf$constant(m), reduction_indices = 0L, keep_dims = TRUE)),
    matrix(colSums(m), 1)
  )
  expect_error(
    run_in_graph(tf$reduce_sum(tf$constant(m), axis = 0L, reduction_indices = 0L)),
    "only one of .axis. and .reduction_indices.", class = "runhooks_error_invalid_argument"
  )
  expect_equal(as.vector(run_in_graph(tf$argmax(tf$constant(m), dimension = 1L))), c(2, 2))
  expect_equal(as.vector(run_in_graph(tf$arg_max(tf$constant(m), 0L))), c(1, 1, 1))
  expect_equal(dim(run_in_graph(tf$expand_dims(tf$constant(m), dim = 0L))), c(1L, 2L, 3L))
  expect_equal(
    run_in_graph(tf$nn$softmax(tf$constant(m), dim = -1L)),
    run_in_graph(tf$nn$softmax(tf$constant(m)))
  )
})

test_that("unused arguments are errors unless they have their default values", {
  unused <- function(expr, argument) {
    expect_error(
      run_in_graph(expr), paste0("Unused argument.*", argument),
      class = "runhooks_error_unimplemented"
    )
  }
  x <- matrix(1, 2, 2)
  unused(tf$linalg$diag(tf$constant(c(1, 2)), k = 1L), "k")
  expect_no_error(run_in_graph(tf$linalg$diag(tf$constant(c(1, 2)), k = 0L)))
  unused(
    tf$layers$batch_normalization(tf$constant(x), renorm = TRUE), "renorm"
  )
  unused(tf$metrics$auc(c(TRUE, FALSE), c(0.1, 0.2), thresholds = c(0.1, 0.5)), "thresholds")
  cut <- tf$fixed_size_partitioner(2L)
  unused(tf$get_variable("w", shape(1L), partitioner = cut), "partitioner")
  unused(tf$gradients(tf$constant(1), tf$constant(1), gate_gradients = TRUE), "gate_gradients")
  unused(
    tf$train$GradientDescentOptimizer(0.1)$minimize(tf$constant(1), aggregation_method = 2L),
    "aggregation_method"
  )
  unused(tf$train$Scaffold(ready_op = tf$constant("")), "ready_op")
  unused(tf$Variable(1, caching_device = "/cpu:0"), "caching_device")
  unused(tf$variable_scope("a", caching_device = "/cpu:0"), "caching_device")
  expect_error(
    tf$train$AdamOptimizer(beta3 = 1), "unused argument"
  )
})

test_that("gradients start with grad_ys and end at stop_gradients", {
  value <- run_in_graph({
    x <- tf$constant(3)
    y <- x * x
    z <- y * x
    list(
      tf$gradients(z, x, grad_ys = 10), tf$gradients(z, x, stop_gradients = y),
      tf$gradients(list(y, z), x, grad_ys = list(NULL, tf$constant(2))),
      tf$gradients(z, tf$constant(1), unconnected_gradients = "zero")
    )
  })
  expect_equal(unlist(value), c(270, 9, 6 + 54, 0))
  expect_error(
    run_in_graph(tf$gradients(tf$constant(1), tf$constant(1), grad_ys = list(1, 2))),
    "must have 1 element", class = "runhooks_error_invalid_argument"
  )
})

test_that("the gradient of a loss can be given", {
  step <- function(...) {
    run_in_graph(init = TRUE, {
      w <- tf$Variable(2)
      op <- tf$train$GradientDescentOptimizer(0.1)$minimize(w * w, ..., var_list = w)
      with(tf$control_dependencies(op), w$read_value())
    })
  }
  expect_equal(step(), 2 - 0.1 * 4, tolerance = 1e-6)
  expect_equal(step(grad_loss = 3), 2 - 0.1 * 12, tolerance = 1e-6)
})

test_that("variables have regularizers, initializers of their scope, and constraints", {
  value <- run_in_graph(init = TRUE, {
    w <- tf$get_variable("w", shape(2L), initializer = tf$ones_initializer(),
      regularizer = tf$contrib$layers$l2_regularizer(0.5),
      constraint = function(x) tf$minimum(x, 1.05)
    )
    with(
      tf$variable_scope("s",
        initializer = tf$constant_initializer(7), regularizer = function(x) tf$reduce_sum(x)
      ),
      u <- tf$get_variable("u", shape(2L))
    )
    with(tf$variable_scope("s", reuse = TRUE, dtype = "float64"), tf$get_variable("u", shape(2L)))
    losses <- tf$losses$get_regularization_losses()
    expect_length(losses, 2)
    op <- tf$train$GradientDescentOptimizer(0.1)$minimize(-tf$reduce_sum(w * w))
    after <- with(tf$control_dependencies(op), w$read_value())
    list(u = u, losses = losses, after = after)
  })
  expect_equal(as.vector(value$u), c(7, 7))
  expect_equal(unlist(value$losses), c(0.5, 14))
  expect_equal(as.vector(value$after), c(1.05, 1.05), tolerance = 1e-6)
})

test_that("resource variables can be assigned", {
  value <- run_in_graph(init = TRUE, {
    v <- tf$get_variable("v", initializer = c(1, 2), use_resource = TRUE)
    first <- tf$assign(v, c(5, 6))
    second <- with(tf$control_dependencies(first), v$assign_add(c(1, 1)))
    third <- with(tf$control_dependencies(second), tf$assign_sub(v, c(0.5, 0)))
    list(v$op$type, second, third)[-1]
  })
  expect_equal(lapply(value, as.vector), list(c(6, 7), c(5.5, 7)))
})

test_that("biases are added to channels, and slices gathered by batch", {
  x <- array(0, c(2, 3, 2))
  with_bias <- run_in_graph({
    tf$nn$bias_add(tf$constant(x), tf$constant(array(c(1, 2, 3), 3)), "NCHW")
  })
  expect_equal(with_bias[2, , 1], c(1, 2, 3))
  expect_equal(with_bias[1, 2, ], c(2, 2))
  gradient <- run_in_graph({
    b <- tf$constant(array(c(1, 2, 3), 3))
    tf$gradients(tf$nn$bias_add(tf$constant(x), b, data_format = "NCHW"), b)
  })
  expect_equal(as.vector(gradient[[1]]), c(4, 4, 4))
  params <- matrix(as.double(1:6), 2, byrow = TRUE)
  indices <- matrix(c(2L, 0L, 0L, 1L), 2)
  expect_equal(
    run_in_graph(tf$gather(tf$constant(params), tf$constant(indices), batch_dims = 1L)),
    rbind(c(3, 1), c(4, 5))
  )
  expect_error(
    run_in_graph(tf$gather(tf$constant(params), tf$constant(c(0L, 1L, 2L)), batch_dims = 1L)),
    "same for batch_dims", class = "runhooks_error_invalid_argument"
  )
})

test_that("strings are compared, and integers are divided as real numbers", {
  value <- run_in_graph({
    a <- tf$constant(c("x", "y"))
    list(a == "x", a != tf$constant(c("x", "z")), tf$constant(c(7L, 1L)) / 2L)
  })
  expect_equal(lapply(value, as.vector), list(c(TRUE, FALSE), c(FALSE, TRUE), c(3.5, 0.5)))
  graph <- tf$Graph()
  with_graph(graph, {
    expect_identical((tf$constant(1L) / 2L)$dtype$name, "float64")
    expect_identical((1 / tf$constant(2))$dtype$name, "float32")
  })
})

test_that("unstack() returns as many parts as the dimension has", {
  parts <- run_in_graph(tf$unstack(tf$constant(matrix(1:6, 2)), axis = -1L))
  expect_equal(lapply(parts, as.vector), list(1:2, 3:4, 5:6))
  graph <- tf$Graph()
  with_graph(graph, {
    expect_error(
      tf$unstack(tf$placeholder(tf$float32)), "Cannot infer .num.",
      class = "runhooks_error_invalid_argument"
    )
  })
})

test_that("preferred_dtype is not a requirement", {
  graph <- tf$Graph()
  with_graph(graph, {
    expect_identical(tf$convert_to_tensor(1L, preferred_dtype = "float64")$dtype$name, "float64")
    expect_identical(tf$convert_to_tensor("a", preferred_dtype = "float64")$dtype$name, "string")
    expect_identical(tf$convert_to_tensor(1, name = "one")$name, "one:0")
    expect_error(
      tf$convert_to_tensor(tf$constant(1), "int32"), "requested dtype int32",
      class = "runhooks_error_invalid_argument"
    )
  })
})

test_that("the slots of Ftrl have the given names", {
  graph <- tf$Graph()
  with_graph(graph, {
    w <- tf$Variable(1, name = "w")
    tf$train$FtrlOptimizer(0.1, accum_name = "sums", linear_name = "z")$minimize(w * w)
    names <- vapply(tf$global_variables(), function(v) v$name, "")
    expect_identical(names, c("w:0", "w/sums:0", "w/z:0"))
  })
})

test_that("hyperparameters are validated by their declaration", {
  expect_error(tf$train$AdamOptimizer(beta1 = 2), "must be between 0 and 1, not 2")
  expect_error(tf$train$AdagradOptimizer(0.1, 0), "must be positive, not 0")
  expect_error(tf$train$MomentumOptimizer(0.1), "momentum")
  expect_error(tf$train$MomentumOptimizer(0.1, 0.9, use_nesterov = 1), "TRUE or FALSE")
  expect_silent(tf$train$AdamOptimizer(learning_rate = function() 0.1))
})

test_that("names that scripts use exist", {
  expect_identical(tf$GraphKeys$UPDATE_OPS, "update_ops")
  expect_match(tf$VERSION, "^1[.]15")
  context <- tf$train$SessionRunContext(NULL, "session")
  expect_identical(context$session, "session")
  values <- tf$train$SessionRunValues(list(loss = 1), NULL, NULL)
  expect_identical(values$results$loss, 1)
  expect_error(stop(tf$train$NanLossDuringTrainingError()), class = "runhooks_error_nan_loss")
  expect_identical(tf$estimator$NanLossDuringTrainingError, tf$train$NanLossDuringTrainingError)
})

test_that("numeric R functions accept numbers and tensors, and reject operations", {
  image <- array(4, c(1, 1, 3))
  expect_error(
    tf$image$adjust_gamma(image, gamma = mtcars), "`gamma` must be numbers or a tensor",
    class = "runhooks_error_invalid_argument"
  )
  expect_error(
    tf$image$adjust_gamma(image, gain = tf$no_op()), "`gain` must be numbers or a tensor",
    class = "runhooks_error_invalid_argument"
  )
  expect_error(
    tf$contrib$layers$dropout(1, keep_prob = tf$no_op()), "`keep_prob` must be a number or a tensor",
    class = "runhooks_error_invalid_argument"
  )
  with(tf$Session() %as% session, {
    brighter <- tf$image$adjust_gamma(image, tf$constant(2), c(1, 2, 3))
    expect_equal(session$run(brighter), array(c(16, 32, 48), c(1, 1, 3)))
  })
})
