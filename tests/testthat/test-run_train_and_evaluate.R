# train_and_evaluate() and exporters, beyond TensorFlow's traces.

both_specs <- function(max_steps = 6, ..., data = toy_input(num_epochs = NULL)) {
  list(
    train_spec(data, max_steps = max_steps),
    eval_spec(toy_input(num_epochs = 1), steps = NULL, throttle_secs = 0, ...)
  )
}

run_both <- function(model, ...) {
  specs <- both_specs(...)
  train_and_evaluate(model, specs[[1]], specs[[2]])
}

test_that("the history has the training, all evaluations and the last losses", {
  model <- golden_model_of(list(save_checkpoints_steps = 2))
  expect_invisible(run_both(model))
  history <- last_history()
  expect_s3_class(history, "tf_estimator_history")
  expect_equal(history$params$steps, 6)
  of_loss <- history$evaluations[history$evaluations$metric == "loss", ]
  expect_equal(of_loss$step, c(2, 4, 6))
  last <- evaluate(model, toy_input(num_epochs = 1))
  expect_equal(of_loss$value[[3]], last$loss)
  expect_equal(history$evaluation_metrics$step, 6)
  expect_output(print(history), "Evaluation metrics \\(step 6\\):\n *average_loss: ")
  expect_setequal(as.data.frame(history)$data, c("training", "evaluation"))
  named <- golden_model_of(list(save_checkpoints_steps = 2))
  history <- run_both(named, name = "dev")
  expect_equal(unique(history$evaluations$data), "dev")
  expect_true(dir.exists(file.path(model_dir(named), "eval_dev")))
})

test_that("the training's input continues across evaluations", {
  seen <- numeric()
  spy <- session_run_hook(
    before_run = function(context) session_run_args("IteratorGetNext:0"),
    after_run = function(context, values) seen <<- c(seen, values$results[[1]])
  )
  model <- golden_model_of(list(save_checkpoints_steps = 1))
  rows <- data.frame(x = 1:12, y = 1:12)
  data <- input_fn(
    rows, features = "x", response = "y", batch_size = 2, shuffle = FALSE, num_epochs = 1
  )
  specs <- both_specs()
  history <- train_and_evaluate(model, train_spec(data, max_steps = 6, hooks = spy), specs[[2]])
  expect_equal(as.vector(seen), 1:12)
  expect_equal(unique(history$evaluations$step), 1:6)
})

test_that("a formula model accepts data frames in specifications", {
  model <- linear_regressor(mpg ~ wt, mtcars, config = run_config(save_checkpoints_steps = 20))
  history <- train_and_evaluate(
    model, train_spec(mtcars, max_steps = 40), eval_spec(mtcars, throttle_secs = 0)
  )
  expect_equal(unique(history$evaluations$step), c(20, 40))
  # The default of 100 evaluation steps exceeds these data, which must not give a message.
  expect_no_message(
    train_and_evaluate(
      model, train_spec(mtcars, max_steps = 60), eval_spec(mtcars, throttle_secs = 0)
    ),
    message = "was specified"
  )
})

test_that("an error in an evaluation or an export ends the training with its message", {
  fails <- session_run_hook(before_run = function(context) stop("no evaluation"))
  model <- golden_model_of(list(save_checkpoints_steps = 2))
  expect_error(run_both(model, hooks = fails), "no evaluation")
  expect_equal(cpp_saved_global_step(model_dir(model)), 2)
  broken <- final_exporter("last")
  broken$export <- function(...) stop("no room")
  expect_error(run_both(model, exporters = broken), "no room")
  specs <- both_specs()
  expect_error(
    train_and_evaluate(model, specs[[1]], specs[[2]], steps = 3), "not `steps`",
    class = "runhooks_error_invalid_argument"
  )
})

# Calls an exporter after evaluations with these losses. Returns the steps at which it exported.
exported_at <- function(exporter, model, losses, first_step = 1) {
  steps <- first_step - 1 + seq_along(losses)
  written <- vapply(seq_along(losses), function(i) {
    result <- exporter$export(
      model, file.path(model_dir(model), "export", exporter$name), "ckpt",
      list(loss = losses[[i]], global_step = steps[[i]]), FALSE
    )
    !is.null(result)
  }, NA)
  steps[written]
}

local_fake_export <- function(model, .local_envir = parent.frame()) {
  local_replaced(
    saved_model_export = fake_export(new_recorder(), model_dir(model)), .local_envir = .local_envir
  )
}

