# Errors name the user's call that caused them, even if R evaluates an argument late.

# Evaluates `expr` as a script does: code in this file would count as the package's own.
as_script <- function(expr) eval(substitute(expr), new.env(parent = globalenv()))

test_that("an argument that is evaluated late is reported as a separate call", {
  graph <- tf$Graph()$as_default()
  graph$.enter()
  withr::defer(graph$.exit(NULL))
  two <- "a <- tf$ones(c(2L, 2L)); b <- tf$ones(c(3L, 3L));"
  expect_call <- function(code, call = code) {
    force(call)
    code <- paste(two, code)
    condition <- rlang::catch_cnd(eval(parse(text = code), new.env(parent = globalenv())))
    expect_s3_class(condition, "runhooks_error")
    expect_equal(paste(deparse(conditionCall(condition)), collapse = " "), call)
  }
  expect_call("tf$reduce_sum(tf$matmul(a, b))", "tf$matmul(a, b)")
  expect_call("tf$losses$mean_squared_error(a, a + b)", "a + b")
  expect_call("sum(a + b)", "a + b")
  expect_call("tf$sqrt(a[3, 1])", "a[3, 1]")
  expect_call("tf$matmul(tf$sqrt(a), b)")
  # Calls inside R's functions, and inside user functions that the package calls, are found.
  expect_call("tf$add_n(lapply(list(a, b), function(x) tf$matmul(x, a)))", "tf$matmul(x, a)")
  expect_call("tf$layers$dense(a, 2, activation = function(x) tf$matmul(x, b))", "tf$matmul(x, b)")
  expect_call(
    "tf$contrib$layers$fully_connected(a, 2, activation_fn = function(x) x + b)", "x + b"
  )
  # Errors while the package processes an argument are reported for the call of the package.
  expect_call("tf$einsum(\"ij,jk->ik\", a, b)")
  expect_call("tf$pad(a, list(1L, c(2L, 1L)))")
  expect_call("tf$stack(list(a, b))")
})

test_that("errors in a model function name the call inside it", {
  as_script({
    finish <- function(mode, out) {
      estimator_spec(mode, loss = tf$reduce_mean(out), train_op = tf$no_op())
    }
    model_fn <- function(features, labels, mode) {
      w <- tf$get_variable("w", c(5L, 1L), dtype = "float64")
      finish(mode, tf$matmul(features, w))
    }
    input <- input_fn(mtcars, c("drat", "cyl"), "mpg")
    condition <- rlang::catch_cnd(train(estimator(model_fn), input), "runhooks_error")
    testthat::expect_equal(conditionCall(condition), quote(tf$matmul(features, w)))
  })
})
