# Tensors of the graph in datasets: as arguments, as data, and in functions.

values <- function(dataset, n = Inf) unlist(dataset_collect(dataset, n))
# Returns the elements of an iterator after its initializer has run with these feeds.
elements_of <- function(iterator, feed_dict = NULL, before = NULL) {
  value <- iterator_get_next(iterator)
  elements <- list()
  with(tf$Session() %as% session, {
    if (!is.null(before)) session$run(before)
    session$run(iterator_initializer(iterator), feed_dict = feed_dict)
    until_out_of_range(elements <- c(elements, list(session$run(value))))
  })
  elements
}
in_graph <- function(code) with(tf$Graph()$as_default(), code)

test_that("an initializer evaluates the tensors that a dataset depends on", {
  in_graph({
    x <- tf$placeholder("float32", list(NULL, 2L))
    s <- tf$placeholder("string", list(NULL))
    d <- tensor_slices_dataset(list(x = x, s = s))
    expect_equal(output_shapes(d), list(x = 2L, s = integer()))
    iterator <- make_iterator_initializable(dataset_batch(d, 2))
    named <- function(n) {
      do.call(dict, list(matrix(seq_len(2 * n), n), as.array(letters[seq_len(n)])) |>
        setNames(c(x$name, s$name)))
    }
    three <- elements_of(iterator, named(3))
    expect_length(three, 2)
    expect_equal(three[[1]]$x, matrix(c(1, 2, 4, 5), 2))
    expect_equal(c(three[[2]]$s), "c")
    expect_length(elements_of(iterator, named(5)), 3)
    expect_error(elements_of(iterator), class = "runhooks_error_invalid_argument")
    ill <- do.call(dict, list(matrix(1:4, 2), as.array("a")) |> setNames(c(x$name, s$name)))
    expect_error(elements_of(iterator, ill), "same number of rows")
  })
  in_graph({
    constant <- make_iterator_initializable(tensor_slices_dataset(tf$constant(c(1, 2, 3))))
    expect_equal(unlist(elements_of(constant)), 1:3)
    whole <- make_iterator_initializable(tensors_dataset(tf$constant(c(1, 2, 3)) * 2))
    expect_equal(c(elements_of(whole)[[1]]), c(2, 4, 6))
    expect_equal(values(tensor_slices_dataset(tf$constant(c(1, 2)) + 1)), 2:3)
  })
})

test_that("file names can be tensors", {
  folder <- withr::local_tempdir()
  files <- file.path(folder, c("a", "b"))
  writeLines(c("1", "2"), files[[1]])
  writeLines("3", files[[2]])
  in_graph({
    expect_equal(values(text_line_dataset(tf$constant(files[[1]]))), c("1", "2"))
    name <- tf$placeholder("string")
    iterator <- make_iterator_initializable(text_line_dataset(name))
    feeds <- function(x) do.call(dict, setNames(list(x), name$name))
    expect_equal(unlist(elements_of(iterator, feeds(files[[2]]))), "3")
    expect_equal(unlist(elements_of(iterator, feeds(as.array(files)))), c("1", "2", "3"))
    expect_error(text_line_dataset(tf$constant(5)), "a string or a vector of strings, not float32")
    # The files are interleaved in the same order as if their names were constants.
    records <- file.path(folder, c("c", "d"))
    for (i in 1:2) write_tfrecord(lapply(paste0(i, c("a", "b")), charToRaw), records[[i]])
    expect_equal(
      values(tfrecord_dataset(tf$constant(records), num_parallel_reads = 2)),
      c("1a", "2a", "1b", "2b")
    )
  })
})

