# A container's environment: no HOME, no locale, nothing but the temporary folder can be written.

# Copies the installed package to a library that cannot be written.
read_only_library <- function(frame = parent.frame()) {
  library <- withr::local_tempdir(.local_envir = frame)
  file.copy(find.package("runhooks"), library, recursive = TRUE)
  files <- list.files(library, recursive = TRUE, full.names = TRUE, include.dirs = TRUE)
  Sys.chmod(c(library, files), "555")
  withr::defer(Sys.chmod(c(library, files), "755"), frame)
  library
}

# Returns a command that drops root's capabilities: root can write to read-only files as long as it
# has them.
as_ordinary_user <- function() {
  if (nzchar(Sys.which("id")) && system2("id", "-u", stdout = TRUE) != "0") return(character())
  drop <- c("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")
  can_drop <- nzchar(Sys.which("setpriv")) &&
    system2(drop[[1]], c(drop[-1], "true"), stderr = FALSE) == 0
  skip_if_not(can_drop, "root cannot give up its rights here")
  drop
}

# Runs an R script in a folder that cannot be written, and returns the lines of stdout.
run_in_container <- function(code, here) {
  script <- file.path(here, "script.R")
  writeLines(code, script)
  work <- file.path(here, "work")
  dir.create(work)
  Sys.chmod(work, "555")
  on.exit(Sys.chmod(work, "755"))
  libraries <- paste(c(read_only_library(), .libPaths()), collapse = .Platform$path.sep)
  words <- c(
    as_ordinary_user(), "env", "-i", "LC_ALL=C", paste0("R_LIBS=", libraries),
    paste0("TMPDIR=", here), child_rscript(), script
  )
  ended <- processx::run(
    words[[1]], words[-1], wd = work, error_on_status = FALSE, stderr_to_stdout = TRUE
  )
  if (ended$status != 0) fail(ended$stdout)
  strsplit(ended$stdout, "\n")[[1]]
}

test_that("README's first example runs without HOME, locale and writable folders", {
  skip_on_os("windows") # env
  readme <- test_path("..", "..", "README.md")
  skip_if_not(file.exists(readme), "README.md is not part of a source package")
  lines <- readLines(readme, encoding = "UTF-8")
  begin <- match("```r", lines)
  code <- lines[seq(begin + 1, begin + match("```", lines[-seq_len(begin)]) - 1)]
  code <- code[!startsWith(code, "#>")]
  expect_match(code, "^train\\(", all = FALSE)
  here <- withr::local_tempdir()
  checks <- quote({
    cat("", find.package("runhooks"), sep = "\n")
    stopifnot(!nzchar(Sys.getenv("HOME")), file.access(c(".", .libPaths()[[1]]), 2) != 0)
  })
  output <- run_in_container(c(code, deparse(checks)), here)
  shown <- grep("^[123] ", output, value = TRUE)
  expect_equal(sub("^[123] +([0-9.]+) .*", "\\1", shown), c("25.7", "21.8", "17.9"))
  expect_false(normalizePath(find.package("runhooks")) %in% output)
  expect_setequal(list.files(here, all.files = TRUE, no.. = TRUE), c("script.R", "work"))
})

# Trains twice in a shell with `limits`, after the R expression `before`. Returns the errors and
# warnings.
train_with_limits <- function(limits, before = NULL) {
  here <- withr::local_tempdir()
  script <- file.path(here, "script.R")
  body <- bquote({
    library(runhooks)
    model <- linear_regressor(mpg ~ wt, mtcars)
    .(before)
    for (i in 1:2) {
      tryCatch(
        train(model),
        warning = function(w) cat("warning:", conditionMessage(w), ""),
        error = function(e) cat(class(e)[[1]], conditionMessage(e), "", sep = "\n")
      )
    }
  })
  writeLines(deparse(body), script)
  call <- paste(limits, "exec", shQuote(child_rscript()), shQuote(script))
  env <- c(child_env(), TMPDIR = here)
  output <- processx::run("sh", c("-c", call), env = env, stderr_to_stdout = TRUE)
  strsplit(output$stdout, "\n")[[1]]
}

test_that("a temporary folder without space is one error that names it", {
  skip_on_os(c("windows", "mac")) # ulimit
  output <- train_with_limits("trap '' XFSZ; ulimit -f 4;")
  expect_length(grep("runhooks_error_resource_exhausted", output), 2)
  expect_match(output, "Cannot write '.*/runhooks-model-.*'", all = FALSE)
  expect_match(paste(output, collapse = " "), "R's temporary folder is full.*TMPDIR")
  expect_no_match(output, "warning:")
})

test_that("a temporary folder that is gone or cannot be written is one error that names it", {
  skip_on_os("windows")
  output <- train_with_limits("", quote({
    unlink(tempdir(), recursive = TRUE)
    file.create(tempdir())
  }))
  expect_length(grep("runhooks_error_permission_denied", output), 2)
  expect_match(output, "`model_dir` is not writable", all = FALSE)
  expect_match(paste(output, collapse = " "), "R's temporary folder cannot be written.*TMPDIR")
  expect_no_match(output, "warning:")
})
