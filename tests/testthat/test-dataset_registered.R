test_that("dataset_unique() gives the first occurrence of each element", {
  unique_of <- function(x, ...) unlist(dataset_collect(dataset_unique(tensor_slices_dataset(x))))
  for (x in list(c("b", "a", "b", "", "ab", "a"), c(3L, 1L, 3L, -1L, 1L))) {
    expect_equal(unique_of(x), unique(x))
  }
  # The rows ("ab", "c") and ("a", "bc") differ, although their concatenated bytes are equal.
  rows <- matrix(c("ab", "a", "ab", "c", "bc", "c"), 3)
  kept <- dataset_collect(dataset_unique(tensor_slices_dataset(rows)))
  expect_equal(lapply(kept, as.vector), list(c("ab", "c"), c("a", "bc")))
  repeated <- dataset_repeat(dataset_unique(tensor_slices_dataset(c(1L, 1L, 2L))), 2)
  expect_equal(unlist(dataset_collect(repeated)), c(1L, 2L, 1L, 2L))
})

test_that("dataset_unique() accepts one component of integers or strings", {
  for (x in list(c(1, 2), list(1:2, 3:4))) {
    expect_error(
      dataset_unique(tensor_slices_dataset(x)), "must have one component, of type int32",
      class = "runhooks_error_invalid_argument"
    )
  }
})

test_that("dataset_unique() resumes where it was saved", {
  values <- c("a", "b", "a", "c", "b", "d")
  path <- file.path(withr::local_tempdir(), "ckpt")
  drawn <- function(n, restore = FALSE) {
    with_graph(tf$Graph(), {
      dataset <- dataset_unique(tensor_slices_dataset(values))
      iterator <- make_iterator_initializable(dataset)
      element <- iterator$get_next()
      tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
      saver <- tf$train$Saver()
      session <- tf$Session()
      on.exit(session$close())
      session$run(iterator$initializer)
      if (restore) saver$restore(session, path)
      got <- vapply(seq_len(n), function(i) session$run(element), "")
      if (!restore) saver$save(session, path)
      got
    })
  }
  expect_equal(drawn(2), c("a", "b"))
  expect_equal(drawn(2, restore = TRUE), c("c", "d"))
})
