test_that("tf$contrib$training$HParams() keeps and parses hyperparameters", {
  hyper <- tf$contrib$training$HParams(rate = 0.1, units = c(10L, 20L), act = "relu", on = TRUE)
  hyper$parse("rate=0.5,units=[3,4],on=false,act=tanh")
  expect_identical(
    hyper$values(), list(act = "tanh", on = FALSE, rate = 0.5, units = c(3L, 4L))
  )
  hyper$add_hparam("extra", 1)
  hyper$set_hparam("rate", 2)
  expect_equal(c(hyper$rate, hyper$get("extra"), hyper$get("no", 7)), c(2, 1, 7))
  expect_error(hyper$parse("lr=3"), "Unknown hyperparameter: lr", class = "runhooks_error")
  expect_error(hyper$parse("rate=abc"), "rate", class = "runhooks_error_invalid_argument")
  expect_error(hyper$nothing, class = "runhooks_error_not_found")
  expect_error(tf$contrib$training$HParams(1), "Hyperparameter 1, 1, has no name", class = "runhooks_error_invalid_argument")
})
