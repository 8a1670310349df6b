arrays <- list(x = as.matrix(unname(mtcars[c("drat", "cyl")])), wt = mtcars$wt)
columns <- list(column_numeric("x", shape = 2), column_numeric("wt"))

test_that("named arrays are features", {
  input <- numpy_input_fn(arrays, mtcars$mpg, batch_size = 8, num_epochs = 2, shuffle = FALSE)
  model <- linear_regressor(columns)
  same <- linear_regressor(list(column_numeric("drat", "cyl"), column_numeric("wt")))
  losses <- function(model, input) train(model, input)$losses$total_losses
  expect_length(losses(model, input), 1)
  predicted <- predict(model, numpy_input_fn(arrays, shuffle = FALSE))
  expect_equal(nrow(predicted), 32)
  # The same input with TensorFlow's name, in a function that a script returns.
  second_model <- linear_regressor(columns)
  generator <- function() {
    tf$estimator$inputs$numpy_input_fn(
      arrays, mtcars$mpg, batch_size = 8L, num_epochs = 2L, shuffle = FALSE
    )
  }
  expect_identical(losses(second_model, generator()), losses(linear_regressor(columns), input))
  expect_length(formals(generator()), 0)
})

test_that("`shuffle` applies to all modes, including prediction", {
  x <- list(x = as.numeric(1:50))
  read <- function(shuffle) {
    withr::local_seed(3)
    model <- linear_regressor(column_numeric("x"))
    train(model, numpy_input_fn(x, 2 * x$x, shuffle = TRUE, num_epochs = 30))
    unlist(predict(model, numpy_input_fn(x, shuffle = shuffle))$predictions)
  }
  expect_false(is.unsorted(read(FALSE)))
  expect_true(is.unsorted(read(TRUE)))
})

test_that("arguments other than named arrays are errors", {
  expect_snapshot_text({
    numpy_input_fn(arrays, mtcars$mpg)
    numpy_input_fn(unname(arrays), mtcars$mpg, shuffle = TRUE)
    numpy_input_fn(mtcars$wt, mtcars$mpg, shuffle = TRUE)
    numpy_input_fn(arrays, 1:3, shuffle = TRUE)
    numpy_input_fn(list(x = c(1, NA, Inf)), shuffle = FALSE)
  })
})
