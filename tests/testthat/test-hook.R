test_that("methods are called in TensorFlow's order", {
  hook <- recording_hook()
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = hook)
  expect_equal(calls_of(hook), c(
    "begin", "after_create_session", "before_run", "after_run", "before_run", "after_run", "end"
  ))
})

test_that("a hook works in evaluate() and predict(), alone and in a list", {
  model <- mtcars_model()
  hook <- recording_hook(c("begin", "end"))
  untrained(evaluate(model, mtcars_input(), hooks = list(hook)))
  untrained(predict(model, mtcars_input(), hooks = hook))
  expect_equal(calls_of(hook), c("begin", "end", "begin", "end"))
})

test_that("results have the structure of the fetches", {
  recorded <- list()
  ask <- function(request) {
    hook <- session_run_hook(
      before_run = function(context) request(context),
      after_run = function(context, values) recorded <<- c(recorded, list(values$results))
    )
    train(mtcars_model(), mtcars_input(), steps = 1, hooks = hook)
    recorded[[length(recorded)]]
  }
  losses <- ask(
    function(context) session_run_args(losses = context$session$graph$get_collection("losses"))
  )
  expect_named(losses, "losses")
  expect_length(losses$losses, 3)
  expect_equal(dim(losses$losses[[1]]), c(8L, 1L))
  expect_equal(losses$losses[[2]], sum(losses$losses[[1]]), tolerance = 1e-6)
  expect_null(dim(losses$losses[[2]]))

  nested <- ask(function(context) {
    session_run_args(
      list(a = "global_step:0", b = list("linear/head/weighted_loss/Sum:0", "linear/head/Ftrl"))
    )
  })
  expect_equal(nested[[1]]$a, 0)
  expect_length(nested[[1]]$b, 2)
  expect_null(nested[[1]]$b[[2]])

  variable <- ask(
    function(context) {
      session_run_args(bias = context$session$graph$get_collection("trainable_variables"))
    }
  )
  expect_equal(vapply(variable$bias, as.vector, 0), c(0, 0, 0))
  expect_null(ask(function(context) NULL))
})

test_that("a request object can be created once and returned in each step", {
  args <- NULL
  steps <- c()
  hook <- session_run_hook(
    before_run = function(context) {
      if (is.null(args)) args <<- session_run_args(step = "global_step:0")
      args
    },
    after_run = function(context, values) steps <<- c(steps, values$results$step)
  )
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 4, hooks = hook)
  expect_equal(steps, 0:3)
})

test_that("a hook can request other tensors in each step", {
  step <- 0
  lengths <- c()
  hook <- session_run_hook(
    before_run = function(context) {
      step <<- step + 1
      if (step == 3) return(NULL)
      do.call(session_run_args, rep(list("global_step:0"), step))
    },
    after_run = function(context, values) lengths <<- c(lengths, length(values$results))
  )
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 4, hooks = hook)
  expect_equal(lengths, c(1, 2, 0, 4))
})

test_that("request_stop() stops after the step, and later hooks can query it", {
  recorded <- c()
  first <- session_run_hook(after_run = function(context, values) context$request_stop())
  second <- session_run_hook(
    after_run = function(context, values) recorded <<- c(recorded, context$stop_requested)
  )
  model <- mtcars_model()
  train(
    model, mtcars_input(num_epochs = NULL), steps = 10, hooks = list(first, second)
  ) %>% suppressMessages()
  expect_equal(recorded, TRUE)
  expect_equal(variable_value(model, "global_step"), list(global_step = 1))
})

test_that("a hook can run the session and feed it", {
  values <- c()
  hook <- session_run_hook(after_run = function(context, values_) {
    values <<- c(values, context$session$run("global_step:0"))
  })
  train(mtcars_model(), mtcars_input(), steps = 3, hooks = hook)
  expect_equal(values, 1:3)
})

