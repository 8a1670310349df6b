experimental <- function() tf$data$experimental

test_that("take_while() ends at the first element without the property, also when resumed", {
  numbers <- tensor_slices_dataset(c(1, 2, 9, 3))
  few <- numbers$apply(experimental()$take_while(function(x) x < 5))
  expect_equal(unlist(dataset_collect(few)), c(1, 2))
  expect_equal(unlist(dataset_collect(dataset_repeat(few, 2))), c(1, 2, 1, 2))
  endless <- dataset_repeat(numbers)$apply(experimental()$take_while(function(x) x < 5))
  expect_length(dataset_collect(endless), 2)
  expect_error(
    dataset_collect(numbers$apply(experimental()$take_while(function(x) x))), "one logical",
    class = "runhooks_error_invalid_argument"
  )
  with(tf$Graph()$as_default(), {
    iterator <- make_iterator_initializable(few)
    saveable <- experimental()$make_saveable_from_iterator(iterator)
    tf$add_to_collection("saveable_objects", saveable)
    step <- tf$train$get_or_create_global_step()
    saver <- tf$train$Saver()
    element <- iterator_get_next(iterator)
    session <- tf$Session()
    session$run(list(step$initializer, iterator_initializer(iterator)))
    for (i in 1:2) session$run(element)
    expect_error(session$run(element), class = "runhooks_error_out_of_range")
    path <- saver$save(session, file.path(withr::local_tempdir(), "position"))
    session$run(iterator_initializer(iterator))
    saver$restore(session, path)
    expect_error(session$run(element), class = "runhooks_error_out_of_range")
  })
})

test_that("choose_from_datasets() reads in the order of the choices", {
  datasets <- list(tensor_slices_dataset(c("a", "b")), tensor_slices_dataset(c("x", "y", "z")))
  choose <- function(numbers) {
    choices <- tensor_slices_dataset(tf$constant(numbers, "int64"))
    unlist(dataset_collect(experimental()$choose_from_datasets(datasets, choices)))
  }
  expect_identical(choose(c(1, 0, 1, 1, 0)), c("x", "a", "y", "z", "b"))
  # exhausted datasets are skipped, as in TensorFlow
  expect_identical(choose(c(0, 0, 0, 1)), c("a", "b", "x"))
  expect_error(choose(c(0, 2)), "there are 2 datasets", class = "runhooks_error_invalid_argument")
  expect_error(
    experimental()$choose_from_datasets(datasets, tensor_slices_dataset("a")), "int64",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("sources of tf$data$experimental give their elements", {
  collect <- function(dataset) unlist(dataset_collect(dataset))
  expect_equal(collect(dataset_take(experimental()$Counter(5, 2), 3)), c(5, 7, 9))
  expect_equal(collect(dataset_take(experimental()$Counter(0, -1, "int32"), 2)), c(0, -1))
  random <- function() collect(dataset_take(experimental()$RandomDataset(seed = 1), 3))
  expect_identical(random(), random())
  expect_length(unique(random()), 3)
  with(tf$Graph()$as_default(), {
    one <- experimental()$get_single_element(range_dataset(3, 4))
    expect_equal(tf$Session()$run(one), 3)
  })
  options <- tf$data$Options()
  options$experimental_deterministic <- FALSE
  expect_equal(collect(range_dataset(0, 2)$with_options(options)), c(0, 1))
})

test_that("records are written and read in batches of features", {
  file <- withr::local_tempfile()
  with(tf$Graph()$as_default(), {
    writer <- experimental()$TFRecordWriter(file)
    tf$Session()$run(writer$write(tensor_slices_dataset(c("ab", "c"))))
  })
  expect_identical(unlist(dataset_collect(tfrecord_dataset(file))), c("ab", "c"))
  write_tfrecord(mtcars[1:5, c("wt", "mpg")], file)
  spec <- list(
    wt = tf$FixedLenFeature(shape(), tf$float32), mpg = tf$FixedLenFeature(shape(), tf$float32)
  )
  read <- function(...) {
    dataset_collect(experimental()$make_batched_features_dataset(
      file, 4, spec, num_epochs = 1, shuffle = FALSE, ...
    ))
  }
  rows <- read(label_key = "mpg")
  expect_equal(lengths(lapply(rows, `[[`, 2)), c(4, 1))
  expect_equal(as.vector(rows[[1]][[1]]$wt), mtcars$wt[1:4], tolerance = 1e-6)
  expect_length(read(drop_final_batch = TRUE), 1)
  expect_error(read(label_key = "hp"), "hp not in", class = "runhooks_error_invalid_argument")
  expect_equal(
    tf$python_io$TFRecordOptions(tf$python_io$TFRecordCompressionType$GZIP), "GZIP"
  )
})
