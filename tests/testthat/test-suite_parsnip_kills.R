# Fits of parsnip that are interrupted or killed, with `model_dir`.

skip_if_not_installed("parsnip", "1.5.0")

test_that("an interrupted fit continues with the same bits", {
  stop_at <- function(step) {
    n <- 0
    session_run_hook(after_run = function(context, values) {
      n <<- n + 1
      if (n == step) rlang::interrupt()
    })
  }
  fit_in <- function(spec, folder, hook = NULL) {
    spec <- parsnip::set_engine(spec, "runhooks", seed = 4, model_dir = folder, hooks = hook)
    generics::fit(spec, mpg ~ wt + hp, mtcars)
  }
  for (spec in list(
    parsnip::mlp("regression", hidden_units = 4, epochs = 20, dropout = 0.2),
    parsnip::mlp("regression", hidden_units = 4),
    parsnip::boost_tree("regression", trees = 10, tree_depth = 3),
    parsnip::linear_reg(penalty = 1)
  )) {
    folder <- withr::local_tempdir()
    whole <- fit_in(spec, withr::local_tempdir())
    result <- tryCatch(
      fit_in(spec, folder, stop_at(3)), interrupt = function(condition) "interrupted"
    )
    expect_identical(result, "interrupted")
    again <- fit_in(spec, folder)
    expect_identical(predict(again, mtcars), predict(whole, mtcars), label = class(spec)[[1]])
    expect_length(list.dirs(folder, recursive = FALSE), 1)
  }
})

test_that("a grid of 40 fits that was killed ends with the metrics of one that was not", {
  skip_on_cran()
  skip_on_os("windows")
  skip_if_not_installed("tune", "2.0.0")
  skip_if_not_installed("workflows")
  skip_if_not_installed("rsample")
  skip_if_not_installed("yardstick")
  start <- function(folder, file) {
    processx::process$new(
      child_rscript(), c(test_path("parsnip_grid.R"), folder, file), env = child_env()
    )
  }
  folder <- withr::local_tempdir()
  whole <- withr::local_tempfile()
  start(withr::local_tempdir(), whole)$wait(240000)
  finished <- function() length(Sys.glob(file.path(folder, "*", "finished_fit")))
  file <- withr::local_tempfile()
  withr::local_seed(property_seed("kills of a grid"))
  # kills the process after a random number of complete fits, at a random moment of the next one
  for (fits in sort(sample(0:36, 3))) {
    pause <- stats::runif(1, 0, 0.2)
    process <- start(folder, file)
    deadline <- Sys.time() + 120
    while (finished() < fits && process$is_alive() && Sys.time() < deadline) Sys.sleep(0.005)
    Sys.sleep(pause)
    process$kill() # SIGKILL
    expect_false(file.exists(file), info = fits)
  }
  start(folder, file)$wait(240000)
  expect_identical(finished(), 40L)
  expect_identical(readRDS(file), readRDS(whole))
})
