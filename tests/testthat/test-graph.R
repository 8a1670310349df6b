set.seed(1)

expect_wrong_item <- function(expr, collection, words) {
  expect_error(
    expr, sprintf("collection \"%s\" must be %s", collection, words),
    fixed = TRUE, class = "runhooks_error_invalid_argument"
  )
}

test_that("an invalid item of a collection is an error that names the collection and the item", {
  with(tf$Graph()$as_default(), {
    tf$add_to_collection("init_op", tf$constant(1, name = "one"))
    expect_wrong_item(
      tf$train$Scaffold()$finalize(), "init_op", "an operation, not a tensor 'one:0'"
    )
  })
  with(tf$Graph()$as_default(), {
    tf$add_to_collection("savers", tf$constant(1, name = "one"))
    expect_wrong_item(
      tf$train$Scaffold()$finalize(), "savers", "a saver, not a tensor 'one:0'"
    )
  })
  with(tf$Graph()$as_default(), {
    tf$add_to_collection("iterators", "text")
    x <- tf$constant(1)
    hook <- session_run_hook(after_run = function(context, values) context$rows)
    expect_wrong_item(
      with(tf$train$MonitoredSession(hooks = hook) %as% session, session$run(x)), "iterators",
      "a tensor, not a string 'text'"
    )
  })
  with(tf$Graph()$as_default(), {
    v <- tf$get_variable("v", shape = 1L)
    tf$add_to_collection("global_step_read_op_cache", v)
    tf$train$get_or_create_global_step()
    expect_wrong_item(
      with(tf$train$MonitoredSession(hooks = hook_stop_at_step(num_steps = 1)) %as% s, s$run(v)),
      "global_step_read_op_cache", "a tensor, not a variable 'v:0'"
    )
  })
})

test_that("invalid items of collections that an export reads are errors", {
  model <- function(features, labels, mode, params) {
    predictions <- tf$cast(features$x, tf$float32)
    tf$add_to_collection(params$collection, params$item())
    estimator_spec(
      mode, predictions = list(y = predictions), loss = tf$reduce_sum(predictions),
      train_op = tf$assign_add(tf$train$get_or_create_global_step(), 1L),
      export_outputs = list(serving_default = tf$estimator$export$PredictOutput(predictions))
    )
  }
  exported <- function(collection, item) {
    folder <- withr::local_tempdir()
    est <- estimator(model, folder, params = list(collection = collection, item = item))
    input <- numpy_input_fn(list(x = array(1:4)), y = array(1:4), batch_size = 2, shuffle = FALSE)
    suppressWarnings(train(est, input, steps = 1, hooks = NULL))
    receiver <- function() {
      x <- tf$placeholder(tf$float32, shape = list(NULL), name = "x")
      tf$estimator$export$ServingInputReceiver(list(x = x), list(x = x))
    }
    export_savedmodel(est, withr::local_tempdir(), receiver)
  }
  expect_wrong_item(
    exported("asset_filepaths", function() tf$no_op(name = "nothing")), "asset_filepaths",
    "a tensor, not an operation 'nothing'"
  )
  expect_wrong_item(
    exported("table_initializer", function() tf$constant(1, name = "one")), "table_initializer",
    "an operation, not a tensor 'one:0'"
  )
})

test_that("every collection can be inspected", {
  model <- mtcars_model()
  inspect <- session_run_hook(begin = function() {
    graph <- tf$get_default_graph()
    for (name in graph$get_all_collection_keys()) graph$get_collection(name)
    expect_identical(
      unlist(graph$get_collection("optional_in_checkpoints")), "signal_early_stopping/STOP"
    )
  })
  stop <- hook_stop_if_no_decrease(model, "average_loss", 1000)
  expect_warning(
    train(model, mtcars_input(), steps = 1, hooks = list(stop, inspect)), "never saw the metric",
    class = "runhooks_warning_early_stopping"
  )
})

test_that("errors that leave the core are classed conditions that name their source", {
  expect_error(
    cpp_test_throw("std"), "cpp_test_throw\\(\\) raised std::out_of_range: on purpose",
    class = "runhooks_error_internal"
  )
  expect_error(
    cpp_test_throw("any"), "cpp_test_throw\\(\\) raised int",
    class = "runhooks_error_internal"
  )
})
