library(testthat)
library(runhooks)

# CRAN limits the time of a check, so it runs only these quick files, at least one per module.
# NOT_CRAN=true runs all files. `make lint` checks that no module is missing.
cran_files <- c(
  "base_conditions-user_calls", "base_keys", "base_logging", "base_nesting", "base_options",
  "checkpoint", "column", "column_categorical-hashes", "column_dense", "dataset", "dataset_delim",
  "dataset_registered", "estimator", "estimator_run_config", "file_events", "file_foreign",
  "file_load_savedmodel", "formula_model", "graph_contexts", "graph_def", "hook-states",
  "hook_builtin", "hook_fetch_feed", "input_fn", "input_parsing", "method_interop", "mlr3_learners",
  "model_boosted_trees-errors", "model_custom", "model_kernel_linear", "optimizer", "parsnip_fit",
  "run_predict", "script_compat", "session", "suite_golden_boosted_trees", "tensor", "tf",
  "tf-metrics", "tf-values", "tf_control_flow"
)
runs_all <- identical(Sys.getenv("NOT_CRAN"), "true")
filter <- if (!runs_all) sprintf("^(%s)$", paste(cran_files, collapse = "|"))
test_check("runhooks", filter = filter)
