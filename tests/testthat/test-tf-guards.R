# Invalid shapes, types and values from R are informative errors of the package.
# test_registry_properties.cpp tests the whole registry of the core.

expect_rejected <- function(call, words, class = "runhooks_error") {
  error <- tryCatch(
    {
      run_once(call)
      NULL
    },
    error = identity
  )
  label <- deparse(body(call))[[1]]
  expect_s3_class(error, class)
  if (!is.null(error)) expect_match(conditionMessage(error), words, info = label)
}

run_once <- function(call) {
  with_graph(tf$Graph(), {
    session <- tf$Session()
    on.exit(session$close())
    made <- call()
    session$run(tf$global_variables_initializer())
    session$run(made)
  })
}

text <- function(...) tf$constant(c(...))
ids <- function(...) tf$constant(as.integer(c(...)))
int_matrix <- function(...) tf$constant(rbind(...), "int32")

test_that("strings can be stacked, joined and split like other values", {
  expect_equal(
    run_once(function() tf$stack(list(text("a", "b"), text("c", "d")))),
    rbind(c("a", "b"), c("c", "d"))
  )
  joined <- run_once(function() tf$concat(list(text("a", "b"), text("c", "d")), 0L))
  expect_equal(c(joined), c("a", "b", "c", "d"))
  expect_rejected(function() tf$stack(list(text("a"), tf$constant(1))), "type|string")
  expect_rejected(function() tf$concat(list(text("a"), text("b")), 3L), "axis|dim|range")
})

test_that("a missing, empty or invalid axis is an error", {
  expect_rejected(function() tf$expand_dims(tf$constant(c(1, 2))), "`?axis`?")
  none <- function() tf$constant(integer(), "int32", shape = list(0L))
  expect_rejected(function() tf$argmax(tf$constant(c(1, 2)), none()), "scalar|dimension|axis")
  expect_rejected(function() tf$one_hot(ids(0, 1), none()), "depth")
  expect_rejected(function() tf$raw_ops$Range(none(), 3L, 1L), "start")
  expect_rejected(function() tf$expand_dims(tf$constant(c(1, 2)), 7L), "7|range")
})

test_that("impossible sizes are errors before memory is allocated", {
  expect_rejected(function() tf$fill(c(2^31, 2^31), 1), "dims|2147483648|large|range|element")
  expect_rejected(function() tf$fill(c(2147483647L, 2147483647L), 1), "large|element|memory|many")
  expect_rejected(function() tf$raw_ops$Range(0, 1e300, 1), "large|element|memory|many|size")
})

test_that("a plain value is not a variable", {
  for (call in list(
    function() tf$raw_ops$ReadVariableOp(3, dtype = "float32"),
    function() tf$raw_ops$AssignVariableOp(3, 1),
    function() tf$raw_ops$ResourceScatterAdd(3, 0L, 1),
    function() tf$raw_ops$ResourceApplyGradientDescent(1, 0.1, 1)
  )) {
    expect_rejected(call, "resource|variable")
  }
})

test_that("a variable does not change its type", {
  expect_rejected(
    function() {
      w <- tf$get_variable("w", list(2L), use_resource = TRUE)
      tf$raw_ops$AssignVariableOp(w, tf$constant(c(1L, 2L)))
    },
    "float|int32|type"
  )
})

test_that("tf$as_string() accepts one fill character, and no format", {
  expect_rejected(function() tf$as_string(tf$constant(1), fill = "s", width = 5L), "Fill")
  expect_rejected(function() tf$as_string(tf$constant(1), fill = "%n"), "Fill")
})

test_that("a sum of more than 64 inputs is computed in each run", {
  values <- with_graph(tf$Graph(), {
    w <- tf$Variable(1, name = "w")
    sum <- tf$add_n(c(rep(list(tf$constant(1)), 64), list(w + 0)))
    session <- tf$Session()
    on.exit(session$close())
    session$run(tf$global_variables_initializer())
    first <- session$run(sum)
    session$run(tf$assign(w, 10))
    c(first, session$run(sum))
  })
  expect_equal(values, c(65, 74))
})

test_that("indices out of range and incompatible shapes are errors that name them", {
  two <- function() tf$constant(c(1, 2))
  expect_rejected(function() tf$scatter_nd(int_matrix(9), tf$constant(1), c(4L)), "indices|\\[9\\]")
  expect_rejected(function() tf$scatter_nd(int_matrix(-1), tf$constant(1), c(4L)), "indices|-1")
  expect_rejected(function() tf$scatter_nd(int_matrix(1), two(), c(4L)), "updates|shape")
  expect_rejected(function() tf$unsorted_segment_sum(two(), ids(0, 5), 2L), "segment_ids|5")
  expect_rejected(function() tf$unsorted_segment_sum(two(), ids(0, 1, 2), 2L), "segment_ids|shape")
  expect_rejected(function() tf$unsorted_segment_sum(two(), ids(0, 1), -1L), "num_segments|-1")
  expect_rejected(function() tf$pad(two(), int_matrix(c(-3, 0))), "paddings")
  expect_rejected(function() tf$pad(two(), int_matrix(c(1, 0), c(0, 1))), "paddings")
  expect_rejected(
    function() tf$dynamic_stitch(list(ids(0, -2)), list(two())), "indices|-2"
  )
  expect_rejected(function() tf$dynamic_stitch(list(ids(0, 1, 2)), list(two())), "shape|data")
  expect_rejected(
    function() tf$sparse_to_dense(int_matrix(c(5, 5)), c(2L, 2L), 1), "indices|5|bounds"
  )
  expect_rejected(function() tf$gather_nd(two(), int_matrix(7)), "indices|7")
  expect_rejected(function() tf$gather_nd(two(), int_matrix(c(0, 0, 0))), "indices|rank|dimension")
})

test_that("whole doubles are valid shapes, axes and sizes; others are errors", {
  value <- run_once(function() tf$reshape(tf$constant(c(1, 2, 3, 4, 5, 6)), c(2, 3)))
  expect_equal(value, rbind(1:3, 4:6))
  expect_equal(dim(run_once(function() tf$fill(c(2, 3), 1))), c(2, 3))
  sums <- run_once(function() tf$reduce_sum(tf$constant(rbind(1:2, 3:4), "float32"), 1))
  expect_equal(c(sums), c(3, 7))
  expect_rejected(function() tf$reshape(tf$constant(c(1, 2)), c(1.5, 1)), "whole|1.5")
  expect_rejected(function() tf$reshape(tf$constant(c(1, 2)), c(NA, 1)), "nan|NA|whole")
  expect_rejected(function() tf$fill(c(1e10, 1), 1), "1e\\+10|10000000000|int32|range")
})
