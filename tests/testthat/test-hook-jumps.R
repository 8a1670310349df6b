# Hooks that misuse their loop: they reset the graph, close the session, jump, or run other loops
# while an error unwinds.

failed_precondition <- "runhooks_error_failed_precondition"

test_that("code that a loop calls cannot reset the loop's default graph", {
  reset <- function(...) tf$reset_default_graph()
  for (method in c("begin", "after_create_session", "before_run", "after_run", "end")) {
    hook <- do.call(session_run_hook, setNames(list(reset), method))
    expect_error(
      train(mtcars_model(), mtcars_input(), steps = 2, hooks = hook),
      "clear nested graphs", class = failed_precondition
    )
  }
  normalizer <- function(x) {
    tf$reset_default_graph()
    x
  }
  model <- linear_regressor(column_numeric("drat", normalizer_fn = normalizer))
  expect_error(train(model, mtcars_input(), steps = 1), class = failed_precondition)
  evaluated <- mtcars_model()
  hook <- hook_in_memory_evaluator(
    evaluated, mtcars_input(), every_n_iter = 1,
    hooks = session_run_hook(before_run = function(context) reset())
  )
  expect_error(train(evaluated, mtcars_input(), steps = 2, hooks = hook), class = failed_precondition)
  before <- tf$get_default_graph()
  expect_identical(tf$get_default_graph(), before)
  tf$reset_default_graph()
  expect_false(identical(tf$get_default_graph(), before))
})

test_that("contexts that a hook enters and does not leave end with its method", {
  outside <- tf$get_default_graph()
  other <- tf$Graph()
  hook <- session_run_hook(after_run = function(context, values) {
    other$as_default()$.enter()
    expect_identical(tf$get_default_graph(), other)
  })
  train(mtcars_model(), mtcars_input(), steps = 3, hooks = hook)
  expect_identical(tf$get_default_graph(), outside)
  # A hook cannot leave contexts that it has not entered.
  inner <- NULL
  hook <- session_run_hook(after_run = function(context, values) {
    for (i in 1:3) cpp_graph_pop_default()
    inner <<- tf$get_default_graph()
    expect_identical(inner, context$session$graph)
  })
  with(other$as_default(), {
    train(mtcars_model(), mtcars_input(), steps = 1, hooks = hook)
    expect_identical(tf$get_default_graph(), other)
  })
  expect_s3_class(inner, "tensorflow.python.framework.ops.Graph")
})

test_that("a hook that closes its session gets an error at the next run, in any method", {
  close <- list(
    after_create_session = function(session, coord) session$close(),
    before_run = function(context) {
      context$session$close()
      NULL
    },
    after_run = function(context, values) context$session$close(),
    end = function(session) session$close()
  )
  for (method in names(close)) {
    hook <- do.call(session_run_hook, close[method])
    expect_warning(
      expect_error(
        train(mtcars_model(), mtcars_input(), steps = 3, hooks = hook),
        "closed Session|uninitialized", class = failed_precondition
      ),
      NA
    )
    # If the session is closed in a later step, plans that were built before must be dropped, too.
    if (method != "before_run") next
    steps <- 0
    hook <- session_run_hook(before_run = function(context) {
      steps <<- steps + 1
      if (steps == 3) context$session$close()
      NULL
    })
    expect_error(
      train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 9, hooks = hook),
      "Attempted to use a closed Session", class = failed_precondition
    )
  }
  evaluated <- mtcars_model()
  hook <- hook_in_memory_evaluator(
    evaluated, mtcars_input(), every_n_iter = 1,
    hooks = session_run_hook(before_run = function(context) {
      context$session$close()
      NULL
    })
  )
  expect_error(train(evaluated, mtcars_input(), steps = 2, hooks = hook), class = failed_precondition)
})