test_that("counts can be tensors, which are evaluated when the iterator begins", {
  in_graph({
    n <- tf$placeholder("int64", shape())
    feed <- function(x) do.call(dict, setNames(list(x), n$name))
    counted <- list(
      dataset_take(range_dataset(0, 5), n), dataset_skip(range_dataset(0, 5), n),
      dataset_repeat(range_dataset(0, 2), n), range_dataset(0, n), range_dataset(n, 5),
      dataset_shard(range_dataset(0, 5), n, 1),
      dataset_interleave(range_dataset(0, 3), function(x) dataset_repeat(tensors_dataset(x), 2), n)
    )
    expected <- list(
      0:1, 2:4, c(0, 1, 0, 1), 0:1, 2:4, c(1, 3), c(0, 1, 0, 1, 2, 2)
    )
    for (i in seq_along(counted)) {
      iterator <- make_iterator_initializable(counted[[i]])
      expect_equal(unlist(elements_of(iterator, feed(2))), expected[[i]], info = i)
    }
    batches <- make_iterator_initializable(dataset_batch(range_dataset(0, 5), n, TRUE))
    expect_equal(output_shapes(batches), NA_integer_)
    expect_equal(lapply(elements_of(batches, feed(2)), c), list(c(0, 1), c(2, 3)))
    expect_error(elements_of(batches, feed(0)), "`batch_size` of dataset_batch\\(\\) must be 1 or more")
  })
  in_graph({
    two <- tf$constant(2L)
    expect_equal(values(dataset_take(range_dataset(0, 5), two)), 0:1)
    expect_equal(output_shapes(dataset_batch(range_dataset(0, 5), two, TRUE)), 2L)
    expect_error(dataset_take(range_dataset(0, 5), tf$constant(c(1, 2))), "must be a single number")
    expect_error(dataset_take(range_dataset(0, 5), tf$constant("a")), "must be a single number")
    v <- tf$Variable(3L)
    from <- make_iterator_initializable(dataset_take(range_dataset(0, 5), v))
    expect_equal(unlist(elements_of(from, before = tf$global_variables_initializer())), 0:2)
  })
  flat <- dataset_flat_map(range_dataset(1, 3), function(n) dataset_batch(range_dataset(0, 4), n, TRUE))
  expect_equal(output_shapes(flat), NA_integer_)
  expect_equal(lapply(dataset_collect(flat), c), list(0, 1, 2, 3, c(0, 1), c(2, 3)))
})

test_that("functions of datasets can use tensors from outside", {
  in_graph({
    k <- tf$placeholder("float32", shape())
    v <- tf$get_variable("v", initializer = tf$constant(c(10, 20)))
    d <- tensor_slices_dataset(c(1, 2, 3)) %>%
      dataset_map(function(x) x + k * v, num_parallel_calls = 2) %>%
      dataset_filter(function(x) tf$reduce_sum(x) > 4 * k)
    iterator <- make_iterator_initializable(d)
    feed <- function(x) do.call(dict, setNames(list(x), k$name))
    init <- tf$global_variables_initializer()
    expect_equal(
      lapply(elements_of(iterator, feed(1), init), c), list(c(11, 21), c(12, 22), c(13, 23))
    )
    # The dataset uses the value of `v` at the time when the iterator began.
    value <- iterator_get_next(iterator)
    changed <- tf$assign(v, v + 100)
    with(tf$Session() %as% session, {
      session$run(init)
      session$run(iterator_initializer(iterator), feed_dict = feed(2))
      session$run(changed)
      expect_equal(c(session$run(value)), c(21, 41))
      session$run(iterator_initializer(iterator), feed_dict = feed(2))
      expect_equal(c(session$run(value)), c(221, 241))
    })
  })
  in_graph({
    k <- tf$constant(5)
    mapped <- dataset_map(tensor_slices_dataset(c(1, 2)), function(x) x + tf$square(k))
    expect_equal(values(mapped), c(26, 27))
    expect_equal(values(dataset_map(range_dataset(0, 2), function(x) k)), c(5, 5))
    conditional <- dataset_map(range_dataset(0, 3), function(x) tf$cond(x > 1L, function() k, function() -k))
    expect_equal(values(conditional), c(-5, -5, 5))
  })
})

