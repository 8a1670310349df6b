recorder <- function(...) {
  recorded <- list()
  hook <- session_run_hook(
    on_error = function(session, condition) {
      recorded[[length(recorded) + 1]] <<- list(session = session, condition = condition)
    }, ...
  )
  attr(hook, "seen") <- function() recorded
  hook
}

test_that("on_error() receives the condition of train() once, after the session is closed", {
  hook <- recorder(after_run = function(context, values) {
    stop(structure(class = c("mine", "error", "condition"), list(message = "lost", call = NULL)))
  })
  caught <- tryCatch(train(mtcars_model(), mtcars_input(), hooks = hook), mine = identity)
  recorded <- attr(hook, "seen")()
  expect_length(recorded, 1)
  expect_identical(recorded[[1]]$condition, caught)
  expect_error(recorded[[1]]$session$run("global_step:0"), "closed")
})

test_that("on_error() is called for errors of every method and of the core, and for nothing else", {
  fail <- function(...) stop("no")
  for (method in c("begin", "after_create_session", "before_run", "after_run", "end")) {
    bad_hook <- do.call(session_run_hook, setNames(list(switch(method,
      begin = function() fail(), after_create_session = function(session, coord) fail(),
      before_run = function(context) fail(), after_run = function(context, values) fail(),
      end = function(session) fail()
    )), method))
    hook <- recorder()
    expect_error(train(mtcars_model(), mtcars_input(), steps = 1, hooks = list(hook, bad_hook)), "no")
    expect_length(attr(hook, "seen")(), 1)
  }
  hook <- recorder(before_run = function(context) session_run_args("nothing:0"))
  expect_error(train(mtcars_model(), mtcars_input(), hooks = hook), "nothing:0")
  expect_length(attr(hook, "seen")(), 1)
  hook <- recorder(after_run = function(context, values) stop_iteration())
  train(mtcars_model(), mtcars_input(), hooks = hook)
  expect_length(attr(hook, "seen")(), 0)
  failures <- 0
  hook <- recorder(after_run = function(context, values) {
    failures <<- failures + 1
    if (failures == 1) stop(tf$errors$AbortedError(NULL, NULL, "again"))
  })
  expect_warning(
    train(mtcars_model(), mtcars_input(), steps = 2, hooks = hook), "has not been increased"
  )
  expect_length(attr(hook, "seen")(), 0)
})

test_that("on_error() of several hooks are called, and an error in one is a warning", {
  first <- recorder()
  bad_hook <- session_run_hook(on_error = function(session, condition) stop("twice"))
  last <- recorder(after_run = function(context, values) stop("once"))
  expect_warning(
    expect_error(
      train(mtcars_model(), mtcars_input(), hooks = list(first, bad_hook, last)), "once"
    ),
    "on_error.. of hook .hooks\\[\\[2\\]\\]. failed as well: twice"
  )
  expect_length(attr(first, "seen")(), 1)
  expect_length(attr(last, "seen")(), 1)
})

test_that("an interrupt in a closure: step, checkpoint, on_error(), then R's interrupt", {
  folder <- withr::local_tempdir()
  saved_then <- NULL
  hook <- recorder(
    before_run = function(context) session_run_args("global_step:0"),
    after_run = function(context, values) if (values$results[[1]] == 5) rlang::interrupt()
  )
  late <- session_run_hook(on_error = function(session, condition) {
    saved_then <<- latest_checkpoint(folder)
  })
  caught <- tryCatch(
    train(
      mtcars_model(model_dir = folder), mtcars_input(num_epochs = NULL),
      hooks = list(hook, late, hook_history_saver(every_n_step = 2))
    ),
    interrupt = function(condition) condition
  )
  expect_s3_class(caught, "interrupt")
  expect_length(attr(hook, "seen")(), 1)
  expect_s3_class(attr(hook, "seen")()[[1]]$condition, "interrupt")
  expect_match(saved_then, "ckpt-6$")
  expect_equal(as.data.frame(caught$history)$step, rep(c(1, 2, 4, 6)[1:3], 2))
  expect_equal(attr(hook, "seen")()[[1]]$condition$history, caught$history)
  before <- latest_checkpoint(folder)
  bad <- session_run_hook(after_run = function(context, values) stop("bad"))
  expect_error(
    train(mtcars_model(model_dir = folder), mtcars_input(num_epochs = NULL), hooks = bad), "bad"
  )
  expect_equal(latest_checkpoint(folder), before)
})

