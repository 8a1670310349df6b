# Measures the processor seconds (user and system, one core) of the parts of R CMD check, which CRAN
# limits to ten minutes: `Rscript tools/check_times.R [part ...]`. Parts are compile, examples,
# tests (those that CRAN runs) and vignettes; the default is all.
source("tools/common.R")

cran_limits <- c(compile = NA, examples = 60, tests = 60, vignettes = 60)

# Returns the processor time of all finished child processes.
child_seconds <- function() sum(proc.time()[c("user.child", "sys.child")])

# Returns the processor time of a child process, which must succeed. Like CRAN, it has no variable
# NOT_CRAN and uses at most two cores.
seconds_of <- function(command, arguments, folder = ".") {
  old <- setwd(folder)
  on.exit(setwd(old))
  seconds_before <- child_seconds()
  env <- c("NOT_CRAN=", "_R_CHECK_LIMIT_CORES_=true")
  output <- suppressWarnings(system2(command, arguments, stdout = TRUE, stderr = TRUE, env = env))
  if (!is.null(attr(output, "status"))) {
    stop(paste(c(command, arguments), collapse = " "), " failed:\n",
         paste(utils::tail(output, 20), collapse = "\n"))
  }
  child_seconds() - seconds_before
}

rscript <- function(expr, folder = ".") {
  code <- paste(deparse(expr), collapse = "\n")
  seconds_of(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), folder)
}

# Each part is measured in the folder of an unpacked source package.
parts <- list(
  compile = function(source) {
    library <- file.path(dirname(source), "library")
    dir.create(library)
    Sys.setenv(CCACHE_DISABLE = "1", MAKEFLAGS = "-j1", R_MAKEVARS_USER = tempfile())
    arguments <- c("CMD", "INSTALL", "--no-docs", paste0("--library=", library), source)
    c(compile = seconds_of(file.path(R.home("bin"), "R"), arguments))
  },
  examples = function(source) {
    c(examples = rscript(bquote({
      library(runhooks)
      for (page in list.files(.(file.path(source, "man")), "[.]Rd$", full.names = TRUE)) {
        code <- tempfile(fileext = ".R")
        tools::Rd2ex(page, code)
        if (file.exists(code)) source(code, local = new.env(), print.eval = TRUE)
      }
    })))
  },
  tests = function(source) {
    folder <- file.path(source, "tests")
    c(tests = seconds_of(file.path(R.home("bin"), "Rscript"), "testthat.R", folder))
  },
  vignettes = function(source) {
    pages <- list.files(file.path(source, "vignettes"), "[.]Rmd$", full.names = TRUE)
    names(pages) <- paste("vignettes:", basename(pages))
    each <- vapply(pages, function(page) {
      rscript(bquote(tools::buildVignette(.(page), dir = .(dirname(source)), quiet = TRUE)))
    }, 0)
    c(each, vignettes = sum(each))
  }
)

# Copies the files of the source package, as R CMD build selects them.
unpack_source <- function(folder) {
  copy <- file.path(folder, "source")
  seconds_of("sh", c("-c", shQuote(sprintf(". tools/compiler.sh; copy_sources %s", copy))))
  arguments <- c("CMD", "build", "--no-build-vignettes", "--no-manual", copy)
  seconds_of(file.path(R.home("bin"), "R"), arguments, folder)
  utils::untar(list.files(folder, "[.]tar[.]gz$", full.names = TRUE), exdir = folder)
  file.path(folder, "runhooks")
}

run_tool(function(arguments) {
  folder <- tempfile("check_times")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  source <- unpack_source(normalizePath(folder))
  names <- if (length(arguments)) arguments else names(cran_limits)
  cat(sprintf("%-36s %8s %8s\n", "processor seconds", "used", "limit"))
  status <- 0L
  for (name in names) {
    seconds <- parts[[name]](source)
    limits <- unname(cran_limits[base::names(seconds)])
    shown <- ifelse(is.na(limits), "", limits)
    cat(sprintf("%-36s %8.1f %8s\n", base::names(seconds), seconds, shown), sep = "")
    if (any(seconds > limits, na.rm = TRUE)) status <- 1L
  }
  status
}, sys.nframe())
