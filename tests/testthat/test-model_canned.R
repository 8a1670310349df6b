two_columns <- function() feature_columns(column_numeric("drat"), column_numeric("cyl"))

test_that("canned estimators have tfestimators' classes and descriptions", {
  model <- dnn_linear_combined_regressor(
    linear_feature_columns = two_columns(), dnn_feature_columns = two_columns(),
    dnn_hidden_units = 4
  )
  expect_s3_class(model, c(
    "tf_estimator_dnn_linear_combined_regressor", "tf_estimator_regressor", "tf_estimator"
  ), exact = TRUE)
  expect_output(print(model), "A TensorFlow regressor \\[DNNLinearCombinedRegressor\\]")
  model <- dnn_classifier(c(10, 20), two_columns())
  expect_s3_class(model, c(
    "tf_estimator_classifier_dnn_classifier", "tf_estimator_classifier", "tf_estimator"
  ), exact = TRUE)
  expect_output(print(model), "A TensorFlow classifier \\[DNNClassifier\\]")
  expect_equal(model$args$hidden_units, c(10, 20))
})

test_that("arguments of canned estimators are validated by name", {
  columns <- two_columns()
  expect_error(dnn_regressor(0, columns), "hidden_units.*positive whole")
  expect_error(dnn_regressor(c(3, 2.5), columns), "hidden_units.*positive whole")
  expect_error(
    dnn_regressor(3, columns, activation_fn = "reluu"),
    "'reluu' is not a known activation function in the 'tf$nn' module", fixed = TRUE
  )
  expect_error(dnn_regressor(3, columns, dropout = 1), "dropout.*below 1")
  expect_error(dnn_regressor(3, columns, batch_norm = 1), "batch_norm.*TRUE or FALSE")
  expect_error(linear_classifier(columns, n_classes = 1), "n_classes.*2 or more")
  expect_error(linear_classifier(columns, n_classes = "3"), "n_classes.*whole number")
  expect_error(linear_classifier(columns, optimizer = "Nobody"), "cannot be \"Nobody\"")
  expect_error(dnn_linear_combined_regressor(), "Either linear_feature_columns or dnn_feature_co")
  expect_error(
    dnn_linear_combined_regressor(dnn_feature_columns = columns),
    "dnn_hidden_units must be defined when dnn_feature_columns is specified"
  )
  expect_error(baseline_regressor(loss_reduction = "max"), "loss_reduction.*max")
  expect_error(linear_regressor(columns, sparse_combiner = "max"), "sparse_combiner.*one of")
  expect_error(linear_regressor(list()), "at least one column")
})

test_that("an activation can be a function or a symbol of tf$nn", {
  weights <- lapply(list("tanh", tf$nn$tanh, function(x) tf$tanh(x)), function(activation) {
    model <- dnn_regressor(
      3, two_columns(), activation_fn = activation, config = run_config(tf_random_seed = 2)
    )
    train(model, mtcars_input(shuffle = FALSE), steps = 3)
    variable_value(model)
  })
  expect_equal(weights[[2]], weights[[1]])
  expect_equal(weights[[3]], weights[[1]])
})

test_that("dropout is active in training only, and follows the seed", {
  fit <- function(seed) {
    model <- dnn_regressor(
      c(8, 8), two_columns(), dropout = 0.5, config = run_config(tf_random_seed = seed)
    )
    train(model, mtcars_input(shuffle = FALSE), steps = 3)
    model
  }
  first <- fit(1)
  expect_equal(variable_value(fit(1)), variable_value(first))
  # Without dropout, the initial values are the same, but the trained weights differ.
  without <- dnn_regressor(c(8, 8), two_columns(), config = run_config(tf_random_seed = 1))
  train(without, mtcars_input(shuffle = FALSE), steps = 3)
  expect_false(isTRUE(all.equal(variable_value(without), variable_value(first))))
  twice <- replicate(2, unlist(predict(first, mtcars_input())$predictions))
  expect_equal(twice[, 1], twice[, 2])
})