test_that("begin() can add to the graph, later methods cannot", {
  doubled <- NULL
  recorded <- NULL
  hook <- session_run_hook(
    begin = function() {
      doubled <<- tf$get_default_graph()$get_tensor_by_name("global_step/read:0") * 2L
    },
    before_run = function(context) session_run_args(doubled),
    after_run = function(context, values) recorded <<- values$results[[1]]
  )
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = hook)
  expect_equal(recorded, 2)
  late <- session_run_hook(
    after_create_session = function(
      session,
      coord
    ) {
      tf$constant(1) + session$graph$get_tensor_by_name("global_step:0")
    }
  )
  expect_error(train(mtcars_model(), mtcars_input(), steps = 1, hooks = late))
})

test_that("a hook object can be reused", {
  hook <- recording_hook(c("begin", "end"))
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 1, hooks = hook)
  train(model, mtcars_input(), steps = 1, hooks = hook)
  expect_equal(calls_of(hook), c("begin", "end", "begin", "end"))
})

test_that("a hook can train another model", {
  inner_steps <- NULL
  outer_steps <- c()
  hook <- session_run_hook(
    before_run = function(context) session_run_args(step = "global_step:0"),
    after_run = function(context, values) {
      outer_steps <<- c(outer_steps, values$results$step)
      if (values$results$step == 1) {
        inner_steps <<- train(mtcars_model(), mtcars_input(), hooks = hook_history_saver(1))$step
      }
    }
  )
  history <- train(mtcars_model(), mtcars_input(), hooks = list(hook, hook_history_saver(1)))
  expect_equal(outer_steps, 0:3)
  expect_equal(inner_steps, 1:4)
  expect_equal(history$step, 1:4)
})

test_that("an object that is not a hook is an error that names its position", {
  model <- mtcars_model()
  expect_snapshot_text({
    train(model, mtcars_input(), hooks = list(hook_stop_at_step(1), "stop"))
    train(model, mtcars_input(), hooks = 3)
    session_run_hook(before_run = function() NULL)
    session_run_hook(after_run = function(context) NULL)
    session_run_hook(begin = "soon")
  })
  expect_false(file.exists(file.path(model_dir(model), "checkpoint")))
})

test_that("a fetch that is not in the graph is an error that names it", {
  hook <- session_run_hook(before_run = function(context) session_run_args("nothing:0"))
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook),
    "nothing",
    class = "runhooks_error_not_found"
  )
  bad_hook <- session_run_hook(before_run = function(context) "global_step:0")
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = bad_hook),
    "session_run_args",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("a run preserves no R object, whichever way it ends", {
  for (i in 1:2) gc() # collects garbage of other tests
  before <- cpp_held_count()
  model <- mtcars_model()
  train(model, mtcars_input(), hooks = recording_hook())
  try(
    train(
      model, mtcars_input(), hooks = session_run_hook(before_run = function(context) stop("no"))
    ),
    silent = TRUE
  )
  for (i in 1:2) gc()
  expect_lte(cpp_held_count(), before)
})

test_that("the context reports the rows and epochs read so far", {
  recorded <- list()
  note <- function(when) {
    function(context, values) {
      recorded[[length(recorded) + 1]] <<- list(when, context$rows, context$epoch)
      NULL
    }
  }
  hook <- session_run_hook(
    before_run = function(context) note("before")(context), after_run = note("after")
  )
  # 32 rows in batches of 12, twice. The third batch has rows of both epochs, and the last is short.
  input <- input_fn(
    mtcars, features = c(drat, cyl), response = mpg, batch_size = 12, num_epochs = 2
  )
  train(mtcars_model(), input, hooks = hook)
  after <- Filter(function(x) x[[1]] == "after", recorded)
  expect_equal(vapply(after, `[[`, 0, 2), c(12, 24, 36, 48, 60, 64))
  expect_equal(vapply(after, `[[`, 0, 3), c(1, 1, 2, 2, 2, 2))
  expect_equal(recorded[[1]], list("before", 0, 1))
  with(tf$Graph()$as_default(), {
    recorded <- list()
    x <- tf$constant(1)
    session <- tf$train$MonitoredSession(hooks = list(hook))
    session$run(x)
    session$close()
  })
  expect_equal(recorded[[2]], list("after", NA_real_, NA_real_))
})

