# Transformations by functions, and other transformations that change the structure of elements.

values <- function(dataset, n = Inf) unlist(dataset_collect(dataset, n))
numbers <- function(n) range_dataset(0, n)

test_that("functions of tensors map elements in order with any number of threads", {
  expect_equal(values(dataset_map(numbers(4), function(x) x * x)), c(0, 1, 4, 9))
  expect_equal(values(dataset_map(numbers(4), ~ .x + 1)), 1:4)
  for (calls in c(1, 2, 5)) {
    expect_equal(values(dataset_map(numbers(300), ~ .x * 2, num_parallel_calls = calls)),
      2 * (0:299))
  }
  records <- dataset_map(numbers(2), function(x) list(x = x, y = tf$cast(x, "float32") / 2))
  expect_equal(dataset_collect(records), list(list(x = 0, y = 0), list(x = 1, y = 0.5)))
  named <- dataset_map(records, function(record) record$x + 1)
  expect_equal(values(named), 1:2)
  tuples <- tensor_slices_dataset(list(1:2, 3:4))
  expect_equal(values(dataset_map(tuples, function(a, b) a * b)), c(3, 8))
  constant <- dataset_map(numbers(2), function(x) list(x, 5L))
  expect_equal(dataset_collect(constant)[[2]], list(1, 5L))
})

test_that("map functions are checked when the dataset is created", {
  expect_error(dataset_map(numbers(2), 5), "a function or a formula")
  expect_error(dataset_map(numbers(2), function(x) NULL), "must return a tensor")
  expect_error(dataset_map(numbers(2), function(x) numbers(3)), "dataset_flat_map")
  expect_error(dataset_map(numbers(2), function(x) stop("mine")), "mine")
  expect_error(dataset_filter(numbers(2), function(x) x), "one logical")
  expect_error(dataset_flat_map(numbers(2), function(x) x), "must return a dataset")
})

test_that("functions of R values run on the main thread, and errors name the element", {
  words <- tensor_slices_dataset(c("a b", "c", "d e f"))
  count <- on_values(function(x) length(strsplit(x, " ")[[1]]))
  expect_equal(values(dataset_map(words, count)), c(2, 1, 3))
  expect_equal(values(dataset_map(words, count, num_parallel_calls = 4)), c(2, 1, 3))
  expect_equal(values(words %>% dataset_map(count) %>% dataset_prefetch(2)), c(2, 1, 3))
  typed <- dataset_map(numbers(3), on_values(function(x) list(x = x / 2, s = paste(x)),
    output_types = list(x = "float64", s = "string")))
  expect_equal(dataset_collect(typed)[[3]], list(x = 1, s = "2"))
  failing <- dataset_map(numbers(5), on_values(function(x) if (x == 3) stop("no three") else x))
  error <- expect_error(dataset_collect(failing), "failed at element 4")
  expect_match(conditionMessage(error), "no three")
  other <- dataset_map(numbers(5), on_values(function(x) if (x == 3) list(x) else x))
  expect_error(dataset_collect(other), "element 4")
  expect_equal(values(dataset_filter(words, on_values(function(x) nchar(x) > 1))), c("a b", "d e f"))
})

test_that("filters, flat maps and interleaves", {
  expect_equal(values(dataset_filter(numbers(6), ~ .x > 3)), 4:5)
  repeated <- dataset_flat_map(numbers(4), function(n) dataset_repeat(tensors_dataset(n), n))
  expect_equal(values(repeated), c(1, 2, 2, 3, 3, 3))
  ranges <- dataset_flat_map(numbers(4), function(n) range_dataset(0, n))
  expect_equal(values(ranges), c(0, 0, 1, 0, 1, 2))
  rows <- dataset_flat_map(tensor_slices_dataset(matrix(1:6, 2)), tensor_slices_dataset)
  expect_equal(values(rows), c(1, 3, 5, 2, 4, 6))
  # The order of Dataset.range(4).interleave(lambda x: from_tensors(x).repeat(3), 2, 2) in
  # TensorFlow 1.15.
  turns <- dataset_interleave(numbers(4), function(x) dataset_repeat(tensors_dataset(x), 3), 2, 2)
  expect_equal(values(turns), c(0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3))
})

