test_that("values are recorded at the first step and at multiples", {
  history <- train(
    mtcars_model(),
    mtcars_input(num_epochs = NULL),
    steps = 10,
    hooks = hook_history_saver(every_n_step = 2)
  )
  expect_equal(history$step, c(1, 2, 4, 6, 8, 10))
  expect_equal(history$params, list(metrics = c("mean_losses", "total_losses"), steps = 10))
  expect_equal(history$losses$total_losses, 8 * history$losses$mean_losses)
  expect_null(history$evaluation_metrics)
  expect_named(as.data.frame(history), c("step", "metric", "value"))
  expect_equal(nrow(as.data.frame(history)), 12)
  expect_type(as.data.frame(history)$metric, "character")
})

test_that("a resumed run continues its step count", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 2)
  expect_equal(train(model, mtcars_input(num_epochs = NULL), steps = 25)$step, c(3, 12, 22))
})

test_that("two models have separate histories", {
  a <- train(mtcars_model(), mtcars_input(), hooks = hook_history_saver(1))
  b <- train(mtcars_model(), mtcars_input(num_epochs = 2), hooks = hook_history_saver(2))
  expect_length(a$step, 4)
  expect_length(b$step, 5)
})

fixed_history <- function(n = 3) {
  new_history(
    list(
      step = seq_len(n) * 100,
      losses = list(
        mean_losses = 415.8123 / seq_len(n), total_losses = 3326.4984 / seq_len(n)
      )
    ), n * 100,
    list(mean_losses = 12.34567, total_losses = 98765.4, step = 300)
  )
}

test_that("a history prints its last records", {
  expect_snapshot_text(print(fixed_history()))
  expect_snapshot_text(print(new_history(NULL, 1234)))
})

test_that("a history plots with ggplot2 and with base graphics", {
  skip_if_not_installed("ggplot2")
  plot <- plot(fixed_history(), method = "ggplot2")
  expect_s3_class(plot, "ggplot")
  expect_equal(nrow(ggplot2::layer_data(plot)), 6)
  expect_length(plot$layers, 1)
  expect_length(plot(fixed_history(19), method = "ggplot2")$layers, 1)
  expect_length(plot(fixed_history(20), method = "ggplot2")$layers, 2)
  expect_length(plot(fixed_history(20), method = "ggplot2", smooth = FALSE)$layers, 1)
  expect_equal(nrow(ggplot2::layer_data(plot(fixed_history(), metrics = "mean_losses"))), 3)
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  expect_invisible(plot(fixed_history(12), method = "base"))
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
  expect_error(
    plot(fixed_history(), metrics = "accuracy"), "accuracy", class = "runhooks_error_not_found"
  )
})

test_that("named tensors are added to the history, which can be read during the run", {
  tensors <- list(w = "linear/linear_model/cyl/weights:0", "global_step:0")
  seen <- list()
  keep <- session_run_hook(
    before_run = function(context) session_run_args(tensors$w),
    after_run = function(context, values) seen[[length(seen) + 1]] <<- values$results[[1]][1, 1]
  )
  history <- train(
    mtcars_model(), mtcars_input(num_epochs = NULL), steps = 6,
    hooks = list(keep, hook_history_saver(every_n_step = 3, tensors = tensors))
  )
  expect_equal(history$params$metrics, c("mean_losses", "total_losses", "w", "global_step:0"))
  expect_equal(history$step, c(1, 3, 6))
  # Values that are fetched with the step are those before it.
  expect_equal(history$losses$w, unlist(seen)[c(1, 3, 6)])
  expect_equal(history$losses$`global_step:0`, c(0, 2, 5))
  expect_equal(nrow(as.data.frame(history)), 12)
  expect_output(print(history), "w: ")
})

test_that("invalid tensors are errors", {
  expect_error(hook_history_saver(tensors = 5), class = "runhooks_error_invalid_argument")
  expect_error(hook_history_saver(tensors = list(step = "a")), "cannot be named .*step")
  expect_error(hook_history_saver(tensors = c("a", "a")), "cannot be named .*a")
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook_history_saver(tensors = "nobody:0")),
    class = "runhooks_error_not_found"
  )
})

test_that("evaluations during training are added to the history on request", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 1)
  evaluate(model, mtcars_input()) # before the run, so not part of it
  history <- train(
    model, mtcars_input(num_epochs = NULL), steps = 4,
    hooks = list(
      hook_in_memory_evaluator(model, mtcars_input(), every_n_iter = 2),
      hook_history_saver(evaluations = TRUE)
    )
  )
  evaluated <- history$evaluations
  average <- evaluated[evaluated$metric == "average_loss", ]
  events <- read_events(file.path(model_dir(model), "eval"))
  all <- events$value[events$tag == "average_loss"]
  expect_gt(nrow(average), 1)
  expect_equal(average$value, all[-1])
  expect_true("eval/average_loss" %in% as.data.frame(history)$metric)
  expect_null(train(model, mtcars_input(), steps = 1)$evaluations)
})