test_that("fetched values are copies that later steps do not change", {
  kept <- list()
  hook <- session_run_hook(
    before_run = function(context) {
      if (length(kept) == 2) return(NULL)
      session_run_args("global_step:0", nested = list("global_step:0"))
    },
    after_run = function(context, values) {
      kept[[length(kept) + 1]] <<- values
      values$results <- "changed"
      if (length(kept) %% 2 == 0) gc()
    }
  )
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 5, hooks = hook)
  expect_equal(
    lapply(kept, function(values) values$results[[1]]),
    list(0, 1, NULL, 3, 4)
  )
  expect_null(kept[[3]]$results)
  # A hook that keeps no values also gets a new list in each step.
  last <- NULL
  recorded <- numeric()
  light <- session_run_hook(
    before_run = function(context) session_run_args("global_step:0"),
    after_run = function(context, values) {
      recorded <<- c(recorded, values$results[[1]])
      if (length(recorded) == 3) last <<- values
    }
  )
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 6, hooks = light)
  expect_equal(recorded, 0:5)
  expect_equal(last$results[[1]], 2)
})

test_that("ten hooks that request the same tensor cause one fetch", {
  computed <- 0
  asks <- function() {
    got <- numeric()
    hook <- session_run_hook(
      before_run = function(context) session_run_args("product:0"),
      after_run = function(context, values) got <<- c(got, values$results[[1]])
    )
    structure(hook, got = function() got)
  }
  hooks <- lapply(1:10, function(i) asks())
  metadata_table <- NULL
  trace <- session_run_hook(
    before_run = function(context) {
      session_run_args("product:0", options = tf$RunOptions(trace_level = 3))
    },
    after_run = function(context, values) metadata_table <<- as.data.frame(values$run_metadata)
  )
  with(tf$Graph()$as_default(), {
    x <- tf$constant(3)
    y <- tf$multiply(x, x, name = "product")
    session <- tf$train$MonitoredSession(hooks = c(hooks, list(trace)))
    session$run(x)
    session$close()
  })
  for (hook in hooks) expect_equal(attr(hook, "got")(), 9)
  expect_equal(sum(metadata_table$node_name == "product"), 1)
})

test_that("objects that a hook received become invalid when the loop ends", {
  coord <- NULL
  recorded <- NULL
  inner <- session_run_hook(after_create_session = function(session, coord) coord <<- coord)
  outer <- session_run_hook(after_run = function(context, values) {
    recorded <<- list(coord$should_stop(), tryCatch(coord$request_stop(), error = identity))
  })
  model <- mtcars_model()
  evaluator <- hook_in_memory_evaluator(
    model, mtcars_input(num_epochs = 1), every_n_iter = 1, hooks = list(inner)
  )
  train(model, mtcars_input(), steps = 2, hooks = list(evaluator, outer))
  expect_true(recorded[[1]])
  expect_s3_class(recorded[[2]], "runhooks_error_failed_precondition")
})

test_that("a hook that removes its values does not affect the core", {
  n <- 0
  rude <- session_run_hook(
    before_run = function(context) session_run_args("global_step:0"),
    after_run = function(context, values) {
      n <<- n + values$results[[1]]
      rm("values", envir = parent.frame())
      if (n %% 4 == 3) gc()
    }
  )
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 10, hooks = rude)
  expect_equal(n, 45)
})

