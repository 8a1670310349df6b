skip_if_not_installed("ggplot2")

# Creates a typical history: a loss that falls by decades from a high first value, and a validation.
run_of <- function(n = 40, ...) {
  step <- c(1, seq_len(n - 1) * 10)
  falling <- c(84, 12 * exp(-step[-1] / 60) + 0.01 * (2 + sin(step[-1])))
  validation <- data.frame(
    step = step[c(TRUE, FALSE)], accuracy = seq(0.5, 0.9, length.out = n / 2),
    average_loss = falling[c(TRUE, FALSE)] * 1.2, loss = falling[c(TRUE, FALSE)] * 12,
    `label/mean` = 0.3, check.names = FALSE
  )
  losses <- list(
    average_loss = falling, loss = 10 * falling, mean_losses = falling, total_losses = 10 * falling
  )
  new_history(list(step = step, losses = losses), max(step), validation = validation, ...)
}

panels_of <- function(plot) {
  levels(plot$data$panel)
}

test_that("only average losses are drawn by default, other metrics on request", {
  plot <- plot(run_of(), method = "ggplot2")
  expect_equal(panels_of(plot), "average_loss")
  expect_equal(plot$labels$title, "Average loss")
  expect_setequal(as.character(plot$data$series), c("training", "validation"))
  expect_equal(nrow(plot$data), 60)
  more <- plot(run_of(), metrics = c("accuracy", "loss", "label/mean"), method = "ggplot2")
  expect_equal(panels_of(more), c("accuracy", "loss", "label/mean"))
  # tfestimators' names of the metrics
  old <- plot(run_of(), metrics = c("mean_losses", "total_losses"), method = "ggplot2")
  expect_equal(nrow(old$data), 80)
  expect_error(plot(new_history(NULL, 0)), "no values", class = "runhooks_error_not_found")
})

test_that("without an average, the loss is drawn", {
  history <- run_of()
  history$losses$average_loss <- NULL
  history$params$metrics <- "loss"
  history$evaluations <- history$evaluations[history$evaluations$metric != "average_loss", ]
  expect_equal(panels_of(plot(history, method = "ggplot2")), "loss")
})

test_that("average_loss of training and of evaluations are the same number", {
  cars <- transform(mtcars, am = factor(am), gear = factor(gear), w = 1 + (mpg > 20))
  models <- list(
    function(...) boosted_trees_regressor(mpg ~ wt + hp, cars, n_trees = 10, ...),
    # The depth is 1, because within a tree a classifier reports the loss before the tree.
    function(...) boosted_trees_classifier(am ~ wt + hp, cars, n_trees = 10, max_depth = 1, ...),
    function(...) dnn_regressor(mpg ~ wt + hp, cars, hidden_units = 3, ...),
    function(...) dnn_regressor(mpg ~ wt, cars, hidden_units = 3, loss_reduction = "mean", ...),
    function(...) dnn_classifier(am ~ wt + hp, cars, hidden_units = 3, ...),
    function(...) dnn_classifier(gear ~ wt + hp, cars, hidden_units = 3, ...)
  )
  for (make in models) {
    for (weights in list(NULL, "w")) {
      model <- make(weight_column = weights)
      one_step <- function() {
        suppressMessages(train(
          model, cars, steps = 1, batch_size = 32, shuffle = FALSE, hooks = hook_history_saver(1)
        ))
      }
      for (i in 1:3) one_step()
      before <- evaluate(model, cars)$average_loss
      history <- one_step()
      expect_equal(history$losses$average_loss, before, tolerance = 1e-5)
      expect_equal(panels_of(plot(history, method = "ggplot2")), "average_loss")
    }
  }
})

test_that("a panel whose values span decades is logarithmic and labelled so", {
  built <- ggplot2::ggplot_build(plot(run_of(), method = "ggplot2"))
  scales <- built$layout$panel_scales_y
  labels <- lapply(scales, function(scale) as.numeric(scale$get_labels()))
  expect_true(all(labels[[1]] > 0))
  expect_gt(max(labels[[1]], na.rm = TRUE) / min(labels[[1]], na.rm = TRUE), 50)
  built <- ggplot2::ggplot_build(plot(run_of(), metrics = "accuracy", method = "ggplot2"))
  labels <- as.numeric(built$layout$panel_scales_y[[1]]$get_labels())
  accuracy <- range(labels, na.rm = TRUE)
  expect_true(accuracy[[1]] >= 0.4 && accuracy[[2]] <= 1)
})

test_that("the smooth line stays within the range of nearby values", {
  series <- add_panel_scales(history_series(run_of(), "average_loss", environment()))
  smooth <- smooth_series(series)
  expect_setequal(as.character(smooth$series), "training")
  expect_setequal(smooth$step, series$step[series$series == "training"])
  expect_true(all(smooth$y >= min(series$y) & smooth$y <= max(series$y)))
  # The line begins and ends with the values.
  ends <- c(1, nrow(smooth))
  own <- series[series$series == "training", ]
  expect_equal(smooth$y[ends], own$y[ends])
  # The high first value does not attract the curve.
  expect_lt(smooth$y[[2]] - series$y[[2]], 0.1 * (series$y[[1]] - series$y[[2]]))
  with_gap <- series[series$step < 100 | series$step > 300, ]
  attr(with_gap, "is_log") <- attr(series, "is_log")
  smooth <- smooth_series(with_gap)
  expect_true(all(smooth$y >= min(with_gap$y) & smooth$y <= max(with_gap$y)))
  expect_null(smooth_series(series[1:19, ]))
})

