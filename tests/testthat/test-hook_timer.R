goldens <- hook_goldens("timer")

expect_step_as_golden <- function(timer, row, info) {
  triggers <- timer$should_trigger_for_step(row$step)
  expect_equal(triggers, row$trigger, info = info)
  if (triggers) {
    updated <- timer$update_last_triggered_step(row$step)
    expect_equal(json_form(updated), json_form(row$update_returned), info = info)
  }
  expect_equal(timer$last_triggered_step(), row$last_triggered_step, info = info)
}

test_that("a timer of steps triggers at TensorFlow's steps", {
  clock <- local_clock()
  timer <- tf$train$SecondOrStepTimer(every_steps = 3)
  for (row in goldens$every_steps$table) {
    if (is.null(row$step)) next
    expect_step_as_golden(timer, row, paste("step", row$step))
    clock$advance(1.5)
  }
  timer$reset()
  expect_null(timer$last_triggered_step())
  expect_true(timer$should_trigger_for_step(18))
})

test_that("a timer of seconds triggers at TensorFlow's times", {
  clock <- local_clock()
  timer <- tf$train$SecondOrStepTimer(every_secs = 10)
  for (row in goldens$every_secs$table) {
    expect_step_as_golden(timer, row, paste("after", row$time, "secs"))
    clock$advance(4)
  }
})

test_that("a timer without an interval never triggers", {
  timer <- tf$train$NeverTriggerTimer()
  for (row in goldens$never_trigger$table) {
    expect_equal(timer$should_trigger_for_step(row$step), row$trigger)
    expect_equal(timer$update_last_triggered_step(row$step), list(NULL, NULL))
    expect_null(timer$last_triggered_step())
  }
})

test_that("a timer takes either seconds or steps", {
  expect_error(tf$train$SecondOrStepTimer(), "Either every_secs or every_steps")
  expect_error(tf$train$SecondOrStepTimer(1, 2), "Can not provide both")
})

test_that("a coordinator can be used directly", {
  coordinator <- tf$train$Coordinator()
  expect_false(coordinator$should_stop())
  coordinator$request_stop(tf$errors$OutOfRangeError(NULL, NULL, "end"))
  expect_true(coordinator$should_stop())
  expect_no_error(coordinator$join())
  coordinator$clear_stop()
  coordinator$request_stop(simpleError("broken"))
  expect_error(coordinator$join(), "broken")
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
