# The core's registration of hooks matches the arguments, checks and help of their constructors.

hooks <- registered("hook")

# Invalid values for each kind of argument.
refused <- list(
  "whole number" = list(1.5, "ten", TRUE, NA, 2^60, c(1, 2)),
  "count" = list(1.5, "ten", TRUE, NA, 0, -1, c(1, 2)),
  "plain number" = list("ten", TRUE, NA_real_),
  "flag" = list(1, "yes", NA, NULL),
  "string" = list(3, NA_character_, c("a", "b")),
  "path" = list(3, NA_character_, TRUE),
  "function" = list(3, "f"),
  "function()" = list(3, "f", function(x) x),
  "tensor" = list(3, NULL, list("loss")),
  "tensors" = list(3, list(3), TRUE),
  "summaries" = list(3, list("loss:0", 3)),
  "saver" = list(3), "scaffold" = list(3), "listeners" = list(3, list(3)),
  "unsupported" = list("x")
)

model <- linear_regressor(column_numeric("drat"), model_dir = tempfile("hook_specs"))
good <- list(
  LoggingTensorHook = list("loss", every_n_iter = 1),
  StopAtStepHook = list(num_steps = 1),
  CheckpointSaverHook = list(tempdir(), save_steps = 1),
  SummarySaverHook = list(save_steps = 1, summary_op = "loss:0"),
  SummaryAtEndHook = list(log_dir = tempdir()),
  NanTensorHook = list("loss"),
  GlobalStepWaiterHook = list(0),
  FeedFnHook = list(function() NULL),
  FinalOpsHook = list("loss:0"),
  ProfilerHook = list(save_steps = 1),
  StepCounterHook = list(every_n_steps = 1),
  HistorySaverHook = list(every_n_step = 1),
  StopAtCheckpointStepHook = list(tempdir(), last_step = 1),
  EarlyStoppingHook = list(model, function() FALSE),
  StopIfHigherHook = list(model, "loss", 1),
  StopIfLowerHook = list(model, "loss", 1),
  StopIfNoIncreaseHook = list(model, "loss", 1),
  StopIfNoDecreaseHook = list(model, "loss", 1),
  StopAfterNEvalsHook = list(num_evals = 1),
  StopWhenConvergedHook = list(warns = FALSE)
)

constructor_of <- function(specs) get(endpoints_of(specs)[[1]])

test_that("constructors have the arguments, order and defaults of the registration", {
  for (specs in hooks) {
    name <- specs$type[[1]]
    takes <- formals(constructor_of(specs))
    # Arguments that only exist in R may come between the registered ones.
    expect_equal(as.list(takes)[specs$name], as.list(registered_formals(specs)), info = name)
    expect_equal(intersect(names(takes), specs$name), specs$name)
  }
})

test_that("each invalid argument is an error that names it when the hook is created", {
  for (specs in hooks) {
    type <- specs$type[[1]]
    make <- constructor_of(specs)
    arguments <- as.list(match.call(make, as.call(c(as.name("f"), good[[type]]))))[-1]
    expect_true(is_hook(do.call(make, arguments)), info = type)
    for (i in which(specs$kind != "any")) {
      bad <- refused[[specs$kind[[i]]]]
      expect_gt(length(bad), 0, label = specs$kind[[i]])
      null_is_good <- identical(specs$default[[i]], "NULL")
      for (x in bad) {
        if (is.null(x) && null_is_good) next
        ill <- arguments
        ill[specs$name[[i]]] <- list(x)
        expect_error(
          do.call(make, ill), paste0("`", specs$name[[i]], "`|saving_listeners"),
          class = "runhooks_error", info = paste(type, specs$name[[i]], deparse(x)[[1]])
        )
      }
    }
  }
})

test_that("the test covers every registered hook that scripts can create", {
  expect_setequal(names(hooks), names(good))
})

test_that("an error shows the call of the constructor", {
  error <- expect_error(hook_stop_at_step("ten"))
  expect_equal(as.character(error$call[[1]]), "hook_stop_at_step")
  error <- expect_error(hook_global_step_waiter(), "`wait_until_step` is missing, with no default")
  expect_equal(as.character(error$call[[1]]), "hook_global_step_waiter")
})

test_that("a specification that was modified by hand is validated again in the loop", {
  hook <- hook_stop_at_step(1)
  hook$nope <- 3
  expect_error(train(mtcars_model(), mtcars_input(), hooks = hook), "Unused argument `nope`")
  hook <- hook_stop_at_step(1)
  hook$num_steps <- "ten"
  expect_error(train(mtcars_model(), mtcars_input(), hooks = hook), "`num_steps` must be a whole")
})

test_that("the help page of a hook takes its arguments from the registration", {
  params <- hook_params("HistorySaverHook")
  expect_match(params[[1]], "^@param every_n_step Record .* In \\\\code\\{\\[1, Inf\\)\\}[.]$")
  # Internal arguments of the core are not documented.
  expect_false(any(grepl("asked_for", hook_params("LoggingTensorHook"))))
})