test_that("windows are datasets", {
  windows <- dataset_window(numbers(5), 2, shift = 2)
  elements <- dataset_collect(windows)
  expect_length(elements, 3)
  expect_equal(values(elements[[1]]), 0:1)
  expect_equal(values(elements[[3]]), 4)
  batched <- numbers(5) %>%
    dataset_window(3, shift = 1, stride = 2, drop_remainder = TRUE) %>%
    dataset_flat_map(function(w) dataset_batch(w, 3))
  expect_equal(lapply(dataset_collect(batched), as.vector), list(c(0, 2, 4)))
  records <- tensor_slices_dataset(list(a = 1:4, b = 5:8)) %>%
    dataset_window(2) %>%
    dataset_flat_map(function(w) zip_datasets(a = w$a, b = w$b))
  expect_equal(dataset_collect(records)[[4]], list(a = 4L, b = 8L))
  expect_equal(values(windows %>% dataset_shuffle(3, seed = 1) %>% dataset_flat_map(~ .x)) %>% sort(),
    0:4)
})

test_that("datasets in elements of nested datasets keep their element type", {
  pairs <- dataset_window(dataset_window(numbers(4), 2, shift = 1), 2)
  sums <- function(w) dataset_map(dataset_batch(w, 2), function(x) tf$reduce_sum(x))
  expect_equal(values(dataset_flat_map(pairs, function(w) dataset_flat_map(w, sums))), c(1, 3, 5, 3))
  flat <- dataset_flat_map(pairs, function(w) w)
  expect_equal(values(dataset_flat_map(flat, sums)), c(1, 3, 5, 3))
  windows <- dataset_interleave(
    range_dataset(1, 3), function(n) dataset_window(range_dataset(0, n), 2), 2
  )
  expect_equal(values(dataset_flat_map(windows, sums)), c(0, 1))
})

# Reference: TensorFlow 1.15.5.
test_that("windows and interleaves match TensorFlow's", {
  windows <- function(n, ...) {
    batches <- numbers(n) %>%
      dataset_window(...) %>%
      dataset_flat_map(function(w) dataset_batch(w, 3)) %>%
      dataset_collect()
    lapply(batches, as.vector)
  }
  expect_equal(windows(7, 3, 2), list(0:2, 2:4, 4:6, 6))
  expect_equal(windows(9, 3, 4, 2), list(c(0, 2, 4), c(4, 6, 8), 8))
  expect_equal(windows(9, 2, 5), list(0:1, 5:6))
  turns <- dataset_interleave(range_dataset(1, 6), function(n) range_dataset(0, n), 3, 2)
  expect_equal(values(turns), c(0, 0, 1, 0, 1, 0, 1, 2, 2, 3, 0, 1, 2, 3, 4))
  expect_equal(values(dataset_shard(numbers(7), 3, 1)), c(1, 4))
})

test_that("elements of different sizes are padded", {
  ragged <- dataset_map(range_dataset(1, 5), on_values(function(n) array(seq_len(n)), "int32"))
  batches <- dataset_collect(dataset_padded_batch(ragged, 2))
  expect_equal(batches[[1]], rbind(c(1, 0), c(1, 2)))
  expect_equal(dim(batches[[2]]), c(2L, 4L))
  fixed <- dataset_collect(dataset_padded_batch(ragged, 4, padded_shapes = 5, padding_values = -1L))
  expect_equal(fixed[[1]][1, ], c(1, -1, -1, -1, -1))
  expect_error(dataset_collect(dataset_padded_batch(ragged, 4, padded_shapes = 2)),
    "smaller size", class = "runhooks_error_data_loss")
  words <- tensor_slices_dataset(c("a b", "c")) %>%
    dataset_map(on_values(function(x) array(strsplit(x, " ")[[1]]), "string")) %>%
    dataset_padded_batch(2, padded_shapes = NA)
  expect_equal(dataset_collect(words)[[1]], rbind(c("a", "b"), c("c", "")))
})

