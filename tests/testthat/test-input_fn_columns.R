first_batch <- function(data, features, ...) {
  graph <- tf$Graph()
  with(graph$as_default(), {
    input <- input_fn(
      data, features = tidyselect::all_of(features), shuffle = FALSE, batch_size = nrow(data), ...
    )
    tensors <- input(NULL)()
    tf$Session(graph = graph)$run(tensors)
  })
}

test_that("list columns are matrices, padded with missing values", {
  data <- data.frame(y = 1:3)
  data$words <- list(c("a", NA, "c"), character(), "b")
  data$ids <- list(1:2, integer(), 5L)
  data$weights <- list(0.5, c(1, 2), numeric())
  data$full <- list(list(1L, 2L), list(3L, 4L), list(5L, 6L))
  got <- first_batch(data, c("words", "ids", "weights", "full"))
  expect_equal(unname(got$words), rbind(c("a", "", "c"), c("", "", ""), c("b", "", "")))
  expect_equal(unname(got$ids), rbind(1:2, c(-1L, -1L), c(5L, -1L)))
  expect_equal(unname(got$weights), rbind(c(0.5, 0), c(1, 2), c(0, 0)))
  expect_equal(unname(got$full), matrix(1:6, 3, byrow = TRUE))
  expect_type(got$full, "integer")
})

test_that("NA is missing in strings and factors, and an error in numbers", {
  data <- data.frame(s = c("a", NA), f = factor(c(NA, "u"), levels = c("u", "v")), n = c(1, NA))
  got <- suppressMessages(first_batch(data, c("s", "f")))
  expect_equal(as.vector(got$s), c("a", ""))
  expect_equal(as.vector(got$f), c(-1L, 0L))
  expect_error(first_batch(data, "n"), "row 2")
})

test_that("a list of mixed types is an error that names it", {
  data <- data.frame(y = 1:2)
  data$odd <- list("a", 2)
  expect_error(first_batch(data, "odd"), "odd")
})

test_that("a factor is passed to string columns as its labels", {
  data <- data.frame(f = factor(c("a", "b", "a", "c")), y = c(1, 2, 1, 5))
  words <- column_categorical_with_vocabulary_list("f", vocabulary_list = c("a", "b", "c"))
  model <- linear_regressor(words, model_dir = withr::local_tempdir())
  train(model, input_fn(data, features = f, response = y, num_epochs = 50, batch_size = 4))
  predicted <- function(data) {
    unlist(predict(model, input_fn(data, features = f, response = y))$predictions)
  }
  reordered <- data.frame(f = factor(c("c", "b"), levels = c("c", "b")), y = 0)
  expect_equal(predicted(reordered), predicted(data)[c(4, 2)])
})

test_that("several values of an example train together", {
  data <- data.frame(y = c(1, 2, 3))
  data$tags <- list(c("red", "blue"), "red", character())
  tags <- column_categorical_with_vocabulary_list("tags", vocabulary_list = c("red", "blue"))
  model <- linear_regressor(tags, model_dir = withr::local_tempdir(), sparse_combiner = "mean")
  train(model, input_fn(data, features = tags, response = y, shuffle = FALSE), steps = 1)
  weights <- variable_value(model)[["linear/linear_model/tags/weights"]]
  expect_equal(dim(weights), c(2L, 1L))
  # The first step moves a weight by the sign of its gradient. "red" has two examples.
  expect_true(all(weights > 0))
  expect_gt(weights[[1]], weights[[2]])
})
