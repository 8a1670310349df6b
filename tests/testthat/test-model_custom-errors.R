# Mistakes in model functions. Each error names the tensors and the user's call.

regression_input <- function() {
  list(x = np_array(matrix(1:8 / 8, 4), dtype = "float32")) %>%
    (function(features) {
      function() {
        tensor_slices_dataset(list(features, np_array(1:4 / 4, dtype = "float32"))) %>%
          dataset_repeat() %>%
          dataset_batch(2)
      }
    })()
}

# Creates a model whose `train_op` and loss come from `build(features, labels, mode)`.
model_of <- function(build, predictions = function(features) list(y = features$x)) {
  estimator(function(features, labels, mode) {
    if (mode == "infer") return(estimator_spec(mode, predictions = predictions(features)))
    build(features, labels, mode)
  })
}
train_one <- function(build) train(model_of(build), regression_input(), steps = 1)
step_of <- function(loss) {
  tf$train$GradientDescentOptimizer(0.1)$minimize(loss, tf$train$get_global_step())
}

test_that("a wrong dtype is an error that names both tensors", {
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$losses$mean_squared_error(labels, tf$squeeze(tf$layers$dense(features$x, 1L), 1L))
    features$x + tf$constant(1L)
  }))
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$matmul(features$x, tf$constant(diag(2)))
  }))
})

test_that("incompatible shapes are errors that name them", {
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$matmul(features$x, tf$ones(c(3L, 1L), name = "weights"))
  }))
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$losses$mean_squared_error(labels, tf$ones(c(3L, 5L)))
  }))
})

test_that("uninitialized variables and tensors outside the graph are errors that name them", {
  tf$reset_default_graph()
  v <- tf$get_variable("w", 2L)
  expect_snapshot_text(with(tf$Session() %as% session, session$run(v)))
  expect_snapshot_text(with(tf$Session() %as% session, session$run("nothing:0")))
  expect_snapshot_text(tf$get_default_graph()$get_tensor_by_name("weights:0"))
})

test_that("a specification that lacks a field for its mode is an error that names the field", {
  expect_snapshot_text(train_one(function(features, labels, mode) {
    estimator_spec(mode, predictions = list(y = features$x))
  }))
  expect_snapshot_text(train_one(function(features, labels, mode) {
    estimator_spec(mode, loss = tf$reduce_mean(features$x))
  }))
  expect_snapshot_text(train_one(function(features, labels, mode) list(loss = 1)))
})

test_that("a finalized graph and a tensor of another graph are errors", {
  kept <- NULL
  late <- session_run_hook(before_run = function(context) {
    kept + 1
    NULL
  })
  model <- model_of(function(features, labels, mode) {
    loss <- tf$reduce_mean(tf$layers$dense(features$x, 1L))
    kept <<- loss
    estimator_spec(mode, loss = loss, train_op = step_of(loss))
  })
  expect_snapshot_text(train(model, regression_input(), steps = 1, hooks = late))
  other <- with(tf$Graph()$as_default(), tf$constant(1, name = "elsewhere"))
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$reduce_mean(features$x) + other
  }))
  expect_snapshot_text(train_one(function(features, labels, mode) {
    loss <- tf$reduce_mean(tf$layers$dense(features$x, 1L))
    estimator_spec(mode, loss = other, train_op = step_of(loss))
  }))
})

test_that("unknown and unsupported arguments of a layer are errors", {
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$layers$dense(features$x, 1L, activation_fn = tf$nn$relu)
  }))
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$contrib$layers$batch_norm(features$x, renorm = TRUE)
  }))
  expect_snapshot_text(train_one(function(features, labels, mode) {
    tf$layers$Dense(2L)(features$x, units = 3L)
  }))
})
