# How many of the first `n` calls of `f(big)` have let go of the environment that they were given; one
# more follows, for R and testthat may hold on to what came last.
released <- function(f, n = 3) {
  gone <- integer()
  for (i in seq_len(n + 1)) {
    local({
      big <- new.env()
      k <- i
      reg.finalizer(big, function(e) gone <<- c(gone, k))
      f(big)
    })
  }
  for (i in 1:5) gc()
  sum(gone <= n)
}

test_that("what a function of tf$py_func() sees goes with its graph", {
  in_session <- function(big, close = TRUE) {
    with_graph(tf$Graph(), {
      x <- tf$constant(1)
      # it sees its graph and its session, a circle
      y <- tf$py_func(function(value) {
        stopifnot(is.environment(big), !is.null(x))
        value + 1
      }, list(x), "float64")
      session <- tf$Session()
      expect_equal(session$run(y), 2)
      if (close) session$close()
    })
  }
  expect_equal(released(in_session), 3)
  expect_equal(released(function(big) in_session(big, close = FALSE)), 3)
})

test_that("so does what one in a branch sees", {
  in_branch <- function(big) {
    with_graph(tf$Graph(), {
      x <- tf$constant(1)
      y <- tf$cond(
        tf$constant(TRUE),
        function() tf$py_func(function(value) if (is.environment(big)) value, list(x), "float32"),
        function() x
      )
      with(tf$Session() %as% session, expect_equal(session$run(y), 1))
    })
  }
  expect_equal(released(in_branch), 3)
})

test_that("a function stays as long as a session can call it", {
  make <- function() {
    with_graph(tf$Graph(), {
      y <- tf$py_func(function() 7, list(), "float64", name = "seven")
      tf$Session()
    })
  }
  session <- make()
  monitored <- with_graph(tf$Graph(), {
    tf$py_func(function() 8, list(), "float64", name = "eight")
    tf$train$SingularMonitoredSession()
  })
  for (i in 1:4) gc()
  expect_equal(session$run("seven:0"), 7)
  expect_equal(monitored$run("eight:0"), 8)
  session$close()
  monitored$close()
})

test_that("what functions and generators of datasets see goes with the datasets", {
  on_elements <- function(big, read) {
    d <- range_dataset(0, 3)
    # it sees the dataset that calls it
    d <- dataset_map(d, on_values(function(x) {
      stopifnot(is.environment(big), is.environment(globalenv()))
      x + 1
    }))
    d <- dataset_batch(dataset_filter(d, on_values(function(x) is.environment(big), "bool")), 2)
    read(d)
  }
  generated <- function(big, read) {
    n <- 0
    d <- generator_dataset(function() {
      if (is.environment(big) && n < 3) n <<- n + 1
    }, "float64", list())
    d <- dataset_flat_map(d, function(x) {
      inner <- dataset_filter(tensors_dataset(x), on_values(function(x) is.environment(big), "bool"))
      dataset_concatenate(tensors_dataset(x), inner)
    })
    read(d)
  }
  collect <- function(d) dataset_collect(d)
  in_session <- function(d, close) {
    with_graph(tf$Graph(), {
      iterator <- make_iterator_initializable(d)
      value <- iterator_get_next(iterator)
      session <- tf$Session()
      session$run(iterator_initializer(iterator))
      session$run(value)
      if (close) session$close()
    })
  }
  for (read in list(
    collect, function(d) in_session(d, TRUE), function(d) in_session(d, FALSE)
  )) {
    expect_equal(released(function(big) on_elements(big, read)), 3)
    expect_equal(released(function(big) generated(big, read)), 3)
  }
})

test_that("a dataset's function stays as long as an iterator can call it", {
  value <- NULL
  session <- with_graph(tf$Graph(), {
    d <- dataset_map(range_dataset(0, 3), on_values(function(x) x + 10, "float64"))
    g <- dataset_batch(generator_dataset(local({
      n <- 0
      function() n <<- n + 1
    }), "float64", list()), 1)
    both <- zip_datasets(d, dataset_map(g, function(x) x))
    make_iterator_one_shot(both)
    value <- iterator_get_next(make_iterator_one_shot(both))
    session <- tf$Session()
    rm(d, g, both)
    session
  })
  for (i in 1:4) gc()
  expect_equal(session$run(value), list(10, array(1)))
  for (i in 1:4) gc()
  expect_equal(session$run(value), list(11, array(2)))
  session$close()
})

test_that("what a model's functions see goes with its runs", {
  runs <- function(big, use) {
    model <- estimator(
      function(features, labels, mode, params) {
        x <- tf$py_func(function(x) if (is.environment(big)) x, list(features), "float32")
        w <- tf$get_variable("w", list())
        p <- tf$reshape(x, list(-1L)) * w
        loss <- tf$reduce_mean(tf$square(p - 1))
        estimator_spec(mode, predictions = list(p = p), loss = loss,
          train_op = tf$train$GradientDescentOptimizer(0.1)$minimize(
            loss, tf$train$get_global_step()
          ))
      },
      model_dir = withr::local_tempdir()
    )
    input <- function() {
      d <- tensor_slices_dataset(list(matrix(1:3 / 2), 1:3))
      d <- dataset_map(d, on_values(function(x, y) list(if (is.environment(big)) x, y)))
      dataset_batch(dataset_map(d, function(x, y) list(tf$cast(x, "float32"), y)), 2)
    }
    use(model, input)
  }
  fit <- function(model, input) train(model, input, steps = 2)
  expect_equal(released(function(big) runs(big, fit)), 3)
  expect_equal(released(function(big) {
    runs(big, function(model, input) {
      fit(model, input)
      evaluate(model, input)
      predict(model, input)
    })
  }), 3)
})
