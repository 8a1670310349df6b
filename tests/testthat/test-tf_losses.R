# tf$nn and tf$losses compared with TensorFlow's values.

test_that("losses, their reductions and their gradients match TensorFlow's", {
  golden <- read_golden("unit", "losses.json")
  graph <- tf$Graph()
  built <- with_graph(graph, {
    inputs <- lapply(golden$inputs, function(x) tf$constant(golden_array(x), tf$float32))
    inputs$sparse <- tf$constant(as.integer(unlist(golden$inputs$sparse)))
    lapply(golden$cases, function(case) {
      labels <- inputs[[strsplit(case$labels, " ")[[1]][[1]]]]
      x <- tf$identity(inputs[[strsplit(case$x, " ")[[1]][[1]]]])
      normalize <- if (case$loss == "cosine_distance") tf$nn$l2_normalize else function(x, axis) x
      arguments <- list(normalize(labels, 1), normalize(x, 1))
      arguments$weights <- case$weights
      by_row <- grepl("softmax", case$loss)
      if (!is.null(case$weights)) {
        weights <- golden[[if (by_row) "weights_1d" else "weights"]][[case$weights]]
        arguments$weights <- golden_array(weights)
      }
      others <- c("reduction", "delta", "epsilon", "label_smoothing", "axis")
      arguments <- c(arguments, case[intersect(others, names(case))])
      loss <- do.call(tf$losses[[case$loss]], arguments)
      list(value = loss, gradient = tf$gradients(list(loss), list(x))[[1]])
    })
  })
  results <- run_all(graph, built)
  for (i in seq_along(golden$cases)) {
    case <- golden$cases[[i]]
    label <- paste(case$loss, case$weights, case$reduction)
    expect_close(results[[i]]$value, case$value, label)
    expect_close(results[[i]]$gradient, case$gradient_of_sum, paste("gradient of", label))
  }
  expect_length(golden$cases, 218)
})

test_that("cross entropies of extreme logits lose no precision", {
  golden <- read_golden("unit", "losses.json")$extreme
  graph <- tf$Graph()
  built <- with_graph(graph, {
    x <- tf$constant(golden_array(golden$logits), tf$float32)
    labels <- golden_array(golden$sigmoid_labels)
    sigmoid <- tf$nn$sigmoid_cross_entropy_with_logits(labels = labels, logits = x)
    softmax <- tf$nn$sparse_softmax_cross_entropy_with_logits(labels = 0:2, logits = x)
    list(
      sigmoid = sigmoid, sigmoid_grad = tf$gradients(list(sigmoid), list(x))[[1]],
      softmax = softmax, softmax_grad = tf$gradients(list(softmax), list(x))[[1]]
    )
  })
  results <- run_all(graph, built)
  for (name in names(results)) {
    expected <- as.numeric(unlist(golden[[name]]))
    actual <- as.numeric(row_major(results[[name]]))
    small <- abs(expected) < 1e-6
    expect_equal(actual[!small], expected[!small], tolerance = 1e-6, label = name)
    # Probabilities near 0 must keep their relative precision.
    expect_lt(max(abs(actual - expected)[small] / pmax(expected[small], 1e-15)), 1e-5)
  }
})

