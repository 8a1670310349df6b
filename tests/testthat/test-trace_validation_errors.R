# Compares errors row by row with TensorFlow's. Each is an error of this package, with TensorFlow's
# message or one for R.

goldens <- hook_goldens("validation_errors")

# Describes a call whose message differs from TensorFlow's.
says <- function(call, words, class = "runhooks_error") {
  list(call = call, words = words, class = class)
}
# Describes a call that only one of TensorFlow and R rejects, or that works here.
accepts <- function(call) list(call = call, accepts = TRUE)

failure_of <- function(call) {
  tryCatch(
    {
      suppressMessages(call())
      NULL
    },
    error = identity
  )
}

# Compares all rows of a table. `calls` has a function for each row, by the text of its call, and
# `left_out` gives reasons for missing ones.
expect_rows <- function(name, calls, left_out = character()) {
  rows <- goldens[[name]]$table
  rows <- lapply(rows, function(row) replace(row, "call", sub("  [(].*$", "", row$call)))
  names(rows) <- vapply(rows, function(row) row$call, "")
  expect_setequal(names(rows), c(names(calls), names(left_out)))
  for (row in rows[names(calls)]) {
    entry <- calls[[row$call]]
    if (is.function(entry)) entry <- list(call = entry)
    words <- if (is.null(entry$words)) row$raised$message else entry$words
    if (isTRUE(entry$accepts)) words <- NULL
    error <- failure_of(entry$call)
    if (is.null(words)) {
      expect_null(error, info = row$call)
    } else {
      expect_s3_class(error, if (is.null(entry$class)) "runhooks_error" else entry$class)
      expect_match(conditionMessage(error), words, fixed = TRUE, info = row$call)
    }
  }
}

fn <- function() TRUE
dir <- tempdir()

