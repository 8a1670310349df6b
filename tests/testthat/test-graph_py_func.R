run_once <- function(...) {
  with(tf$Session() %as% s, s$run(...))
}

with_new_graph <- function(expr) with(tf$Graph()$as_default(), expr)

test_that("a function receives inputs and returns outputs of any type and shape", {
  with_new_graph({
    x <- tf$constant(rbind(c(1, 2, 3), c(4, 5, 6)))
    turned <- tf$py_func(function(x, by) t(x) * by, list(x, 2), tf$float64, name = "turned")
    expect_equal(turned$name, "turned:0")
    expect_equal(run_once(turned), array(2 * rbind(c(1, 4), c(2, 5), c(3, 6)), c(3, 2)))
    both <- tf$py_func(
      function(words) list(nchar(words), toupper(words), TRUE),
      list(tf$constant(c("a", "bc"))), list(tf$int32, tf$string, tf$bool)
    )
    expect_equal(lapply(run_once(both), as.vector), list(1:2, c("A", "BC"), TRUE))
    recorded <- NULL
    note <- tf$py_func(function(x) recorded <<- x, list(tf$constant(7L)), list())
    run_once(note)
    expect_equal(recorded, 7L)
  })
})

test_that("a function is called in each run, only if its value is needed", {
  with_new_graph({
    n <- 0
    count <- tf$py_func(function() n <<- n + 1, list(), "float32")
    other <- tf$constant(1)
    with(tf$Session() %as% s, {
      expect_equal(s$run(count * 2), 2)
      expect_equal(s$run(list(count, count + 1)), list(2, 3))
      s$run(other)
    })
    expect_equal(n, 2)
  })
})

test_that("operations after a function adapt to a changing output shape", {
  with_new_graph({
    n <- 0
    growing <- tf$py_func(function() seq_len(n <<- n + 1), list(), tf$float32)
    doubled <- growing + growing
    with(tf$Session() %as% s, {
      for (size in 1:3) expect_equal(as.numeric(s$run(doubled)), 2 * seq_len(size))
    })
  })
})

test_that("a condition that the function raises reaches the caller unchanged", {
  with_new_graph({
    mine <- structure(
      class = c("mine", "error", "condition"), list(message = "mine", call = NULL, extra = 42)
    )
    fails <- tf$py_func(function() stop(mine), list(), tf$float32)
    caught <- tryCatch(run_once(fails), mine = identity)
    expect_identical(caught, mine)
    in_loop <- tryCatch(
      with(tf$train$MonitoredSession() %as% s, s$run(fails)), mine = identity
    )
    expect_identical(in_loop, mine)

    stops <- tf$py_func(function() stop_iteration("over"), list(), tf$float32)
    expect_error(run_once(stops), "over", class = "runhooks_error_stop_iteration")
    # A subclass of a condition that ends the loop is an ordinary error.
    more <- tryCatch(stop_iteration("more"), error = identity)
    class(more) <- c("more", class(more))
    above <- tf$py_func(function() stop(more), list(), tf$float32)
    expect_error(
      with(tf$train$MonitoredSession() %as% s, s$run(above)), "more", class = "more"
    )
    expect_warning(
      run_once(tf$py_func(function() {
        warning("look out")
        1
      }, list(), tf$float32)),
      "look out"
    )
  })
})

test_that("an AbortedError from a function recreates the session", {
  with_new_graph({
    n <- 0
    fails_once <- tf$py_func(function() {
      n <<- n + 1
      if (n == 1) stop(tf$errors$AbortedError(NULL, NULL, "gone"))
      n
    }, list(), tf$float32)
    with(tf$train$MonitoredSession() %as% s, expect_equal(s$run(fails_once), 2))
  })
})

test_that("invalid arguments and results are errors", {
  with_new_graph({
    expect_error(tf$py_func("f", list(), tf$float32), "`func` must be a function")
    expect_error(tf$py_func(function(x) x, list(), tf$float32), "function of 0 arguments")
    expect_error(tf$py_func(function() 1, list(), "float31"), "'float31' is not the name of a type")
    two <- tf$py_func(function() 1, list(), list(tf$float32, tf$float32), name = "two")
    expect_error(run_once(two), "The function of 'two' must return a list of 2 values")
    text <- tf$py_func(function() "a", list(), tf$float32)
    expect_error(run_once(text), "cannot become a tensor of type float32")
  })
})

test_that("a function can close or run its session without harm", {
  with_new_graph({
    session <- tf$Session()
    closes <- tf$py_func(function(x) {
      session$close()
      x + 1
    }, list(tf$constant(1)), tf$float32)
    expect_equal(session$run(closes), 2)
    expect_error(session$run(closes), "closed", class = "runhooks_error_failed_precondition")

    again <- tf$Session()
    n <- 0
    inner <- tf$py_func(function(x) {
      n <<- n + 1
      if (n < 3) again$run(doubled) else x
    }, list(tf$constant(1)), tf$float32)
    doubled <- inner * 2
    expect_equal(again$run(doubled), 8)
    again$close()
  })
})

test_that("a monitored session cannot be run, closed or recreated from inside a run", {
  with_new_graph({
    action <- NULL
    acts <- tf$py_func(function(x) {
      action()
      x
    }, list(tf$constant(1)), tf$float32)
    session <- tf$train$MonitoredSession()
    for (harm in list(function() session$close(), function() session$run(acts))) {
      action <- harm
      expect_error(session$run(acts), "from inside its own run",
        class = "runhooks_error_failed_precondition"
      )
      action <- function() NULL
      expect_equal(session$run(acts), 1)
    }
    session$close()
  })
})

test_that("subnormal numbers are zero in a graph, as in TensorFlow, and unchanged in R", {
  with_new_graph({
    x <- tf$placeholder(tf$float64, shape(NULL))
    in_r <- tf$py_func(function(x) x[[1]] * 1e-110 > 0, list(x), tf$bool)
    tiny <- rep(1e-200, 100000) # enough for two threads
    with(tf$Session() %as% s, {
      got <- s$run(list(x * 1e-110, in_r), feed_dict = dict(x = tiny))
      expect_identical(unique(as.vector(got[[1]])), 0)
      expect_identical(as.vector(got[[2]]), TRUE)
      expect_identical(as.vector(s$run(x + 0, feed_dict = dict(x = rep(1e-310, 3)))), numeric(3))
    })
  })
  expect_gt(1e-200 * 1e-110, 0)
})
