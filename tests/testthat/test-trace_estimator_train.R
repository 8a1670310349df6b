# Compares train() with TensorFlow's traces: the calls of all hooks, the log and the files.

goldens <- hook_goldens("estimator_train")

# Trains the toy model as the goldens' train() does, 0.25 s per run.
run_train <- function(model, rec, ..., input = toy_input(num_epochs = NULL)) {
  clock <- local_clock()
  outcome <- attempt(
    record_hook_calls(rec, train(model, input, ...), each_run = function() clock$advance(0.25))
  )
  outcome$model <- model
  if (length(list.files(model_dir(model), "index$"))) {
    outcome$global_step <- variable_value(model, "global_step")[[1]]
  }
  outcome
}

compare_outcome <- function(outcome, golden) {
  dir <- model_dir(outcome$model)
  expect_surfaced(outcome$surfaced, golden$surfaced, golden$name)
  if (!is.null(golden$log)) {
    expect_log(outcome$log, golden$log, c("<MODEL_DIR>" = dir), golden$name)
  }
  if (!is.null(golden$files)) expect_files(dir, golden$files)
  if (!is.null(golden$checkpoint_state)) {
    expect_equal(state_form(dir), golden$checkpoint_state, info = golden$name)
  }
  if (!is.null(golden$global_step)) expect_equal(outcome$global_step, golden$global_step)
}

# Replays a scenario with one call of train(): its trace, its log and its files. `hooks` and
# `listeners` are functions of the recorder.
replay_train <- function(name, hooks = function(rec) NULL, ..., listeners = function(rec) NULL,
                         config = list(), model = golden_model_of(config, .local_envir),
                         builtin_hooks = TRUE, names = toy_names, .local_envir = parent.frame()) {
  golden <- goldens[[name]]
  rec <- new_recorder()
  outcome <- run_train(
    model, rec, ..., hooks = hooks(rec), saving_listeners = listeners(rec)
  )
  # Some goldens contain the user's hooks only.
  if (!builtin_hooks) rec$events <- Filter(function(event) nchar(event$hook) == 1, rec$events)
  if (!is.null(golden$events)) expect_whole_trace(rec, golden, names)
  compare_outcome(outcome, golden)
  outcome
}

traced <- function(...) {
  names <- c(...)
  function(rec) sapply(names, function(name) trace_hook(rec, name), simplify = FALSE)
}

test_that("hooks are called in TensorFlow's order", {
  outcome <- replay_train(
    "hook_order", traced("A", "B"), steps = 3,
    listeners = function(rec) trace_listener(rec, "L"),
    config = list(save_checkpoints_steps = 2, save_summary_steps = 2, log_step_count_steps = 2)
  )
  expect_events(model_dir(outcome$model), goldens$hook_order$event_file)
})

test_that("train() creates TensorFlow's hooks", {
  for (row in goldens$hook_lists$table) {
    rec <- new_recorder()
    model <- golden_model_of(row$RunConfig)
    arguments <- row$train[setdiff(names(row$train), "hooks")]
    if (!is.null(row$train$hooks)) {
      arguments$hooks <- hook_checkpoint_saver(model_dir(model), save_steps = 7)
    }
    outcome <- suppressMessages(
      do.call(run_train, c(list(model, rec), arguments, list(input = toy_batches(1))))
    )
    expect_null(outcome$surfaced)
    expected <- setdiff(unlist(row$hooks), hooks_without_counterpart)
    expect_equal(unlist(rec$events[[1]]$hooks), expected, info = one_line(row$RunConfig))
  }
})

test_that("train() logs TensorFlow's lines", {
  golden <- goldens$train_log
  model <- golden_model_of(list(save_checkpoints_steps = 3, log_step_count_steps = 2))
  compare_outcome(run_train(model, new_recorder(), steps = 5), golden$first)
  compare_outcome(run_train(model, new_recorder(), steps = 2), golden$second)
  expect_files(model_dir(model), golden$files)
  expect_equal(state_form(model_dir(model)), golden$checkpoint_state)
  expect_events(model_dir(model), golden$event_files)
})