test_that("arguments of hooks are validated as in TensorFlow", {
  est <- toy_model(withr::local_tempdir())
  logging <- tf$train$LoggingTensorHook
  saver <- tf$train$CheckpointSaverHook
  summary <- tf$train$SummarySaverHook
  input <- tf$data$experimental$CheckpointInputPipelineHook
  both <- "Only one of save_secs or save_steps can be specified"
  expect_rows("hook_constructors", list(
    "SecondOrStepTimer()" = function() tf$train$SecondOrStepTimer(),
    "SecondOrStepTimer(every_secs=1, every_steps=1)" = function() tf$train$SecondOrStepTimer(1, 1),
    "SecondOrStepTimer(every_steps=0)" = function() tf$train$SecondOrStepTimer(every_steps = 0),
    "SecondOrStepTimer(every_steps=-1)" = function() tf$train$SecondOrStepTimer(every_steps = -1),
    "LoggingTensorHook(tensors=['t'])" = function() logging("t"),
    "LoggingTensorHook(['t'], every_n_iter=5, every_n_secs=5)" = function() logging("t", 5, 5),
    "LoggingTensorHook(['t'], every_n_iter=0)" = function() logging("t", 0),
    "LoggingTensorHook(['t'], every_n_iter=-10)" = function() logging("t", -10),
    "LoggingTensorHook(['t'], at_end=TRUE)" = function() logging("t", at_end = TRUE),
    "LoggingTensorHook(['t'], every_n_iter=5, every_n_secs=5, at_end=TRUE)" = function() {
      logging("t", 5, 5, at_end = TRUE)
    },
    "LoggingTensorHook(['t'], every_n_secs=0)" = function() logging("t", every_n_secs = 0),
    "LoggingTensorHook(['t'], every_n_secs=-1)" = function() logging("t", every_n_secs = -1),
    "LoggingTensorHook(tensors=NULL, every_n_iter=1)" = says(
      function() logging(NULL, 1), "`tensors` must be names of tensors"
    ),
    "LoggingTensorHook(tensors=3, every_n_iter=1)" = says(
      function() logging(3, 1), "`tensors` must be names of tensors"
    ),
    "StopAtStepHook()" = function() tf$train$StopAtStepHook(),
    "StopAtStepHook(num_steps=1, last_step=2)" = says(
      function() tf$train$StopAtStepHook(1, 2),
      "Only one of num_steps or last_step can be specified"
    ),
    "StopAtStepHook(num_steps=0)" = function() tf$train$StopAtStepHook(0),
    "StopAtStepHook(num_steps=-1)" = function() tf$train$StopAtStepHook(-1),
    "CheckpointSaverHook(dir)" = function() saver(dir),
    "CheckpointSaverHook(dir, save_secs=1, save_steps=1)" = says(
      function() saver(dir, save_secs = 1, save_steps = 1), both
    ),
    "CheckpointSaverHook(dir, save_steps=1, saver=S, scaffold=S2)" = function() {
      saver(
        dir, save_steps = 1, saver = tf$train$Saver(defer_build = TRUE),
        scaffold = tf$train$Scaffold()
      )
    },
    "CheckpointSaverHook(NULL, save_steps=1)" = says(
      function() saver(NULL, save_steps = 1), "`checkpoint_dir` must be a single string, not NULL"
    ),
    "CheckpointSaverHook(dir, save_steps=0)" = function() saver(dir, save_steps = 0),
    "StepCounterHook(every_n_steps=NULL)" = function() tf$train$StepCounterHook(NULL),
    "StepCounterHook(every_n_steps=1, every_n_secs=1)" = function() {
      tf$train$StepCounterHook(1, 1)
    },
    "StepCounterHook()" = function() tf$train$StepCounterHook(),
    "StepCounterHook(every_n_steps=0)" = function() tf$train$StepCounterHook(0),
    "StepCounterHook(every_n_steps=-1)" = function() tf$train$StepCounterHook(-1),
    # TensorFlow raises its error in the first run.
    "NanTensorHook(loss_tensor=NULL)" = says(
      function() tf$train$NanTensorHook(NULL), "`loss_tensor` must be a tensor"
    ),
    "SummarySaverHook()" = function() summary(),
    "SummarySaverHook(save_steps=1)" = function() summary(save_steps = 1),
    "SummarySaverHook(save_steps=1, summary_op=op, scaffold=s)" = function() {
      summary(save_steps = 1, summary_op = "op:0", scaffold = tf$train$Scaffold())
    },
    "SummarySaverHook(summary_op=op)" = function() summary(summary_op = "op:0"),
    "SummarySaverHook(save_steps=1, save_secs=1, summary_op=op)" = says(
      function() summary(1, 1, summary_op = "op:0"), both
    ),
    "SummarySaverHook(save_steps=1, summary_op=op)" = function() summary(1, summary_op = "op:0"),
    "GlobalStepWaiterHook(-3)" = function() tf$train$GlobalStepWaiterHook(-3),
    # TensorFlow raises its error in the first run.
    "GlobalStepWaiterHook(NULL)" = says(
      function() tf$train$GlobalStepWaiterHook(NULL), "`wait_until_step` must be a whole number"
    ),
    "FinalOpsHook(NULL)" = function() tf$train$FinalOpsHook(NULL),
    # TensorFlow raises its error in the first run.
    "FeedFnHook(NULL)" = says(
      function() tf$train$FeedFnHook(NULL), "`feed_fn` must be a function"
    ),
    "ProfilerHook()" = function() tf$train$ProfilerHook(),
    "ProfilerHook(output_dir=dir)" = function() tf$train$ProfilerHook(output_dir = dir),
    "ProfilerHook(save_steps=1, save_secs=1, output_dir=dir)" = function() {
      tf$train$ProfilerHook(1, 1, dir)
    },
    "make_early_stopping_hook(NULL, fn)" = says(
      function() hook_early_stopping(NULL, fn),
      "`estimator` must have type `tf.estimator.Estimator`. Got: NULL"
    ),
    "make_early_stopping_hook('e', fn)" = says(
      function() hook_early_stopping("e", fn),
      "`estimator` must have type `tf.estimator.Estimator`. Got: \"e\""
    ),
    "make_early_stopping_hook(est, fn, run_every_secs=60, run_every_steps=100)" = function() {
      hook_early_stopping(est, fn, 60, 100)
    },
    "make_early_stopping_hook(est, NULL)" = function() hook_early_stopping(est, NULL),
    "make_early_stopping_hook(est, fn, run_every_secs=NULL)" = function() {
      hook_early_stopping(est, fn, NULL)
    },
    "stop_if_higher_hook(est, 'a', 0.9, run_every_steps=10)" = function() {
      hook_stop_if_higher(est, "a", 0.9, run_every_steps = 10)
    },
    "stop_if_no_increase_hook(est, 'a', -1)" = function() hook_stop_if_no_increase(est, "a", -1),
    "InMemoryEvaluatorHook(est, fn, every_n_iter=0)" = function() {
      hook_in_memory_evaluator(est, toy_input(), every_n_iter = 0)
    },
    "InMemoryEvaluatorHook(est, fn, every_n_iter=NULL)" = says(
      function() hook_in_memory_evaluator(est, toy_input(), every_n_iter = NULL),
      "invalid every_n_iter=NULL."
    ),
    "InMemoryEvaluatorHook(est, fn, steps=0)" = function() {
      hook_in_memory_evaluator(est, toy_input(), steps = 0)
    },
    "InMemoryEvaluatorHook(est, fn, hooks=['h'])" = says(
      function() hook_in_memory_evaluator(est, toy_input(), hooks = list("h")), "must be a hook"
    ),
    "MonitoredSession(hooks=['h'])" = says(
      function() tf$train$MonitoredSession(hooks = list("h")), "must be a hook"
    ),
    "SessionRunArgs()" = says(
      function() tf$train$SessionRunArgs(), "argument \"fetches\" is missing", class = "error"
    ),
    "CheckpointInputPipelineHook(est, external_state_policy='other')" = says(
      function() input(est, external_state_policy = "other"),
      "`external_state_policy` must be one of \"fail\", \"warn\", and \"ignore\""
    ),
    "CheckpointInputPipelineHook(NULL)" = says(
      function() input(NULL), "`estimator` must have type `tf.estimator.Estimator`. Got: NULL"
    ),
    "CheckpointInputPipelineHook(est with neither save_checkpoints_steps nor _secs)" = function() {
      input(toy_model(dir, save_checkpoints_steps = NULL, save_checkpoints_secs = NULL))
    }
  ))
})