test_that("best_exporter() exports improvements according to its function", {
  model <- toy_model()
  local_fake_export(model)
  expect_equal(exported_at(best_exporter(), model, c(5, 6, 4, 4, 3)), c(1, 3, 5))
  larger <- function(best_eval_result, current_eval_result) {
    current_eval_result$loss > best_eval_result$loss
  }
  expect_equal(exported_at(best_exporter(compare_fn = larger), model, c(5, 6, 4, 7)), c(1, 2, 4))
  exporter <- best_exporter()
  nothing <- function(result) exporter$export(model, tempdir(), "ckpt", result, FALSE)
  exported_at(exporter, model, 1)
  expect_error(nothing(list(global_step = 1)), "current_eval_result cannot be empty or no loss")
})

test_that("best_exporter() takes the best value of earlier runs from event files", {
  model <- toy_model()
  local_fake_export(model)
  cpp_write_events(
    file.path(model_dir(model), "eval"), "", c(1, 2, 3), list(c(loss = 5), c(loss = 2), c(loss = 4))
  )
  again <- function() best_exporter(event_file_pattern = "eval/*.tfevents.*")
  expect_equal(exported_at(again(), model, c(3, 1.5), first_step = 4), 5)
  # Departure from TensorFlow: an evaluation is not compared with its own event.
  expect_equal(exported_at(again(), model, 2, first_step = 2), 2)
  # Without a pattern, each run starts without a best value.
  expect_equal(exported_at(best_exporter(), model, c(3, 1.5), first_step = 4), 4:5)
})

test_that("surplus exports are removed, and nothing else", {
  model <- toy_model()
  local_fake_export(model)
  exporter <- latest_exporter("lat", exports_to_keep = 2)
  folder <- file.path(model_dir(model), "export", "lat")
  dir.create(file.path(folder, "mine"), recursive = TRUE)
  expect_equal(exported_at(exporter, model, c(3, 2, 1)), 1:3)
  expect_setequal(dir(folder), c("mine", "1700000002", "1700000003"))
  exported_at(latest_exporter("all", exports_to_keep = NULL), model, 1:7)
  expect_length(dir(file.path(model_dir(model), "export", "all")), 7)
  expect_output(print(exporter), "<tf_exporter> \"lat\"", fixed = TRUE)
})

test_that("a NaN loss is never better, and a first NaN stays the best", {
  model <- toy_model()
  local_fake_export(model)
  # NaN is handled as in TensorFlow 1.15, where comparisons with NaN are false.
  expect_equal(exported_at(best_exporter(), model, c(5, NaN, 4, NaN, 3)), c(1, 3, 5))
  expect_equal(exported_at(best_exporter(), model, c(NaN, 4, 3)), 1)
  expect_equal(exported_at(best_exporter(), model, c(Inf, 4, -Inf, -Inf)), 1:3)
})

test_that("exports within the same second have increasing numbers", {
  made <- suppressMessages({
    model <- toy_model()
    train(model, toy_input(), steps = 1)
    model
  })
  base <- withr::local_tempfile()
  receiver <- function() {
    x <- tf$placeholder(tf$float32, list(NULL), name = "x")
    tf$estimator$export$ServingInputReceiver(list(x = x), list(x = x))
  }
  paths <- vapply(1:4, function(i) {
    path <- export_savedmodel(made, base, receiver, overwrite = FALSE)
    # Simulates an exporter that keeps two exports.
    if (i == 3) unlink(file.path(base, utils::head(sort(dir(base)), 1)), recursive = TRUE)
    basename(path)
  }, "")
  expect_identical(order(paths), 1:4)
})

test_that("exporters leave other folders and files alone", {
  model <- toy_model()
  local_fake_export(model)
  folder <- file.path(model_dir(model), "export", "lat")
  others <- c("17000", "temp-1700000001", "1700000001x", "17000000010")
  for (name in others) dir.create(file.path(folder, name), recursive = TRUE)
  writeLines("mine", file.path(folder, "0000000001"))
  expect_equal(exported_at(latest_exporter("lat", exports_to_keep = 1), model, 1:3), 1:3)
  expect_setequal(dir(folder), c(others, "0000000001", "1700000003"))
  for (keep in c(0, -1)) {
    expect_error(latest_exporter("a", exports_to_keep = keep), "must be positive number")
    expect_error(best_exporter(exports_to_keep = keep), paste("must be a positive number. Got", keep))
  }
})

test_that("exporters write models that predict like the trained one", {
  model <- golden_model_of(list(save_checkpoints_steps = 2))
  exporters <- list(latest_exporter("lat"), best_exporter("best"), final_exporter("fin"))
  history <- run_both(model, max_steps = 4, exporters = exporters)
  expect_named(history$exports, c("lat", "best", "fin"))
  expected <- unlist(predict(model, toy_input(num_epochs = 1)))
  for (path in history$exports) {
    exported <- predict(load_savedmodel(path), data.frame(x = c(1, 2, 3, 4)))
    expect_equal(unname(unlist(exported)), unname(expected), tolerance = 1e-6)
  }
  expect_length(dir(file.path(model_dir(model), "export", "lat")), 2)
})