test_that("datasets can be zipped, concatenated and sampled", {
  zipped <- zip_datasets(x = numbers(3), y = tensor_slices_dataset(c("a", "b")))
  expect_equal(dataset_collect(zipped), list(list(x = 0, y = "a"), list(x = 1, y = "b")))
  tuple <- dataset_collect(zip_datasets(numbers(1), zipped))
  expect_equal(tuple[[1]], list(0, list(x = 0, y = "a")))
  expect_equal(values(dataset_concatenate(numbers(2), numbers(3))), c(0, 1, 0, 1, 2))
  expect_error(dataset_concatenate(numbers(2), tensor_slices_dataset("a")), "int64 and string")
  drawn <- sample_from_datasets(list(numbers(50), range_dataset(100, 150)), c(0.9, 0.1), seed = 1)
  all <- values(drawn)
  expect_setequal(all, c(0:49, 100:149))
  expect_lt(mean(all[1:20] >= 100), 0.4)
  expect_equal(values(drawn), all)
  expect_error(sample_from_datasets(list(numbers(2)), c(1, 2)), "a number for each dataset")
})

test_that("a cache reads its input once", {
  reads <- 0
  counted <- dataset_map(numbers(3), on_values(function(x) {
    reads <<- reads + 1
    x
  }, "float64"))
  expect_equal(values(counted %>% dataset_cache() %>% dataset_repeat(3)), rep(0:2, 3))
  expect_equal(reads, 3)
})

test_that("a cache file serves later passes and processes", {
  file <- file.path(withr::local_tempdir(), "cache")
  reads <- 0
  counted <- function() dataset_map(numbers(3), on_values(function(x) {
    reads <<- reads + 1
    list(x, "w")
  }, list("float64", "string")))
  expect_length(dataset_collect(dataset_cache(counted(), file), 2), 2)
  expect_length(list.files(dirname(file)), 0) # the pass is not complete yet
  reads <- 0
  twice <- dataset_repeat(dataset_cache(counted(), file), 2)
  expect_equal(vapply(dataset_collect(twice), `[[`, 0, 1), c(0:2, 0:2))
  expect_equal(reads, 3)
  expect_equal(dataset_collect(dataset_cache(counted(), file))[[2]], list(1, "w"))
  expect_equal(reads, 3)
  expect_error(dataset_collect(dataset_cache(numbers(3), file)), "belongs to other data",
    class = "runhooks_error_failed_precondition")
})

test_that("errors about shapes name the argument and the function", {
  numbers <- range_dataset(1, 4)
  pairs <- dataset_map(numbers, ~ list(a = .x, b = .x))
  refused <- function(expr, arg) {
    error <- expect_error(expr, paste0("`", arg, "` must be shapes"))
    expect_s3_class(error, "runhooks_error_invalid_argument")
    as.character(error$call[[1]])
  }
  tensor <- tf$constant(4L)
  for (shapes in list(tensor, "a", list("a"), -4)) {
    name <- refused(dataset_padded_batch(numbers, 3, padded_shapes = shapes), "padded_shapes")
    expect_identical(name, "dataset_padded_batch")
  }
  refused(dataset_padded_batch(pairs, 3, padded_shapes = list(4)), "padded_shapes")
  refused(dataset_padded_batch(pairs, 3, padded_shapes = list(a = 4, b = tensor)), "padded_shapes")
  name <- refused(generator_dataset(function() 1, "float32", tensor), "output_shapes")
  expect_identical(name, "generator_dataset")
  name <- refused(make_iterator_from_structure(tf$float32, tensor), "output_shapes")
  expect_identical(name, "make_iterator_from_structure")
  nested <- list(tensor, list(tensor, tensor))
  refused(
    tf$while_loop(
      function(i, x) i < 9L, function(i, x) list(i, x), nested, shape_invariants = list(shape(), 1)
    ),
    "shape_invariants"
  )
})

