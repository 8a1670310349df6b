raising <- function(method, raise) {
  methods <- list(
    begin = function() raise(),
    after_create_session = function(session, coord) raise(),
    before_run = function(context) raise(),
    after_run = function(context, values) raise(),
    end = function(session) raise()
  )
  do.call(session_run_hook, methods[method])
}

my_condition <- function() {
  stop(
    structure(
      class = c("my_class", "error", "condition"),
      list(message = "lost", call = sys.call(-1), data = 42)
    )
  )
}

test_that("an error of a hook reaches the user unchanged, whichever method raises it", {
  for (method in c("begin", "after_create_session", "before_run", "after_run", "end")) {
    cnd <- tryCatch(
      train(
        mtcars_model(),
        mtcars_input(),
        steps = 2,
        hooks = list(mine = raising(method, my_condition))
      ),
      my_class = function(cnd) cnd
    )
    expect_s3_class(cnd, c("my_class", "runhooks_error_hook", "error", "condition"), exact = TRUE)
    expect_equal(cnd$data, 42)
    expect_equal(as.character(conditionCall(cnd)[[1]]), method)
    expect_equal(cnd$runhooks$hook, "mine")
    expect_equal(cnd$runhooks$method, method)
    expect_match(conditionMessage(cnd), paste0("^lost\n  \\(in ", method, "\\(\\) of hook `mine`"))
  }
})

test_that("rlang's and cli's errors keep their classes and fields", {
  cnd <- tryCatch(
    train(
      mtcars_model(),
      mtcars_input(),
      hooks = raising("after_run", function() rlang::abort("ouch", class = "mine", x = 1))
    ),
    mine = function(cnd) cnd
  )
  expect_equal(cnd$x, 1)
  expect_s3_class(cnd$trace, "rlang_trace")
  expect_match(conditionMessage(cnd), "ouch")
  expect_match(
    conditionMessage(cnd), "in after_run() of hook `hooks[[1]]` at global step 1", fixed = TRUE
  )
})

test_that("warnings and messages of a hook are not delayed", {
  events <- c()
  hook <- session_run_hook(after_run = function(context, values) {
    message("said")
    warning("careful")
    events <<- c(events, "went on")
  })
  withCallingHandlers(
    train(mtcars_model(), mtcars_input(), steps = 1, hooks = hook),
    message = function(m) {
      events <<- c(events, conditionMessage(m))
      invokeRestart("muffleMessage")
    },
    warning = function(w) {
      events <<- c(events, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  )
  expect_equal(events, c("said\n", "careful", "went on"))
})

test_that("an error skips end() and the last checkpoint", {
  model <- mtcars_model()
  hook <- recording_hook()
  expect_error(
    train(model, mtcars_input(num_epochs = NULL), steps = 5, hooks = list(
      hook, hook_stop_at_step(5),
      session_run_hook(
        before_run = function(context) session_run_args("global_step:0"),
        after_run = function(context, values) if (values$results[[1]] == 2) stop("at 3")
      )
    )),
    "at 3"
  )
  expect_false("end" %in% calls_of(hook))
  expect_equal(variable_value(model, "global_step")[[1]], 0)
})

test_that("end of data and stop_iteration() end a loop without an error", {
  for (
    raise in list(stop_iteration, function() stop(tf$errors$OutOfRangeError(NULL, NULL, "enough")))
  ) {
    hook <- recording_hook("end")
    model <- mtcars_model()
    train(model, mtcars_input(), hooks = list(hook, raising("after_run", raise)))
    expect_equal(calls_of(hook), "end")
    expect_equal(variable_value(model, "global_step")[[1]], 1)
  }
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = raising("begin", stop_iteration)),
    class = "runhooks_error_stop_iteration"
  )
})

test_that("an aborted session is recreated and the step repeated", {
  model <- mtcars_model(save_checkpoints_steps = 1)
  failures <- 0
  sessions <- 0
  hook <- session_run_hook(
    after_create_session = function(session, coord) sessions <<- sessions + 1,
    before_run = function(context) session_run_args("global_step:0"),
    after_run = function(context, values) {
      if (values$results[[1]] >= 1 && failures < 2) {
        failures <<- failures + 1
        stop(tf$errors$AbortedError(NULL, NULL, "lost"))
      }
    }
  )
  train(model, mtcars_input(num_epochs = NULL), steps = 4, hooks = hook)
  expect_equal(failures, 2)
  expect_equal(sessions, 3)
  expect_equal(variable_value(model, "global_step")[[1]], 4)
})

test_that("recovery gives up after ten failures with the user's condition", {
  hook <- raising(
    "before_run", function() stop(tf$errors$UnavailableError(NULL, NULL, "never there"))
  )
  cnd <- tryCatch(train(mtcars_model(), mtcars_input(), hooks = hook), error = function(cnd) cnd)
  expect_s3_class(cnd, "runhooks_error_unavailable")
  expect_equal(conditionMessage(cnd), "never there")
})

test_that("an error in a normalizer or an input function reaches the user unchanged", {
  model <- linear_regressor(column_numeric("drat", normalizer_fn = function(x) my_condition()))
  expect_error(train(model, mtcars_input()), class = "my_class")
  expect_error(train(mtcars_model(), function() my_condition()), class = "my_class")
})

test_that("errors of the core are classed conditions with the call of the user's function", {
  cnd <- tryCatch(
    train(linear_regressor(column_numeric("hp")), mtcars_input()), error = function(cnd) cnd
  )
  expect_s3_class(cnd, c("runhooks_error_not_found", "runhooks_error", "rlang_error"))
  expect_equal(as.character(conditionCall(cnd)[[1]]), "train")
  expect_match(conditionMessage(cnd), "Feature hp is not in features dictionary")
  expect_match(conditionMessage(cnd), "cyl, drat")
})

test_that("handlers inside a hook take precedence", {
  caught <- 0
  hook <- session_run_hook(after_run = function(context, values) {
    tryCatch(
      stop(tf$errors$AbortedError(NULL, NULL, "mine")),
      runhooks_error_aborted = function(e) caught <<- caught + 1
    )
  })
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = hook)
  expect_equal(caught, 2)
})

test_that("failing runs leave no hooks, sessions or files", {
  model <- mtcars_model()
  hook <- raising("before_run", function() stop("x"))
  run <- function() try(train(model, mtcars_input(), steps = 1, hooks = hook), silent = TRUE)
  run()
  gc()
  held <- cpp_held_count()
  used <- sum(gc()[, 2])
  for (i in 1:50) run()
  expect_lt(sum(gc()[, 2]) - used, 2)
  expect_equal(cpp_held_count(), held)
})

test_that("an uncaught error of the core ends a script without a crash of R", {
  script <- paste0(
    "library(runhooks); reg.finalizer(globalenv(), function(e) cat('alive'), onexit = TRUE); ",
    "tf$constant(1L) - 0.5"
  )
  ended <- processx::run(
    child_rscript(), c("-e", script), env = child_env(), error_on_status = FALSE
  )
  expect_equal(ended$status, 1)
  expect_match(ended$stderr, "0.5 cannot become an element of type int32")
  expect_no_match(ended$stderr, "segfault")
  expect_match(ended$stdout, "alive")
})
