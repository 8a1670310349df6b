expect_resumes <- function(make, first = 3, all = 6) {
  prefix <- file.path(withr::local_tempdir(), "state")
  run <- function(read, restore, frame = parent.frame()) {
    with(tf$Graph()$as_default(), {
      input <- iterators_in_graph(list(make()))
      session <- tf$Session()
      if (restore) input$saver$restore(session, prefix)
      elements <- take_elements(session, input$values[[1]], read)
      if (!restore) input$saver$save(session, prefix)
      elements
    })
  }
  before <- run(first, FALSE)
  after <- run(all - first, TRUE)
  expect_equal(c(before, after), dataset_collect(make())[seq_len(all)])
}

sequences <- function(lengths) {
  tensor_slices_dataset(as.integer(lengths)) %>%
    dataset_map(function(n) list(tokens = tf$fill(list(n), n), n = n))
}

test_that("cardinality() follows from the arguments", {
  session <- tf$Session()
  count <- function(x) as.numeric(session$run(tf$data$experimental$cardinality(x)))
  ten <- range_dataset(0, 10)
  expect_equal(count(ten), 10)
  expect_equal(count(range_dataset(5, 0, -2)), 3)
  expect_equal(count(tensor_slices_dataset(mtcars)), 32)
  expect_equal(count(tensors_dataset(mtcars)), 1)
  expect_equal(count(ten %>% dataset_batch(3)), 4)
  expect_equal(count(ten %>% dataset_batch(3, drop_remainder = TRUE)), 3)
  expect_equal(count(ten %>% dataset_padded_batch(4)), 3)
  expect_equal(count(ten %>% dataset_take(4)), 4)
  expect_equal(count(ten %>% dataset_take(-1)), 10)
  expect_equal(count(ten %>% dataset_skip(4)), 6)
  expect_equal(count(ten %>% dataset_skip(40)), 0)
  expect_equal(count(ten %>% dataset_skip(-1)), 0)
  expect_equal(count(ten %>% dataset_shard(3, 0)), 4)
  expect_equal(count(ten %>% dataset_shard(3, 1)), 3)
  expect_equal(count(ten %>% dataset_window(4)), 3)
  expect_equal(count(ten %>% dataset_window(4, shift = 1, drop_remainder = TRUE)), 7)
  expect_equal(count(ten %>% dataset_map(~ .x + 1L) %>% dataset_shuffle(3)), 10)
  expect_equal(count(ten %>% dataset_cache() %>% dataset_prefetch(1)), 10)
  expect_equal(count(ten %>% dataset_repeat(3)), 30)
  expect_equal(count(ten %>% dataset_shuffle_and_repeat(3, 2)), 20)
  expect_equal(count(ten %>% dataset_concatenate(ten)), 20)
  expect_equal(count(zip_datasets(ten, dataset_repeat(range_dataset(0, 3)))), 10)
  infinite <- tf$data$experimental$INFINITE_CARDINALITY
  unknown <- tf$data$experimental$UNKNOWN_CARDINALITY
  expect_equal(count(ten %>% dataset_repeat()), infinite)
  expect_equal(count(ten %>% dataset_repeat() %>% dataset_take(7)), 7)
  expect_equal(count(range_dataset(0, 0) %>% dataset_repeat()), 0)
  expect_equal(count(ten %>% dataset_repeat() %>% dataset_concatenate(ten)), infinite)
  expect_equal(count(ten %>% dataset_filter(~ .x > 3L)), unknown)
  expect_equal(count(ten %>% dataset_flat_map(~ range_dataset(0, .x))), unknown)
  expect_equal(count(generator_dataset(function() stop_iteration(), "float32")), unknown)
  expect_error(tf$data$experimental$cardinality(3), "dataset")
})

test_that("cardinality() of a known dataset is the number of its elements", {
  steps <- list(
    function(x) dataset_batch(x, sample(5, 1), sample(c(TRUE, FALSE), 1)),
    function(x) dataset_take(x, sample(0:9, 1)), function(x) dataset_skip(x, sample(0:5, 1)),
    function(x) dataset_shard(x, 3, sample(0:2, 1)), function(x) dataset_repeat(x, sample(0:3, 1)),
    function(x) dataset_window(x, sample(4, 1), sample(4, 1), sample(2, 1), sample(0:1, 1) == 1),
    function(x) dataset_concatenate(x, x)
  )
  for (i in 1:40) {
    x <- range_dataset(0, sample(0:12, 1))
    for (step in sample(steps[-6], sample(3, 1))) x <- step(x)
    if (i %% 4 == 0) x <- steps[[6]](x)
    elements <- if (i %% 4 == 0) dataset_flat_map(x, function(w) dataset_batch(w, 99)) else x
    expect_equal(cpp_dataset_cardinality(x$handle), length(dataset_collect(elements)))
  }
})

test_that("dataset_group_by_window() groups as TensorFlow does", {
  batches <- range_dataset(0, 8) %>%
    dataset_group_by_window(
      function(x) x %% 3L, function(key, window) dataset_batch(window, 10),
      window_size_func = function(key) key + 1L
    ) %>%
    dataset_collect()
  expect_equal(lapply(batches, as.numeric), list(0, 3, c(1, 4), 6, c(7), c(2, 5))[1:6])
  records <- tensor_slices_dataset(list(k = c(1L, 2L, 1L), v = c("a", "b", "c")))
  resampled <- records$apply(tf$data$experimental$group_by_window(
    function(r) r$k, function(key, window) dataset_map(window, function(r) c(r, key = key)), 5
  ))
  expect_equal(vapply(dataset_collect(resampled), function(r) r$v, ""), c("a", "c", "b"))
  expect_error(dataset_group_by_window(records, ~ .x$k, function(k, w) w), "window_size")
  expect_error(
    dataset_group_by_window(records, ~ .x$k, function(k, w) w, 0), "window_size"
  )
})