test_that("generators give elements until they end", {
  make <- function(n) {
    at <- 0
    function() {
      at <<- at + 1
      if (at <= n) list(x = at, s = letters[at])
    }
  }
  data <- generator_dataset(make(3))
  expect_equal(dataset_collect(data)[[3]], list(x = 3, s = "c"))
  expect_equal(unname(vapply(output_types(data), function(type) type$name, "")),
    c("float32", "string"))
  ending <- generator_dataset(function() stop_iteration(), output_types = "int32")
  expect_length(dataset_collect(ending), 0)
  expect_error(generator_dataset(function() NULL), "types cannot be inferred")
  calls <- 0
  ragged <- generator_dataset(function() {
    calls <<- calls + 1
    if (calls < 4) array(seq_len(calls))
  }, output_types = "int32", output_shapes = NA)
  expect_equal(lengths(dataset_collect(ragged)), 1:3)
})

test_that("errors of generators name the number of the element", {
  at <- 0
  step <- function(third) {
    at <<- 0
    generator_dataset(function() {
      at <<- at + 1
      if (at == 3) third() else if (at < 5) 1.5
    }, output_types = "float32", output_shapes = list(list())[[1]])
  }
  expect_error(dataset_collect(step(function() stop("broken"))), "A generator failed at element 3")
  expect_error(dataset_collect(step(function() c(1, 2))), "Element 3 of a generator")
  expect_error(dataset_collect(step(function() list(1))), "Element 3 of a generator")
  expect_error(dataset_collect(step(function() "a")), "element 3|string|float32")
})

test_that("a generator that can be restarted is read again, also by other sessions", {
  at <- 0
  data <- generator_dataset(
    function() {
      at <<- at + 1
      if (at <= 3) at
    },
    save = function() at, restore = function(state) at <<- state
  )
  expect_equal(values(dataset_repeat(data, 2)), c(1, 2, 3, 1, 2, 3))
  expect_equal(values(data), 1:3)
  expect_error(generator_dataset(function() 1, save = function() 1), "or neither")
  pairs <- dataset_collect(zip_datasets(data, dataset_skip(data, 1)))
  expect_equal(pairs, list(list(1, 2), list(2, 3)))
})

test_that("a generator that cannot be restarted is an error for the second iterator", {
  at <- 0
  data <- generator_dataset(function() {
    at <<- at + 1
    if (at <= 3) at
  }, "float32")
  expect_equal(values(data), 1:3)
  refused <- "runhooks_error_failed_precondition"
  expect_error(values(data), "Another iterator has already read", class = refused)
  expect_error(dataset_collect(zip_datasets(data, data)), "function that creates", class = refused)
  at <- 0
  twice <- generator_dataset(function() {
    at <<- at + 1
    if (at <= 3) at
  })
  expect_error(dataset_collect(zip_datasets(twice, twice)), "cannot start again", class = refused)
  # Later passes of one iterator continue to call the function.
  at <- 0
  calls <- generator_dataset(function() {
    at <<- at + 1
    if (at %% 3 > 0) at
  }, "float32")
  expect_equal(values(dataset_repeat(calls, 2)), c(1, 2, 4, 5))
})

test_that("a generator that has ended warns when it is repeated", {
  once <- function() {
    at <- 0
    function() {
      at <<- at + 1
      if (at <= 3) at else stop_iteration()
    }
  }
  from_generator <- function(f) tf$data$Dataset$from_generator(f, tf$float32, shape())
  repeats <- list(
    function(d) dataset_repeat(d, 3), dataset_repeat, function(d) dataset_shuffle_and_repeat(d, 1),
    function(d) dataset_repeat(dataset_map(d, ~ .x), 2)
  )
  for (make in list(generator_dataset, from_generator)) {
    for (more in repeats) {
      expect_warning(
        expect_equal(values(more(make(once()))), 1:3), "The generator of .* in pass 2",
        class = "runhooks_warning_read_once"
      )
    }
    expect_silent(expect_equal(values(dataset_repeat(make(once), 2)), c(1:3, 1:3)))
    expect_silent(expect_equal(values(dataset_repeat(dataset_cache(make(once())), 2)), c(1:3, 1:3)))
  }
  expect_silent(dataset_collect(dataset_repeat(generator_dataset(function() NULL, "int32"), 2)))
})

