test_that("nothing of Python is needed", {
  for (f in list(install_tensorflow, use_python, use_virtualenv, use_condaenv)) {
    expect_message(value <- withVisible(f("r-tensorflow", required = TRUE)), "needs neither Python")
    expect_identical(value, list(value = NULL, visible = FALSE))
  }
  expect_true(tf_version() >= "1.3")
  expect_output(print(tf_config()), "no Python")
  expect_identical(import("tensorflow"), tf)
  expect_error(import("numpy"), "np_array", class = "runhooks_error_unimplemented")
  expect_error(import("pandas"), "no Python", class = "runhooks_error_unimplemented")
  expect_error(import(3), "module")
})

test_that("a glimpse is tibble's", {
  expect_output(glimpse(mtcars), "Rows: 32")
})
