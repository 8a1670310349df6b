test_that("terms keep their spelling", {
  parsed <- parse_formula(y ~ tf$Tensor(x) + x1)
  expect_equal(parsed$features, c("tf$Tensor(x)", "x1"))
  expect_equal(parsed$response, "y")
  expect_true(parsed$intercept)
  expect_null(parse_formula(~ a + b)$response)
  expect_false(parse_formula(y ~ a - 1)$intercept)
  expect_equal(parse_formula(y ~ (a + b) - b)$features, "a")
  expect_error(
    parse_formula(y ~ a | b),
    "unhandled formula operator: expected '+' or '-'; got '|'",
    fixed = TRUE
  )
})

features_of <- function(formula, data = mtcars) {
  names(with_graph(tf$Graph(), input_fn(formula, data = data)(NULL)())[[1]])
}

test_that("a dot adds all other columns, products add their parts, minus removes terms", {
  expect_setequal(features_of(mpg ~ .), setdiff(names(mtcars), "mpg"))
  expect_setequal(features_of(mpg ~ . - hp), setdiff(names(mtcars), c("mpg", "hp")))
  expect_equal(features_of(mpg ~ cyl:drat), c("cyl", "drat"))
  expect_equal(features_of(mpg ~ cyl * drat - cyl), "drat")
})

test_that("calls become computed columns", {
  data <- list()
  hook <- session_run_hook(
    before_run = function(context) session_run_args("IteratorGetNext:0"),
    after_run = function(context, values) data <<- values$results[[1]]
  )
  model <- linear_regressor(column_numeric("log(hp)"), model_dir = withr::local_tempdir())
  train(model, input_fn(mpg ~ log(hp), mtcars, shuffle = FALSE), hooks = hook)
  # The computed feature is rounded to float32 once, as a column would cast it.
  as_float32 <- function(x) readBin(writeBin(x, raw(), size = 4), "numeric", length(x), size = 4)
  expect_identical(as.vector(data), as_float32(log(mtcars$hp)))
})

test_that("terms that cannot be computed are errors", {
  expect_snapshot_text({
    input_fn(mpg ~ horses, data = mtcars)
    input_fn(mpg ~ log(horses), data = mtcars)
    input_fn(mpg ~ drat)
    input_fn(mpg ~ drat + offset(log(hp)), data = mtcars)
    input_fn(mpg ~ drat^2, data = mtcars)
  })
})

test_that("a formula selects components of a dataset, and says that it computes none", {
  rows <- dataset_batch(tensor_slices_dataset(mtcars), 8)
  expect_true(is.function(input_fn(mpg ~ wt, rows)))
  expect_error(input_fn(mpg ~ log(wt), rows), "dataset_map", class = "runhooks_error_not_found")
  expect_error(input_fn(mpg ~ wtt, rows), "Did you mean \"wt\"", class = "runhooks_error_not_found")
})
