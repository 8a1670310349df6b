test_that("abbreviated names of arguments are errors with the full name", {
  refused <- function(expr, name, meant) {
    expect_error(
      expr, sprintf("no argument `%s`.*Did you mean.*`%s`", name, meant),
      class = "runhooks_error_invalid_argument"
    )
  }
  loss <- function(y, p) mean((y - p)^2)
  refused(dnn_regressor(mpg ~ wt, mtcars, hidden_units = 3, loss = loss), "loss", "loss_reduction")
  refused(dnn_regressor(mpg ~ wt, mtcars, hidden_units = 3, norm = FALSE), "norm", "normalize")
  refused(dnn_regressor(mpg ~ wt, mtcars, hidden = 3), "hidden", "hidden_units")
  refused(linear_classifier(column_numeric("a"), n_class = 3), "n_class", "n_classes")
  refused(boosted_trees_regressor(mpg ~ wt, mtcars, n_tree = 3), "n_tree", "n_trees")
  refused(estimator(function(features, labels, mode) 1, param = list()), "param", "params")
  refused(input_fn(mpg ~ wt, mtcars, num_epoch = 3), "num_epoch", "num_epochs")
  refused(input_fn(mtcars, "wt", resp = "mpg"), "resp", "response")
  refused(hook_logging_tensor("loss", every_n_it = 3), "every_n_it", "every_n_iter")
  refused(hook_history_saver(eval = TRUE), "eval", "evaluations")
  refused(early_stopping("loss", pat = 3), "pat", "patience")
  refused(column_numeric("a", norm = function(x) x), "norm", "normalizer_fn")
  refused(column_bucketized(column_numeric("a"), bound = 3), "bound", "boundaries")
  refused(regression_head(label_dim = 2), "label_dim", "label_dimension")
  refused(run_config(tf_random = 2), "tf_random", "tf_random_seed")
  refused(session_run_hook(after_r = function(context, values) 1), "after_r", "after_run")
  refused(eval_spec(function() 1, exp = 2), "exp", "exporters")
  model <- linear_regressor(mpg ~ wt, mtcars)
  refused(train(model, step = 5), "step", "steps")
  refused(train(model, mtcars, num_epoch = 5), "num_epoch", "num_epochs")
  refused(train(model, val = mtcars), "val", "validation")
  suppressMessages(train(model))
  refused(evaluate(model, mtcars, step = 5), "step", "steps")
  refused(predict(model, mtcars, checkpoint = NULL), "checkpoint", "checkpoint_path")
  refused(predict(model, new = mtcars), "new", "newdata")
})

test_that("names in the dots of a wrapper are checked, and full names are accepted", {
  wrapped <- function(...) dnn_regressor(mpg ~ wt, mtcars, ...)
  expect_error(wrapped(hidden_units = 3, loss = 1), "no argument `loss`")
  expect_error(
    do.call(dnn_regressor, list(mpg ~ wt, mtcars, hidden_units = 3, loss = 1)), "no argument `loss`"
  )
  expect_s3_class(wrapped(hidden_units = 3, loss_reduction = "mean"), "tf_estimator")
  twice <- function(...) wrapped(...)
  expect_s3_class(twice(hidden_units = 3), "tf_estimator")
  expect_error(twice(hidden_units = 3, loss = stop("not evaluated")), "no argument `loss`")
  expect_s3_class(
    suppressMessages(train(wrapped(hidden_units = 3), mtcars, steps = 1, batch_size = 8)),
    "tf_estimator_history"
  )
})

test_that("all hooks accept every_n_steps", {
  model <- mtcars_model()
  input <- mtcars_input(num_epochs = NULL)
  same <- function(new, old) expect_equal(hook_for_core(new), hook_for_core(old))
  same(hook_logging_tensor("loss", every_n_steps = 5), hook_logging_tensor("loss", every_n_iter = 5))
  dir <- withr::local_tempdir()
  same(
    hook_summary_saver(every_n_steps = 5, output_dir = dir, summary_op = "loss:0"),
    hook_summary_saver(save_steps = 5, output_dir = dir, summary_op = "loss:0")
  )
  same(hook_checkpoint_saver(dir, every_n_steps = 5), hook_checkpoint_saver(dir, save_steps = 5))
  same(hook_profiler(every_n_steps = 5), hook_profiler(save_steps = 5))
  stops <- function() FALSE
  same(
    hook_early_stopping(model, stops, every_n_steps = 5)[c("run_every_steps", "run_every_secs")],
    hook_early_stopping(model, stops, NULL, 5)[c("run_every_steps", "run_every_secs")]
  )
  same(
    hook_stop_if_lower(model, "loss", 5, every_n_steps = 3),
    hook_stop_if_lower(model, "loss", 5, run_every_secs = NULL, run_every_steps = 3)
  )
  hooks <- list(
    hook_history_saver(every_n_steps = 2),
    hook_in_memory_evaluator(model, mtcars_input(), name = "test", every_n_steps = 3)
  )
  history <- train(model, input, steps = 6, hooks = hooks)
  expect_equal(history$step, c(1, 2, 4, 6))
  expect_equal(unique(run_history(model)$evaluations[[1]]$step), c(0, 3, 6))
  expect_equal(run_config(every_n_steps = 7)$log_step_count_steps, 7)
  both <- list(
    quote(hook_logging_tensor("loss", every_n_iter = 5, every_n_steps = 5)),
    quote(hook_history_saver(5, every_n_steps = 5)),
    quote(hook_summary_saver(save_steps = 5, every_n_steps = 5)),
    quote(hook_early_stopping(model, stops, run_every_steps = 5, every_n_steps = 5)),
    quote(run_config(log_step_count_steps = 5, every_n_steps = 5))
  )
  for (call in both) expect_error(eval(call), "not both", class = "runhooks_error_invalid_argument")
  expect_error(hook_history_saver(every_n_steps = 0), "every_n_steps", class = "runhooks_error")
  expect_error(
    hook_logging_tensor("loss", every_n_steps = 5, every_n_secs = 5), class = "runhooks_error"
  )
})
