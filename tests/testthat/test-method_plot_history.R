skip_if_not_installed("ggplot2")

# A typical history: a loss that falls by decades from a high first value, and a validation.
run_of <- function(n = 40, ...) {
  step <- c(1, seq_len(n - 1) * 10)
  falling <- c(84, 12 * exp(-step[-1] / 60) + 0.01 * (2 + sin(step[-1])))
  validation <- data.frame(
    step = step[c(TRUE, FALSE)], accuracy = seq(0.5, 0.9, length.out = n / 2),
    average_loss = falling[c(TRUE, FALSE)] * 1.2, loss = falling[c(TRUE, FALSE)] * 12,
    `label/mean` = 0.3, check.names = FALSE
  )
  history <- new_history(
    list(step = step, losses = list(mean_losses = falling, total_losses = 10 * falling)),
    max(step), ...
  )
  history$validation <- validation
  history
}

panels_of <- function(plot) {
  levels(plot$data$panel)
}

test_that("training and validation of one metric share a panel, constants have none", {
  plot <- plot(run_of(), method = "ggplot2")
  expect_equal(panels_of(plot), c("average_loss", "loss", "accuracy"))
  loss <- plot$data[plot$data$panel == "average_loss", ]
  expect_setequal(as.character(loss$series), c("training", "validation"))
  expect_equal(nrow(loss), 60)
  both <- plot(run_of(), metrics = "average_loss", method = "ggplot2")
  expect_equal(nrow(ggplot2::layer_data(both)), 60)
  one <- plot(run_of(), metrics = "validation/average_loss", method = "ggplot2")
  expect_equal(nrow(ggplot2::layer_data(one)), 20)
  constant <- plot(run_of(), metrics = "label/mean", method = "ggplot2")
  expect_equal(panels_of(constant), "label/mean")
})

test_that("a head that records its sum twice has no average", {
  history <- run_of()
  history$losses$mean_losses <- history$losses$total_losses
  plot <- plot(history, method = "ggplot2")
  average <- plot$data[plot$data$panel == "average_loss", ]
  expect_equal(unique(as.character(average$series)), "validation")
  expect_false("mean_losses" %in% panels_of(plot))
})

test_that("a panel whose values span decades is logarithmic and labelled so", {
  built <- ggplot2::ggplot_build(plot(run_of(), method = "ggplot2"))
  scales <- built$layout$panel_scales_y
  labels <- lapply(scales, function(scale) as.numeric(scale$get_labels()))
  expect_true(all(labels[[1]] > 0))
  expect_gt(max(labels[[1]], na.rm = TRUE) / min(labels[[1]], na.rm = TRUE), 50)
  accuracy <- range(as.numeric(labels[[3]]), na.rm = TRUE)
  expect_true(accuracy[[1]] >= 0.4 && accuracy[[2]] <= 1)
})

test_that("the smooth line stays within the range of nearby values", {
  series <- with_panel_scales(history_series(run_of(), "mean_losses", environment()))
  smooth <- smooth_series(series)
  expect_true(all(smooth$y >= min(series$y) & smooth$y <= max(series$y)))
  # The high first value does not attract the curve.
  expect_lt(smooth$y[[2]] - series$y[[2]], 0.1 * (series$y[[1]] - series$y[[2]]))
  with_gap <- series[series$step < 100 | series$step > 300, ]
  attr(with_gap, "is_log") <- attr(series, "is_log")
  smooth <- smooth_series(with_gap)
  expect_true(all(smooth$y >= min(with_gap$y) & smooth$y <= max(with_gap$y)))
  expect_null(smooth_series(series[1:19, ]))
})

test_that("a series that is too short for a smooth line is drawn at full opacity", {
  history <- run_of()
  history$validation <- history$validation[1:5, ]
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

test_that("a hook that ends a run is named by its constructor", {
  model <- linear_regressor(mpg ~ wt, mtcars, model_dir = withr::local_tempdir())
  plot <- plot(train(model), method = "ggplot2")
  expect_match(plot$labels$caption, "by hook_stop_when_converged().", fixed = TRUE)
  stops <- session_run_hook(after_run = function(context, values) context$request_stop())
  plot <- plot(train(model, hooks = stops, steps = 5), method = "ggplot2")
  expect_match(plot$labels$caption, paste("by", tail(run_history(model)$reason, 1)), fixed = TRUE)
})
