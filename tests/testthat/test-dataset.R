values <- function(dataset, n = Inf) unlist(dataset_collect(dataset, n))

test_that("rows of R data are elements with the types of tensors", {
  data <- tensor_slices_dataset(list(x = c(1, 2), n = 3:4, s = c("a", "b"), m = matrix(1:4, 2)))
  elements <- dataset_collect(data)
  expect_length(elements, 2)
  expect_identical(elements[[2]]$s, "b")
  expect_equal(as.vector(elements[[2]]$m), c(2, 4))
  types <- vapply(output_types(data), function(type) type$name, "")
  expect_identical(types, c(x = "float32", n = "int32", s = "string", m = "int32"))
  expect_identical(output_shapes(data)$m, 2L)
  from_frame <- tensor_slices_dataset(data.frame(x = c(1, 2)))
  expect_identical(output_types(from_frame)$x$name, "float64")
  typed <- tensor_slices_dataset(np_array(1:2, "int64"))
  expect_identical(output_types(typed)$name, "int64")
  tuple <- dataset_collect(tensor_slices_dataset(list(1:2, c("a", "b"))))
  expect_identical(tuple[[1]], list(1L, "a"))
  nested <- dataset_collect(tensor_slices_dataset(list(list(a = 1:2), 3:4)))
  expect_identical(nested[[2]], list(list(a = 2L), 4L))
})

test_that("sparse matrices give dense rows", {
  skip_if_not_installed("Matrix", "1.0") # the rows under test
  sparse <- Matrix::sparseMatrix(i = c(1, 3), j = c(2, 1), x = c(5, 7), dims = c(3, 2))
  elements <- dataset_collect(tensor_slices_dataset(sparse))
  expect_equal(do.call(rbind, lapply(elements, as.vector)), as.matrix(sparse))
  with_label <- dataset_collect(tensor_slices_dataset(list(x = sparse, y = 1:3)))
  expect_equal(as.vector(with_label[[3]]$x), c(7, 0))
})

test_that("a tensor without slices is one element", {
  elements <- dataset_collect(tensors_dataset(list(a = matrix(1:4, 2), b = "w")))
  expect_length(elements, 1)
  expect_equal(elements[[1]], list(a = matrix(1:4, 2), b = "w"))
})

test_that("sources reject invalid data", {
  expect_error(tensor_slices_dataset(list(1:2, 1:3)), "same number of rows",
    class = "runhooks_error_invalid_argument")
  expect_error(tensor_slices_dataset(mean), "must be data")
  expect_error(tensor_slices_dataset(list()), "must be data")
})

test_that("ranges end before `to`", {
  expect_equal(values(range_dataset(0, 5)), 0:4)
  expect_equal(values(range_dataset(5, 0, -2)), c(5, 3, 1))
  expect_length(dataset_collect(range_dataset(3, 3)), 0)
  expect_length(dataset_collect(range_dataset(0, 3, -1)), 0)
  expect_error(range_dataset(0, 3, 0), "`by` of range_dataset() must not be 0", fixed = TRUE)
  expect_error(range_dataset(0, 3.5), "must be whole")
})

test_that("take, skip and repeat select by count", {
  numbers <- range_dataset(0, 5)
  expect_equal(values(dataset_take(numbers, 2)), 0:1)
  expect_equal(values(dataset_take(numbers, -1)), 0:4)
  expect_equal(values(dataset_skip(numbers, 3)), 3:4)
  expect_length(dataset_collect(dataset_skip(numbers, -1)), 0)
  expect_equal(values(dataset_repeat(dataset_take(numbers, 2), 3)), c(0, 1, 0, 1, 0, 1))
  expect_equal(values(dataset_repeat(dataset_take(numbers, 2)), n = 5), c(0, 1, 0, 1, 0))
  expect_length(dataset_collect(dataset_repeat(numbers, 0)), 0)
  expect_length(dataset_collect(dataset_repeat(dataset_take(numbers, 0))), 0)
})