test_that("a function that creates generators is called for each iterator and pass", {
  n_created <- 0
  counts <- function() {
    n_created <<- n_created + 1
    at <- 0
    function() {
      at <<- at + 1
      if (at <= 3) at
    }
  }
  for (types in list(NULL, "float32")) {
    data <- generator_dataset(counts, types)
    expect_equal(dataset_collect(zip_datasets(data, data)), lapply(1:3, function(i) list(i, i)))
    expect_equal(values(dataset_repeat(data, 2)), c(1:3, 1:3))
  }
  positioned <- generator_dataset(function() {
    at <- 0
    list(
      generator = function() {
        at <<- at + 1
        if (at <= 4) at
      },
      save = function() at, restore = function(state) at <<- state
    )
  })
  path <- file.path(withr::local_tempdir(), "input.ckpt")
  built <- iterators_in_graph(list(positioned, positioned))
  with(tf$Session() %as% session, {
    take_elements(session, built$values[[1]], 2)
    take_elements(session, built$values[[2]], 3)
    built$saver$save(session, path)
  })
  with(tf$Session() %as% session, {
    built$saver$restore(session, path)
    expect_equal(take_elements(session, built$values[[1]], 9), list(3, 4))
    expect_equal(take_elements(session, built$values[[2]], 9), list(4))
  })
  odd <- generator_dataset(local({
    calls <- 0
    function() {
      calls <<- calls + 1
      if (calls == 1) counts() else 7
    }
  }), "float32")
  expect_equal(values(odd), 1:3)
  expect_error(values(odd), "must return one in each call", class = "runhooks_error_invalid_argument")
})

test_that("a queue keeps the class of a condition", {
  thrown <- structure(
    class = c("test_broken", "error", "condition"),
    list(message = "broken", call = quote(f(x)), field = 1:3)
  )
  numbers_until <- function(k) {
    generator_dataset(function() {
      at <- 0
      function() {
        at <<- at + 1
        if (at == k) stop(thrown)
        if (at < 9) at
      }
    }, "float32")
  }
  cases <- list(
    plain = identity,
    map = function(data) dataset_map(data, ~ .x, 3),
    queues = function(data) dataset_prefetch(dataset_map(dataset_map(data, ~ .x, 2), ~ .x, 3), 2)
  )
  for (name_of_case in names(cases)) {
    value <- iterator_get_next(make_iterator_one_shot(cases[[name_of_case]](numbers_until(3))))
    with(tf$Session() %as% session, {
      expect_equal(take_elements(session, value, 2), list(1, 2), info = name_of_case)
      error <- tryCatch(session$run(value), test_broken = identity)
      expect_identical(class(error), class(thrown), info = name_of_case)
      expect_identical(conditionCall(error), conditionCall(thrown), info = name_of_case)
      expect_identical(error$field, 1:3, info = name_of_case)
      expect_match(conditionMessage(error), "^broken\n.*A generator failed at element 3")
      expect_equal(unlist(take_elements(session, value, 9)), 4:8, info = name_of_case)
    })
  }
  # An error in an element that was read ahead is raised only when the element is requested.
  ahead <- dataset_map(
    dataset_map(numbers(9), on_values(function(x) if (x == 2) stop(thrown) else x)), ~ .x, 4
  )
  value <- iterator_get_next(make_iterator_one_shot(ahead))
  with(tf$Session() %as% session, {
    expect_equal(take_elements(session, value, 2), list(0, 1))
    expect_error(session$run(value), class = "test_broken")
    expect_equal(session$run(value), 3)
  })
  model <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  record <- function(x) list(x = x, y = tf$reshape(x, c(-1L, 1L)))
  rows <- dataset_map(dataset_batch(numbers_until(4), 1), record, 3)
  expect_error(train(model, input_fn(rows, x, y)), class = "test_broken")
})

