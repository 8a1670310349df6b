test_that("the installed library has no debug information unless requested", {
  library <- getLoadedDLLs()[["runhooks"]][["path"]]
  expect_true(file.exists(library))
  keeps_symbols <- nzchar(Sys.getenv("RUNHOOKS_SYMBOLS"))
  if (nzchar(Sys.which("strip")) && !keeps_symbols) expect_lt(file.size(library), 3e7)
})
