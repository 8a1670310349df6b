test_that("the package does not use Python", {
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

test_that("tf_config() works even if the installed files are gone", {
  skip_if_not_installed("processx")
  lib <- withr::local_tempdir()
  dir.create(file.path(lib, "runhooks"))
  parts <- c("DESCRIPTION", "INDEX", "Meta", "NAMESPACE", "R", "libs")
  file.copy(
    file.path(getNamespaceInfo("runhooks", "path"), parts), file.path(lib, "runhooks"),
    recursive = TRUE
  )
  # The package folder is renamed, as happens while another version is installed.
  script <- sprintf("
    library(runhooks, lib.loc = '%s')
    invisible(tf_config()) # R 4.7 cannot load more functions of a removed package
    renamed <- file.rename('%s/runhooks', '%s/elsewhere')
    config <- tf_config()
    cat(config$engine, basename(config$location))", lib, lib, lib)
  result <- processx::run(child_rscript(), c("-e", script), env = child_env(), error_on_status = FALSE)
  expect_identical(
    result$stdout, paste("runhooks", getNamespaceVersion("runhooks"), "runhooks"), info = result$stderr
  )
})

test_that("glimpse() is tibble's", {
  expect_output(glimpse(mtcars), "Rows: 32")
})

test_that("use_session_with_seed() makes a script reproducible", {
  draw <- function() {
    suppressMessages(use_session_with_seed(42))
    c(runif(1), tf$Session()$run(tf$random_uniform(shape(2L))))
  }
  expect_identical(draw(), draw())
  expect_message(
    use_session_with_seed(42), "Set session seed to 42 (disabled GPU, CPU parallelism)",
    fixed = TRUE
  )
  expect_silent(use_session_with_seed(1, quiet = TRUE))
  expect_error(use_session_with_seed("a"), class = "runhooks_error_invalid_argument")
  expect_error(keras_model_to_estimator(1), "tf\\$layers", class = "runhooks_error_unimplemented")
})
