#' runhooks: estimators and session run hooks without TensorFlow
#'
#' Models are trained by a loop that runs a static graph; hooks watch and steer each step. This page is
#' a map. `vignette(package = "runhooks")` lists the pages to read in one go; begin with
#' `vignette("getting-started")`.
#'
#' @section A model in three lines: `model <- linear_classifier(Species ~ ., iris)`, `train(model)`,
#'   `predict(model, newdata = iris)`.
#' @section Models:
#'   * [linear_regressor()], [dnn_regressor()], [dnn_linear_combined_regressor()],
#'     [boosted_trees_regressor()], [kernel_linear_regressor()], [baseline_regressor()], each with a
#'     classifier, and with an estimator that takes a head ([heads]: counts, quantiles, several labels)
#'   * [estimator()] and [estimator_spec()]: models of one's own, written with [tf]
#'   * [optimizers], [own_optimizers]; [warm_start_settings()]: to begin with what another model knows
#' @section What models do:
#'   * [train()], [evaluate()], [predict()][predict.tf_estimator], [train_and_evaluate()];
#'     [run_config()] says how
#'   * `coef()`, `summary()`, `residuals()` and their like: [model_methods]; `vcov()`, `confint()`:
#'     [model_inference]; `tidy()`, `glance()`, `augment()`: [tidy_models]; `plot(model)`:
#'     [autoplot_models]
#'   * [add_metrics()], [feature_importances()]
#' @section Runs:
#'   * what [train()] returns: [histories][plot.tf_estimator_history] to print, plot and make a data frame of
#'   * [run_history()], [read_events()], [view_run()], [tensorboard()]: what was, and what is going on
#'   * [early_stopping()] for `train(validation = , stop = )`
#'   * on several machines: [mpi_strategy()]; `vignette("several-machines")`
#' @section Hooks:
#'   * one of your own: [session_run_hook()], [session_run_args()], [checkpoint_saver_listener()]
#'   * to see: [hook_history_saver()], [hook_progress_bar()], [hook_logging_tensor()],
#'     [hook_summary_saver()], [hook_step_counter()], [hook_profiler()], [hook_view_run()]
#'   * to steer: [hook_learning_rate()], [hook_feed_fn()], [hook_in_memory_evaluator()]
#'   * to stop: [hook_stop_at_step()], [hook_stop_if_no_decrease()], [hook_early_stopping()],
#'     [hook_nan_tensor()], [hook_stop_when_converged()], [hook_stop_after_n_evals()]
#'   * to keep: [hook_checkpoint_saver()], [hook_checkpoint_input_pipeline()], [hook_final_ops()]
#'   * `vignette("run-hooks")`
#' @section Data:
#'   * data frames, matrices and lists: [input_fn()], [numpy_input_fn()]; a formula takes them as they are
#'   * how a model sees them: [feature_columns()] of [column_numeric()],
#'     [column_categorical_with_vocabulary_list()], [column_crossed()], [column_embedding()], ...;
#'     `vignette("feature-columns")`
#'   * what is larger than memory: [datasets], [make_csv_dataset()], [tfrecord_dataset()],
#'     [sql_dataset()], [arrow_dataset()], [generator_dataset()]; `vignette("input-pipelines")`
#' @section Files:
#'   * [model_dir()], [latest_checkpoint()], [variable_value()]; `vignette("checkpoints")`
#'   * [export_savedmodel()], [load_savedmodel()], [latest_exporter()] and its like;
#'     `vignette("serving")`; what a stranger's file may do: [foreign_files]
#' @section Graphs by hand: [tf] and [what there is below it][tf_symbols], [tensors], [shapes],
#'   [monitored_session()].
#' @section When something fails: Each error has a class, `runhooks_error_<kind>` over `runhooks_error`;
#'   the section Errors of a page lists its kinds. Warnings are `runhooks_warning`, messages
#'   `runhooks_message`.
#' @section Options: [runhooks_options].
"_PACKAGE"

#' @useDynLib runhooks, .registration = TRUE
#' @importFrom magrittr %>%
#' @importFrom stats predict setNames
NULL

# names that with(x %as% name, ...) gives, and those of functions whose arguments are made
utils::globalVariables(c("current", "key", "name", "opened", "scope"))
