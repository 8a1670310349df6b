# Lists and datasets that are nested deeper than R's stack allows.

deep <- function(x, n = 1e5) {
  for (i in seq_len(n)) x <- list(x)
  x
}

test_that("nesting that is too deep is an error, not a stack overflow of R", {
  tf$reset_default_graph()
  x <- tf$placeholder(tf$float32, name = "x")
  y <- x + 1
  session <- tf$Session()
  withr::defer(session$close())
  range <- range_dataset(0, 3)
  calls <- list(
    fetch = function() session$run(deep(y), dict(x = 1)),
    run_args = function() {
      hook <- session_run_hook(before_run = function(context) session_run_args(deep(y)))
      tf$train$get_or_create_global_step()
      loop <- tf$train$MonitoredSession(hooks = list(hook))
      on.exit(try(loop$close(), silent = TRUE))
      loop$run(tf$train$get_global_step())
    },
    final_ops = function() hook_final_ops(deep(y)),
    constant = function() tf$constant(deep(1)),
    cond = function() tf$cond(tf$constant(TRUE), function() deep(y), function() deep(y)),
    slices = function() tensor_slices_dataset(deep(1)),
    columns = function() linear_regressor(deep(column_numeric("a"))),
    dims = function() column_numeric("a", shape = deep(1)),
    group = function() tf$group(deep(y)),
    zip = function() zip_datasets(deep(range)),
    map = function() dataset_map(range, function(x) deep(x))
  )
  for (name in names(calls)) {
    expect_error(calls[[name]](), "nested more than 32 deep", class = "runhooks_error_invalid_argument")
  }
  # Deep lists are errors for dimensions and feeds, which cannot be lists of lists.
  expect_error(tf$placeholder("float32", deep(1L)), class = "runhooks_error_invalid_argument")
  expect_error(
    session$run(y, list("x:0" = deep(1))), class = "runhooks_error_invalid_argument"
  )
  expect_equal(session$run(deep(y, 31), dict(x = 1)), deep(2, 31))
})
