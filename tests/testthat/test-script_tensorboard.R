test_that("TensorBoard is started if installed, and stopped", {
  folder <- withr::local_tempdir()
  expect_error(
    tensorboard(file.path(folder, "none")), "does not exist", class = "runhooks_error_not_found"
  )
  withr::with_path(folder, action = "replace", {
    expect_error(
      tensorboard(folder), "pip install tensorboard", class = "runhooks_error_not_found"
    )
  })
  skip_on_os("windows") # scripts have no shebang there
  program <- file.path(folder, "tensorboard")
  log <- file.path(folder, "log")
  writeLines(c("#!/bin/sh", sprintf("echo \"$@\" > '%s.new'", log),
    sprintf("mv '%s.new' '%s'", log, log), "exec sleep 60"
  ), program)
  Sys.chmod(program, "755")
  withr::local_path(folder)
  expect_message(
    address <- tensorboard(folder, port = 6123, launch_browser = FALSE, reload_interval = 5),
    "http://127.0.0.1:6123/"
  )
  expect_identical(address, "http://127.0.0.1:6123/")
  process <- the$tensorboards[[1]]
  for (i in 1:100) if (file.exists(log)) break else Sys.sleep(0.05)
  expect_identical(
    readLines(log),
    sprintf(
      "--logdir=%s --host=127.0.0.1 --port=6123 --reload_interval=5", normalizePath(folder)
    )
  )
  expect_true(process$is_alive())
  tensorboard(action = "stop")
  expect_false(process$is_alive())
})
