# Longer paths to the same symbols, as scripts of TensorFlow 1.x have them.

# What `symbols`, the canonical ones, are also called.
alias_symbols <- function(symbols) {
  hooks <- grep("^train[.].*(Hook|CheckpointSaverListener|SecondOrStepTimer)$", names(symbols))
  hooks <- symbols[hooks]
  short <- sub("^train[.]", "", names(hooks))
  stop_hooks <- list(
    stop_if_higher_hook = hook_stop_if_higher, stop_if_lower_hook = hook_stop_if_lower,
    stop_if_no_increase_hook = hook_stop_if_no_increase,
    stop_if_no_decrease_hook = hook_stop_if_no_decrease,
    make_early_stopping_hook = hook_early_stopping,
    make_stop_at_checkpoint_step_hook = hook_stop_at_checkpoint_step,
    InMemoryEvaluatorHook = hook_in_memory_evaluator
  )
  modes <- unclass(mode_keys())
  collections <- unclass(graph_keys())
  c(
    setNames(hooks, paste0("estimator.", short)),
    setNames(collections, paste0("GraphKeys.", names(collections))),
    setNames(hooks, paste0("python.training.basic_session_run_hooks.", short)),
    setNames(stop_hooks, paste0("estimator.experimental.", names(stop_hooks))),
    setNames(stop_hooks, paste0("contrib.estimator.", names(stop_hooks))),
    setNames(modes, paste0("estimator.ModeKeys.", names(modes))),
    list(estimator.RunConfig = run_config, estimator.WarmStartSettings = warm_start_settings),
    setNames(
      symbols[c("train.SessionRunContext", "train.SessionRunValues", "train.SessionRunArgs")],
      paste0("estimator.SessionRun", c("Context", "Values", "Args"))
    ),
    list(estimator.NanLossDuringTrainingError = symbols[["train.NanLossDuringTrainingError"]]),
    list(contrib.estimator.add_metrics = add_metrics),
    list(contrib.framework.get_global_step = symbols[["train.get_global_step"]])
  )
}
