# Each optimizer step by step, compared with TensorFlow's values.

optimizer_of_class <- function(entry) {
  arguments <- entry$args
  do.call(tf$train[[entry$class]], arguments)
}

# Returns the variable and the slots after each of the golden's steps, by name.
run_optimizer <- function(entry, golden) {
  graph <- tf$Graph()
  with_graph(graph, {
    tf$train$get_or_create_global_step()
    v <- tf$Variable(tf$constant(unlist(golden$v0)), name = "v")
    # The gradient of sum(v * g) is g.
    step <- tf$train$get_global_step()
    gradients <- lapply(golden$gradients, function(g) tf$constant(unlist(g)))
    optimizer <- optimizer_of_class(entry)
    train_ops <- optimizer$apply_gradients(list(list(gradients[[1]], v)), global_step = step)
    init <- tf$global_variables_initializer()
  })
  session <- with_graph(graph, tf$Session())
  session$run(init)
  list(session = session, train_op = train_ops, gradient = gradients[[1]]$name)
}

test_that("dense updates match TensorFlow's, including slots", {
  golden <- read_golden("unit", "optimizers.json")
  for (entry in golden$optimizers) {
    run <- run_optimizer(entry, golden)
    names <- names(entry$dense[[1]])
    fetches <- paste0(names, ":0")
    for (t in seq_along(entry$dense)) {
      if (t > 1) {
        feed <- stats::setNames(list(unlist(golden$gradients[[t - 1]])), run$gradient)
        run$session$run(run$train_op, feed_dict = feed)
      }
      actual <- run$session$run(as.list(fetches))
      for (i in seq_along(names)) {
        error <- relative_error(actual[[i]], entry$dense[[t]][[names[[i]]]])
        expect_lte(
          error,
          1e-5,
          label = sprintf("error of %s of %s at step %d", names[[i]], entry$name, t - 1)
        )
      }
    }
    run$session$close()
  }
})

test_that("an optimizer minimizes a loss in a session", {
  graph <- tf$Graph()
  with_graph(graph, {
    w <- tf$Variable(3, name = "w")
    loss <- tf$square(w$value() - 1)
    train_op <- tf$train$GradientDescentOptimizer(0.25)$minimize(loss)
    init <- tf$global_variables_initializer()
    session <- tf$Session()
  })
  session$run(init)
  for (i in 1:30) session$run(train_op)
  expect_equal(session$run(w), 1, tolerance = 1e-6)
  session$close()
})

test_that("hyperparameters out of range are errors when the optimizer is created", {
  expect_error(tf$train$GradientDescentOptimizer(-0.1), class = "runhooks_error_invalid_argument")
  expect_snapshot_text({
    tf$train$GradientDescentOptimizer(learning_rate = -0.1)
    tf$train$AdamOptimizer(beta1 = 1.5)
    tf$train$FtrlOptimizer(0.1, learning_rate_power = 0.5)
    tf$train$MomentumOptimizer(0.1, momentum = "a lot")
  })
})

test_that("optimizers print their settings", {
  expect_snapshot_text(tf$train$MomentumOptimizer(0.1, 0.9))
})

# Compares `steps` steps on sum(g * w) for two variables with plain R. `update(w, g, m, v, t)`
# returns the new list(w, m, v).
check_against_r <- function(optimizer, update, label, dtype = "float32", variables = c("a", "b")) {
  set.seed(20261122)
  start <- list(matrix(rnorm(6), 2), rnorm(3))
  gradients <- lapply(1:5, function(t) list(matrix(rnorm(6), 2), rnorm(3)))
  graph <- tf$Graph()
  built <- with_graph(graph, {
    ws <- lapply(1:2, function(i) {
      tf$Variable(tf$constant(start[[i]], dtype), name = variables[[i]])
    })
    gs <- lapply(1:2, function(i) {
      tf$placeholder(dtype, as.list(if (i == 1) c(2, 3) else 3), name = paste0("g", i))
    })
    pairs <- lapply(1:2, function(i) list(gs[[i]], ws[[i]]))
    list(
      ws = ws, train = optimizer$apply_gradients(pairs), init = tf$global_variables_initializer(),
      session = tf$Session()
    )
  })
  on.exit(built$session$close())
  built$session$run(built$init)
  state <- lapply(start, function(w) list(w, w * 0, w * 0))
  for (t in seq_along(gradients)) {
    g <- gradients[[t]]
    feed <- list("g1:0" = g[[1]], "g2:0" = array(g[[2]]))
    built$session$run(built$train, feed_dict = feed)
    for (i in 1:2) state[[i]] <- update(state[[i]], g[[i]], t, variables[[i]])
  }
  actual <- built$session$run(built$ws)
  for (i in 1:2) {
    # Hyperparameters are float32 in the graph whatever the variable's type, as in TensorFlow.
    expect_close(actual[[i]], row_major(state[[i]][[1]]), paste(label, variables[[i]]))
  }
}

