# Extreme arguments and long scripts take linear time, or are errors that name the limit.
set.seed(1)

test_that("map threads and chained datasets have limits", {
  d <- range_dataset(0, 3)
  expect_error(dataset_map(d, function(x) x, num_parallel_calls = 1e6), "1024")
  for (i in 1:1999) d <- dataset_take(d, 2)
  expect_equal(unlist(dataset_collect(d)), c(0, 1))
  expect_error(
    dataset_take(d, 2), "at most 2000 levels deep", class = "runhooks_error_resource_exhausted"
  )
  expect_error(zip_datasets(range_dataset(0, 3), d), "2000")
})

test_that("building an operation takes time linear in its inputs", {
  with(tf$Graph()$as_default(), {
    x <- tf$constant(1)
    used <- system.time(sum <- tf$add_n(rep(list(x), 50000)))[["user.self"]]
    expect_lt(used, 3) # quadratic copies of the list would take 10
    with(tf$Session() %as% session, expect_equal(session$run(sum), 50000))
  })
})
