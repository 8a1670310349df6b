test_that("tf$compat$v1 is tf", {
  expect_identical(tf$compat$v1$train$AdamOptimizer, tf$train$AdamOptimizer)
  expect_identical(tf$compat$v1, tf)
  expect_identical(tf$compat$as_text(charToRaw("gr\u00fcn")), "gr\u00fcn")
  expect_identical(tf$compat$as_bytes("ab"), charToRaw("ab"))
})

test_that("estimators and heads have TensorFlow's names", {
  column <- tf$feature_column$numeric_column("wt")
  model <- tf$estimator$LinearRegressor(feature_columns = list(column))
  expect_s3_class(model, "tf_estimator_regressor_linear_regressor")
  input <- tf$estimator$inputs$pandas_input_fn(mtcars["wt"], mtcars$mpg, shuffle = FALSE)
  model$train(input, steps = 1)
  expect_equal(model$evaluate(input)$global_step, 1)
  head <- tf$contrib$estimator$multi_class_head(3)
  made <- tf$estimator$DNNEstimator(head = head, hidden_units = 2, feature_columns = list(column))
  expect_s3_class(made, "tf_estimator")
  expect_identical(tf$contrib$learn$ModeKeys$INFER, "infer")
})

test_that("tf$Print() shows values and passes its input on", {
  with(tf$Graph()$as_default(), {
    x <- tf$constant(matrix(c(1.5, 2, 3, 4), 2))
    shown <- tf$Print(x, list(x, tf$shape(x)), "x is ", first_n = 1)
    session <- tf$Session()
    expect_message(expect_equal(session$run(shown), matrix(c(1.5, 2, 3, 4), 2)),
      "x is [1.5 3 2...][2 2]", fixed = TRUE)
    expect_no_message(session$run(shown))
  })
})

test_that("tf$logging logs some of many calls, and old metrics take predictions first", {
  withr::defer(tf$logging$set_verbosity(tf$logging$WARN))
  tf$logging$set_verbosity(tf$logging$INFO)
  lines <- capture.output(type = "message", {
    for (i in 1:4) tf$logging$log_every_n(tf$logging$INFO, "every %d", 2, i)
    for (i in 1:3) tf$logging$log_first_n(tf$logging$INFO, "first", 1)
    tf$logging$log_if(tf$logging$INFO, "never", FALSE)
  })
  expect_error(
    tf$logging$log_if(tf$logging$INFO, "a", NA), "`condition`", class = "runhooks_error_invalid_argument"
  )
  expect_error(
    tf$logging$log_every_n(tf$logging$INFO, "a", 0), "`n`", class = "runhooks_error_invalid_argument"
  )
  expect_identical(lines, paste0("INFO:tensorflow:", c("every 1", "every 3", "first")))
  with(tf$Graph()$as_default(), {
    pair <- tf$contrib$metrics$streaming_precision(tf$constant(c(1, 1)), tf$constant(c(1, 0)))
    session <- tf$Session()
    session$run(tf$local_variables_initializer())
    expect_equal(session$run(pair[[2]]), 0.5)
  })
})

test_that("checkpoints are waited for, dated and removed", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  train(model, mtcars_input(), steps = 1)
  waits <- tf$train$checkpoints_iterator(model_dir(model), timeout = 0.1)
  newest <- iter_next(waits)
  expect_identical(newest, latest_checkpoint(model_dir(model)))
  expect_null(iter_next(waits))
  train(model, mtcars_input(), steps = 1)
  second <- iter_next(waits)
  expect_match(second, "model.ckpt-2$")
  expect_gt(tf$train$get_checkpoint_mtimes(newest), 1e9)
  tf$train$remove_checkpoint(newest)
  expect_length(list.files(model_dir(model), "ckpt-1[.]"), 0)
})

test_that("errors of all of TensorFlow's codes can be raised", {
  raise <- function(name) stop(tf$errors[[name]](NULL, NULL, "text"))
  expect_error(raise("AlreadyExistsError"), "text", class = "runhooks_error_already_exists")
  expect_error(raise("UnimplementedError"), class = "runhooks_error_unimplemented")
  expect_error(raise("DeadlineExceededError"), class = "runhooks_error_deadline_exceeded")
})