adam_moments <- function(state, g) {
  list(0.9 * state[[2]] + 0.1 * g, 0.999 * state[[3]] + 0.001 * g^2)
}

test_that("AdamW decays the variable, not its gradient", {
  update <- function(state, g, t, name) {
    w <- state[[1]] * (1 - 0.02)
    moments <- adam_moments(state, g)
    alpha <- 0.1 * sqrt(1 - 0.999^t) / (1 - 0.9^t)
    c(list(w - alpha * moments[[1]] / (sqrt(moments[[2]]) + 1e-8)), moments)
  }
  for (dtype in c("float32", "float64")) {
    optimizer <- tf$train$AdamWOptimizer(0.02, learning_rate = 0.1)
    check_against_r(optimizer, update, "AdamW", dtype)
  }
  expect_error(tf$train$AdamWOptimizer(-1), "weight_decay", class = "runhooks_error")
})

test_that("LAMB scales steps by the variable's norm, except for excluded ones", {
  length_of <- function(x) sqrt(sum(x^2))
  update <- function(state, g, t, name) {
    w <- state[[1]]
    moments <- adam_moments(state, g)
    m <- moments[[1]] / (1 - 0.9^t)
    v <- moments[[2]] / (1 - 0.999^t)
    is_excluded <- name == "bias"
    step <- m / (sqrt(v) + 1e-6) + (if (is_excluded) 0 else 0.01) * w
    ratio <- if (is_excluded) 1 else length_of(w) / length_of(step)
    c(list(w - 0.05 * ratio * step), moments)
  }
  optimizer <- tf$train$LAMBOptimizer(
    0.05, weight_decay_rate = 0.01, exclude_from_weight_decay = c("bias", "norm")
  )
  check_against_r(optimizer, update, "LAMB", variables = c("kernel", "bias"))
  check_against_r(optimizer, update, "LAMB", "float64", c("kernel", "bias"))
})

test_that("LAMB updates a variable of zeros like Adam", {
  graph <- tf$Graph()
  values <- with_graph(graph, {
    w <- tf$Variable(tf$zeros(3), name = "w")
    train <- tf$train$LAMBOptimizer(0.1)$apply_gradients(list(list(tf$constant(c(1, -2, 3)), w)))
    session <- tf$Session()
    on.exit(session$close())
    session$run(tf$global_variables_initializer())
    session$run(train)
    session$run(w)
  })
  expect_equal(as.vector(values), c(-0.1, 0.1, -0.1), tolerance = 1e-5)
})

# Reference: three steps of TensorFlow 1.15's tf.contrib.opt.AdaMaxOptimizer(0.1, 0.8, 0.95, 1e-3).
adamax_state <- function(is_sparse, is_resource) {
  rows <- list(c(0L, 2L), c(2L, 1L), c(0L, 0L))
  with_graph(tf$Graph(), {
    start <- rbind(c(1, 2), c(3, -4), c(0.5, 0.25))
    first <- tf$constant(start, "float32")
    w <- tf$get_variable("w", initializer = first, use_resource = is_resource)
    values <- tf$placeholder("float32", list(NULL, 2L))
    indices <- tf$placeholder("int32", list(NULL))
    gradient <- if (is_sparse) tf$IndexedSlices(values, indices, c(3L, 2L)) else values
    optimizer <- tf$contrib$opt$AdaMaxOptimizer(0.1, 0.8, 0.95, 1e-3)
    train <- optimizer$apply_gradients(list(list(gradient, w)))
    session <- tf$Session()
    on.exit(session$close())
    session$run(tf$global_variables_initializer())
    whole <- rbind(c(1, -2), c(0.5, 3), c(0, 0.1))
    for (t in 1:3) {
      fed <- if (is_sparse) whole[1:2, ] * t else whole * t * (-1)^(t - 1)
      session$run(train, feed_dict = dict(values = fed, indices = rows[[t]]))
    }
    all <- tf$global_variables()
    setNames(lapply(all, function(x) c(t(session$run(x)))), vapply(all, function(x) x$name, ""))
  })
}

