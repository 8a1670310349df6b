# Learning rate schedules and gradient clipping, compared with TensorFlow's values.

test_that("every decay matches TensorFlow's at every step", {
  golden <- read_golden("unit", "lr_decays.json")
  graph <- tf$Graph()
  built <- with_graph(graph, {
    step <- tf$placeholder(tf$int64, list(), name = "step")
    rates <- lapply(golden$decays, function(entry) {
      arguments <- lapply(entry$args, function(x) if (is.list(x)) unlist(x) else x)
      place <- if (entry$fn == "piecewise_constant") "x" else "global_step"
      do.call(tf$train[[entry$fn]], c(arguments, stats::setNames(list(step), place)))
    })
    list(rates = rates, session = tf$Session())
  })
  on.exit(built$session$close())
  for (i in seq_along(golden$steps)) {
    actual <- built$session$run(built$rates, feed_dict = list("step:0" = golden$steps[[i]]))
    for (name in names(actual)) {
      expect_close(
        actual[[name]], golden$decays[[name]]$value[[i]], paste(name, "at", golden$steps[[i]])
      )
    }
  }
  expect_length(golden$decays, 14)
})

test_that("a noisy decay is the smooth one plus noise", {
  graph <- tf$Graph()
  values <- with_graph(graph, {
    tf$set_random_seed(1)
    step <- tf$constant(30)
    fetches <- list(
      smooth = tf$train$linear_cosine_decay(0.1, step, 100),
      silent = tf$train$noisy_linear_cosine_decay(0.1, step, 100, initial_variance = 0),
      noisy = tf$train$noisy_linear_cosine_decay(0.1, step, 100)
    )
    session <- tf$Session()
    on.exit(session$close())
    session$run(fetches)
  })
  expect_equal(values$silent, values$smooth)
  expect_false(values$noisy == values$smooth)
})

test_that("piecewise_constant() needs increasing boundaries and one more value", {
  with_graph(tf$Graph(), {
    step <- tf$train$get_or_create_global_step()
    decay <- tf$train$piecewise_constant
    expect_error(decay(step, c(10, 20), c(1, 2)), "1 less", class = "runhooks_error")
    expect_error(decay(step, c(20, 10), c(1, 2, 3)), "increase")
    expect_equal(decay(step, c(10, 20), c(1, 2, 3))$dtype, tf$float32)
  })
})

test_that("clipping matches TensorFlow's", {
  golden <- read_golden("unit", "clip.json")
  graph <- tf$Graph()
  built <- with_graph(graph, {
    lapply(golden$cases, function(case) {
      if (case$op == "clip_by_global_norm") {
        tensors <- lapply(case$inputs, function(x) tf$constant(golden_array(x), tf$float32))
        return(tf$clip_by_global_norm(tensors, case$clip_norm))
      }
      x <- tf$constant(golden_array(case$inputs), tf$float32)
      switch(case$op,
        clip_by_value = tf$clip_by_value(x, case$min, case$max),
        clip_by_norm = tf$clip_by_norm(x, case$clip_norm, axes = unlist(case$axes)),
        clip_by_average_norm = tf$clip_by_average_norm(x, case$clip_norm)
      )
    })
  })
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  values <- session$run(built)
  for (i in seq_along(values)) {
    case <- golden$cases[[i]]
    label <- paste(case$op, case$clip_norm)
    if (case$op == "clip_by_global_norm") {
      for (k in seq_along(case$output)) {
        expect_close(values[[i]][[1]][[k]], case$output[[k]], label)
      }
      expect_close(values[[i]][[2]], case$global_norm, label)
    } else {
      expect_close(values[[i]], case$output, label)
    }
  }
  expect_length(golden$cases, 15)
})

test_that("missing gradients stay missing", {
  with_graph(tf$Graph(), {
    clipped <- tf$clip_by_global_norm(list(tf$constant(c(3, 4)), NULL), 1)
    expect_null(clipped[[1]][[2]])
    session <- tf$Session()
    on.exit(session$close())
    expect_equal(as.vector(session$run(clipped[[1]][[1]])), c(0.6, 0.8), tolerance = 1e-6)
    expect_equal(session$run(tf$global_norm(list(tf$constant(c(3, 4))))), 5)
  })
})

test_that("a float64 rate decays in float64, as in TensorFlow", {
  with_graph(tf$Graph(), {
    step <- tf$placeholder("int64", list())
    rate <- tf$constant(0.02, "float64")
    share <- tf$constant(0.7, "float64")
    rates <- list(
      exact = tf$train$exponential_decay(rate, step, 3L, share),
      # TensorFlow first converts a plain number to float32.
      plain = tf$train$exponential_decay(rate, step, 3L, 0.7),
      inverse = tf$train$inverse_time_decay(rate, step, 2L, 0.5),
      polynomial = tf$train$polynomial_decay(rate, step, 5L, tf$constant(0, "float64")),
      cosine = tf$train$cosine_decay(rate, step, 10L)
    )
    for (name in names(rates)) expect_identical(rates[[name]]$dtype$name, "float64", info = name)
    with(tf$Session() %as% session, {
      values <- unlist(session$run(rates, dict(step = 1)))
      others <- c(
        session$run(tf$train$noisy_linear_cosine_decay(rate, step, 10L), dict(step = 1)),
        session$run(tf$train$cosine_decay_restarts(rate, step, 10L), dict(step = 1))
      )
    })
    expect_length(others, 2)
    # The first three are values of TensorFlow 2.15.
    expected <- c(
      exact = 0.017758080034852013, plain = 0.017758079934045913, inverse = 0.016,
      polynomial = 0.02 * 0.8, cosine = 0.02 * (cos(pi / 10) + 1) / 2
    )
    expect_equal(values, expected, tolerance = 1e-14)
  })
  float32 <- with_graph(tf$Graph(), tf$train$exponential_decay(0.1, tf$constant(1L), 2L, 0.5)$dtype)
  expect_identical(float32$name, "float32")
})
