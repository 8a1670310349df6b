test_that("a model prints its type and its progress", {
  model <- mtcars_model(model_dir = file.path(withr::local_tempdir(), "m"))
  output <- capture.output(print(model))
  expect_equal(output, c(
    "A TensorFlow regressor [LinearRegressor]", paste(
      "Model Directory:", model_dir(model)
    ), "Model has not yet been trained."
  ))
  train(model, mtcars_input(), steps = 1)
  expect_output(print(model), "Model has been trained for 1 step.", fixed = TRUE)
  train(model, mtcars_input(), steps = 2)
  expect_output(str(model), "Model has been trained for 3 steps.", fixed = TRUE)
})

test_that("class, arguments and members match existing scripts", {
  model <- linear_regressor(column_numeric("drat"), model_dir = "/some/folder", label_dimension = 1)
  expect_s3_class(
    model, c("tf_estimator_regressor_linear_regressor", "tf_estimator_regressor", "tf_estimator"),
    exact = TRUE
  )
  expect_equal(model_dir(model), "/some/folder")
  expect_equal(model$estimator$model_dir, "/some/folder")
  expect_equal(model$estimator$config$save_summary_steps, 100)
  expect_equal(model$args$label_dimension, 1)
  expect_equal(model$args$optimizer, "Ftrl")
})

test_that("a model without a folder gets its own folder in tempdir()", {
  one <- linear_regressor(column_numeric("drat"))
  two <- linear_regressor(column_numeric("drat"))
  expect_false(model_dir(one) == model_dir(two))
  expect_true(startsWith(model_dir(one), tempdir()))
  expect_false(dir.exists(model_dir(one)))
})

test_that("a model survives saveRDS() and resumes from its folder", {
  model <- mtcars_model()
  train(model, mtcars_input(), steps = 2)
  file <- withr::local_tempfile()
  saveRDS(model, file)
  expect_lt(file.size(file), 20000)
  back <- readRDS(file)
  expect_equal(predict(back, mtcars_input()), predict(model, mtcars_input()))
  train(back, mtcars_input(), steps = 1)
  expect_equal(variable_value(back, "global_step"), list(global_step = 3))
})

test_that("invalid arguments of linear_regressor() are errors", {
  expect_snapshot_text({
    linear_regressor("drat")
    linear_regressor(list())
    linear_regressor(list(column_numeric("drat"), 5))
    linear_regressor(column_numeric("drat"), optimizer = "Adamm")
    linear_regressor(column_numeric("drat"), label_dimension = 0)
    linear_regressor(column_numeric("drat"), loss_reduction = "product")
    linear_regressor(column_numeric("drat"), model_dir = 1)
    linear_regressor(column_numeric("drat"), weight_column = 3)
    linear_regressor(column_numeric("drat"), config = list())
    linear_regressor(column_numeric("drat"), model_dir = "/a", config = run_config(model_dir = "/b"))
  })
})

test_that("the graph has TensorFlow's names, collections and shapes", {
  names <- list()
  hook <- session_run_hook(after_create_session = function(session, coord) {
    graph <- session$graph
    names$operations <<- vapply(graph$get_operations(), function(op) op$name, "")
    for (key in c(
      "variables", "trainable_variables", "losses", "global_step", "summaries", "summary_op"
    )) {
      names[[key]] <<- vapply(graph$get_collection(key), function(x) x$name, "")
    }
    names$logits <<- format(
      graph$get_tensor_by_name("linear/linear_model/linear_model/linear_model/weighted_sum:0")
    )
  })
  train(mtcars_model(), mtcars_input(), steps = 1, hooks = hook)
  expect_true(all(c(
    "linear/linear_model/bias_weights", "linear/linear_model/cyl/weights",
    "linear/head/weighted_loss/Sum", "linear/head/mean_squared_error/Mul", "linear/head/Ftrl",
    "linear/linear_model/linear_model/linear_model/cyl/weighted_sum"
  ) %in% names$operations))
  expect_equal(names$losses, c(
    "linear/head/mean_squared_error/Mul:0", "linear/head/weighted_loss/Sum:0",
    "linear/head/weighted_loss/Sum:0"
  ))
  expect_equal(names$trainable_variables, paste0("linear/linear_model/", c(
    "cyl/weights/part_0:0", "drat/weights/part_0:0", "bias_weights/part_0:0"
  )))
  expect_equal(names$variables[[5]], "linear/linear/linear_model/cyl/weights/part_0/Ftrl:0")
  expect_equal(names$global_step, "global_step:0")
  expect_equal(names$summaries, c(
    "linear/bias:0", "linear/fraction_of_zero_weights:0", "loss:0", "average_loss:0"
  ))
  expect_equal(names$summary_op, "Merge/MergeSummary:0")
  expect_match(names$logits, "shape=(?, 1), dtype=float32", fixed = TRUE)
})

test_that("a member that other models have is an error with the function to use", {
  model <- linear_regressor(mpg ~ wt, mtcars)
  member <- function(name) eval(call("$", model, name), globalenv())
  expect_error(member("coefficients"), "no member.*coef\\(model\\)", class = "runhooks_error_not_found")
  expect_error(member("fitted.values"), "fitted\\(model\\)", class = "runhooks_error_not_found")
  expect_error(member("formla"), "Did you mean \"formula\"", class = "runhooks_error_not_found")
})