test_that("AdaMax matches TensorFlow's, and does not change rows without a gradient", {
  expected <- list(
    dense = list(
      "w:0" = c(0.90555698, 2.09448934, 2.90564919, -4.09450483, 0.5, 0.15638134),
      "beta1_power:0" = 0.40960002,
      "w/AdaMax:0" = c(0.40799993, -0.81599987, 0.20399997, 1.22399998, 0, 0.0408),
      "w/AdaMax_1:0" = c(3, 6, 1.5, 9, 0, 0.3)
    ),
    sparse = list(
      "w:0" = c(0.85184103, 2.08083081, 2.94449997, -4.05554628, 0.33356625, 0.17224997),
      "beta1_power:0" = 0.40960002,
      "w/AdaMax:0" = c(1.05999994, 0.27999997, 0.19999999, 1.19999993, 0.47999996, -0.31999996),
      "w/AdaMax_1:0" = c(4.5, 3, 1, 6, 2, 4)
    )
  )
  for (form in names(expected)) {
    for (is_resource in c(FALSE, TRUE)) {
      actual <- adamax_state(form == "sparse", is_resource)
      expect_equal(actual[names(expected[[form]])], expected[[form]], tolerance = 1e-6, info = form)
    }
  }
  expect_error(tf$contrib$opt$AdaMaxOptimizer(beta2 = 2), "beta2", class = "runhooks_error")
})

# Reference: TensorFlow 2.15's tf.raw_ops.ResourceApplyAddSign(), lr = 0.1, alpha = 1, sign_decay =
# 0.5, beta = 0.8.
test_that("AddSign matches TensorFlow's, and does not change rows without a gradient", {
  expected <- list(
    w = list(
      c(1, -1.4, 0.275, 2.55, 0.45, 0.235), c(1, -1.91, 0.46625, 2.9325, 0.0675, 0.12025001),
      c(1, -1.3235, 0.2463125, 2.49262476, 0.507375, 0.25221252)
    ),
    m = list(
      c(0, -0.8, 0.3, 0.6, -0.6, -0.18), c(0, 0.04, -0.015, -0.03, 0.03, 0.009),
      c(0, -0.75, 0.28125, 0.5625, -0.5625, -0.16875)
    )
  )
  for (is_sparse in c(FALSE, TRUE)) {
    with_graph(tf$Graph(), {
      first <- tf$constant(rbind(c(1, -2), c(0.5, 3), c(0, 0.1)), "float32")
      w <- tf$get_variable("w", initializer = first, use_resource = TRUE)
      sign <- tf$placeholder("float32", list())
      dense <- (w - rbind(c(1, 2), c(-1, 0), c(3, 1))) * sign
      rows <- if (is_sparse) c(2L, 0L) else 0:2
      gradient <- tf$gather(dense, rows)
      if (is_sparse) gradient <- tf$IndexedSlices(gradient, tf$constant(rows), c(3L, 2L))
      optimizer <- tf$contrib$opt$AddSignOptimizer(
        0.1, beta = 0.8, sign_decay_fn = function(step) 0.5
      )
      train <- optimizer$apply_gradients(list(list(gradient, w)))
      m <- optimizer$get_slot(w, "m")
      session <- tf$Session()
      session$run(tf$global_variables_initializer())
      start <- list(w = c(1, -2, 0.5, 3, 0, 0.1), m = numeric(6))
      for (t in 1:3) {
        session$run(train, feed_dict = dict(sign = (-1)^(t - 1)))
        for (name in names(start)) {
          expected_value <- expected[[name]][[t]]
          if (is_sparse) expected_value[3:4] <- start[[name]][3:4]
          # In the second step, m is a small difference of two large numbers.
          expect_equal(c(t(session$run(get(name)))), expected_value, tolerance = 1e-5, info = name)
        }
      }
      session$close()
    })
  }
  expect_error(
    tf$contrib$opt$AddSignOptimizer(sign_decay_fn = function(step) "x")$minimize(
      tf$get_variable("of_words", initializer = 1) * 1
    ),
    "sign_decay_fn", class = "runhooks_error"
  )
})
