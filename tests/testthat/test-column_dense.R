# column_cyclic() returns the sine and cosine of the position in a period.

layer_of <- function(x, column, dtype = NULL) {
  with(tf$Graph()$as_default(), {
    layer <- input_layer(list(hour = tf$constant(x, dtype = dtype)), column)
    with(tf$Session() %as% session, unname(session$run(layer)))
  })
}

test_that("values one period apart are equal, and neighbours are close", {
  hour <- column_cyclic("hour", period = 24)
  expect_equal(hour$name, "hour_cyclic")
  got <- layer_of(c(0, 6, 12, 18, 24, -6), hour)
  expect_equal(
    got, rbind(c(0, 1), c(1, 0), c(0, -1), c(-1, 0), c(0, 1), c(-1, 0)), tolerance = 1e-6
  )
  late <- layer_of(c(23.5, 0.5), hour)
  expect_lt(sum((late[1, ] - late[2, ])^2), 0.1)
  expect_equal(layer_of(c(3L, 27L), hour)[1, ], layer_of(c(3L, 27L), hour)[2, ])
  # Large numbers, such as seconds since 1970, keep their exact position in a period.
  expect_equal(
    layer_of(1.7e9 + 0:1, column_cyclic("hour", period = 2), "float64"), rbind(c(0, 1), c(0, -1)),
    tolerance = 1e-6
  )
})

test_that("a model learns a dependence on the time of day", {
  data <- data.frame(hour = 0:239 %% 24)
  data$y <- 3 + 2 * sin(2 * pi * (data$hour - 5) / 24)
  model <- linear_regressor(column_cyclic("hour", period = 24), optimizer = "SGD",
    loss_reduction = "mean"
  )
  train(model, input_fn(data, features = hour, response = y, batch_size = 240, num_epochs = 200))
  expect_equal(predict(model, newdata = data)$.pred, data$y, tolerance = 1e-3)
  expect_error(
    predict(model, newdata = data.frame(hour = "noon")), "was integers and is now strings|numbers"
  )
})

test_that("an invalid period is an error", {
  expect_error(column_cyclic("hour", period = 0), "`period` must be positive, not 0")
  expect_error(column_cyclic("hour", period = "day"), "`period` must be a number")
  expect_error(column_cyclic("hour", 24), "Name the argument")
  expect_error(
    layer_of(matrix(1:4, 2), column_cyclic("hour", period = 24)), "one number per row, not 2"
  )
})