test_that("a first training can start from the variables of another model", {
  first <- dnn_regressor(4, two_columns(), config = run_config(tf_random_seed = 1))
  train(first, mtcars_input(), steps = 5)
  start <- function(...) {
    model <- dnn_regressor(
      4, two_columns(), config = run_config(tf_random_seed = 9), optimizer = "SGD", ...
    )
    initial <- NULL
    look <- session_run_hook(after_create_session = function(session, coord) {
      initial <<- session$run(list(
        kernel = "dnn/hiddenlayer_0/kernel:0", bias = "dnn/hiddenlayer_0/bias:0",
        logits = "dnn/logits/kernel:0"
      ))
    })
    train(model, mtcars_input(), steps = 1, hooks = look)
    initial
  }
  own <- start()
  kernel <- variable_value(first, "dnn/hiddenlayer_0/kernel")[[1]]
  logits <- variable_value(first, "dnn/logits/kernel")[[1]]
  expect_false(isTRUE(all.equal(own$kernel, kernel)))
  expect_equal(start(warm_start_from = model_dir(first))$kernel, kernel)
  expect_equal(start(warm_start_from = latest_checkpoint(model_dir(first)))$kernel, kernel)
  only_logits <- start(warm_start_from = warm_start_settings(model_dir(first), "dnn/logits.*"))
  expect_equal(only_logits$kernel, own$kernel)
  expect_equal(only_logits$logits, logits)
  renamed <- warm_start_settings(
    model_dir(first), "dnn/hiddenlayer_0/bias",
    list("dnn/hiddenlayer_0/bias" = "dnn/hiddenlayer_0/bias/t_0/Adagrad")
  )
  slot <- variable_value(first, "dnn/hiddenlayer_0/bias/t_0/Adagrad")[[1]]
  expect_equal(start(warm_start_from = renamed)$bias, slot)
  model <- dnn_regressor(4, two_columns(), warm_start_from = model_dir(first))
  train(model, mtcars_input(), steps = 1)
  before <- variable_value(model, "dnn/hiddenlayer_0/kernel")[[1]]
  look <- session_run_hook(after_create_session = function(session, coord) {
    expect_equal(session$run("dnn/hiddenlayer_0/kernel:0"), before)
  })
  train(model, mtcars_input(), steps = 1, hooks = look)
})

test_that("invalid warm starts are errors", {
  first <- linear_regressor(two_columns())
  train(first, mtcars_input(), steps = 1)
  fit <- function(from, columns = two_columns()) {
    train(linear_regressor(columns, warm_start_from = from), mtcars_input(), steps = 1)
  }
  expect_error(fit(tempdir()), "no checkpoint to start from", class = "runhooks_error_not_found")
  expect_error(
    train(
      linear_regressor(column_numeric("hp"), warm_start_from = model_dir(first)),
      input_fn(mpg ~ hp, mtcars)
    ),
    "hp/weights not found", class = "runhooks_error_not_found"
  )
  expect_error(
    fit(warm_start_settings(model_dir(first), ".*", list(nobody = "drat"))), "names 'nobody'"
  )
  expect_error(fit(warm_start_settings(model_dir(first), "(")), "not a valid regular expression")
  expect_error(linear_regressor(two_columns(), warm_start_from = 3), "warm_start_from")
})

test_that("loss reductions accept TensorFlow's spellings", {
  first_loss <- function(reduction) {
    model <- linear_regressor(
      column_numeric("x"), loss_reduction = reduction,
      optimizer = tf$train$GradientDescentOptimizer(0)
    )
    input <- input_fn(data.frame(x = c(1, 2, 3, 4), y = c(2, 4, 4, 6)), x, y)
    train(model, input, steps = 1)
    evaluate(model, input)$loss
  }
  constants <- tf$losses$Reduction
  spellings <- list(
    c(72, "sum", "SUM", constants$SUM),
    c(18, "mean", "MEAN", constants$MEAN),
    c(18, "sum_over_batch_size", "SUM_OVER_BATCH_SIZE", constants$SUM_OVER_BATCH_SIZE),
    c(18, "sum_over_nonzero_weights", "SUM_OVER_NONZERO_WEIGHTS", constants$SUM_BY_NONZERO_WEIGHTS)
  )
  for (spelling in spellings) {
    for (reduction in spelling[-1]) {
      expect_identical(first_loss(reduction), as.numeric(spelling[[1]]), label = reduction)
    }
  }
})

