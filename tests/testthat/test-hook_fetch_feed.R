test_that("hook_final_ops() returns values in the requested structure", {
  hook <- hook_final_ops(list(step = "global_step:0", more = list(
    "linear/linear_model/bias_weights:0", "global_step"
  )))
  expect_null(hook$final_ops_values)
  model <- mtcars_model()
  train(model, mtcars_input(num_epochs = NULL), steps = 3, hooks = hook)
  expect_equal(hook$final_ops_values$step, 3)
  expect_equal(
    hook$final_ops_values$more[[1]], variable_value(model, "linear/linear_model/bias_weights")[[1]]
  )
  expect_null(hook$final_ops_values$more[[2]])

  one <- tf$train$FinalOpsHook("global_step/read:0", list("global_step/read:0" = 7))
  train(model, mtcars_input(), steps = 1, hooks = one)
  expect_equal(one$final_ops_values, 7)
  nothing <- hook_final_ops(NULL)
  train(model, mtcars_input(), steps = 1, hooks = nothing)
  expect_null(nothing$final_ops_values)
})

test_that("hook_final_ops() explains errors of operations that read data", {
  hook <- hook_final_ops("linear/head/weighted_loss/Sum:0")
  lines <- lines_of_log(expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook), class = "runhooks_error_out_of_range"
  ))
  expect_match(lines, "The data have ended, but the operations of FinalOpsHook", all = FALSE)
  expect_null(hook$final_ops_values)
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook_final_ops("nope:0")),
    class = "runhooks_error_not_found"
  )
})

test_that("hook_feed_fn() feeds the result of its function, which it calls in each run", {
  count <- 0
  feed <- hook_feed_fn(function() {
    count <<- count + 1
    if (count == 3) NULL else list("global_step/read" = 10 * count)
  })
  recorded <- c()
  see <- session_run_hook(
    before_run = function(context) session_run_args("global_step/read:0"),
    after_run = function(context, values) recorded <<- c(recorded, values$results[[1]])
  )
  train(mtcars_model(), mtcars_input(num_epochs = NULL), steps = 4, hooks = list(feed, see))
  expect_equal(recorded, c(10, 20, 2, 40))
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = list(feed, tf$train$FeedFnHook(feed$feed_fn))),
    "Same tensor is fed by two hooks", class = "runhooks_error_failed_precondition"
  )
  expect_error(
    train(mtcars_model(), mtcars_input(), hooks = hook_feed_fn(function() stop("no feed"))),
    "no feed", class = "runhooks_error_hook"
  )
})

test_that("arguments of the other hooks are validated as in TensorFlow", {
  expect_snapshot_text({
    hook_global_step_waiter("ten")
    hook_final_ops(3)
    hook_final_ops("a:0", 3)
    hook_feed_fn(function(x) x)
  })
})

test_that("the results of a first step print and compare like those of later steps", {
  seen <- list()
  look <- session_run_hook(
    before_run = function(context) session_run_args(loss = "loss"),
    after_run = function(context, values) {
      results <- values$results
      seen[[length(seen) + 1]] <<- list(
        shown = length(capture.output(print(results), str(results))),
        equal = isTRUE(all.equal(results, list(loss = results$loss)))
      )
    }
  )
  train(mtcars_model(), mtcars_input(), steps = 2, hooks = look)
  expect_identical(seen[[1]], seen[[2]])
  expect_true(seen[[1]]$equal)
})
