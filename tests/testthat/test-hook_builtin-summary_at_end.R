# Returns what the hook writes. TensorFlow 1.15's SummaryAtEndHook writes one event with all
# summaries, at the last step.
summaries_of <- function(summary_op = NULL, with_step = TRUE) {
  folder <- withr::local_tempdir()
  with_graph(tf$Graph(), {
    count <- if (with_step) tf$train$get_or_create_global_step() else tf$Variable(0, name = "n")
    first <- tf$summary$scalar("a", tf$cast(count, "float32"))
    tf$summary$scalar("b", tf$constant(2))
    increment <- tf$assign_add(count, if (with_step) 1L else 1)
    hook <- hook_summary_at_end(folder, summary_op = if (!is.null(summary_op)) first)
    with(tf$train$SingularMonitoredSession(hooks = list(hook)) %as% session, {
      for (i in 1:3) session$run(increment)
    })
  })
  read_events(folder)
}

test_that("hook_summary_at_end() saves all summaries, or the given ones", {
  all <- summaries_of()
  expect_equal(all$tag, c("a", "b"))
  expect_equal(all$value, c(3, 2))
  expect_equal(all$step, c(3, 3))
  expect_equal(summaries_of("a")$tag, "a")
  expect_equal(unique(summaries_of(with_step = FALSE)$step), 0)
})

test_that("hook_summary_at_end() works with an estimator, and writes nothing after an error", {
  folder <- withr::local_tempdir()
  hook <- tf$contrib$training$SummaryAtEndHook(folder, summary_op = "loss:0")
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 5, hooks = hook)
  expect_equal(read_events(folder)$step, 5)
  expect_error(hook_summary_at_end(), "One of log_dir or summary_writer should be used.")
  other <- withr::local_tempdir()
  fails <- session_run_hook(after_run = function(context, values) stop("enough"))
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = list(hook_summary_at_end(other), fails)), "enough"
  )
  expect_equal(nrow(read_events(other)), 0)
})