begins <- function(make_hook) {
  with(tf$Graph()$as_default(), tf$train$MonitoredSession(hooks = make_hook())$close())
}

test_that("hooks that need a global step report its absence", {
  hooks <- list(
    StopAtStepHook = function() tf$train$StopAtStepHook(1),
    CheckpointSaverHook = function() tf$train$CheckpointSaverHook(dir, save_steps = 1),
    StepCounterHook = function() tf$train$StepCounterHook(),
    SummarySaverHook = function() {
      tf$train$SummarySaverHook(1, output_dir = dir, summary_op = tf$constant("x"))
    },
    GlobalStepWaiterHook = function() tf$train$GlobalStepWaiterHook(1),
    ProfilerHook = function() tf$train$ProfilerHook(1, output_dir = dir),
    NanTensorHook = function() tf$train$NanTensorHook(tf$constant(1)),
    LoggingTensorHook = function() tf$train$LoggingTensorHook(list(), 1)
  )
  calls <- lapply(hooks, function(hook) function() begins(hook))
  names(calls) <- paste(names(hooks), "begin()")
  expect_rows("hooks_without_global_step", calls)
})

test_that("LoggingTensorHook reports unknown tensors", {
  logging <- function(tensors, prepare = function() NULL) {
    function() {
      begins(function() {
        prepare()
        tf$train$LoggingTensorHook(tensors, 1)
      })
    }
  }
  expect_rows("logging_hook_begin", list(
    "name not in the graph" = says(
      logging("nope"), "The name 'nope:0' refers to a Tensor which does not exist"
    ),
    "name:1 not in the graph" = says(
      logging("nope:1"), "The name 'nope:1' refers to a Tensor which does not exist"
    ),
    "tensor of another graph" = says(
      logging(list(a = with(tf$Graph()$as_default(), tf$constant(1)))),
      "is not an element of this graph"
    ),
    "name of an op with two outputs" = logging("sp", function() {
      tf$py_func(function() list(1, 2), list(), list(tf$float32, tf$float32), name = "sp")
    }),
    "name of an op without outputs" = says(
      logging("nop", function() tf$no_op(name = "nop")),
      "The name 'nop:0' refers to a Tensor which does not exist."
    ),
    "a number as tensor" = says(logging(list(a = 3)), "`tensors` must be names of tensors")
  ))
})

