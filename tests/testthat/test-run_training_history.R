test_that("values are recorded at the first step and at multiples", {
  history <- train(
    mtcars_model(),
    mtcars_input(num_epochs = NULL),
    steps = 10,
    hooks = hook_history_saver(every_n_step = 2)
  )
  expect_equal(history$step, c(1, 2, 4, 6, 8, 10))
  expect_equal(history$params, list(metrics = c("average_loss", "loss"), steps = 10))
  expect_equal(history$losses$loss, 8 * history$losses$average_loss, tolerance = 1e-6)
  # the metrics also have the names that tfestimators uses
  expect_equal(history$losses$total_losses, 8 * history$losses$mean_losses)
  expect_equal(history$losses$mean_losses, history$losses$average_loss)
  expect_null(history$evaluation_metrics)
  long <- as.data.frame(history)
  expect_identical(class(long), "data.frame")
  expect_named(long, c("step", "data", "metric", "value"))
  expect_equal(nrow(long), 12)
  expect_type(long$metric, "character")
  expect_equal(unique(long$data), "training")
  expect_equal(tibble::as_tibble(history), tibble::as_tibble(long))
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
        average_loss = 415.8123 / seq_len(n), loss = 3326.4984 / seq_len(n),
        mean_losses = 415.8123 / seq_len(n), total_losses = 3326.4984 / seq_len(n)
      )
    ), n * 100,
    list(
      average_loss = 12.34567, loss = 98765.4, mean_losses = 12.34567, total_losses = 98765.4,
      step = 300
    )
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
  expect_equal(nrow(ggplot2::layer_data(plot)), 3)
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
  expect_equal(history$params$metrics, c("average_loss", "loss", "w", "global_step:0"))
  expect_equal(history$step, c(1, 3, 6))
  # The recorded values are those before the step, because they are fetched together with it.
  expect_equal(history$losses$w, unlist(seen)[c(1, 3, 6)])
  expect_equal(history$losses$`global_step:0`, c(0, 2, 5))
  expect_equal(nrow(as.data.frame(history)), 12)
  expect_output(print(history), "w: ")
})

test_that("invalid tensors are errors", {
  expect_error(hook_history_saver(tensors = 5), class = "runhooks_error_invalid_argument")
  expect_error(hook_history_saver(tensors = list(step = "a")), "cannot be named .*step")
  expect_error(hook_history_saver(tensors = "loss"), "already has this column")
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
  expect_equal(unique(evaluated$data), "evaluation")
  long <- as.data.frame(history)
  expect_setequal(long$data[long$metric == "average_loss"], c("training", "evaluation"))
  expect_equal(nrow(train(model, mtcars_input(), steps = 1)$evaluations), 0)
})

test_that("histories, evaluations and runs have one table of metrics", {
  model <- mtcars_model()
  columns <- c("step", "data", "metric", "value")
  history <- train(
    model, mtcars_input(num_epochs = NULL), steps = 10, validation = mtcars_input(shuffle = FALSE),
    hooks = list(
      hook_in_memory_evaluator(model, mtcars_input(), name = "test", every_n_iter = 5),
      hook_history_saver(evaluations = TRUE)
    )
  )
  long <- tibble::as_tibble(history)
  expect_named(long, columns)
  expect_setequal(unique(long$data), c("training", "validation", "test"))
  expect_equal(long[long$data != "training", ], history$evaluations)
  run <- run_history(model)$evaluations[[1]]
  expect_named(run, columns)
  expect_setequal(unique(run$data), c("validation", "test"))
  # the event files have the same values
  key <- function(table) sort(paste(table$data, table$metric, table$step, signif(table$value, 5)))
  expect_equal(key(run), key(history$evaluations))
  of <- function(metric) history$evaluations[history$evaluations$metric == metric, ]
  expect_equal(of("loss")$value[of("loss")$data == "validation"], history$validation$loss)
})

test_that("heads with names have an average each, custom losses have none", {
  heads <- multi_head(list(regression_head(name = "a"), regression_head(name = "b")))
  model <- dnn_estimator(head = heads, column_numeric("wt"), hidden_units = 3)
  two <- function() {
    list(list(wt = tf$constant(mtcars$wt)), list(a = tf$constant(mtcars$mpg), b = tf$constant(mtcars$hp)))
  }
  history <- train(model, two, steps = 2)
  expect_equal(history$params$metrics, c("average_loss/a", "average_loss/b", "loss"))
  own <- estimator(function(features, labels, mode, params, config) {
    w <- tf$get_variable("w", shape(1L))
    loss <- tf$reduce_mean((tf$cast(labels, tf$float32) - w)^2)
    step <- tf$train$GradientDescentOptimizer(0.01)$minimize(loss, tf$train$get_global_step())
    estimator_spec(mode, w, loss, step)
  })
  history <- train(own, mtcars_input(num_epochs = NULL), steps = 2)
  expect_equal(history$params$metrics, "loss")
  expect_equal(history$losses$mean_losses, history$losses$loss)
  expect_equal(nrow(as.data.frame(history)), 1)
})

test_that("an absent member of a history is an error with the place of the metric", {
  model <- linear_regressor(mpg ~ wt, mtcars)
  history <- train(model)
  expect_error(history$loss, "history\\$losses\\$loss", class = "runhooks_error_not_found")
  expect_error(history$lossses, "Did you mean \"losses\"", class = "runhooks_error_not_found")
  expect_null(history$validation)
})