test_that("a NULL activation is linear, and NULL hidden units give no hidden layer", {
  data <- data.frame(x = c(-1, -2, 3), y = 0)
  model <- function(...) {
    dnn_regressor(
      feature_columns = column_numeric("x"), config = run_config(tf_random_seed = 3),
      model_dir = withr::local_tempdir(.local_envir = parent.frame()), ...
    )
  }
  input <- input_fn(data, features = x, response = y, batch_size = 3)
  # With the identity as activation, the next layer gets negative and positive sums unchanged.
  parts <- list()
  hook <- session_run_hook(
    before_run = function(context) {
      session_run_args(list("dnn/hiddenlayer_0/BiasAdd:0", "dnn/logits/MatMul:0"))
    },
    after_run = function(context, values) parts <<- values$results[[1]]
  )
  weights <- function(model) model$estimator$get_variable_value("dnn/logits/kernel")
  linear <- model(hidden_units = c(layer = 2), activation_fn = NULL)
  train(linear, input, steps = 1)
  evaluate(linear, input, hooks = hook)
  expect_true(any(parts[[1]] < 0))
  expect_equal(parts[[1]] %*% weights(linear), parts[[2]], tolerance = 1e-6)

  for (none in list(integer(), list())) {
    flat <- model(hidden_units = none)
    train(flat, input, steps = 1)
    names <- flat$estimator$get_variable_names()
    expect_setequal(
      grep("Adagrad|global_step", names, invert = TRUE, value = TRUE),
      c("dnn/logits/bias", "dnn/logits/kernel")
    )
  }
  expect_error(
    dnn_linear_combined_regressor(
      dnn_feature_columns = column_numeric("x"), dnn_hidden_units = integer()
    ),
    "dnn_hidden_units must be defined when dnn_feature_columns is specified"
  )
})

test_that("estimators and heads ignore the names of vectors", {
  x <- column_numeric("x")
  folder <- function() withr::local_tempdir(.local_envir = parent.frame())
  as_given <- function(...) {
    dnn_classifier(
      feature_columns = list(first = x), n_classes = c(n = 3), model_dir = folder(), ...
    )$spec
  }
  expect_identical(
    as_given(
      hidden_units = c(a = 4, b = 2), label_vocabulary = c(u = "p", v = "q", w = "r")
    )[c("hidden_units", "label_vocabulary", "feature_columns")],
    list(hidden_units = c(4, 2), label_vocabulary = c("p", "q", "r"), feature_columns = list(x))
  )
  expect_identical(as_given(hidden_units = list(a = 4, b = 2))$hidden_units, c(4, 2))
  expect_identical(
    unclass(binary_class_head(thresholds = c(low = 0.2, high = 0.7)))$thresholds, c(0.2, 0.7)
  )
  heads <- list(a = regression_head(name = "a"), b = regression_head(name = "b"))
  expect_identical(
    unclass(multi_head(heads, head_weights = c(a = 1, b = 2)))[c("heads", "head_weights")],
    list(heads = unname(heads), head_weights = c(1, 2))
  )
  expect_snapshot_text({
    as_given(hidden_units = list(c(4, 2)))
    as_given(hidden_units = c(4, NA))
    as_given(hidden_units = 2, label_vocabulary = list(c("a", "b"), "c"))
    binary_class_head(thresholds = list(0.2, 2))
  })
})

test_that("a number outside the core's range is an error", {
  model <- mtcars_model()
  expect_too_large <- function(expr) {
    expect_error(expr, "2\\^53", class = "runhooks_error_invalid_argument")
  }
  expect_too_large(train(model, mtcars_input(), steps = 1e300))
  expect_too_large(train(model, mtcars_input(), max_steps = 2^60))
  expect_too_large(evaluate(model, mtcars_input(), steps = 1e300))
  expect_too_large(mtcars_input(batch_size = 1e300))
  expect_too_large(mtcars_input(num_epochs = 1e300))
  expect_too_large(run_config(tf_random_seed = 1e300))
  expect_too_large(run_config(save_checkpoints_steps = 1e300))
  expect_too_large(run_config(save_summary_steps = 1e300))
  expect_too_large(run_config(keep_checkpoint_max = 1e300))
  expect_too_large(run_config(log_step_count_steps = 1e300))
  expect_too_large(hook_stop_at_step(num_steps = 1e300))
  expect_too_large(hook_stop_at_step(last_step = 1e300))
  expect_too_large(hook_checkpoint_saver(tempdir(), save_steps = 1e300))
  expect_too_large(hook_summary_saver(save_steps = 1e300, output_dir = tempdir()))
  expect_too_large(hook_step_counter(every_n_steps = 1e300))
  expect_too_large(hook_logging_tensor(list(a = "loss"), every_n_iter = 1e300))
  expect_too_large(hook_global_step_waiter(1e300))
  expect_too_large(linear_regressor(column_numeric("x"), label_dimension = 1e300))
  expect_too_large(tf$set_random_seed(1e300))
})