test_that("a saver hook rejects ambiguous savers", {
  expect_rows("checkpoint_saver_hook_savers", list(
    # A session without a saver creates one.
    "no saver" = accepts(function() {
      begins(function() {
        tf$train$get_or_create_global_step()
        tf$train$CheckpointSaverHook(withr::local_tempdir(), save_steps = 1)
      })
    }),
    "two savers" = says(function() {
      begins(function() {
        tf$train$get_or_create_global_step()
        for (i in 1:2) tf$add_to_collection("savers", tf$train$Saver())
        tf$train$CheckpointSaverHook(dir, save_steps = 1)
      })
    }, "More than one item in the collection \"savers\". Please indicate which one to use")
  ))
})

test_that("arguments of an estimator's methods are validated as in TensorFlow", {
  est <- toy_model(withr::local_tempdir())
  input <- toy_input(num_epochs = NULL)
  train(est, input, steps = 1)
  fresh <- toy_model(withr::local_tempdir())
  regressor <- function(...) linear_regressor(column_numeric("x"), ...)
  not_a_hook <- "Every element of `hooks` must be a hook."
  folder <- sub("/+$", "", model_dir(fresh))
  untrained <- paste0("Could not find trained model in model_dir: ", folder)
  bad_path <- "The passed save_path is not a valid checkpoint: nope"
  custom <- "custom model functions are not there yet"
  exports <- "exports are not there yet"
  golden <- vapply(goldens$estimator_methods$table, function(row) row$call, "")
  custom_calls <- grep(
    "^EstimatorSpec|model_fn|^subclass", golden, value = TRUE
  )
  export_calls <- grep("^export_saved_model", golden, value = TRUE)
  expect_rows("estimator_methods", list(
    "Estimator(config='x')" = says(
      function() regressor(config = "x"), "`config` must be an object made by `run_config()`"
    ),
    "Estimator(model_dir='a', config with model_dir 'b')" = says(
      function() regressor(model_dir = "a", config = run_config(model_dir = "b")),
      "`model_dir` is given twice, with different values"
    ),
    "train(steps=0)" = function() train(est, input, steps = 0),
    "train(steps=-1)" = function() train(est, input, steps = -1),
    "train(max_steps=0)" = function() train(est, input, max_steps = 0),
    "train(max_steps=-1)" = function() train(est, input, max_steps = -1),
    "train(steps=1, max_steps=1)" = function() train(est, input, steps = 1, max_steps = 1),
    "train(hooks=['h'])" = says(function() train(est, input, steps = 1, hooks = "h"), "hook"),
    "train(hooks=[NULL])" = says(
      function() train(est, input, steps = 1, hooks = list(NULL)), not_a_hook
    ),
    # A single hook in place of a list is accepted, as in tfestimators.
    "train(hooks=a hook, not in a list)" = accepts(
      function() train(est, input, steps = 1, hooks = session_run_hook())
    ),
    "train(saving_listeners=['l'])" = says(
      function() train(est, input, steps = 1, saving_listeners = list("l")),
      "saving_listeners must be a list of CheckpointSaverListener"
    ),
    "train(saving_listeners=[L]) without checkpoint saving" = function() {
      no_saving <- list(save_checkpoints_steps = NULL, save_checkpoints_secs = NULL)
      train(
        golden_model_of(no_saving), input, steps = 1,
        saving_listeners = checkpoint_saver_listener()
      )
    },
    "train(input_fn=3)" = says(
      function() train(est, 3, steps = 1), "input_fn must be a function, not a number"
    ),
    "train(input_fn returning NULL)" = says(
      function() train(est, function() NULL, steps = 1),
      "The input function must return a named list of tensors as features, not NULL"
    ),
    "train(input_fn returning 3 parts)" = function() {
      train(est, function() list(1, 2, 3), steps = 1)
    },
    "train(dataset of 3 parts)" = function() {
      parts <- function() lapply(1:3, function(i) tf$constant(1))
      train(est, parts, steps = 1)
    },
    "train(input_fn with an unknown argument)" = says(
      function() train(est, function(estimator, other) 1, steps = 1),
      "'input_fn' should accept 0 or 1 arguments"
    ),
    "evaluate(steps=0)" = function() evaluate(est, input, steps = 0),
    "evaluate(steps=-1)" = function() evaluate(est, input, steps = -1),
    "evaluate(hooks=['h'])" = says(
      function() evaluate(est, input, steps = 1, hooks = list("h")), not_a_hook
    ),
    "evaluate(checkpoint_path='nope')" = says(
      function() evaluate(est, input, steps = 1, checkpoint_path = "nope"), bad_path
    ),
    "predict(hooks=['h'])" = says(
      function() predict(est, input, hooks = list("h")), not_a_hook
    ),
    "predict(checkpoint_path='nope')" = says(
      function() predict(est, input, checkpoint_path = "nope"), bad_path
    ),
    "predict(predict_keys='nope')" = says(
      function() predict(est, input, predict_keys = "nope"),
      "Expected to run at least one output from predictions, provided nope."
    ),
    "get_variable_value('nope')" = function() est$estimator$get_variable_value("nope"),
    "get_variable_names() of an untrained model" = says(
      function() fresh$estimator$get_variable_names(), untrained
    ),
    "get_variable_value('w') of an untrained model" = says(
      function() fresh$estimator$get_variable_value("w"), untrained
    )
  ), c(
    setNames(rep(custom, length(custom_calls)), custom_calls),
    setNames(rep(exports, length(export_calls)), export_calls),
    "Estimator(warm_start_from=3)" = "warm starts are not there yet"
  ))
})

