# Checkpoints contain the state of random operations, so a resumed run equals an uninterrupted one.

in_parts <- function(make, calls, input, seed = 3) {
  set.seed(seed)
  model <- make(tempfile())
  for (steps in calls) {
    suppressMessages(train(model, input, steps = steps))
    stats::runif(1) # scripts may draw numbers in between
  }
  model
}

expect_same_parts <- function(make, input = ordered_rows()) {
  whole <- variable_value(in_parts(make, 12, input))
  expect_identical(variable_value(in_parts(make, c(4, 5, 3), input)), whole)
  # Another seed gives other numbers, so random numbers are used.
  expect_false(identical(variable_value(in_parts(make, 12, input, seed = 4)), whole))
}

ordered_rows <- function() {
  input_fn(mpg ~ wt + hp, mtcars, batch_size = 32, shuffle = FALSE, num_epochs = NULL)
}

test_that("dropout of canned models resumes", {
  columns <- list(column_numeric("wt"), column_numeric("hp"))
  for (seed in list(NULL, 7)) {
    expect_same_seed <- if (is.null(seed)) expect_same_parts else function(make) {
      input <- ordered_rows()
      whole <- variable_value(in_parts(make, 12, input))
      expect_identical(variable_value(in_parts(make, c(5, 7), input)), whole)
    }
    expect_same_seed(function(folder) {
      config <- run_config(tf_random_seed = seed)
      dnn_regressor(8, columns, model_dir = folder, optimizer = "Adam", dropout = 0.4, config = config)
    })
  }
  expect_same_parts(function(folder) {
    dnn_linear_combined_regressor(
      linear_feature_columns = columns[1], dnn_feature_columns = columns, dnn_hidden_units = 4,
      dnn_dropout = 0.5, model_dir = folder
    )
  })
})

test_that("random numbers of a model function resume, also inside conditionals", {
  for (draw in list(
    function(x) tf$layers$dropout(x, 0.4, training = TRUE),
    function(x) x + tf$random_normal(tf$shape(x), dtype = x$dtype),
    function(x) x * tf$random_uniform(list(), dtype = x$dtype),
    function(x) tf$random_shuffle(x),
    function(x) tf$cond(
      tf$random_uniform(list()) > 0.5, function() tf$layers$dropout(x, 0.2, training = TRUE),
      function() x
    )
  )) {
    expect_same_parts(function(folder) {
      estimator(model_dir = folder, function(features, labels, mode) {
        output <- tf$squeeze(tf$layers$dense(draw(features), 1L), 1L)
        loss <- tf$losses$mean_squared_error(labels, output)
        step <- tf$train$AdamOptimizer(0.1)$minimize(loss, tf$train$get_global_step())
        estimator_spec(mode, predictions = output, loss = loss, train_op = step)
      })
    })
  }
})

test_that("random operations of a hook resume", {
  drawn <- function(calls) {
    seen <- list()
    set.seed(8)
    model <- linear_regressor(column_numeric("wt"), model_dir = tempfile())
    for (steps in calls) {
      number <- NULL
      hook <- session_run_hook(
        begin = function() number <<- tf$random_uniform(list()),
        before_run = function(context) session_run_args(number),
        after_run = function(context, values) seen <<- c(seen, values$results)
      )
      suppressMessages(train(model, ordered_rows(), steps = steps, hooks = hook))
    }
    unlist(seen)
  }
  whole <- drawn(6)
  expect_length(unique(whole), 6)
  expect_identical(drawn(c(2, 4)), whole)
})

test_that("a model without random operations saves no positions, and initializers need none", {
  of_ours <- function(model) {
    suppressMessages(train(model, ordered_rows(), steps = 1))
    grep("^runhooks/random/", cpp_checkpoint_names(latest_checkpoint(model_dir(model))), value = TRUE)
  }
  columns <- list(column_numeric("wt"), column_numeric("hp"))
  expect_identical(of_ours(linear_regressor(columns)), character())
  expect_identical(of_ours(dnn_regressor(4, columns)), character())
  own <- of_ours(dnn_regressor(4, columns, dropout = 0.5))
  expect_length(own, 3)
})

test_that("a checkpoint without positions starts new ones, and one without dropout resumes", {
  columns <- list(column_numeric("wt"))
  folder <- withr::local_tempdir()
  suppressMessages(train(dnn_regressor(4, columns, model_dir = folder), ordered_rows(), steps = 2))
  unlink(file.path(folder, "runhooks.data"))
  dropping <- dnn_regressor(4, columns, model_dir = folder, dropout = 0.5)
  suppressMessages(train(dropping, ordered_rows(), steps = 2))
  expect_equal(variable_value(dropping, "global_step")[[1]], 4)
  expect_false(any(startsWith(variable_names(dropping), "runhooks/")))
  plain <- dnn_regressor(4, columns, model_dir = folder)
  unlink(file.path(folder, "runhooks.data"))
  suppressMessages(train(plain, ordered_rows(), steps = 2))
  expect_equal(variable_value(plain, "global_step")[[1]], 6)
})
