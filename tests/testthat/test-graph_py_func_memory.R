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
