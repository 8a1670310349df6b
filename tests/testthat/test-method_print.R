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
