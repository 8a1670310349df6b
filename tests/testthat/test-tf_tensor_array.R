# tf$TensorArray, which loops read and write by index.

in_graph <- function(code) with(tf$Graph()$as_default(), code)
run <- function(x) with(tf$Session() %as% session, session$run(x))

test_that("elements are written, read, stacked and concatenated", {
  in_graph({
    x <- tf$constant(c(1, 2))
    empty <- tf$TensorArray(tf$float32, size = 3L)
    array <- empty$write(0L, x)$write(1L, x * 2)$write(2L, x * 3)
    expect_identical(dim(array$read(0L)), 2L)
    expect_identical(dim(array$stack()), list(NULL, 2L))
    got <- run(list(
      array$size(), array$read(1L), array$stack(), array$concat(), array$gather(c(2L, 0L)),
      empty$write(0L, x)$stack()
    ))
    expect_equal(c(got[[1]]), 3)
    expect_equal(c(got[[2]]), c(2, 4))
    expect_equal(got[[3]], matrix(c(1, 2, 3, 2, 4, 6), 3))
    expect_equal(c(got[[4]]), c(1, 2, 2, 4, 3, 6))
    expect_equal(got[[5]], matrix(c(3, 1, 6, 2), 2))
    expect_equal(got[[6]], matrix(c(1, 0, 0, 2, 0, 0), 3)) # elements that were not written are 0
    rows <- tf$TensorArray(tf$float32, size = 3L)$unstack(tf$constant(matrix(1:6 / 2, 3), dtype = "float32"))
    turned <- tf$TensorArray(tf$float32, size = 3L)$scatter(c(2L, 0L, 1L), tf$constant(c(1, 2, 3)))
    cut <- tf$TensorArray(tf$float32, size = 2L, infer_shape = FALSE)$
      split(tf$constant(c(1, 2, 3)), c(1L, 2L))
    got <- run(list(rows$read(1L), turned$stack(), cut$read(1L), cut$concat()))
    expect_equal(lapply(got, c), list(c(1, 2.5), c(2, 3, 1), c(2, 3), c(1, 2, 3)))
    grown <- tf$TensorArray(tf$float32, size = 1L, dynamic_size = TRUE)$write(3L, x)
    expect_equal(c(run(grown$size())), 4)
    expect_error(run(empty$write(3L, x)$stack()), "element 3 in a list with 3")
    expect_error(tf$TensorArray(tf$float32), "Size must be provided")
    expect_error(array$write(0L, tf$constant(1)), "Inconsistent shapes")
    expect_error(array$write(0L, tf$constant(c(1L, 2L))), "TensorArray dtype is float32")
    expect_error(empty$nothing)
    expect_output(print(array), "TensorArray of float32")
  })
})

test_that("loops and branches carry arrays, with gradients", {
  in_graph({
    x <- tf$constant(c(1, 2, 3))
    source <- tf$TensorArray(tf$float32, size = 3L)$unstack(x)
    result <- tf$while_loop(function(i, array, s) i < 3L, function(i, array, s) {
      s <- s + source$read(i)^2
      list(i + 1L, array$write(i, s), s)
    }, list(tf$constant(0L), tf$TensorArray(tf$float32, size = 3L), tf$constant(0)))
    stacked <- result[[2]]$stack()
    got <- run(list(stacked, tf$gradients(stacked, x)[[1]]))
    expect_equal(c(got[[1]]), c(1, 5, 14))
    expect_equal(c(got[[2]]), c(6, 8, 6)) # 2 x, once for each sum that contains it
    chosen <- tf$cond(tf$constant(TRUE), function() result[[2]]$write(0L, tf$constant(7)),
      function() result[[2]])
    expect_equal(c(run(chosen$stack())), c(7, 5, 14))
    grown <- tf$while_loop(function(i, array) i < 4L, function(i, array) {
      list(i + 1L, array$write(i, tf$cast(i, "float32") * x[1]))
    }, list(tf$constant(0L), tf$TensorArray(tf$float32, size = 0L, dynamic_size = TRUE)))[[2]]
    total <- tf$reduce_sum(grown$stack())
    got <- run(list(total, tf$gradients(total, x)[[1]]))
    expect_equal(c(got[[1]]), 6)
    expect_equal(c(got[[2]]), c(6, 0, 0))
  })
})
