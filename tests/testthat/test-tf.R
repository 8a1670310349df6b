test_that("members are found by their path, others are an error", {
  expect_equal(tf$float32$name, "float32")
  expect_true(tf$float32 == "float32")
  expect_true(tf$float32 != tf$float64)
  expect_true("AdamOptimizer" %in% names(tf$train))
  expect_true(all(c("train", "sqrt", "float32") %in% names(tf)))
  expect_error(
    tf$train$Nothing, "tf$train$Nothing", fixed = TRUE, class = "runhooks_error_not_found"
  )
  expect_output(print(tf$train), "module tf.train")
})

run_in_graph <- function(expr) {
  graph <- tf$Graph()
  tensors <- with_graph(graph, expr)
  session <- with_graph(graph, tf$Session())
  on.exit(session$close())
  session$run(tensors)
}

test_that("operations of the registry are functions", {
  expect_equal(run_in_graph(tf$squared_difference(tf$constant(3), tf$constant(5))), 4)
  expect_equal(
    as.vector(run_in_graph(tf$add_n(list(tf$constant(c(1, 2)), tf$constant(c(10, 20)))))), c(11, 22)
  )
  expect_equal(
    run_in_graph(tf$stack(list(tf$constant(1), tf$constant(2)), axis = 0)), array(c(1, 2), 2)
  )
  expect_error(
    run_in_graph(tf$sqrt(x = tf$constant(1L))), class = "runhooks_error_invalid_argument"
  )
})

test_that("constants have the types and shapes of TensorFlow for R", {
  graph <- tf$Graph()
  with_graph(graph, {
    expect_equal(tf$constant(1.5)$dtype$name, "float32")
    expect_equal(tf$constant(2L)$dtype$name, "int32")
    expect_equal(tf$constant(matrix(1, 2, 3))$dtype$name, "float64")
    expect_equal(tf$constant(TRUE)$dtype$name, "bool")
    expect_equal(tf$constant("a")$dtype$name, "string")
    expect_equal(dim(tf$constant(5, dtype = "int64", shape = c(2, 3))), c(2L, 3L))
    expect_equal(tf$constant(1, name = "one")$name, "one:0")
  })
  expect_equal(run_in_graph(tf$constant(matrix(1:6, 2))), matrix(1:6, 2))
  expect_equal(run_in_graph(tf$constant(array(1:24, 2:4))), array(1:24, 2:4))
  expect_equal(run_in_graph(tf$constant(1:6, shape = c(2, 3))), matrix(1:6, 2, byrow = TRUE))
})

test_that("reductions number axes as in TensorFlow", {
  m <- matrix(c(1, 2, 3, 4, 5, 6), 2)
  expect_equal(run_in_graph(tf$reduce_sum(tf$constant(m))), 21)
  expect_equal(as.vector(run_in_graph(tf$reduce_mean(tf$constant(m), axis = 0))), colMeans(m))
  expect_equal(
    dim(run_in_graph(tf$reduce_max(tf$constant(m), axis = 1L, keepdims = TRUE))), c(2L, 1L)
  )
})

test_that("decays follow the global step", {
  graph <- tf$Graph()
  with_graph(graph, {
    step <- tf$train$get_or_create_global_step()
    rate <- tf$train$exponential_decay(0.1, step, 5, 0.5, staircase = TRUE)
    smooth <- tf$train$exponential_decay(0.1, step, 5, 0.5)
    session <- tf$Session()
  })
  at <- function(n) session$run(list(rate, smooth), feed_dict = list("global_step/read:0" = n))
  expect_equal(unlist(at(4)), c(0.1, 0.1 * 0.5^0.8), tolerance = 1e-6)
  expect_equal(unlist(at(11)), c(0.025, 0.1 * 0.5^2.2), tolerance = 1e-6)
  session$close()
})

test_that("errors are conditions to raise", {
  expect_error(
    stop(tf$errors$AbortedError(NULL, NULL, "lost")), "lost", class = "runhooks_error_aborted"
  )
})

test_that("a verbosity is a name or a number", {
  withr::defer(tf$logging$set_verbosity(tf$logging$WARN))
  tf$logging$set_verbosity("ERROR")
  expect_equal(tf$logging$get_verbosity(), tf$logging$ERROR)
  for (wrong in list("LOUD", NA, NULL)) {
    expect_error(tf$logging$set_verbosity(wrong), class = "runhooks_error_invalid_argument")
  }
  expect_equal(tf$logging$get_verbosity(), tf$logging$ERROR)
})

test_that("log lines are filtered by verbosity", {
  expect_equal(tf$logging$get_verbosity(), tf$logging$WARN)
  expect_no_message(tf$logging$info("quiet"))
  expect_message(tf$logging$warn("%d left", 3L), "WARN:tensorflow:3 left\n", fixed = TRUE)
})

test_that("hooks exist under all paths that scripts use", {
  expect_identical(tf$estimator$StopAtStepHook, tf$train$StopAtStepHook)
  hooks <- tf$python$training$basic_session_run_hooks
  expect_identical(hooks$LoggingTensorHook, tf$train$LoggingTensorHook)
  expect_true(all(c("CheckpointSaverHook", "SecondOrStepTimer", "ProfilerHook") %in% names(hooks)))
  expect_identical(tf$estimator$experimental$stop_if_lower_hook, hook_stop_if_lower)
  expect_identical(tf$contrib$estimator$InMemoryEvaluatorHook, hook_in_memory_evaluator)
  expect_identical(tf$estimator$ModeKeys$TRAIN, "train")
  expect_identical(tf$contrib$framework$get_global_step, tf$train$get_global_step)
})

test_that("decoupled optimizers also have names in tf$contrib", {
  expect_identical(
    tf$contrib$opt$AdamWOptimizer(weight_decay = 0.1), tf$train$AdamWOptimizer(weight_decay = 0.1)
  )
  expect_identical(tf$contrib$opt$LAMBOptimizer(), tf$train$LAMBOptimizer())
})