test_that("c() adds a hook to a list of hooks", {
  own <- session_run_hook(end = function(session) NULL, weight = 2)
  built_in <- hook_stop_at_step(num_steps = 3)
  deferred <- hook_history_saver(2)
  methods <- list(end = function(session) NULL)
  expect_identical(
    unname(as_hook_list(c(list(built_in), own, deferred))), list(built_in, deferred, own)
  )
  expect_identical(as_hook_list(c(built_in, deferred)), list(built_in, deferred))
  expect_identical(as_hook_list(c(list(deferred), built_in)), list(deferred, built_in))
  expect_identical(as_hook_list(c(own, own)), list(own, own))
  expect_length(as_hook_list(c(list(methods), own, built_in)), 3)
  expect_snapshot_text(as_hook_list(c(list(own), type = 3)))
})

test_that("stop_requested becomes TRUE immediately, and a stored coordinator reports the stop", {
  recorded <- list()
  kept <- NULL
  hook <- session_run_hook(
    after_create_session = function(session, coord) kept <<- coord,
    before_run = function(context) {
      recorded <<- c(recorded, context$stop_requested)
      NULL
    },
    after_run = function(context, values) {
      context$request_stop()
      recorded <<- c(recorded, context$stop_requested)
    }
  )
  train(mtcars_model(), mtcars_input(), hooks = hook)
  expect_equal(recorded, list(FALSE, TRUE))
  expect_true(kept$should_stop())
  train(mtcars_model(), mtcars_input(), hooks = hook)
  expect_equal(recorded, list(FALSE, TRUE, FALSE, TRUE))
})

test_that("hooks and heads from sapply() are accepted", {
  calls <- 0
  counting <- function(i) session_run_hook(begin = function() calls <<- calls + i)
  hooks <- sapply(c(a = 1, b = 2), counting)
  train(mtcars_model(), mtcars_input(), steps = 1, hooks = hooks)
  expect_equal(calls, 3)
  stops <- sapply(1:2, function(n) hook_stop_at_step(num_steps = n))
  model <- mtcars_model()
  train(model, mtcars_input(), hooks = stops)
  expect_equal(variable_value(model, "global_step")[[1]], 1)
  expect_identical(
    multi_head(sapply(c("a", "b"), function(name) regression_head(name = name))),
    multi_head(list(regression_head(name = "a"), regression_head(name = "b")))
  )
})

test_that("a method that hooks do not have is an error with their methods", {
  fails <- function(code, message) {
    expect_error(code, message, class = "runhooks_error_invalid_argument")
  }
  fails(session_run_hook(on_epoch = function() 1), "no argument `on_epoch`.*`after_run`")
  fails(session_run_hook(afterrun = function(context, values) 1), "Did you mean `after_run`")
  fails(run_config(seed = 1), "Did you mean `tf_random_seed`")
  fails(export_savedmodel(linear_regressor(mpg ~ wt, mtcars)), "`export_dir_base` is missing")
})

test_that("a method that is set later is called, and a misspelled one is an error", {
  calls <- character()
  hook <- session_run_hook(end = function(session) calls <<- c(calls, "end"))
  hook$before_run <- function(context) {
    calls <<- c(calls, "before_run")
    NULL
  }
  hook[["begin"]] <- function() calls <<- c(calls, "begin")
  train(mtcars_model(), mtcars_input(), steps = 1, hooks = hook)
  expect_identical(calls, c("begin", "before_run", "end"))
  expect_error(hook$before_rum <- function(context) NULL, "Did you mean \"before_run\"",
    class = "runhooks_error_invalid_argument")
  expect_error(hook$end <- 5, "function of 1 argument", class = "runhooks_error_invalid_argument")
  expect_error(hook$end <- function() 1, "It has none", class = "runhooks_error_invalid_argument")
})

test_that("members that a hook or a column lacks are errors", {
  in_script <- function(code) eval(substitute(code), as.list(parent.frame()), globalenv())
  for (object in list(hook_stop_at_step(3), session_run_hook(), column_numeric("x"))) {
    expect_error(in_script(object$nothing), "no member", class = "runhooks_error_not_found")
  }
  expect_equal(in_script(column_numeric("x")$key), "x")
})
