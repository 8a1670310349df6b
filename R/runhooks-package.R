#' runhooks: estimators and run hooks without TensorFlow
#'
#' runhooks trains estimators with TensorFlow's file formats and interface, but without TensorFlow.
#' A training loop runs a static graph, and run hooks observe and control each step. This page lists
#' the functions of the package by task. Start with `vignette("getting-started")`;
#' `vignette(package = "runhooks")` lists all vignettes.
#'
#' @section Models:
#'   * Estimators: [linear_regressor()], [dnn_regressor()], [dnn_linear_combined_regressor()],
#'     [boosted_trees_regressor()], [kernel_linear_regressor()], [baseline_regressor()]. Each has a
#'     classifier, and an estimator with a [head][heads] for counts, quantiles or several labels.
#'   * Custom models: [estimator()] and [estimator_spec()], with operations from [tf].
#'   * Optimizers: [optimizers]; [own_optimizers] for rules that are written in R.
#'   * Initial weights from another model: [warm_start_settings()].
#' @section Train, evaluate and predict:
#'   * [train()], [evaluate()], [predict()][predict.tf_estimator] and [train_and_evaluate()].
#'     [run_config()] configures them.
#'   * `coef()`, `summary()`, `residuals()` and other methods: [model_methods].
#'   * `vcov()` and `confint()`: [model_inference].
#'   * `tidy()`, `glance()` and `augment()`: [tidy_models].
#'   * `plot(model)`: [autoplot_models].
#'   * [fit()]. parsnip, workflows and tune: [runhooks-parsnip].
#'   * mlr3: [runhooks-mlr3].
#'   * More metrics: [add_metrics()]. Importance of features: [feature_importances()].
#' @section Runs:
#'   * Print, plot or convert the value of [train()]: [histories][plot.tf_estimator_history].
#'   * Inspect past and current runs: [run_history()], [read_events()], [view_run()],
#'     [tensorboard()].
#'   * Stop early: [early_stopping()] for `train(validation = , stop = )`.
#'   * Train on several machines: [mpi_strategy()] and `vignette("several-machines")`.
#' @section Hooks:
#'   * Custom hooks: [session_run_hook()], [session_run_args()], [checkpoint_saver_listener()].
#'   * Observe: [hook_history_saver()], [hook_progress_bar()], [hook_logging_tensor()],
#'     [hook_summary_saver()], [hook_step_counter()], [hook_profiler()], [hook_view_run()].
#'   * Control: [hook_learning_rate()], [hook_feed_fn()], [hook_in_memory_evaluator()].
#'   * Stop: [hook_stop_at_step()], [hook_stop_if_no_decrease()], [hook_early_stopping()],
#'     [hook_nan_tensor()], [hook_stop_when_converged()], [hook_stop_after_n_evals()].
#'   * Save: [hook_checkpoint_saver()], [hook_checkpoint_input_pipeline()], [hook_final_ops()].
#'   * Introduction: `vignette("run-hooks")`.
#' @section Data:
#'   * Data frames, matrices and lists: [input_fn()], [numpy_input_fn()]. Models from a formula
#'     accept them directly.
#'   * Feature columns: [feature_columns()] of [column_numeric()],
#'     [column_categorical_with_vocabulary_list()], [column_crossed()], [column_embedding()] and
#'     others; `vignette("feature-columns")`.
#'   * Data larger than memory: [datasets], [make_csv_dataset()], [tfrecord_dataset()],
#'     [sql_dataset()], [arrow_dataset()], [generator_dataset()]; `vignette("input-pipelines")`.
#' @section Files:
#'   * Checkpoints: [model_dir()], [latest_checkpoint()], [variable_value()];
#'     `vignette("checkpoints")`.
#'   * SavedModels: [export_savedmodel()], [load_savedmodel()], [latest_exporter()] and the other
#'     exporters; `vignette("serving")`.
#'   * Files from other programs: [foreign_files].
#' @section Graphs: [tf] and its [members][tf_symbols], [tensors], [shapes], [monitored_session()].
#' @section Conditions: Each error has a class `runhooks_error_<kind>` and the class
#'   `runhooks_error`. The section "Errors" of a help page lists the kinds. Warnings have the class
#'   `runhooks_warning`, and messages `runhooks_message`.
#' @section Options: [runhooks_options] lists the options.
#' @examples
#' model <- linear_classifier(Species ~ ., iris)
#' train(model)
#' head(predict(model, iris))
"_PACKAGE"

#' @useDynLib runhooks, .registration = TRUE
#' @importFrom stats predict setNames
NULL

# R CMD check would report these names as undefined. with(x %as% name, ...) defines some of them,
# and others are arguments of generated functions.
utils::globalVariables(c("current", "key", "name", "opened", "scope", "self", "super"))
