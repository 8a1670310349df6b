# Text, numbers and bits are the same in every locale. Each locale runs in a child process.

is_locale <- function(locale) {
  before <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", before))
  nzchar(suppressWarnings(Sys.setlocale("LC_CTYPE", locale)))
}

skip_without_locale <- function(locale) {
  if (!is_locale(locale)) skip(paste("this machine has no locale", locale, "(`make deps` creates it)"))
}

results_in <- function(locale, numbers = NULL) {
  path <- withr::local_tempfile(fileext = ".rds")
  script <- normalizePath(test_path("locale_runs.R"))
  ended <- processx::run(
    child_rscript(), c("--no-init-file", script, path, numbers),
    env = c(child_env(), LC_ALL = locale, LANGUAGE = "en"), timeout = 120,
    error_on_status = FALSE, stderr_to_stdout = TRUE, encoding = "latin1"
  )
  if (ended$status != 0) fail(paste0(locale, ": ", ended$stdout))
  if (file.exists(path)) readRDS(path)
}

reference <- local({
  made <- NULL
  function() {
    locale <- Find(is_locale, c("C.UTF-8", "en_US.UTF-8"))
    if (is.null(made)) made <<- results_in(locale)
    made
  }
})

expect_same_results <- function(results) {
  expect_true(all(c("all_terms", "terms", "canned", "custom") %in% names(results)))
  for (name in names(results)) expect_identical(results[[!!name]], reference()[[!!name]])
}

test_that("text in the native encoding gives the same results as UTF-8", {
  skip_if(is.null(Find(is_locale, c("C.UTF-8", "en_US.UTF-8"))), "this machine has no UTF-8")
  all <- reference()
  expect_identical(all$canned_native, all$canned)
  expect_identical(all$terms_native, all$terms)
})

for (locale in c("C", "tr_TR.UTF-8", "az_AZ.UTF-8", "de_DE.ISO-8859-1", "ja_JP.eucJP")) {
  test_that(paste("models, files and messages are the same in", locale), {
    skip_without_locale(locale)
    expect_same_results(results_in(locale))
  })
}

test_that("numbers have a decimal point whatever LC_NUMERIC and OutDec are", {
  skip_without_locale("de_DE.UTF-8")
  expect_same_results(results_in("C.UTF-8", numbers = "de_DE.UTF-8"))
})
