# Checkpoints store hook states of the right hook and the right step.
set.seed(1)

counter <- function() {
  count <- 0
  hook <- session_run_hook(
    after_run = function(context, values) count <<- count + 1,
    save_state = function() list(count = count),
    restore_state = function(state) count <<- state$count
  )
  structure(hook, count = function() count)
}
count_of <- function(hook) attr(hook, "count")()

other_counter <- function() {
  runs <- 100
  hook <- session_run_hook(
    after_run = function(context, values) runs <<- runs + 1,
    save_state = function() list(count = runs),
    restore_state = function(state) runs <<- state$count
  )
  structure(hook, count = function() runs)
}

train_on <- function(folder, hooks, steps = 3) {
  model <- mtcars_model(folder, save_checkpoints_steps = 100)
  train(model, mtcars_input(num_epochs = NULL), steps = steps, hooks = hooks)
}

step_in <- function(folder) variable_value(mtcars_model(folder), "global_step")[[1]]

# Creates a hook that raises an interrupt at a step.
interrupt_at <- function(step) {
  session_run_hook(
    before_run = function(context) session_run_args("global_step:0"),
    after_run = function(context, values) if (values$results[[1]] == step) rlang::interrupt()
  )
}

interrupted <- function(expr) {
  caught <- tryCatch(expr, interrupt = function(condition) condition)
  expect_s3_class(caught, "interrupt")
}

test_that("after an interrupt, hook states match the step of the variables", {
  folder <- withr::local_tempdir()
  interrupted(train_on(folder, list(counter = counter(), interrupt_at(7)), steps = 20))
  resumed <- counter()
  train_on(folder, list(counter = resumed), steps = 2)
  expect_equal(count_of(resumed), step_in(folder))
  folder <- withr::local_tempdir()
  interrupted(train_on(folder, list(counter(), interrupt_at(7)), steps = 20))
  resumed <- counter()
  train_on(folder, list(resumed), steps = 2)
  expect_equal(count_of(resumed), step_in(folder))
})

test_that("a hook whose state fails at an interrupt keeps its last saved state", {
  folder <- withr::local_tempdir()
  n_calls <- 0
  restored <- NULL
  hook <- session_run_hook(
    save_state = function() {
      n_calls <<- n_calls + 1
      if (n_calls > 1) stop("on purpose")
      list(asked = n_calls)
    }
  )
  errors <- 0
  expect_warning(
    withCallingHandlers(
      interrupted(train_on(folder, list(h = hook, interrupt_at(4)), steps = 9)),
      error = function(e) errors <<- errors + 1
    ),
    "save_state\\(\\) failed: on purpose", class = "runhooks_warning"
  )
  expect_equal(errors, 0)
  resumed <- session_run_hook(
    save_state = function() NULL, restore_state = function(state) restored <<- state$asked
  )
  train_on(folder, list(h = resumed), steps = 1)
  expect_equal(restored, 1)
})

test_that("unnamed hooks are matched by their code", {
  folder <- withr::local_tempdir()
  train_on(folder, list(counter()))
  first <- other_counter()
  second <- counter()
  train_on(folder, list(first, second))
  expect_equal(count_of(first), 103)
  expect_equal(count_of(second), 6)
  first <- other_counter()
  second <- counter()
  train_on(folder, list(second, first))
  expect_equal(c(count_of(first), count_of(second)), c(106, 9))
})

test_that("a saved state that matches two unnamed hooks is an error", {
  folder <- withr::local_tempdir()
  train_on(folder, list(counter()))
  before <- latest_checkpoint(folder)
  expect_error(
    train_on(folder, list(counter(), counter())), "it has 1 unnamed hook like .*, this run has 2",
    class = "runhooks_error_failed_precondition"
  )
  expect_identical(latest_checkpoint(folder), before)
  hooks <- list(counter(), new = counter())
  train_on(folder, hooks)
  expect_equal(vapply(hooks, count_of, 0, USE.NAMES = FALSE), c(6, 3))
  folder <- withr::local_tempdir()
  train_on(folder, list(counter(), counter()), steps = 2)
  hooks <- list(counter(), counter())
  train_on(folder, hooks, steps = 2)
  expect_equal(vapply(hooks, count_of, 0), c(4, 4))
})

test_that("a different unnamed hook starts without the saved state, with a warning", {
  folder <- withr::local_tempdir()
  train_on(folder, list(counter()))
  other <- other_counter()
  expect_warning(
    train_on(folder, list(other)), "without a saved state", class = "runhooks_warning_hook_state"
  )
  expect_equal(count_of(other), 103)
})
