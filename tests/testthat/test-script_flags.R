test_that("flags have the values of the command line, else their defaults", {
  read <- function(arguments, ...) {
    flags(
      flag_integer("units", 10, "Units"), flag_numeric("rate", 0.5), flag_boolean("deep", FALSE),
      flag_string("name", NULL), ..., file = NULL, arguments = arguments
    )
  }
  expect_identical(read(character()), list(units = 10L, rate = 0.5, deep = FALSE, name = NULL))
  expect_identical(
    read(c("--units=20", "x", "--rate", "1e-3", "--deep", "--name=a=b", "--other=1")),
    list(units = 20L, rate = 1e-3, deep = TRUE, name = "a=b")
  )
  expect_identical(read(c("--deep", "no"))$deep, FALSE)
  expect_error(read("--units=2.5"), "\"units\" must be of type integer, not \"2.5\"")
  expect_error(read("--units=many"), "integer, not \"many\"")
  expect_error(read("--deep=perhaps"), "boolean, not \"perhaps\"")
  expect_error(flag_numeric("rate", "fast"), "\"rate\" must be of type numeric")
  expect_error(read(character(), 3), "must be flags")
  file <- withr::local_tempfile(lines = "default:")
  expect_error(flags(file = file), "tfruns", class = "runhooks_error_unimplemented")
  expect_identical(run_dir(), getwd())
})

test_that("flags come from tfruns if it is loaded", {
  # A minimal fake of the package tfruns.
  folder <- withr::local_tempdir()
  library <- file.path(folder, "library")
  source <- file.path(folder, "tfruns")
  dir.create(file.path(source, "R"), recursive = TRUE)
  dir.create(library)
  writeLines(c("Package: tfruns", "Version: 1.0"), file.path(source, "DESCRIPTION"))
  writeLines("export(flags, flag_integer, run_dir)", file.path(source, "NAMESPACE"))
  writeLines(
    c(
      "flag_integer <- function(name, default, description) list(name, default, description)",
      "flags <- function(..., config, file, arguments) list(..., config, file, arguments)",
      "run_dir <- function() \"runs/1\""
    ),
    file.path(source, "R", "tfruns.R")
  )
  utils::install.packages(
    source, library, repos = NULL, type = "source", quiet = TRUE, INSTALL_opts = "--no-byte-compile"
  )
  seen <- callr::r(
    function() {
      stand_in <- "tfruns"
      loadNamespace(stand_in)
      list(
        runhooks::flags(
          runhooks::flag_integer("n", 3), config = "c", file = "f", arguments = "a"
        ),
        runhooks::run_dir()
      )
    },
    libpath = c(library, .libPaths())
  )
  expect_identical(seen, list(list(list("n", 3, NULL), "c", "f", "a"), "runs/1"))
})
