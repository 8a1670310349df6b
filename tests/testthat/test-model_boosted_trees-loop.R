# Trees in the session loop: evaluations, exporters, early stopping, histories, messages.

loop_data <- function(seed = 75, n = 80) {
  set.seed(seed)
  data <- data.frame(x = rnorm(n), f = sample(c("a", "b"), n, TRUE))
  data$y <- data$x + (data$f == "a") + rnorm(n)
  data
}

loop_trees <- function(..., n_trees = 6L, dir = withr::local_tempdir(.local_envir = parent.frame())) {
  boosted_trees_regressor(
    y ~ ., loop_data(), n_trees = n_trees, max_depth = 3L, learning_rate = 0.5, model_dir = dir, ...
  )
}

test_that("a first training prints only requested output", {
  model <- loop_trees()
  expect_no_message(expect_no_warning(history <- train(model)))
  expect_true(all(diff(history$losses$mean_losses) < 0))
  runs <- as.data.frame(run_history(model_dir(model)))
  expect_equal(runs$to_step, 18)
  expect_equal(runs$why, "hook")
  # There is no message if more steps are requested than the trees take.
  expect_no_message(expect_no_warning(train(loop_trees(), max_steps = 1000)))
  expect_no_message(expect_no_warning(train(boosted_trees_classifier(Species ~ ., iris, n_trees = 2L))))
})

test_that("train_and_evaluate() evaluates each checkpoint, exports, and ends with the last tree", {
  for (max_steps in list(NULL, 1000, 12)) {
    model <- loop_trees(config = run_config(save_checkpoints_steps = 6))
    said <- capture.output(type = "message", history <- train_and_evaluate(
      model, train_spec(loop_data(), max_steps = max_steps),
      eval_spec(loop_data(76), steps = NULL, throttle_secs = 0, start_delay_secs = 0, exporters = list(
        best_exporter("best"), final_exporter("final"), latest_exporter("latest")
      ))
    ))
    last <- if (identical(max_steps, 12)) 12 else 18
    expect_no_match(paste(said, collapse = " "), "was specified|num_epochs")
    evaluated <- history$evaluations[history$evaluations$metric == "average_loss", ]
    expect_equal(evaluated$step, seq(6, last, 6))
    expect_equal(
      last_or_na(evaluated$value), evaluate(model, loop_data(76))$average_loss, tolerance = 1e-6
    )
    exports <- file.path(model_dir(model), "export")
    expect_setequal(dir(exports), c("best", "final", "latest"))
    final <- dir(file.path(exports, "final"), full.names = TRUE)
    expect_length(final, 1)
    answers <- predict(load_savedmodel(final), loop_data()[1:5, c("x", "f")])
    expect_equal(
      as.vector(unlist(answers)), predict(model, loop_data()[1:5, ])$.pred, tolerance = 1e-5
    )
  }
})

test_that("final_exporter() exports once if the trees end early, and again in each further call", {
  dir <- withr::local_tempdir()
  run <- function(...) {
    model <- loop_trees(dir = dir, config = run_config(save_checkpoints_steps = 6))
    spec <- eval_spec(
      loop_data(76), steps = NULL, throttle_secs = 600, start_delay_secs = 600,
      exporters = final_exporter("final")
    )
    suppressMessages(train_and_evaluate(model, train_spec(loop_data(), ...), spec))
    exports <- dir(file.path(dir, "export", "final"), full.names = TRUE)
    answers <- predict(load_savedmodel(last_or_na(exports)), loop_data()[1:5, c("x", "f")])
    expect_equal(
      as.vector(unlist(answers)), predict(model, loop_data()[1:5, ])$.pred, tolerance = 1e-5
    )
    c(as.integer(variable_value(model, "global_step")), length(exports))
  }
  # The first call stops within a tree, the second one continues to the end of the last tree.
  expect_identical(run(max_steps = 8), c(8L, 1L))
  expect_identical(run(max_steps = 1000), c(18L, 2L))
  expect_warning(expect_identical(run(max_steps = 1000), c(18L, 3L)), "made no steps")
})

test_that("early stopping keeps the trees up to the best evaluation, bit for bit", {
  others <- loop_data(76)
  model <- loop_trees(n_trees = 40L)
  expect_message(
    history <- train(model, validation = others, stop = early_stopping("average_loss", patience = 6, every_n_steps = 3L)),
    "weights of step", class = "runhooks_message_early_stopping"
  )
  said <- as.data.frame(history)
  said <- said$value[said$metric == "average_loss" & said$data == "validation"]
  expect_equal(evaluate(model, others)$average_loss, min(said), tolerance = 1e-6)
  expect_gt(last_or_na(said), min(said))
  stopped <- variable_value(model, "boosted_trees:0_serialized")[[1]]
  grown <- length(unique(as.data.frame(model)$tree))
  expect_lt(grown, 40)
  # The trees are those of a training that ends at this step.
  step <- cpp_saved_global_step(file.path(model_dir(model), "best"))
  whole <- loop_trees(n_trees = 40L)
  suppressMessages(train(whole, steps = step))
  expect_identical(variable_value(whole, "boosted_trees:0_serialized")[[1]], stopped)
  suppressMessages(train(model, steps = 3))
  expect_gt(length(unique(as.data.frame(model)$tree)), grown)
})

test_that("print() and summary() show trees", {
  model <- loop_trees()
  expect_output(print(model), "not trained yet")
  train(model)
  expect_output(print(model), "trees: 6, of [0-9]+ leaves; most important: x")
  expect_output(print(summary(model)), "trees: 6, of")
})

test_that("the bar counts trees and layers", {
  lines <- c()
  drawn <- function(run, loss, global_step, is_last, rows, seconds, waited, parts) {
    lines <<- c(lines, paste(global_step, parts))
  }
  bar <- rebuild_hook(list(type = "ProgressBarHook", draw = drawn, min_secs = 0))
  train(loop_trees(), hooks = bar)
  # Runs that scan the data for quantiles do not count as steps. The counts are those at the start
  # of the last step.
  expect_equal(lines[[5]], "4 1 tree, 3 layers")
  expect_match(last_or_na(lines), "^18 5 trees, 17 layers")
  withr::local_options(runhooks.progress = TRUE, cli.dynamic = TRUE, cli.num_colors = 1L)
  text <- capture.output(type = "message", train(loop_trees()))
  expect_match(paste(text, collapse = " "), "trees, [0-9]+ layers")
})