test_that("a stop survives code that runs while the hook is left", {
  steps <- 0
  ends <- 0
  stopping <- function(on_the_way_out) {
    steps <<- ends <<- 0
    session_run_hook(
      after_run = function(context, values) {
        steps <<- steps + 1
        on.exit(on_the_way_out())
        stop_iteration()
      },
      end = function(session) ends <<- ends + 1
    )
  }
  inner_stop <- session_run_hook(after_run = function(context, values) stop("inner"))
  inner_end <- session_run_hook(after_run = function(context, values) stop_iteration())
  jumps <- list(
    raises = function() try(stop("caught"), silent = TRUE),
    trains = function() train(mtcars_model(), mtcars_input(), steps = 2),
    ends_early = function() train(mtcars_model(), mtcars_input(), hooks = inner_end),
    fails = function() try(train(mtcars_model(), mtcars_input(), hooks = inner_stop), silent = TRUE)
  )
  for (jump in names(jumps)) {
    input <- mtcars_input(num_epochs = NULL)
    train(mtcars_model(), input, steps = 50, hooks = stopping(jumps[[jump]]))
    expect_equal(c(steps, ends), c(1, 1), info = jump)
  }
  # As with Python's `finally`, the last uncaught error reaches the caller.
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = stopping(function() stop("the last"))), "the last"
  )
  expect_equal(ends, 0)
})

test_that("a loop that a restart leaves calls on_error() once", {
  recorded <- list()
  leaving <- session_run_hook(
    after_run = function(context, values) invokeRestart("out"),
    on_error = function(session, condition) recorded[[length(recorded) + 1]] <<- condition
  )
  withRestarts(train(mtcars_model(), mtcars_input(), hooks = leaving), out = function() NULL)
  expect_length(recorded, 1)
  expect_match(conditionMessage(recorded[[1]]), "left by a jump")
  # Errors of other loops do not reach the hook's on_error().
  try(train(mtcars_model(), mtcars_input(), hooks = session_run_hook(end = function(session) stop())),
    silent = TRUE
  )
  expect_length(recorded, 1)
})

test_that("the end of data in a hook that runs the session ends the loop", {
  withr::defer(tf$reset_default_graph())
  loop <- function(...) {
    tf$reset_default_graph()
    counted <- tf$assign_add(tf$train$get_or_create_global_step(), 1L)
    value <- iterator_get_next(make_iterator_one_shot(range_dataset(0, 3)))
    dir <- withr::local_tempdir()
    ended <- FALSE
    hooks <- list(
      session_run_hook(...), session_run_hook(end = function(session) ended <<- TRUE),
      hook_stop_at_step(last_step = 5)
    )
    error <- tryCatch(
      {
        session <- tf$train$MonitoredTrainingSession(checkpoint_dir = dir, hooks = hooks)
        with(session, while (!session$should_stop()) session$run(counted))
        NULL
      },
      error = identity
    )
    list(error = error, ended = ended, last = sub(".*-", "", latest_checkpoint(dir)))
  }
  read <- function(session) session$run("IteratorGetNext:0")
  before <- function(context) {
    read(context$session)
    NULL
  }
  expect_identical(loop(before_run = before), list(error = NULL, ended = TRUE, last = "3"))
  after <- function(context, values) read(context$session)
  expect_identical(loop(after_run = after), list(error = NULL, ended = TRUE, last = "4"))
  caught <- 0
  catching <- function(context, values) {
    tryCatch(read(context$session), runhooks_error_out_of_range = function(e) caught <<- caught + 1)
  }
  expect_identical(loop(after_run = catching)$last, "5")
  expect_equal(caught, 2)

  place <- c("runhooks_error_out_of_range", "runhooks_error_hook")
  at_end <- loop(end = function(session) for (i in 1:4) read(session))
  expect_true(all(place %in% class(at_end$error)))
  expect_false(at_end$ended)
  created <- loop(after_create_session = function(session, coord) for (i in 1:4) read(session))
  expect_true(all(place %in% class(created$error)))
  expect_match(conditionMessage(created$error), "in after_create_session() of hook", fixed = TRUE)
})

test_that("train() saves when a hook meets the end of the data", {
  loss <- "linear/head/weighted_loss/Sum:0"
  model <- mtcars_model()
  reads <- session_run_hook(after_run = function(context, values) context$session$run(loss))
  train(model, mtcars_input(num_epochs = 1), hooks = reads)
  expect_equal(variable_value(model, "global_step")[[1]], 2)
  hook <- session_run_hook(end = function(session) session$run(loss))
  error <- expect_error(train(mtcars_model(), mtcars_input(num_epochs = 1), hooks = hook))
  expect_s3_class(error, c("runhooks_error_out_of_range", "runhooks_error_hook"), exact = FALSE)
  expect_false(any(c("C++Error", "<not available>") %in% class(error)))
})