test_that("a line is interrupted where values are not finite", {
  history <- run_of(80)
  history$losses$average_loss[41] <- NaN
  series <- add_panel_scales(history_series(history, NULL, environment()))
  smooth <- smooth_series(series)
  expect_equal(sum(is.na(smooth$y)), 1)
  expect_equal(nrow(smooth), 80)
  expect_s3_class(plot(history, method = "ggplot2"), "ggplot")
  history$losses$average_loss[] <- NaN
  plot <- plot(history, method = "ggplot2")
  expect_setequal(as.character(plot$data$series), "validation")
})

test_that("a long history has a smooth line of few points", {
  history <- run_of(20000)
  series <- add_panel_scales(history_series(history, NULL, environment()))
  expect_lte(nrow(smooth_series(series)), 400)
})

test_that("a series that is too short for a smooth line is drawn at full opacity", {
  history <- run_of()
  own <- history$evaluations$step %in% history$validation$step[1:5]
  history$evaluations <- history$evaluations[own, ]
  built <- ggplot2::ggplot_build(plot(history, metrics = "average_loss", method = "ggplot2"))
  alphas <- lapply(built$data[1:2], function(layer) unique(layer$alpha))
  expect_equal(alphas, list(0.35, 1))
  expect_equal(vapply(built$data[1:2], nrow, 0L), c(40L, 5L))
})

test_that("marks show the remaining checkpoints, the best value, and why the run ended", {
  model <- dnn_regressor(mpg ~ wt + hp, mtcars, hidden_units = 4)
  history <- suppressMessages(
    train(
      model, mtcars[1:24, ],
      validation = mtcars[25:32, ], steps = 400,
      stop = early_stopping("average_loss", patience = 2, every_n_steps = 10)
    )
  )
  plot <- plot(history, method = "ggplot2")
  caption <- plot$labels$caption
  best <- history$validation$step[[which.min(history$validation$average_loss)]]
  expect_match(caption, paste0("best step, ", format(best, big.mark = ",")))
  expect_match(caption, "checkpoints")
  run <- run_history(model)
  expect_match(gsub("\n", " ", caption), sub("\n.*", "", run$reason), fixed = TRUE)
  lines <- Filter(function(layer) inherits(layer$geom, "GeomVline"), plot$layers)
  expect_equal(lines[[1]]$data$xintercept, best)
  unlink(model_dir(model), recursive = TRUE)
  expect_null(plot(history, method = "ggplot2")$labels$caption)
})

test_that("plots match their snapshots", {
  skip_if_not_installed("vdiffr")
  # Drawings depend on ggplot2's version.
  skip_if_not(packageVersion("ggplot2") >= "3.4.0" && packageVersion("ggplot2") < "3.5.0")
  vdiffr::expect_doppelganger("history", plot(run_of(), method = "ggplot2"))
  vdiffr::expect_doppelganger("history bw", plot(run_of(), method = "ggplot2", theme_bw = TRUE))
  vdiffr::expect_doppelganger("history base", function() plot(run_of(), method = "base"))
  vdiffr::expect_doppelganger("short history", plot(run_of(4), method = "ggplot2"))
})

test_that("the caption says why the run ended", {
  caption <- function(...) plot(train(...), method = "ggplot2")$labels$caption
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  expect_match(caption(model), "the model has converged.", fixed = TRUE)
  trees <- boosted_trees_regressor(mpg ~ wt, mtcars, n_trees = 3)
  caption_text <- caption(trees)
  expect_match(caption_text, "all trees have grown.", fixed = TRUE)
  stops <- session_run_hook(after_run = function(context, values) context$request_stop())
  caption_text <- caption(model, hooks = stops, steps = 5)
  expect_match(caption_text, paste("by", tail(run_history(model)$reason, 1)), fixed = TRUE)
})

test_that("the second argument of plot() selects metrics", {
  skip_if_not_installed("ggplot2")
  model <- linear_regressor(mpg ~ wt, mtcars)
  history <- train(model)
  expect_equal(levels(plot(history, "loss")$data$panel), "loss")
  expect_error(plot(history, "los"), "Did you mean \"loss\"", class = "runhooks_error_not_found")
})

test_that("histories of one step and of none are drawn or printed without noise", {
  skip_if_not_installed("ggplot2")
  model <- linear_regressor(mpg ~ wt, mtcars)
  history <- train(model, steps = 1)
  withr::local_pdf(NULL)
  expect_silent(print(plot(history)))
  expect_silent(plot(history, method = "base"))
  none <- suppressMessages(train(model, max_steps = 1))
  expect_output(print(none), "Trained for 1 steps. \nNo step was recorded.", fixed = TRUE)
})