test_that("batches are stacked; the last one is short or dropped", {
  batches <- dataset_collect(dataset_batch(range_dataset(0, 5), 2))
  expect_equal(lapply(batches, as.vector), list(0:1, 2:3, 4))
  expect_length(dataset_collect(dataset_batch(range_dataset(0, 5), 2, drop_remainder = TRUE)), 2)
  expect_identical(output_shapes(dataset_batch(range_dataset(0, 5), 2)), NA_integer_)
  expect_identical(output_shapes(dataset_batch(range_dataset(0, 5), 2, TRUE)), 2L)
  strings <- dataset_collect(dataset_batch(tensor_slices_dataset(c("a", "b", "c")), 2))
  expect_identical(as.vector(strings[[1]]), c("a", "b"))
  twice <- dataset_collect(dataset_batch(dataset_batch(range_dataset(0, 4), 2), 2))
  expect_equal(twice[[1]], matrix(c(0, 2, 1, 3), 2))
  expect_error(dataset_batch(range_dataset(0, 5), 2) %>% dataset_batch(3) %>% dataset_collect(),
    "different shapes in component 0. First element had shape (2,) and element 2", fixed = TRUE)
})

# Reference: Dataset.range(n).shuffle(size, seed = 3) of TensorFlow 2.15.1, with one pass or
# several. TensorFlow 1.15.5 fuses repeated shuffles, which changes the order.
test_that("shuffles have TensorFlow's order", {
  order <- function(n, size, ...) values(dataset_shuffle(range_dataset(0, n), size, ...))
  expect_equal(order(10, 4, seed = 3), c(0, 3, 2, 1, 4, 7, 6, 5, 8, 9))
  each <- range_dataset(0, 6) %>% dataset_shuffle(10, seed = 3) %>% dataset_repeat(3)
  expect_equal(values(each), c(0, 1, 2, 3, 4, 5, 0, 4, 1, 5, 3, 2, 2, 4, 5, 3, 0, 1))
  same <- range_dataset(0, 6) %>%
    dataset_shuffle(10, seed = 3, reshuffle_each_iteration = FALSE) %>%
    dataset_repeat(2)
  expect_equal(values(same), rep(c(5, 4, 2, 0, 3, 1), 2))
  both <- dataset_shuffle_and_repeat(range_dataset(0, 6), 10, 3, seed = 3)
  expect_equal(values(both), values(each))
  repeated <- range_dataset(0, 6) %>% dataset_repeat(3) %>% dataset_shuffle(5, seed = 3)
  expect_equal(values(repeated), c(4, 1, 0, 2, 1, 2, 4, 0, 3, 0, 5, 3, 3, 1, 5, 4, 5, 2))
  # Each iterator of a shuffled dataset draws a new seed for each pass.
  some <- dataset_shuffle(range_dataset(0, 5), 3, seed = 3)
  nested <- some %>% dataset_repeat(2) %>% dataset_shuffle(4, seed = 5) %>% dataset_repeat(2)
  expect_equal(values(nested), c(1, 4, 0, 3, 2, 4, 0, 3, 1, 2, 2, 0, 2, 1, 4, 3, 3, 1, 0, 4))
  joined <- dataset_repeat(dataset_concatenate(some, dataset_take(some, 2)), 2)
  expect_equal(values(joined), c(0:4, 0, 1, 0, 3, 4, 2, 1, 0, 3))
  pairs <- dataset_collect(dataset_repeat(zip_datasets(some, some), 2))
  expect_equal(vapply(pairs, `[[`, 0, 2), c(0:4, 0, 3, 4, 2, 1))
  in_graph <- with(tf$Graph()$as_default(), {
    tf$set_random_seed(7)
    values(range_dataset(0, 6) %>% dataset_shuffle(3, seed = 3) %>% dataset_repeat(3))
  })
  expect_equal(in_graph, c(2, 1, 0, 4, 3, 5, 1, 2, 4, 0, 5, 3, 1, 0, 3, 2, 5, 4))
})

test_that("shuffles without a seed follow set.seed() and the seed of the graph", {
  draw <- function() values(dataset_shuffle(range_dataset(0, 50), 50))
  set.seed(1)
  one <- draw()
  other <- draw()
  set.seed(1)
  expect_identical(draw(), one)
  expect_false(identical(one, other))
  expect_setequal(one, 0:49)
  seeded <- function() with(tf$Graph()$as_default(), {
    tf$set_random_seed(3)
    draw()
  })
  expect_identical(seeded(), seeded())
})