test_that("steps count from the end of the last call, max_steps from the start", {
  golden <- goldens$steps_and_max_steps
  model <- golden_model_of()
  for (row in golden$table) {
    rec <- new_recorder()
    calls <- 0
    input <- function(estimator) {
      calls <<- calls + 1
      toy_input(num_epochs = NULL)(estimator)
    }
    outcome <- do.call(run_train, c(list(model, rec, input = input), row$train))
    is_made <- vapply(rec$events, function(event) event$method == "created_with_hooks", NA)
    lines <- grep("Skipping|Loss for final|Restoring|Saving checkpoints", outcome$log, value = TRUE)
    info <- one_line(row$train)
    expect_equal(outcome$global_step, row$global_step_after, info = info)
    expect_equal(calls, row$input_fn_calls, info = info)
    expect_equal(sum(is_made), row$sessions, info = info)
    expect_log(lines, row$log, c("<MODEL_DIR>" = model_dir(model)), info)
    weight <- variable_value(model, "linear/linear_model/x/weights")[[1]]
    expect_equal(as.numeric(weight), row$w, tolerance = 1e-6, info = info)
  }
  newest <- sub(model_dir(model), "<MODEL_DIR>", latest_checkpoint(model_dir(model)), fixed = TRUE)
  expect_equal(newest, golden$latest_checkpoint)
})

test_that("the end of the data ends the training without an error", {
  for (row in goldens$data_end_before_steps$table) {
    rec <- new_recorder()
    model <- golden_model_of()
    arguments <- c(list(model, rec, input = toy_batches(3), hooks = traced("A")(rec)), row$train)
    compare_outcome(do.call(run_train, arguments), row)
    rec$events <- Filter(function(event) event$hook == "A", rec$events)
    expect_whole_trace(rec, list(events = row$trace_of_A), toy_names)
  }
  replay_train("no_data", traced("A"), steps = 3, input = toy_batches(0))
})

test_that("a stop request before the first run or later ends the training", {
  stops <- session_run_hook(after_create_session = function(session, coord) coord$request_stop())
  replay_train("stopped_before_first_run", function(rec) list(K = stops), steps = 3)

  at_second <- function(hook, context, values, n) if (n == 2) context$request_stop()
  asking <- function(rec) list(A = trace_hook(rec, "A", on = list(after_run = at_second)))
  replay_train("request_stop", asking, steps = 10)

  second_save <- list(after_save = function(n) if (n == 2) TRUE)
  golden <- goldens$saving_listener_stops
  rec <- new_recorder()
  outcome <- run_train(
    golden_model_of(list(save_checkpoints_steps = 2)), rec, steps = 9,
    saving_listeners = trace_listener(rec, "L", on = second_save)
  )
  rec$events <- Filter(function(event) event$hook == "L", rec$events)
  expect_whole_trace(rec, golden)
  expect_equal(outcome$global_step, golden$global_step)
  expect_log(grep("CheckpointSaverListener", outcome$log, value = TRUE), golden$log)
})

test_that("an error of a hook leaves train() and the existing checkpoints", {
  for (where in c("begin", "after_create_session", "before_run", "after_run", "end")) {
    at <- if (grepl("run", where)) 3 else 1
    raises <- function(hook, a, v, n) {
      if (n == at) raise("ValueError", paste("raised by B in", where))
    }
    replay_train(
      paste0("hook_raises_in_", where),
      function(rec) {
        b <- trace_hook(rec, "B", on = setNames(list(raises), where))
        list(A = trace_hook(rec, "A"), B = b, C = trace_hook(rec, "C"))
      },
      steps = 5, config = list(save_checkpoints_steps = 2), builtin_hooks = FALSE
    )
  }
})

# Feeds NaN for the loss from this global step on. The goldens' model computes it instead.
nan_from <- function(step) {
  session_run_hook(before_run = function(context) {
    losses <- context$session$graph$get_collection("losses")
    loss <- losses[[length(losses)]]
    if (context$session$run("global_step:0") >= step) {
      tf$train$SessionRunArgs(NULL, feed_dict = dict(loss = NaN))
    }
  })
}

