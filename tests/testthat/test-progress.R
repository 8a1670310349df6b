test_that("the bar is the line that tfestimators showed", {
  expect_equal(
    bar_line("Training", 2, 2, 3136.1035, 1, width = 48),
    "Training 2/2 [======] - ETA:  0s - loss: 3136.10"
  )
  expect_equal(
    bar_line("Evaluating", 1, 4, 1.5, 30, width = 52),
    "Evaluating 1/4 [==.........] - ETA:  2m - loss: 1.50"
  )
  expect_match(
    spinner_line("Training", 12.34, 57, 1), "^\\[.\\] Training -- loss: 12\\.34, step: 57$"
  )
})

test_that("times are short", {
  expect_equal(vapply(c(0, 59, 61, 7300, 200000), vague_time, ""), c("0s", "59s", "1m", "2h", "2d"))
})

test_that("captured output has nothing of the bar, and a run that is short of its steps says so", {
  expect_false(shows_progress())
  expect_message(
    check_reached("train", 15, 100), "Training completed after 15 steps but 100 steps was specified"
  )
  expect_no_message(check_reached("train", 2, 2L))
  expect_no_message(check_reached("eval", 2, NULL))
})
