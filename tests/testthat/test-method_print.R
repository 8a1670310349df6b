shown <- function(x) paste(utils::capture.output(print(x)), collapse = "\n")

test_that("hooks show their arguments", {
  expect_match(shown(hook_stop_at_step(num_steps = 10)), "StopAtStepHook(num_steps = 10)", fixed = TRUE)
  logging <- hook_logging_tensor(list(l = "loss"), every_n_iter = 4)
  expect_match(shown(logging), "tensors = list(l = \"loss\"), every_n_iter = 4", fixed = TRUE)
})

test_that("specifications, listeners, options, vocabularies and heads print readably", {
  input <- input_fn(mpg ~ wt, mtcars)
  spec <- train_spec(input, max_steps = 10, hooks = hook_stop_at_step(num_steps = 5))
  expect_match(shown(spec), "input_fn = <input function of 32 rows>\n  max_steps = 10", fixed = TRUE)
  expect_match(shown(spec), "hooks = list(StopAtStepHook(num_steps = 5))", fixed = TRUE)
  expect_match(shown(eval_spec(input, steps = 3)), "Evaluation specification.*steps = 3")
  listener <- checkpoint_saver_listener(after_save = function(session, global_step) print(global_step))
  expect_match(shown(listener), "with after_save()", fixed = TRUE)
  expect_match(shown(checkpoint_saver_listener()), "no methods")
  expect_match(shown(run_options(timeout_in_ms = 500)), "timeout_in_ms = 500")
  expect_match(shown(vocab_info("new.txt", 3, old_vocab = "old.txt")), "new_vocab = .*new_vocab_size = 3")
  heads <- multi_head(list(regression_head(name = "a"), regression_head(name = "b")))
  expect_match(shown(heads), "<multi_head heads = <regression_head .*name = a>, <regression_head .*name = b>>")
})

test_that("list columns of tibbles name their objects, and S3 classes have a prefix", {
  model <- linear_regressor(mpg ~ wt, mtcars)
  suppressMessages(history <- train(model))
  objects <- list(
    "linear regressor" = model, history = history, "input function" = input_fn(mpg ~ wt, mtcars),
    "feature column" = column_numeric("wt"), hook = hook_stop_at_step(3),
    hook = session_run_hook(end = function(session) 1), "run config" = run_config(),
    "early stopping" = early_stopping(patience = 3), head = regression_head(),
    dataset = tensor_slices_dataset(mtcars), "custom model" = estimator(function(features) 1)
  )
  for (i in seq_along(objects)) {
    expect_equal(tibble::type_sum(objects[[i]]), names(objects)[[i]])
    shown <- paste(format(tibble::tibble(x = objects[i]), width = 60), collapse = "")
    expect_match(shown, substr(names(objects)[[i]], 1, 4), info = names(objects)[[i]])
  }
  prefixed <- "^(runhooks|tf|tensorflow)"
  specs <- list(
    run_config(), train_spec(function() 1), eval_spec(function() 1), tf$RunOptions(), tf$RunMetadata(),
    tf$estimator$VocabInfo("a", 3, 0, "b")
  )
  for (one in specs) expect_match(class(one)[[1]], prefixed)
})
