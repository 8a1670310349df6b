# tf$cond(), tf$while_loop() and functions built on them. Expected gradients are finite differences
# or follow from a formula.

in_graph <- function(code) with(tf$Graph()$as_default(), code)
value_of <- function(x, feed = NULL, init = FALSE) {
  with(tf$Session() %as% sess, {
    if (init) sess$run(tf$global_variables_initializer())
    sess$run(x, feed_dict = feed)
  })
}

test_that("only the branch that is taken runs", {
  in_graph({
    p <- tf$placeholder("bool", shape(), name = "p")
    calls <- character()
    count <- function(x, side) {
      tf$py_func(function(x) {
        calls <<- c(calls, side)
        x
      }, list(x), "float32")
    }
    x <- tf$constant(2)
    y <- tf$cond(p, function() count(x, "yes") * 2, function() count(x, "no") * 3)
    expect_equal(y$name, "cond/Merge:0")
    sess <- tf$Session()
    expect_equal(sess$run(y, dict("p:0" = TRUE)), 4)
    expect_equal(sess$run(y, dict("p:0" = FALSE)), 6)
    expect_identical(calls, c("yes", "no"))
    sess$close()
  })
})

test_that("branches can update variables and return operations", {
  in_graph({
    p <- tf$placeholder("bool", shape(), name = "p")
    v <- tf$Variable(0, name = "v")
    done <- tf$cond(
      p, function() tf$group(tf$assign_add(v, 1)), function() tf$no_op()
    )
    sess <- tf$Session()
    sess$run(tf$global_variables_initializer())
    for (flag in c(TRUE, FALSE, TRUE)) expect_identical(sess$run(done, dict("p:0" = flag)), flag)
    expect_equal(sess$run(v), 2)
    sess$close()
  })
})

test_that("branches return structures unchanged", {
  in_graph({
    x <- tf$constant(1)
    y <- tf$cond(x > 0, function() list(a = x, b = list(x + 1)), function() list(a = x, b = list(x)))
    expect_named(y, c("a", "b"))
    expect_equal(value_of(y), list(a = 1, b = list(2)))
    expect_true(inherits(tf$cond(x > 0, function() list(x), function() list(x)), "tensorflow.tensor"))
    expect_length(tf$cond(x > 0, function() list(x), function() list(x), strict = TRUE), 1)
  })
})

test_that("gradients flow through the branch that was taken", {
  in_graph({
    x <- tf$placeholder("float32", shape(), name = "x")
    a <- tf$constant(3)
    y <- tf$cond(x > 0, function() tf$exp(x) * a, function() x * x)
    first <- tf$gradients(y, list(x, a))
    second <- tf$gradients(first[[1]], x)
    found <- value_of(list(first, second), dict("x:0" = 1))
    expect_equal(unlist(found), c(3 * exp(1), exp(1), 3 * exp(1)), tolerance = 1e-6)
    found <- value_of(list(first, second), dict("x:0" = -2))
    expect_equal(unlist(found), c(-4, 0, 2), tolerance = 1e-6)
  })
})

test_that("case takes the first condition that is true", {
  in_graph({
    x <- tf$placeholder("float32", shape(), name = "x")
    number <- function(n) function() tf$constant(n)
    pairs <- list(list(x < 0, number(-1)), list(x < 10, number(5)))
    y <- tf$case(pairs, default = number(100))
    z <- tf$case(pairs, exclusive = TRUE)
    expect_equal(value_of(y, dict("x:0" = -3)), -1)
    expect_equal(value_of(y, dict("x:0" = 3)), 5)
    expect_equal(value_of(y, dict("x:0" = 30)), 100)
    expect_equal(value_of(z, dict("x:0" = 3)), 5)
    expect_error(value_of(z, dict("x:0" = -3)), "More than one condition")
    expect_error(value_of(z, dict("x:0" = 30)), "None of the conditions")
  })
})

test_that("loops run while their condition is true", {
  in_graph({
    n <- tf$placeholder("int32", shape(), name = "n")
    x <- tf$constant(2)
    loop <- tf$while_loop(
      function(i, y) i < n, function(i, y) list(i + 1L, y * x), list(tf$constant(0L), tf$constant(1))
    )
    expect_equal(loop[[2]]$name, "while/Exit_1:0")
    grad <- tf$gradients(loop[[2]], x)[[1]]
    sess <- tf$Session()
    for (k in c(0L, 1L, 5L)) {
      expect_equal(sess$run(loop, dict("n:0" = k)), list(k, 2^k))
      expect_equal(sess$run(grad, dict("n:0" = k)), k * 2^(k - 1))
    }
    sess$close()
    one <- tf$while_loop(function(i) i < 7L, function(i) i + 2L, list(tf$constant(0L)))
    expect_equal(value_of(one), 8L)
    early <- tf$while_loop(
      function(i) i < 7L, function(i) i + 2L, list(tf$constant(0L)), maximum_iterations = 2L
    )
    expect_equal(value_of(early), 4L)
  })
})