test_that("a dataset prints its transformations and supports both pipes", {
  data <- tensor_slices_dataset(list(x = 1:4, y = c("a", "b", "c", "d"))) %>%
    dataset_shuffle(4, seed = 1) |>
    dataset_batch(2)
  expect_snapshot_text(print(data))
  expect_snapshot_text(print(tensor_slices_dataset(list(1:2, 3:4))))
})

test_that("arguments of transformations are checked", {
  numbers <- range_dataset(0, 5)
  expect_error(dataset_batch(numbers, 0), "`batch_size` of dataset_batch() must be 1 or more",
    fixed = TRUE)
  expect_error(dataset_batch(numbers), "batch_size")
  expect_error(dataset_batch(1:3, 2), "`dataset` must be a dataset")
  expect_error(dataset_shuffle(numbers, 2.5), "must be whole")
})

test_that("iterators provide elements in a graph", {
  with(tf$Graph()$as_default(), {
    batch <- range_dataset(0, 5) %>% dataset_batch(2) %>% next_batch()
    expect_identical(batch$dtype$name, "int64")
    seen <- list()
    with(tf$Session() %as% sess, until_out_of_range({
      seen <- c(seen, list(as.vector(sess$run(batch))))
    }))
    expect_equal(seen, list(0:1, 2:3, 4))
    with(tf$Session() %as% sess, expect_equal(as.vector(sess$run(batch)), 0:1))
  })
})

test_that("initializable iterators start when their initializer runs", {
  with(tf$Graph()$as_default(), {
    iterator <- make_iterator_initializable(range_dataset(0, 3))
    value <- iterator$get_next()
    with(tf$Session() %as% sess, {
      expect_error(sess$run(value), "has not been initialized",
        class = "runhooks_error_failed_precondition")
      sess$run(iterator_initializer(iterator))
      expect_equal(sess$run(value), 0)
      expect_equal(sess$run(value), 1)
      sess$run(iterator$initializer)
      expect_equal(sess$run(value), 0)
    })
  })
})

test_that("iterators with a structure take several datasets", {
  with(tf$Graph()$as_default(), {
    one <- tensor_slices_dataset(list(x = 1:2))
    iterator <- make_iterator_from_structure(output_types(one), output_shapes(one))
    value <- iterator_get_next(iterator)
    begin <- list(
      iterator_make_initializer(iterator, one),
      iterator$make_initializer(tensor_slices_dataset(list(x = 7:8)))
    )
    with(tf$Session() %as% sess, {
      sess$run(begin[[1]])
      expect_equal(sess$run(value)$x, 1)
      sess$run(begin[[2]])
      expect_equal(sess$run(value)$x, 7)
    })
    expect_error(iterator_make_initializer(iterator, range_dataset(0, 2)), "different structures")
    expect_error(
      iterator_make_initializer(iterator, tensor_slices_dataset(list(x = "a"))), "types or shapes of the dataset differ"
    )
    expect_error(iterator_initializer(iterator), "no initializer")
    expect_equal(iterator$get_next("batch")$x$name, "batch:0")
    expect_equal(iterator$make_initializer(one, "begin")$name, "begin")
    expect_error(iterator_get_next(iterator, name = 3), "`name` must be a single string")
  })
})

test_that("until_out_of_range() stops at `break` and passes on other errors", {
  count <- 0
  until_out_of_range({
    count <- count + 1
    if (count == 3) break
  })
  expect_identical(count, 3)
  expect_error(until_out_of_range(stop("mine")), "mine")
  expect_null(with_dataset(rlang::abort("end", class = "runhooks_error_out_of_range")))
  expect_identical(with_dataset(5), 5)
})

