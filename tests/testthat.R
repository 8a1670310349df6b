library(testthat)
library(runhooks)

# CRAN limits the time of a check, so it runs only these quick files, at least one per module.
# NOT_CRAN=true runs all files. `make lint` checks that no module is missing.
cran_files <- c(
  "base_keys", "base_nesting", "base_options", "base_user_calls", "base_words", "checkpoint",
  "column", "column_cyclic", "column_hashes", "control_flow", "dataset", "dataset_delim",
  "dataset_unique", "estimator", "estimator_run_config", "file_events", "file_foreign",
  "file_load_savedmodel", "formula_models", "golden_boosted_trees", "graph_contexts", "graph_def",
  "hook_builtin", "hook_fetch_feed", "hook_states", "input_fn", "input_parsing", "method_interop",
  "model_custom", "model_kernel_linear", "optimizer", "parsnip", "run_predict", "script_compat",
  "session", "tensor", "tf", "tf_metrics", "tf_values", "trees_bad_input"
)
runs_all <- identical(Sys.getenv("NOT_CRAN"), "true")
filter <- if (!runs_all) sprintf("^(%s)$", paste(cran_files, collapse = "|"))
test_check("runhooks", filter = filter)