test_that("Ctrl-C interrupts datasets that give no elements", {
  skip_if_not_installed("processx")
  skip_on_os("windows") # no signals there
  endless <- c(
    sample = "sample_from_datasets(list(range_dataset(0, 3), range_dataset(0, 3)), c(1, 1e-12))",
    filter = "dataset_filter(dataset_repeat(range_dataset(0, 3)), ~ .x > 5)",
    ahead = "dataset_prefetch(dataset_filter(dataset_repeat(range_dataset(0, 3)), ~ .x > 5))",
    skip = "dataset_skip(dataset_repeat(range_dataset(0, 3)), 1e15)",
    flat_map = paste(
      "dataset_flat_map(dataset_repeat(range_dataset(0, 3)),",
      "function(x) dataset_take(tensors_dataset(x), 0))"
    )
  )
  for (name_of_case in names(endless)) {
    script <- withr::local_tempfile(fileext = ".R")
    writeLines(c(
      "library(runhooks)", paste("data <-", endless[[name_of_case]]), "cat('begun\n')",
      "tryCatch(dataset_collect(data), interrupt = function(e) cat('interrupted\n'))"
    ), script)
    child <- processx::process$new(
      child_rscript(), script, stdout = "|", stderr = "2>&1", env = child_env()
    )
    hears <- function(word, seconds) {
      until <- Sys.time() + seconds
      while (Sys.time() < until) {
        child$poll_io(200)
        if (word %in% child$read_output_lines()) return(TRUE)
      }
      FALSE
    }
    expect_true(hears("begun", 60), info = name_of_case)
    Sys.sleep(0.3)
    child$interrupt()
    expect_true(hears("interrupted", 20), info = name_of_case)
    child$kill()
  }
})

test_that("invalid weights are errors", {
  two <- list(numbers(3), numbers(3))
  for (weights in list(c(Inf, 1), c(-1, 2), c(NaN, 1), c(NA, 1), c(0, 0), 1, c("a", "b"))) {
    expect_error(
      sample_from_datasets(two, weights), "weights", class = "runhooks_error_invalid_argument"
    )
  }
  expect_error(sample_from_datasets(two, c(1e308, 1e308)), "sum")
})

test_that("records are prepared for models", {
  data <- tensor_slices_dataset(mtcars)
  first <- dataset_collect(dataset_prepare(data, x = c(wt, hp), y = mpg, batch_size = 2), 1)[[1]]
  expect_named(first, c("y", "x"))
  expect_equal(unname(first$x), unname(as.matrix(mtcars[1:2, c("wt", "hp")])))
  tuple <- dataset_collect(dataset_prepare(data, mpg ~ wt + hp, named = FALSE), 1)[[1]]
  expect_equal(as.vector(tuple[[1]]), c(2.62, 110))
  named <- dataset_collect(dataset_prepare(data, c(wt), mpg, named_features = TRUE), 1)[[1]]
  expect_equal(named$x, list(wt = 2.62))
})

test_that("tf$data has TensorFlow's names and methods", {
  data <- tf$data$Dataset$from_tensor_slices(list(x = 1:6))$`repeat`(2L)$take(8L)$batch(4L)
  expect_equal(lapply(dataset_collect(data), function(e) as.vector(e$x)), list(1:4, c(5, 6, 1, 2)))
  expect_equal(values(tf$data$Dataset$range(5)$filter(function(x) x > 2)$map(~ .x * 10)), c(30, 40))
  zipped <- tf$data$Dataset$zip(list(tf$data$Dataset$range(2), tf$data$Dataset$range(2, 4)))
  expect_equal(dataset_collect(zipped)[[1]], list(0, 2))
  fused <- tf$data$Dataset$range(6)$apply(
    tf$data$experimental$shuffle_and_repeat(10, 3, seed = 3)
  )
  expect_equal(values(fused), c(0, 1, 2, 3, 4, 5, 0, 4, 1, 5, 3, 2, 2, 4, 5, 3, 0, 1))
  with(tf$Graph()$as_default(), {
    value <- tf$data$Dataset$range(3)$make_one_shot_iterator()$get_next()
    with(tf$Session() %as% sess, expect_equal(sess$run(value), 0))
  })
  expect_error(numbers(2)$nothing, class = "runhooks_error_not_found")
})