test_that("a loop variable keeps its type and shape", {
  in_graph({
    i <- tf$constant(0L)
    x <- tf$ones(shape(2))
    grows <- function(i, x) list(i + 1L, tf$concat(list(x, x), 0L))
    expect_error(
      tf$while_loop(function(i, x) i < 2L, grows, list(i, x)), "not an invariant for the loop"
    )
    grown <- tf$while_loop(
      function(i, x) i < 2L, grows, list(i, x), shape_invariants = list(shape(), shape(NULL))
    )
    expect_length(value_of(grown[[2]]), 8)
    expect_error(
      tf$while_loop(function(i) i < 2L, function(i) tf$cast(i, "float32"), list(i)), "enters the loop"
    )
    expect_error(
      tf$while_loop(function(i, x) i < 2L, function(i, x) i, list(i, x)), "same nested structure"
    )
    expect_error(tf$while_loop(function(i) i, function(i) i + 1L, list(i)), "one bool")
  })
})

test_that("tensors of a branch or loop body cannot be used outside", {
  in_graph({
    x <- tf$constant(1)
    kept <- NULL
    tf$cond(x > 0, function() {
      kept <<- x * 2
      kept
    }, function() x)
    expect_error(kept + 1, "belongs to a function", class = "runhooks_error_invalid_argument")
    expect_error(value_of(kept), "a function")
    expect_error(tf$cond(TRUE, function() x, function() x), "flag of R")
    expect_error(tf$cond(x > 0, function() x, function() NULL), "must have a return value")
    expect_error(tf$cond(x > 0, function() x, function() list(x, x)), "same nested structure")
    expect_error(tf$cond(x > 0, function() x, function() tf$constant(1L)), "same type")
    expect_error(tf$cond(x > 0, function() stop("from a branch"), function() x), "from a branch")
  })
})

test_that("map_fn, foldl, foldr and scan iterate over rows", {
  in_graph({
    x <- tf$constant(c(1, 2, 3, 4))
    squares <- tf$map_fn(function(e) e * e, x)
    expect_equal(dim(squares), 4L)
    expect_equal(c(value_of(squares)), c(1, 4, 9, 16))
    expect_equal(c(value_of(tf$gradients(squares, x)[[1]])), c(2, 4, 6, 8))
    pair <- tf$map_fn(
      function(e) list(e[[1]] + e[[2]], tf$cast(e[[1]], "int32")), list(x, x), dtype = list("float32", "int32")
    )
    expect_equal(lapply(value_of(pair), c), list(c(2, 4, 6, 8), 1:4))
    expect_equal(value_of(tf$foldl(function(a, e) a * 10 + e, x)), 1234)
    expect_equal(value_of(tf$foldr(function(a, e) a * 10 + e, x)), 4321)
    expect_equal(value_of(tf$foldl(function(a, e) a + e, x, initializer = tf$constant(100))), 110)
    expect_equal(c(value_of(tf$scan(function(a, e) a + e, x))), c(1, 3, 6, 10))
    expect_equal(c(value_of(tf$scan(function(a, e) a + e, x, reverse = TRUE))), c(10, 9, 7, 4))
    sums <- tf$scan(function(a, e) a + e, x, initializer = tf$constant(1))
    expect_equal(c(value_of(sums)), c(2, 4, 7, 11))
    expect_equal(c(value_of(tf$gradients(sums, x)[[1]])), c(4, 3, 2, 1))
  })
})

test_that("custom_gradient() replaces the gradient of a function", {
  in_graph({
    clipped <- tf$custom_gradient(function(x) {
      list(tf$identity(x), function(dy) tf$clip_by_value(dy, -1, 1))
    })
    x <- tf$constant(c(1, 2))
    y <- tf$reduce_sum(clipped(x) * tf$constant(c(10, 0.5)))
    expect_equal(c(value_of(tf$gradients(y, x)[[1]])), c(1, 0.5))
    log1pexp <- tf$custom_gradient(function(x) {
      e <- tf$exp(x)
      list(tf$log(1 + e), function(dy) dy * (1 - 1 / (1 + e)))
    })
    z <- tf$constant(100)
    expect_equal(value_of(tf$gradients(log1pexp(z), z)[[1]]), 1)
    two <- tf$custom_gradient(function(a, b) list(a * b, function(dy) list(dy * 7, NULL)))
    expect_equal(value_of(tf$gradients(two(x, x), x)[[1]]), array(c(7, 7)))
    expect_error(tf$custom_gradient(function(x) x)(x), "list of two")
  })
})

