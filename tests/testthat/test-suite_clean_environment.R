# Training in a minimal environment, such as a container or a cron job.

first_example <- "
  library(runhooks)
  model <- linear_regressor(mpg ~ wt + hp, data = mtcars)
  train(model)
  data <- data.frame(wt = c(2, 3, 4), hp = 120)
  cat(format(predict(model, newdata = data, interval = 'confidence')[[1]], digits = 10), '')
"

# Installs the package in a read-only library, and creates a read-only working directory. Root can
# write to both nevertheless.
read_only_places <- function(env = parent.frame()) {
  here <- withr::local_tempdir(.local_envir = env)
  library <- file.path(here, "library")
  work <- file.path(here, "work")
  for (path in c(library, work)) dir.create(path)
  file.copy(getNamespaceInfo("runhooks", "path"), library, recursive = TRUE)
  files <- list.files(library, recursive = TRUE, full.names = TRUE, include.dirs = TRUE)
  Sys.chmod(c(files, library, work), "0555")
  withr::defer(Sys.chmod(c(library, work, files), "0755"), envir = env)
  list(library = library, work = work)
}

in_bare_child <- function(expr, places, env = character()) {
  library <- c(places$library, .libPaths())
  env <- c(
    PATH = Sys.getenv("PATH"), LC_ALL = "C", env,
    R_LIBS = paste(library, collapse = .Platform$path.sep)
  )
  processx::run(
    child_rscript(), c("-e", expr), env = env, wd = places$work, error_on_status = FALSE
  )
}

test_that("the first example runs without environment variables, and writes only to /tmp", {
  skip_if_not_installed("processx")
  skip_on_os("windows") # processes need more of the environment there
  places <- read_only_places()
  output <- in_bare_child(first_example, places)
  here <- utils::capture.output(eval(parse(text = first_example), new.env(parent = globalenv())))
  expect_identical(output$stdout, utils::tail(here, 1), info = output$stderr)
  expect_identical(output$stderr, "")
  expect_length(list.files(places$work, all.files = TRUE, no.. = TRUE), 0)
})

test_that("a deleted temporary directory is one error that names it", {
  skip_if_not_installed("processx")
  skip_on_os("windows") # processes need more of the environment there
  places <- read_only_places()
  tmp <- withr::local_tempdir()
  # A file replaces the directory, because root can write to a directory of any mode.
  expr <- paste(
    "unlink(tempdir(), recursive = TRUE); invisible(file.create(tempdir()));",
    "tryCatch({", first_example, "}, runhooks_error = function(e) {",
    "cat(class(e)[[1]], conditionMessage(e)) })"
  )
  output <- in_bare_child(expr, places, c(TMPDIR = tmp))
  expect_match(output$stdout, "^runhooks_error_", info = output$stderr)
  expect_match(output$stdout, normalizePath(tmp), fixed = TRUE)
})