test_that("nested functions can use tensors of both outer scopes", {
  in_graph({
    k <- tf$constant(100, dtype = "int64")
    nested <- dataset_flat_map(range_dataset(1, 4), function(x) {
      dataset_map(range_dataset(0, x), function(y) {
        y + 10L * x + k
      })
    })
    expected <- unlist(lapply(1:3, function(x) seq_len(x) - 1 + 10 * x + 100))
    expect_equal(values(nested), expected)
    deeper <- dataset_flat_map(range_dataset(0, 2), function(x) {
      dataset_interleave(range_dataset(0, 2), function(y) {
        dataset_filter(dataset_map(range_dataset(0, 3), function(z) x * 100L + y * 10L + z),
          function(value) tf$logical_and(value > x, value < k))
      }, cycle_length = 2)
    })
    expect_equal(values(deeper), c(1, 10, 2, 11, 12))
    # The function captures a dataset that depends on a tensor of the graph.
    outer <- dataset_map(range_dataset(0, 2), function(y) y + k)
    used <- dataset_flat_map(range_dataset(1, 3), function(x) dataset_repeat(outer, x))
    expect_equal(values(used), c(100, 101, 100, 101, 100, 101))
    windows <- dataset_flat_map(dataset_window(range_dataset(0, 4), 2), function(window) {
      dataset_flat_map(range_dataset(0, 2), function(x) dataset_map(window, function(y) y * k + x))
    })
    expect_equal(values(windows), c(0, 100, 1, 101, 200, 300, 201, 301))
    tf$set_random_seed(3)
    drawn <- dataset_map(range_dataset(0, 30), function(x) tf$gather(tf$random_shuffle(tf$range(5L)), 0L))
    expect_gt(length(unique(values(drawn))), 1)
    around <- tf$range(5L)
    drawn <- dataset_map(range_dataset(0, 30), function(x) tf$gather(tf$random_shuffle(around), 0L))
    expect_gt(length(unique(values(drawn))), 1)
  })
})

test_that("a one-shot iterator depends on constants only", {
  in_graph({
    v <- tf$get_variable("v", initializer = tf$constant(1))
    p <- tf$placeholder("float32", shape())
    r <- tf$random_uniform(shape())
    default <- tf$placeholder_with_default(tf$constant(3), shape())
    add <- function(k) dataset_map(tensor_slices_dataset(c(1, 2)), function(x) x + k)
    kinds <- list(list(v, "VariableV2"), list(p, "Placeholder"), list(r, "RandomUniform"))
    for (kind in kinds) {
      expect_error(make_iterator_one_shot(add(kind[[1]])), kind[[2]],
        class = "runhooks_error_invalid_argument")
      expect_error(dataset_collect(add(kind[[1]])), "make_iterator_initializable")
    }
    expect_equal(values(add(default)), 4:5)
    handle <- tf$get_variable("r", initializer = tf$constant(1), use_resource = TRUE)
    expect_equal(
      unlist(elements_of(make_iterator_initializable(add(handle)), before = tf$global_variables_initializer())),
      2:3
    )
  })
  elsewhere <- with(tf$Graph()$as_default(), tf$constant(1))
  expect_error(dataset_map(range_dataset(0, 2), function(x) elsewhere), "not an element of this graph")
})

test_that("datasets outlive the graph of their tensors", {
  d <- in_graph(dataset_take(dataset_map(range_dataset(0, 5), function(x, k = tf$constant(2L, "int64")) {
    x * k
  }), tf$constant(3L)))
  gc()
  expect_output(print(d), "Take")
  expect_equal(values(d), c(0, 2, 4))
})