test_that("custom gradients also apply in loops and branches", {
  in_graph({
    tenfold <- tf$custom_gradient(function(x) list(x * 1, function(dy) dy * 10))
    x <- tf$constant(3)
    y <- tf$while_loop(
      function(i, v) i < 3L, function(i, v) list(i + 1L, tenfold(v)), list(tf$constant(0L), x)
    )[[2]]
    expect_equal(value_of(tf$gradients(y, x)[[1]]), 1000)
  })
})

test_that("hessians match the formula", {
  in_graph({
    x <- tf$constant(c(1, 2))
    y <- tf$reduce_sum(x^3) + x[1] * x[2]
    expect_equal(value_of(tf$hessians(y, x)[[1]]), rbind(c(6, 1), c(1, 12)))
  })
})

test_that("models train through loops and branches", {
  model <- function(features, labels, mode, params, config) {
    x <- tf$reshape(tf$cast(features, "float32"), list(-1L, 1L))
    hidden <- tf$layers$dense(x, 4, activation = tf$tanh)
    w <- tf$get_variable("w", shape = list(4L, 4L))
    state <- tf$while_loop(
      function(i, s) i < 3L, function(i, s) list(i + 1L, tf$tanh(tf$matmul(s, w) + hidden)),
      list(tf$constant(0L), hidden)
    )[[2]]
    state <- tf$cond(
      tf$constant(mode == "train"), function() tf$layers$dropout(state, 0.1, training = TRUE),
      function() state
    )
    y <- tf$layers$dense(state, 1)
    if (mode == "infer") return(estimator_spec(mode, predictions = list(y = y)))
    loss <- tf$losses$mean_squared_error(tf$reshape(tf$cast(labels, "float32"), list(-1L, 1L)), y)
    train_op <- tf$train$AdamOptimizer(0.03)$minimize(loss, tf$train$get_global_step())
    estimator_spec(mode, predictions = list(y = y), loss = loss, train_op = train_op)
  }
  data <- data.frame(x = seq(-2, 2, length.out = 64))
  data$y <- sin(data$x)
  loss_after <- function(steps) {
    est <- estimator(
      model, model_dir = withr::local_tempdir(), config = run_config(tf_random_seed = 4)
    )
    train(est, input_fn(data, "x", "y", batch_size = 64, num_epochs = NULL, shuffle = FALSE),
      steps = steps)
    evaluate(est, input_fn(data, "x", "y", batch_size = 64, num_epochs = 1, shuffle = FALSE))$loss
  }
  short <- loss_after(2)
  expect_lt(loss_after(150), short / 4)
  expect_identical(loss_after(2), short)
})

test_that("random numbers in branches and loops resume where a run stopped", {
  model <- function(features, labels, mode, params, config) {
    w <- tf$get_variable("w", shape = list(), initializer = tf$zeros_initializer())
    noise <- tf$while_loop(
      function(i, s) i < 2L, function(i, s) list(i + 1L, s + tf$random_uniform(list())),
      list(tf$constant(0L), tf$constant(0))
    )[[2]]
    loss <- tf$square(w - noise) + 0 * tf$reduce_sum(tf$cast(features, "float32"))
    train_op <- tf$train$GradientDescentOptimizer(0.1)$minimize(loss, tf$train$get_global_step())
    estimator_spec(mode, predictions = list(w = w), loss = loss, train_op = train_op)
  }
  data <- data.frame(x = as.numeric(1:64))
  data$y <- 0
  after <- function(parts) {
    est <- estimator(
      model, model_dir = withr::local_tempdir(),
      config = run_config(tf_random_seed = 4, checkpoint_input_pipeline = TRUE)
    )
    for (steps in parts) {
      train(est, input_fn(data, "x", "y", batch_size = 4, num_epochs = NULL, shuffle = FALSE),
        steps = steps)
    }
    variable_value(est, "w")[[1]]
  }
  expect_identical(after(c(3, 4)), after(7))
})

test_that("a map starts empty in each run and each iteration of a loop", {
  with(tf$Graph()$as_default(), {
    x <- tf$placeholder("float64", shape(3L))
    doubled <- tf$map_fn(function(row) row * 2, x)
    turns <- tf$while_loop(
      function(i, s) i < 3L, function(i, s) list(i + 1L, tf$map_fn(function(row) row * 2, s)),
      list(tf$constant(0L), x)
    )[[2]]
    with(tf$Session() %as% session, {
      for (value in list(c(1, 2, 3), c(5, 6, 7))) {
        out <- session$run(list(doubled, turns), feed_dict = dict(x = value))
        expect_equal(as.vector(out[[1]]), 2 * value)
        expect_equal(as.vector(out[[2]]), 8 * value)
      }
    })
  })
})