test_that("an interrupt reaches handlers in their order, also through nested loops", {
  order <- character()
  inner <- function() {
    stop_at_once <- session_run_hook(after_run = function(context, values) rlang::interrupt())
    train(mtcars_model(), mtcars_input(), hooks = stop_at_once)
  }
  outer <- session_run_hook(
    after_run = function(context, values) inner(),
    on_error = function(session, condition) order <<- c(order, "on_error")
  )
  caught <- tryCatch(
    withCallingHandlers(
      train(mtcars_model(), mtcars_input(), hooks = outer),
      interrupt = function(condition) order <<- c(order, "calling")
    ),
    interrupt = function(condition) condition
  )
  expect_equal(order, c("on_error", "calling"))
  expect_s3_class(caught$history, "tf_estimator_history")
})

counting <- function() {
  count <- 0
  hook <- session_run_hook(
    after_run = function(context, values) count <<- count + 1,
    save_state = function() list(count = count),
    restore_state = function(state) count <<- state$count
  )
  attr(hook, "count") <- function() count
  hook
}

test_that("a hook's state is saved in the checkpoint", {
  folder <- withr::local_tempdir()
  train(mtcars_model(model_dir = folder), mtcars_input(num_epochs = NULL), steps = 5,
        hooks = list(counter = counting()))
  resumed <- counting()
  train(mtcars_model(model_dir = folder), mtcars_input(num_epochs = NULL), steps = 3,
        hooks = list(session_run_hook(), counter = resumed))
  expect_equal(attr(resumed, "count")(), 8)
  other <- counting()
  train(mtcars_model(model_dir = folder), mtcars_input(num_epochs = NULL), steps = 3,
        hooks = list(other = other))
  expect_equal(attr(other, "count")(), 3)
  expect_false(any(grepl("hook_state", variable_names(mtcars_model(model_dir = folder)))))
})

test_that("a recovered run restores hook states from its checkpoint", {
  failures <- 0
  count <- 0
  steps <- numeric()
  hook <- session_run_hook(
    after_run = function(context, values) {
      count <<- count + 1
      steps[[length(steps) + 1]] <<- count
      if (count == 3 && failures == 0) {
        failures <<- 1
        stop(tf$errors$UnavailableError(NULL, NULL, "gone"))
      }
    },
    save_state = function() count,
    restore_state = function(state) count <<- state
  )
  model <- mtcars_model(save_checkpoints_steps = 2)
  expect_warning(
    train(model, mtcars_input(num_epochs = NULL), steps = 4, hooks = hook), "has not been increased"
  )
  expect_equal(steps, c(1, 2, 3, 3, 4))
})

test_that("hooks are sorted by weight", {
  order <- character()
  hook <- function(name, ...) {
    session_run_hook(after_run = function(context, values) order <<- c(order, name), ...)
  }
  hooks <- list(hook("c", weight = 1), hook("a", weight = -1), hook("b"), hook("d", weight = 1))
  train(mtcars_model(), mtcars_input(), steps = 1, hooks = hooks)
  expect_identical(order, c("a", "b", "c", "d"))
})

test_that("a hook that was moved by its weight is reported at its original position", {
  fail <- session_run_hook(after_run = function(context, values) stop("no"), weight = -1)
  hooks <- list(session_run_hook(), fail)
  expect_error(train(mtcars_model(), mtcars_input(), hooks = hooks), "hooks[[2]]", fixed = TRUE)
})

test_that("an object that only has methods is accepted without a warning", {
  object <- new.env()
  object$end <- function(session) NULL
  expect_no_warning(train(mtcars_model(), mtcars_input(), steps = 1, hooks = object))
})