test_that("a NaN loss is an error, whatever a user's hook does with it", {
  loss <- names(toy_names)[toy_names == "Mean:0"]
  names <- toy_names
  names[[loss]] <- "mul_2:0" # the goldens' loss is multiplied by NaN
  replay_train(
    "nan_loss", function(rec) list(A = trace_hook(rec, "A"), F = nan_from(2)), steps = 5,
    config = list(save_checkpoints_steps = 2), builtin_hooks = FALSE, names = names
  )
  own <- hook_nan_tensor(loss, fail_on_nan_loss = FALSE)
  replay_train("nan_loss_not_failing", function(rec) list(H = own, F = nan_from(0)), steps = 3)
})

# Replaces the batch size by NULL. If the data are repeated without end, our graph knows that each
# batch is full; TensorFlow's graph does not.
shape_form <- function(dims) {
  if (length(dims)) dims[1] <- list(NULL)
  dims
}

test_that("the collection `losses` works as in tfestimators' hooks", {
  golden <- goldens$losses_collection$table[[2]]
  names <- list()
  fetched <- list()
  hook <- session_run_hook(
    before_run = function(context) {
      losses <- context$session$graph$get_collection("losses")
      names <<- lapply(losses, function(loss) {
        list(loss$name, loss$dtype$name, shape_form(loss$shape$as_list()))
      })
      session_run_args(losses = losses)
    },
    after_run = function(context, values) fetched <<- c(fetched, list(values$results))
  )
  model <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  train(model, toy_input(num_epochs = NULL), steps = 2, hooks = hook)
  expect_equal(json_form(names), json_form(golden$collection))
  for (i in 1:2) {
    expected <- golden$fetched[[i]]$results$losses
    expect_equal(
      lapply(fetched[[i]]$losses, as.numeric), lapply(expected, function(x) as.numeric(unlist(x))),
      tolerance = 1e-6
    )
  }
})

test_that("the graph of a linear model has TensorFlow's collections", {
  golden <- goldens$graph_collections$table[[1]]$collections
  found <- list()
  hook <- session_run_hook(after_create_session = function(session, coord) {
    for (name in names(golden)) {
      items <- session$graph$get_collection(name)
      found[[name]] <<- vapply(items, function(x) {
        if (inherits(x, "runhooks_saver")) "Saver" else x$name
      }, "")
    }
  })
  model <- linear_regressor(column_numeric("x"), model_dir = withr::local_tempdir())
  train(model, toy_input(num_epochs = NULL), steps = 1, hooks = hook)
  # Our sessions check for themselves whether they are ready.
  for (name in setdiff(names(golden), c("ready_op", "ready_for_local_init_op"))) {
    expect_equal(found[[name]], unlist(golden[[name]]), info = name)
  }
})

test_that("a second train() begins where the first ended", {
  model <- golden_model_of(list(save_checkpoints_steps = 2))
  run_train(model, new_recorder(), steps = 3)
  replay_train("warm_or_restored_hooks", traced("A"), steps = 2, model = model)
})

test_that("a lost session is recreated from the newest checkpoint, with the data from the start", {
  golden <- goldens$recovery_in_train
  seen <- list()
  fetches <- session_run_hook(
    before_run = function(context) {
      session_run_args(x = "IteratorGetNext:0", step = "global_step:0")
    },
    after_run = function(context, values) {
      x <- as.list(as.numeric(values$results$x))
      seen <<- c(seen, list(list(x = x, global_step_after = read_step(context$session))))
    }
  )
  is_done <- FALSE
  aborts <- function(hook, a, v, n) {
    if (n == 4 && !is_done) {
      is_done <<- TRUE
      raise("AbortedError", "preempted")
    }
  }
  replay_train(
    "recovery_in_train", steps = 5, config = list(save_checkpoints_steps = 2),
    function(rec) list(A = trace_hook(rec, "A", on = list(before_run = aborts)), H = fetches)
  )
  expect_equal(json_form(seen), json_form(golden$batches_seen))
})

test_that("all scenarios are replayed", {
  expect_all_replayed(goldens)
})