test_that("models train, evaluate and predict on datasets", {
  data <- tensor_slices_dataset(mtcars[c("wt", "hp", "mpg")])
  batches <- data %>% dataset_shuffle(32, seed = 1) %>% dataset_repeat() %>% dataset_batch(8)
  once <- dataset_batch(data, 32)
  model <- linear_regressor(feature_columns(column_numeric("wt")))
  quietly <- function(code) suppressMessages(code)
  quietly(train(model, input_fn(batches, features = c(wt), response = mpg), steps = 20))
  result <- quietly(evaluate(model, input_fn(once, mpg ~ wt)))
  expect_true(is.finite(result$loss))
  frame <- quietly(evaluate(model, input_fn(mtcars, "wt", "mpg", batch_size = 32)))
  expect_equal(result$loss, frame$loss, tolerance = 1e-6)
  own <- quietly(evaluate(model, function() {
    tensor_slices_dataset(list(list(wt = mtcars$wt), mtcars$mpg)) %>% dataset_batch(32)
  }))
  expect_equal(own$loss, frame$loss, tolerance = 1e-5)
  predicted <- quietly(predict(model, input_fn(once, "wt")))
  expect_length(unlist(predicted$predictions), 32)
  expect_error(input_fn(range_dataset(0, 2), "x"), "must be records")
  expect_error(input_fn(once, "nothing"), class = "runhooks_error_not_found")
})

test_that("names(), length(), head() and str() work on a dataset", {
  data <- tensor_slices_dataset(list(x = 1:3, y = c("a", "b", "c")))
  expect_named(data, c("x", "y"))
  expect_null(names(range_dataset(0, 3)))
  expect_identical(length(data), 3L)
  expect_equal(lapply(head(data, 2), function(e) e$y), list("a", "b"), ignore_attr = TRUE)
  expect_error(head(data, -1), "`n` must be a number of elements", class = "runhooks_error")
  expect_length(head(data), 3)
  expect_error(head(data, rows = 2), class = "runhooks_error")
  expect_output(str(data), "tf_dataset")
  expect_identical(seq_along(data), 1:3)
  expect_error(
    rev(data), "`rev\\(\\)` does not work on a dataset", class = "runhooks_error_invalid_argument"
  )
  expect_error(tail(data), "`tail\\(\\)` does not work on a dataset")
  expect_error(sample(data), "`sample\\(\\)` does not work on a dataset")
  expect_error(summary(data), "`summary\\(\\)` does not work on a dataset")
  expect_error(dataset_map(data, function(r) r$z), "returned NULL.*The elements have x and y")
})

test_that("length() is the number of elements, Inf without an end, and NA if it is unknown", {
  rows <- tensor_slices_dataset(1:3)
  expect_identical(length(dataset_batch(rows, 2)), 2L)
  expect_identical(length(dataset_repeat(rows)), Inf)
  expect_identical(length(dataset_filter(rows, function(x) x > 1L)), NA_integer_)
  expect_identical(seq_along(rows), 1:3)
  expect_error(seq_along(dataset_repeat(rows)), "infinite", class = "runhooks_error")
  expect_error(
    seq_along(dataset_filter(rows, function(x) x > 1L)), "unknown", class = "runhooks_error"
  )
})

test_that("a dataset without an end is not collected", {
  endless <- dataset_repeat(range_dataset(0, 2))
  expect_error(dataset_collect(endless), "never ends", class = "runhooks_error_invalid_argument")
  expect_error(lapply(endless, identity), "never ends", class = "runhooks_error")
  expect_length(dataset_collect(endless, n = 3), 3)
})

test_that("R's generics on a dataset read it or name the function to use", {
  rows <- tensor_slices_dataset(1:2)
  expect_equal(sapply(rows, function(x) x * 10), c(10, 20))
  expect_length(dataset_collect(zip_datasets(c(rows, rows))), 2)
  expect_error(rows[1], "dataset_take", class = "runhooks_error_unimplemented")
  expect_error(as.data.frame(rows), "dataset_collect", class = "runhooks_error_unimplemented")
  expect_error(rows$btach(2), "Did you mean \"batch\"", class = "runhooks_error_not_found")
  expect_error(
    tensor_slices_dataset(data.frame(row.names = 1:2)), "data frame without columns",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("NA as an argument is reported as NA", {
  rows <- range_dataset(0, 3)
  for (run in list(
    function() dataset_batch(rows, NA), function() dataset_take(rows, NA_real_),
    function() dataset_shuffle(rows, NA_integer_), function() hook_stop_at_step(NA)
  )) expect_error(run(), "must not be NA", class = "runhooks_error_invalid_argument")
})