test_that("run_config() validates its arguments like RunConfig()", {
  golden <- goldens$run_config
  refused <- function(...) function() run_config(...)
  replaced <- function(...) function() run_config()$replace(...)
  at_least_0 <- function(name) paste0("`", name, "` must be a whole number of 0 or more, not -1")
  expect_rows("run_config", list(
    "RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1)" = refused(
      save_checkpoints_steps = 1, save_checkpoints_secs = 1
    ),
    "RunConfig(model_dir='')" = refused(model_dir = ""),
    "RunConfig(save_summary_steps=-1)" = says(
      refused(save_summary_steps = -1), at_least_0("save_summary_steps")
    ),
    "RunConfig(save_checkpoints_steps=-1)" = says(
      refused(save_checkpoints_steps = -1), at_least_0("save_checkpoints_steps")
    ),
    "RunConfig(save_checkpoints_secs=-1)" = says(
      refused(save_checkpoints_secs = -1),
      "`save_checkpoints_secs` must be a number of 0 or more, not -1"
    ),
    "RunConfig(session_config=3)" = says(
      refused(session_config = 3), "`session_config` must be"
    ),
    "RunConfig(keep_checkpoint_max=-1)" = says(
      refused(keep_checkpoint_max = -1), at_least_0("keep_checkpoint_max")
    ),
    "RunConfig(keep_checkpoint_every_n_hours=0)" = says(
      refused(keep_checkpoint_every_n_hours = 0),
      "`keep_checkpoint_every_n_hours` must be a positive number, not 0"
    ),
    "RunConfig(keep_checkpoint_every_n_hours=-1)" = says(
      refused(keep_checkpoint_every_n_hours = -1),
      "`keep_checkpoint_every_n_hours` must be a positive number, not -1"
    ),
    "RunConfig(log_step_count_steps=0)" = says(
      refused(log_step_count_steps = 0),
      "`log_step_count_steps` must be a positive whole number, not 0"
    ),
    "RunConfig(log_step_count_steps=-1)" = says(
      refused(log_step_count_steps = -1),
      "`log_step_count_steps` must be a positive whole number, not -1"
    ),
    # R's 1 and 1.0 are the same number, so a fraction is tested instead.
    "RunConfig(tf_random_seed=1.0)" = says(
      refused(tf_random_seed = 1.5), "`tf_random_seed` must be a whole number, not 1.5"
    ),
    "RunConfig(tf_random_seed='a')" = says(
      refused(tf_random_seed = "a"), "`tf_random_seed` must be a whole number, not \"a\""
    ),
    "RunConfig(device_fn=3)" = says(refused(device_fn = 3), "`device_fn` must be"),
    "RunConfig(device_fn=function(x))" = says(
      refused(device_fn = function(x) x), "`device_fn` must be"
    ),
    "RunConfig(protocol='http')" = says(refused(protocol = "http"), "`protocol` must be"),
    "RunConfig(session_creation_timeout_secs=0)" = says(
      refused(session_creation_timeout_secs = 0), "session_creation_timeout_secs"
    ),
    "RunConfig(experimental_max_worker_delay_secs=1.5)" = says(
      refused(experimental_max_worker_delay_secs = 1.5), "experimental_max_worker_delay_secs"
    ),
    "RunConfig(keep_checkpoint_max=0)" = refused(keep_checkpoint_max = 0),
    "RunConfig(save_summary_steps=0)" = refused(save_summary_steps = 0),
    "RunConfig(save_checkpoints_steps=0)" = refused(save_checkpoints_steps = 0),
    "RunConfig().replace(nope=1)" = says(
      replaced(nope = 1), "Replacing nope is not supported. Allowed properties are [model_dir,"
    ),
    "RunConfig().replace(save_checkpoints_steps=1, save_checkpoints_secs=1)" = replaced(
      save_checkpoints_steps = 1, save_checkpoints_secs = 1
    ),
    "RunConfig().replace(task_id=3)" = says(
      replaced(task_id = 3), "Replacing task_id is not supported."
    )
  ))

  config <- run_config()
  # Names that are newer than TensorFlow 1.10.
  newer <- c(
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs",
    "checkpoint_save_graph_def", "session_config"
  )
  for (name in setdiff(names(golden$defaults), newer)) {
    expect_equal(config[[name]], golden$defaults[[name]], info = name)
  }
})