test_that("datasets on tensors resume, and other values are an error", {
  folder <- withr::local_tempdir()
  run <- function(k, steps, path = NULL) {
    in_graph({
      tf$set_random_seed(5)
      p <- tf$placeholder("int64", shape())
      d <- range_dataset(0, 20) %>%
        dataset_map(function(x) x * p) %>%
        dataset_shuffle(6) %>%
        dataset_flat_map(function(x) dataset_map(range_dataset(0, 2), function(y) x + y * p)) %>%
        dataset_take(p + 30L)
      iterator <- make_iterator_initializable(d)
      tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
      saver <- saver_of_graph()
      value <- iterator_get_next(iterator)
      with(tf$Session() %as% session, {
        session$run(iterator_initializer(iterator),
          feed_dict = do.call(dict, setNames(list(k), p$name)))
        if (!is.null(path)) saver$restore(session, path)
        elements <- vapply(seq_len(steps), function(i) session$run(value), 0)
        list(found = elements, path = saver$save(session, file.path(folder, "model")))
      })
    })
  }
  whole <- run(3, 30)$found
  first <- run(3, 13)
  expect_equal(first$found, whole[1:13])
  expect_equal(run(3, 17, first$path)$found, whole[14:30])
  first <- run(3, 13)
  expect_error(run(4, 1, first$path), "another input pipeline")
})

test_that("an input function's dataset can depend on variables, and resumes", {
  run <- function(folder, steps) {
    est <- estimator(function(features, labels, mode, params, config) {
      step <- tf$train$get_or_create_global_step()
      w <- tf$get_variable("w", initializer = tf$constant(0))
      loss <- tf$reduce_mean(tf$square(features - w))
      train_op <- tf$train$GradientDescentOptimizer(0.1)$minimize(loss, global_step = step)
      estimator_spec(mode, loss = loss, train_op = train_op)
    }, model_dir = folder, config = run_config(checkpoint_input_pipeline = TRUE, tf_random_seed = 3))
    history <- train(est, function() {
      scale <- tf$get_variable("scale", initializer = tf$constant(2), trainable = FALSE)
      tensor_slices_dataset(1:20 / 4) %>%
        dataset_map(function(x) x * scale) %>%
        dataset_shuffle(5) %>%
        dataset_batch(1)
    }, steps = steps, hooks = hook_history_saver(1))
    as.data.frame(history)
  }
  losses <- function(history) history$value[history$metric == "loss"]
  whole <- losses(run(withr::local_tempdir(), 12))
  folder <- withr::local_tempdir()
  first <- losses(run(folder, 5))
  expect_equal(c(first, losses(run(folder, 7))), whole)
  expect_equal(length(whole), 12)
})

test_that("list columns and unequal columns are named", {
  d <- data.frame(id = 1:2)
  d$tokens <- list(1:3, 4:5)
  error <- rlang::catch_cnd(tensor_slices_dataset(d))
  expect_match(conditionMessage(error), "\"tokens\" is a list")
  expect_s3_class(error, "runhooks_error_invalid_argument")
  expect_error(tensor_slices_dataset(tibble::as_tibble(d)), "\"tokens\" is a list")
  expect_error(tensor_slices_dataset(list(id = 1:2, tokens = list(1:3, 4:5))), "\"tokens\"")
  expect_error(tensor_slices_dataset(list(a = 1:2, b = 1:3)), "\"a\" has 2 and \"b\" has 3")
  pair <- tensor_slices_dataset(list(a = 1:2, b = list(1:2, c("x", "y"))))
  expect_equal(dataset_collect(pair)[[2]], list(a = 2L, b = list(2L, "y")))
})

test_that("one value where a vector is declared is refused with advice", {
  with(tf$Graph()$as_default(), {
    x <- tf$placeholder(tf$float32, shape(NULL))
    session <- tf$Session()
    expect_error(session$run(x, feed_dict = dict(x = 1)), "array[(]x[)].*I[(]x[)]")
    expect_equal(as.vector(session$run(x, feed_dict = dict(x = array(1)))), 1)
    expect_equal(as.vector(session$run(x, feed_dict = dict(x = I(1)))), 1)
  })
  n <- 0
  one <- generator_dataset(
    function() if ((n <<- n + 1) > 2) stop_iteration() else 1, "float32", shape(NULL)
  )
  expect_error(dataset_collect(one), "array[(]x[)]")
})
