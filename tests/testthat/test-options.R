test_that("the option bounds the threads, and so does the machine", {
  withr::local_options(runhooks.threads = 1)
  expect_identical(use_threads(), 1L)
  withr::local_options(runhooks.threads = 1e6)
  expect_lte(use_threads(), parallel::detectCores())
})

test_that("a number of threads that is none is refused before a run", {
  withr::local_options(runhooks.threads = 0)
  model <- mtcars_model()
  expect_error(
    train(model, mtcars_input(), steps = 1), "runhooks.threads",
    class = "runhooks_error_invalid_argument"
  )
  expect_length(list.files(model_dir(model)), 0)
})

test_that("a forked child stays on one thread", {
  skip_on_os("windows") # no fork() there
  withr::local_options(runhooks.threads = 2)
  use_threads()
  children <- parallel::mclapply(1:2, function(i) use_threads(), mc.cores = 2)
  expect_identical(children, list(1L, 1L))
})