test_that("lists and objects with the methods are hooks", {
  count <- 0
  methods <- list(after_run = function(context, values) count <<- count + 1)
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = methods)
  train(
    mtcars_model(),
    mtcars_input(),
    steps = 2,
    hooks = list(methods, hook_nan_tensor("global_step:0"))
  )
  object <- new.env()
  object$after_run <- methods$after_run
  object$helper <- function() NULL
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = list(object))
  expect_equal(count, 6)
  generator <- setRefClass("CountingHook",
    fields = list(n = "numeric"),
    methods = list(after_run = function(context, values) n <<- n + 1)
  )
  counter <- generator$new(n = 0)
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = list(counter))
  expect_equal(counter$n, 2)
})

test_that("a misspelt method is an error when the hook is created", {
  expect_error(session_run_hook(befor_run = function(context) NULL), "befor_run")
  bad_hook <- list(after_run = function(context, values) NULL, befor_run = function(context) NULL)
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = bad_hook), "no method \"befor_run\"",
    class = "runhooks_error_invalid_argument"
  )
  object <- new.env()
  object$after_run <- function(context, values) NULL
  object$before_runn <- function(context) NULL
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = list(object)), "no method \"before_runn\"",
    class = "runhooks_error_invalid_argument"
  )
})

test_that("a saver of the user replaces the default one, with a message", {
  folder <- withr::local_tempdir()
  model <- mtcars_model(model_dir = folder, save_checkpoints_steps = 1)
  saver <- hook_checkpoint_saver(folder, save_steps = 10)
  expect_message(train(model, mtcars_input(), steps = 3, hooks = saver), "replaces the saver")
  expect_setequal(
    list.files(folder, "[.]index$"), c("model.ckpt-0.index", "model.ckpt-3.index")
  )
})

test_that("an interrupt is reported in one line, and the history so far is available", {
  model <- mtcars_model()
  stop_at <- session_run_hook(after_run = function(context, values) {
    if (context$session$run("global_step:0") == 7) rlang::interrupt()
  })
  run <- function() {
    train(
      model, mtcars_input(num_epochs = NULL), hooks = list(stop_at, hook_history_saver(1))
    )
  }
  message <- expect_message(
    tryCatch(run(), interrupt = function(condition) NULL),
    class = "runhooks_message_interrupted"
  )
  expect_equal(
    conditionMessage(message), "Stopped at step 7 and saved a checkpoint; train() continues from it."
  )
  expect_s3_class(last_history(), "tf_estimator_history")
  expect_gte(length(last_history()$step), 6)
  bad <- session_run_hook(after_run = function(context, values) stop("bad"))
  expect_error(train(model, mtcars_input(), hooks = bad), "bad")
  history <- train(model, mtcars_input(num_epochs = NULL), steps = 2)
  expect_identical(last_history(), history)
  # Without checkpoints, the message does not promise that training can resume.
  unsaved <- mtcars_model(save_checkpoints_steps = NULL, save_checkpoints_secs = NULL)
  expect_message(
    tryCatch(
      train(
        unsaved, mtcars_input(num_epochs = NULL),
        hooks = session_run_hook(after_run = function(context, values) rlang::interrupt())
      ),
      interrupt = function(condition) NULL
    ),
    "without saving", class = "runhooks_message_interrupted"
  )
})

test_that("an error about a diverging loss appends advice to TensorFlow's message", {
  model <- linear_regressor(
    column_numeric("disp"), optimizer = tf$train$GradientDescentOptimizer(0.5)
  )
  caught <- tryCatch(
    train(model, input_fn(mpg ~ disp, mtcars, batch_size = 8, num_epochs = NULL), steps = 1000),
    runhooks_error_nan_loss = identity
  )
  lines <- strsplit(conditionMessage(caught), "\n")[[1]]
  expect_equal(lines[[1]], "NaN loss during training.")
  expect_match(lines, "Try a lower learning rate than 0.5, for example 0.05", all = FALSE)
  expect_match(lines, "scale", all = FALSE)
  expect_match(lines, "loss_reduction = \"mean\"", all = FALSE)
})
