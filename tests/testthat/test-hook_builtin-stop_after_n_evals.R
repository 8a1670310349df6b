test_that("hook_stop_after_n_evals() ends each loop after n runs", {
  n <- 0
  hooks <- list(
    hook_stop_after_n_evals(3), session_run_hook(after_run = function(context, values) n <<- n + 1)
  )
  model <- mtcars_model()
  train(model, mtcars_input(num_epochs = 1), hooks = hooks)
  expect_equal(n, 3)
  evaluate(model, mtcars_input(num_epochs = NULL), steps = NULL, hooks = hooks)
  expect_equal(n, 6)
})

test_that("hook_stop_after_n_evals() logs progress, at each tenth of many runs", {
  told <- function(num_evals, runs, ...) {
    log <- attempt({
      with_graph(tf$Graph(), {
        step <- tf$assign_add(tf$train$get_or_create_global_step(), 1L)
        hook <- tf$contrib$training$StopAfterNEvalsHook(num_evals, ...)
        with(tf$train$SingularMonitoredSession(hooks = list(hook)) %as% session, {
          for (i in seq_len(runs)) session$run(step)
        })
      })
    })$log
    regmatches(log, regexpr("Evaluation \\[.*\\]", log))
  }
  expect_equal(told(2, 2), c("Evaluation [1/2]", "Evaluation [2/2]"))
  expect_equal(told(25, 25), sprintf("Evaluation [%d/25]", c(2 * 1:12, 25)))
  expect_equal(told(NULL, 2), c("Evaluation [1]", "Evaluation [2]"))
  expect_equal(told(2, 2, log_progress = FALSE), character())
  expect_error(hook_stop_after_n_evals(0), class = "runhooks_error_invalid_argument")
})