test_that("run_config() saves by steps or by seconds", {
  five <- run_config(save_checkpoints_steps = 5)
  configs <- list(
    run_config(), five, run_config(save_checkpoints_secs = 5),
    run_config(save_checkpoints_steps = NULL, save_checkpoints_secs = NULL),
    five$replace(save_checkpoints_secs = 7), five$replace(save_checkpoints_steps = NULL),
    run_config()$replace(save_checkpoints_steps = 9)
  )
  rows <- goldens$run_config$save_checkpoints
  expect_length(configs, length(rows))
  for (i in seq_along(rows)) {
    for (name in c("save_checkpoints_steps", "save_checkpoints_secs")) {
      expect_equal(
        as.numeric(configs[[i]][[name]]), as.numeric(rows[[i]][[name]]), info = rows[[i]]$RunConfig
      )
    }
  }
})

test_that("specifications and exporters are validated as in TensorFlow", {
  est <- toy_model(withr::local_tempdir())
  train <- tf$estimator$TrainSpec
  eval <- tf$estimator$EvalSpec
  both <- tf$estimator$train_and_evaluate
  latest <- tf$estimator$LatestExporter
  best <- tf$estimator$BestExporter
  hook <- "must be a hook"
  no_estimator <- "`estimator` must have type `tf.estimator.Estimator`. Got: \"e\""
  none <- "cannot have a name that is `None` or empty. All exporter names: "
  receiver <- tf$estimator$export$ServingInputReceiver
  expect_rows("specs_and_exporters", list(
    "TrainSpec(input_fn='x')" = says(
      function() train("x"), "`input_fn` must be callable, given: \"x\""
    ),
    "TrainSpec(fn, max_steps=0)" = function() train(fn, max_steps = 0),
    "TrainSpec(fn, max_steps=-1)" = function() train(fn, max_steps = -1),
    "TrainSpec(fn, hooks=['h'])" = says(function() train(fn, hooks = list("h")), hook),
    "TrainSpec(fn, saving_listeners=['l'])" = says(
      function() train(fn, saving_listeners = list("l")),
      "saving_listeners must be a list of CheckpointSaverListener"
    ),
    "EvalSpec(input_fn=NULL)" = says(
      function() eval(NULL), "`input_fn` must be callable, given: NULL"
    ),
    "EvalSpec(fn, steps=0)" = function() eval(fn, steps = 0),
    "EvalSpec(fn, steps=-1)" = function() eval(fn, steps = -1),
    "EvalSpec(fn, name=123)" = says(
      function() eval(fn, name = 123), "`name` must be a single string, not 123"
    ),
    "EvalSpec(fn, hooks=['h'])" = says(function() eval(fn, hooks = list("h")), hook),
    "EvalSpec(fn, start_delay_secs=-1)" = function() eval(fn, start_delay_secs = -1),
    "EvalSpec(fn, throttle_secs=-1)" = function() eval(fn, throttle_secs = -1),
    "EvalSpec(fn, exporters='x')" = says(
      function() eval(fn, exporters = "x"), "`exporters` must be an Exporter, an iterable of Exporter"
    ),
    "EvalSpec(fn, exporters=3)" = function() eval(fn, exporters = 3),
    "EvalSpec(fn, exporters=[NULL])" = says(
      function() eval(fn, exporters = list(NULL)),
      "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found a list with NULL."
    ),
    "EvalSpec(fn, two exporters of one name)" = says(
      function() eval(fn, exporters = list(final_exporter("a"), latest("a"))),
      "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: \"a\", \"a\""
    ),
    "EvalSpec(fn, exporter with name '')" = says(
      function() eval(fn, exporters = final_exporter("")), paste0(none, "\"\"")
    ),
    "EvalSpec(fn, exporter with name NULL)" = says(
      function() eval(fn, exporters = final_exporter(NULL)), paste0(none, "NULL")
    ),
    "EvalSpec(fn, exporter with name 3)" = says(
      function() eval(fn, exporters = final_exporter(3)),
      "An Exporter must have a string name. Given: 3"
    ),
    "train_and_evaluate('e', t, e)" = says(
      function() both("e", train(fn), eval(fn)), no_estimator
    ),
    "train_and_evaluate(est, NULL, e)" = says(
      function() both(est, NULL, eval(fn)),
      "`train_spec` must have type `tf.estimator.TrainSpec`. Got: NULL"
    ),
    "train_and_evaluate(est, t, NULL)" = says(
      function() both(est, train(fn), NULL),
      "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: NULL"
    ),
    "train_and_evaluate(est, e, t)" = says(
      function() both(est, eval(fn), train(fn)),
      "`eval_spec` must have type `tf.estimator.EvalSpec`. Got: the value of train_spec()"
    ),
    "LatestExporter(exports_to_keep=0)" = function() latest("l", exports_to_keep = 0),
    "LatestExporter(exports_to_keep=-1)" = function() latest("l", exports_to_keep = -1),
    "LatestExporter(exports_to_keep=NULL)" = function() latest("l", exports_to_keep = NULL),
    "BestExporter(exports_to_keep=0)" = function() best(exports_to_keep = 0),
    "BestExporter(compare_fn=NULL)" = function() best(compare_fn = NULL),
    "BestExporter(compare_fn=function(best_eval_result))" = says(
      function() best(compare_fn = function(best_eval_result) TRUE),
      "compare_fn must include current_eval_result argument."
    ),
    "BestExporter(compare_fn=function(current_eval_result))" = says(
      function() best(compare_fn = function(current_eval_result) TRUE),
      "compare_fn must include best_eval_result argument."
    ),
    "BestExporter(compare_fn with a third argument)" = says(
      function() best(compare_fn = function(best_eval_result, current_eval_result, z) TRUE),
      "compare_fn has following not expected args: z"
    ),
    "ServingInputReceiver(features=NULL)" = says(
      function() receiver(NULL, tf$constant(1)),
      "`features` must be a tensor or a named list of tensors"
    ),
    "ServingInputReceiver(receiver_tensors=NULL)" = says(
      function() receiver(tf$constant(1), NULL),
      "`receiver_tensors` must be a tensor or a named list of tensors"
    ),
    "ServingInputReceiver(features={'a': 3})" = says(
      function() receiver(list(a = 3), tf$constant(1)),
      "features \"a\" must be a Tensor or SparseTensor"
    ),
    "ServingInputReceiver(features={1: t})" = function() {
      receiver(list("1" = tf$constant(1)), tf$constant(1))
    },
    "ServingInputReceiver(receiver_tensors={'a': 3})" = says(
      function() receiver(tf$constant(1), list(a = 3)),
      "receiver_tensors \"a\" must be a Tensor or SparseTensor"
    )
  ))
  defaults <- goldens$specs_and_exporters$defaults
  own <- eval(fn)$args
  scalars <- c("steps", "start_delay_secs", "throttle_secs")
  expect_equal(own[scalars], defaults$EvalSpec[scalars])
  expect_equal(own[c("hooks", "exporters")], list(hooks = list(), exporters = list()))
  expect_null(own$name)
  expect_equal(train(fn)$args$hooks, list())
  expect_null(train(fn)$args$max_steps)
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
