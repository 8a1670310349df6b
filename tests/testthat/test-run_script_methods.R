# Evaluates code as a script does, outside the package's namespace.
in_script <- function(code) eval(substitute(code), as.list(parent.frame()), globalenv())

test_that("a model has the methods of a Python estimator", {
  model <- mtcars_model(model_dir = withr::local_tempdir())
  input <- mtcars_input()
  expect_identical(model$train(input, steps = 1), model)
  in_script(model$estimator$train(input, max_steps = 2))
  metrics <- model$evaluate(input)
  expect_type(metrics, "list")
  expect_equal(metrics$global_step, 2)
  expect_equal(
    unlist(iterate(model$predict(input))), unlist(predict(model, input)), ignore_attr = TRUE
  )
  expect_identical(model$get_variable_names(), variable_names(model))
  expect_equal(in_script(model$estimator$get_variable_value("global_step")), 2)
  expect_identical(model$latest_checkpoint(), latest_checkpoint(model_dir(model)))
})

test_that("other members are errors that suggest a name", {
  model <- mtcars_model()
  expect_error(in_script(model$trian), "Did you mean \"train\"", class = "runhooks_error_not_found")
  expect_error(in_script(model$estimator$nothing), class = "runhooks_error_not_found")
})
