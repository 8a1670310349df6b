# Ensures that each group of golden/hooks is replayed by a test.

replayed_in <- c(
  session_loop = "test-monitored_session.R", session_errors = "test-trace_session_errors.R",
  session_recovery = "test-trace_session_recovery.R", timer = "test-hook_timer.R",
  checkpoint_saver = "test-trace_checkpoint_saver.R",
  logging_tensor = "test-trace_logging_tensor.R", builtin_hooks = "test-trace_builtin_hooks.R",
  estimator_train = "test-trace_estimator_train.R",
  estimator_eval_predict = "test-trace_estimator_eval_predict.R",
  early_stopping = "test-trace_early_stopping.R",
  in_memory_evaluator = "test-trace_in_memory_evaluator.R",
  validation_errors = "test-trace_validation_errors.R",
  input_pipeline_hook = "test-trace_input_pipeline_hook.R",
  train_and_evaluate = "test-trace_train_and_evaluate.R"
)

test_that("every group of scenarios is replayed", {
  groups <- sub("[.]json$", "", list.files(golden_path("hooks"), "[.]json$"))
  expect_setequal(groups, names(replayed_in))
  for (group in names(replayed_in)) {
    text <- readLines(test_path(replayed_in[[group]]))
    begins <- sprintf("goldens <- hook_goldens(\"%s\")", group)
    expect_true(begins %in% text, info = group)
    # The last test of each file, which fails if a scenario was not replayed.
    ends <- c("test_that(\"all scenarios are replayed\", {", "  expect_all_replayed(goldens)", "})")
    expect_equal(utils::tail(text, 3), ends, info = group)
  }
})