test_that("dataset_bucket_by_sequence_length() pads within buckets", {
  x <- sequences(c(1, 5, 2, 3, 4, 9, 7))
  run <- function(...) {
    x %>%
      dataset_bucket_by_sequence_length(function(r) r$n, c(3, 6), c(2, 2, 2), ...) %>%
      dataset_collect()
  }
  batches <- run()
  expect_equal(
    lapply(batches, function(b) as.vector(b$n)), list(c(1, 2), c(5, 3), c(9, 7), 4)[1:4]
  )
  expect_equal(batches[[1]]$tokens, rbind(c(1, 0), c(2, 2)))
  expect_equal(dim(batches[[2]]$tokens), c(2, 5))
  padded <- run(padding_values = list(tokens = -1L, n = 0L))
  expect_equal(padded[[1]]$tokens, rbind(c(1, -1), c(2, 2)))
  expect_length(run(drop_remainder = TRUE), 3)
  expect_equal(dim(run(padded_shapes = list(tokens = 10L, n = NULL))[[1]]$tokens), c(2, 10))
  expect_error(run(pad_to_bucket_boundary = TRUE), "shorter than the last")
  short <- sequences(c(1, 5, 2, 3, 4)) %>%
    dataset_bucket_by_sequence_length(
      ~ .x$n, c(3, 6), c(2, 2, 2), pad_to_bucket_boundary = TRUE
    ) %>%
    dataset_collect()
  expect_equal(lapply(short, function(b) dim(b$tokens)), list(c(2, 2), c(2, 5), c(1, 5)))
  same <- sequences(c(2, 4, 2, 4)) %>%
    dataset_bucket_by_sequence_length(~ .x$n, 3, c(2, 2), no_padding = TRUE) %>%
    dataset_collect()
  expect_equal(lapply(same, function(b) dim(b$tokens)), list(c(2, 2), c(2, 4)))
  bare <- sequences(1:4) %>%
    dataset_map(~ .x$tokens) %>%
    {.$apply(tf$data$experimental$bucket_by_sequence_length(~ tf$size(.x), list(3L), list(2L, 2L)))}
  expect_length(dataset_collect(bare), 2)
  expect_error(dataset_bucket_by_sequence_length(x, ~ .x$n, c(3, 6), c(2, 2)), "one more than")
  expect_error(dataset_bucket_by_sequence_length(x, ~ .x$n, c(6, 3), c(2, 2, 2)), "increasing")
})

test_that("positions within groups can be saved and restored", {
  make <- function() {
    range_dataset(0, 20) %>% dataset_group_by_window(
      function(x) x %% 3L, function(key, window) dataset_batch(window, 2), window_size = 2
    )
  }
  expect_resumes(make)
  expect_resumes(function() {
    range_dataset(0, 8) %>% dataset_scan(np_array(0, "int64"), function(s, x) list(s + x, s))
  })
})

test_that("dataset_scan() passes a state on", {
  sums <- range_dataset(1, 5) %>%
    dataset_scan(np_array(0, "int64"), function(sum, x) list(sum + x, sum + x))
  expect_equal(unlist(dataset_collect(sums)), c(1, 3, 6, 10))
  expect_equal(unlist(dataset_collect(dataset_repeat(sums, 2))), rep(c(1, 3, 6, 10), 2))
  pairs <- tensor_slices_dataset(list(a = 1:3, b = c("x", "y", "z")))
  last <- pairs %>% dataset_scan(list(n = 0L, s = ""), function(state, r) {
    list(list(n = state$n + r$a, s = r$b), list(before = state$s, n = state$n))
  })
  expect_equal(vapply(dataset_collect(last), function(r) r$before, ""), c("", "x", "y"))
  expect_error(dataset_scan(pairs, 0L, function(s, r) s), "list of the next state")
  expect_error(dataset_scan(pairs, 0L, function(s, r) list(tf$cast(s, "float32"), s)), "types")
})

test_that("dataset_rejection_resample() gives classes the target frequencies", {
  set.seed(7)
  y <- sample(0:1, 4000, TRUE, c(0.9, 0.1))
  rows <- tensor_slices_dataset(list(y = y, i = seq_along(y)))
  share <- function(...) {
    resampled <- rows %>% dataset_rejection_resample(function(r) r$y, c(0.5, 0.5), ..., seed = 3)
    classes <- vapply(dataset_collect(resampled), function(pair) {
      expect_identical(pair[[1]], pair[[2]]$y)
      pair[[1]]
    }, 0L)
    expect_gt(length(classes), 500)
    mean(classes)
  }
  expect_equal(share(c(0.9, 0.1)), 0.5, tolerance = 0.1)
  expect_equal(share(), 0.5, tolerance = 0.15)
  all <- rows$apply(tf$data$experimental$rejection_resample(~ .x$y, c(0.9, 0.1), c(0.9, 0.1)))
  expect_length(dataset_collect(all), 4000)
  ones <- rows %>% dataset_rejection_resample(~ .x$y, c(0, 1), c(0.9, 0.1)) %>% dataset_collect()
  expect_length(ones, sum(y))
  expect_error(dataset_rejection_resample(rows, ~ .x$y, c(1, 1)), "sum to 1")
})

test_that("unique and enumerate_dataset can be applied", {
  x <- tensor_slices_dataset(c("a", "b", "a"))
  expect_length(dataset_collect(x$apply(tf$data$experimental$unique())), 2)
  numbered <- dataset_collect(x$apply(tf$data$experimental$enumerate_dataset(5)))
  expect_equal(numbered[[3]], list(7, "a"))
})