test_that("an invalid class label is an error that names its row", {
  graph <- tf$Graph()
  with_graph(graph, {
    loss <- tf$losses$sparse_softmax_cross_entropy(c(0L, 1L, 3L), tf$zeros(c(3, 3)))
  })
  expect_error(
    run_all(graph, loss), "label value of 3 .* \\[0, 3\\) in row 3",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("losses reject incompatible weights and labels", {
  with_graph(tf$Graph(), {
    x <- tf$zeros(c(4, 3))
    expect_error(tf$losses$absolute_difference(x, x, weights = c(1, 2, 3, 4)), "broadcast")
    expect_error(tf$losses$hinge_loss(x, tf$zeros(c(3, 4))), "incompatible")
    expect_error(tf$losses$softmax_cross_entropy(x, x, label_smoothing = 2), "label_smoothing")
    expect_error(tf$losses$huber_loss(x, x, reduction = "product"), "product")
  })
})

test_that("losses are collected, and summed with regularization losses", {
  graph <- tf$Graph()
  built <- with_graph(graph, {
    one <- tf$losses$absolute_difference(c(1, 2), tf$constant(c(2, 4)))
    two <- tf$losses$log_loss(1, tf$constant(0.5))
    tf$losses$add_loss(tf$constant(10))
    expect_length(tf$losses$get_losses(), 3)
    expect_length(tf$losses$get_losses(scope = "log_loss"), 1)
    tf$add_to_collection("regularization_losses", tf$constant(0.25))
    list(
      with = tf$losses$get_total_loss(), without = tf$losses$get_total_loss(FALSE),
      regularization = tf$losses$get_regularization_loss()
    )
  })
  results <- run_all(graph, built)
  expect_equal(results$without, 1.5 + log(2) + 10, tolerance = 1e-6)
  expect_equal(results$with, results$without + 0.25, tolerance = 1e-6)
  expect_equal(results$regularization, 0.25)
  with_graph(tf$Graph(), expect_error(tf$losses$get_total_loss(), "No loss has been added"))
})

test_that("log_poisson_loss() matches the likelihood of counts", {
  graph <- tf$Graph()
  built <- with_graph(graph, {
    targets <- c(0, 1, 3, 7)
    log_rate <- tf$constant(c(-1, 0.5, 1, 2))
    list(
      short = tf$nn$log_poisson_loss(targets = targets, log_input = log_rate),
      full = tf$nn$log_poisson_loss(targets, log_rate, compute_full_loss = TRUE)
    )
  })
  results <- run_all(graph, built)
  targets <- c(0, 1, 3, 7)
  log_rate <- c(-1, 0.5, 1, 2)
  by_hand <- exp(log_rate) - log_rate * targets
  expect_equal(as.vector(results$short), by_hand, tolerance = 1e-6)
  stirling <- c(0, 0, (targets * log(targets) - targets + 0.5 * log(2 * pi * targets))[3:4])
  expect_equal(as.vector(results$full), by_hand + stirling, tolerance = 1e-6)
})

test_that("activations and their gradients match TensorFlow's", {
  golden <- read_golden("unit", "activations.json")
  graph <- tf$Graph()
  by_row <- c("softmax", "log_softmax", "l2_normalize_axis1")
  built <- with_graph(graph, {
    lapply(setNames(nm = names(golden$activations)), function(name) {
      entry <- golden$activations[[name]]
      x <- if (name %in% by_row) golden_array(entry$input) else unlist(golden$x)
      x <- tf$constant(x, tf$float32)
      y <- switch(name,
        l2_normalize_axis1 = tf$nn$l2_normalize(x, 1),
        identity = tf$identity(x),
        tf$nn[[name]](x)
      )
      target <- if (name %in% by_row) y * golden_array(entry$upstream) else y
      list(value = y, gradient = tf$gradients(list(target), list(x))[[1]])
    })
  })
  results <- run_all(graph, built)
  for (name in names(results)) {
    entry <- golden$activations[[name]]
    expect_close(results[[name]]$value, entry$value, name)
    expect_close(results[[name]]$gradient, entry$gradient, paste("gradient of", name))
  }
  expect_length(results, 16)
})

test_that("every activation is a member of tf$nn; leaky_relu has a slope, softmax an axis", {
  names <- c(
    "relu", "relu6", "elu", "selu", "leaky_relu", "sigmoid", "tanh", "softplus", "softsign",
    "softmax", "log_softmax", "crelu", "swish"
  )
  expect_true(all(names %in% names(tf$nn)))
  graph <- tf$Graph()
  built <- with_graph(graph, {
    x <- tf$constant(matrix(c(-1, 2, 0.5, 3), 2))
    list(
      leaky = tf$nn$leaky_relu(x, alpha = 0.1), columns = tf$nn$softmax(x, axis = 0L),
      logs = tf$nn$log_softmax(x, axis = 0)
    )
  })
  results <- run_all(graph, built)
  x <- matrix(c(-1, 2, 0.5, 3), 2)
  expect_equal(results$leaky, ifelse(x < 0, 0.1 * x, x), tolerance = 1e-6)
  softmax <- apply(x, 2, function(column) exp(column) / sum(exp(column)))
  expect_equal(results$columns, softmax, tolerance = 1e-6)
  expect_equal(results$logs, log(softmax), tolerance = 1e-6)
})

test_that("one_hot, argmax and top_k match TensorFlow's", {
  graph <- tf$Graph()
  built <- with_graph(graph, {
    x <- tf$constant(rbind(c(1, 5, 5), c(3, 1, 2)))
    list(
      hot = tf$one_hot(c(0L, 2L, 5L), 3L), whole = tf$one_hot(1L, 3L, 1L, 0L),
      most = tf$argmax(x, 1),
      least = tf$argmin(x, axis = 0L, output_type = tf$int32), top = tf$nn$top_k(x, 2),
      hit = tf$nn$in_top_k(tf$cast(x, "float32"), c(2L, 1L), 2)
    )
  })
  expect_equal(built$whole$dtype, tf$int32)
  results <- run_all(graph, built)
  expect_equal(results$hot, rbind(c(1, 0, 0), c(0, 0, 1), c(0, 0, 0)))
  expect_equal(as.vector(results$whole), c(0, 1, 0))
  expect_equal(as.vector(results$most), c(1, 0))
  expect_equal(as.vector(results$least), c(0, 1, 1))
  expect_equal(results$top[[1]], rbind(c(5, 5), c(3, 2)))
  expect_equal(results$top[[2]], rbind(c(1, 2), c(0, 2)))
  expect_equal(as.vector(results$hit), c(TRUE, FALSE))
})

test_that("softmax and cross entropy of a row do not depend on the other rows", {
  set.seed(1)
  for (classes in c(1, 3, 10, 700)) {
    x <- matrix(stats::rnorm(70 * classes, sd = 3), 70)
    labels <- rep_len(seq_len(classes) - 1L, 70)
    asked <- function(rows) {
      logits <- tf$cast(x[rows, , drop = FALSE], tf$float32)
      one_hot <- tf$one_hot(as.array(labels[rows]), as.integer(classes))
      list(
        tf$nn$softmax(logits), tf$nn$log_softmax(logits),
        tf$nn$sparse_softmax_cross_entropy_with_logits(labels = as.array(labels[rows]), logits = logits),
        tf$nn$softmax_cross_entropy_with_logits(labels = one_hot, logits = logits)
      )
    }
    with(tf$Graph()$as_default(), with(tf$Session() %as% session, {
      together <- session$run(asked(1:70))
      for (row in c(1, 37, 65, 70)) {
        alone <- session$run(asked(row))
        for (i in 1:2) expect_identical(together[[i]][row, ], as.vector(alone[[i]]))
        for (i in 3:4) expect_identical(together[[i]][row], as.vector(alone[[i]]))
      }
    }))
  }
})
