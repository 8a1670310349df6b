test_that("R's check limit allows two threads, whatever value it has", {
  withr::local_options(runhooks.threads = NULL)
  limited <- function(value) {
    withr::local_envvar(`_R_CHECK_LIMIT_CORES_` = value)
    default_threads()
  }
  for (value in c("true", "TRUE", "warn", "1", "yes")) expect_identical(limited(value), 2L)
  for (value in c(NA, "", "false", "FALSE")) expect_identical(limited(value), 8L)
})

test_that("the default follows the check limit and OMP_THREAD_LIMIT; the option takes precedence", {
  cores <- withr::with_envvar(c(OMP_THREAD_LIMIT = NA, `_R_CHECK_LIMIT_CORES_` = NA), {
    withr::with_options(list(runhooks.threads = NULL), use_threads())
  })
  expect_lte(cores, 8L)
  used <- function(limit, check, option = NULL) {
    withr::local_envvar(OMP_THREAD_LIMIT = limit, `_R_CHECK_LIMIT_CORES_` = check)
    withr::local_options(runhooks.threads = option)
    use_threads()
  }
  expect_identical(used(NA, "true"), min(cores, 2L))
  expect_identical(used("1", NA), 1L)
  expect_identical(used("1", NA, 4), 1L)
  expect_gte(used(NA, "true", 1e6), cores)
  expect_identical(used(NA, NA, 1), 1L)
})

test_that("the printed configuration shows the threads in use", {
  withr::local_options(runhooks.threads = 1)
  expect_identical(tf_config()$threads, 1L)
})

# Runs `expr`, which prints a value, in a new R session without thread limits in its environment.
in_child <- function(expr, ...) {
  env <- c(child_env(), OMP_THREAD_LIMIT = "64", `_R_CHECK_LIMIT_CORES_` = "", ...)
  processx::run(child_rscript(), c("-e", expr), env = env, error_on_status = FALSE)
}

test_that("a script under R CMD check --as-cran uses two threads", {
  skip_if_not_installed("processx")
  expr <- "cat(runhooks:::default_threads(), '')"
  expect_identical(in_child(expr)$stdout, "8 ")
  expect_identical(in_child(expr, `_R_CHECK_LIMIT_CORES_` = "true")$stdout, "2 ")
})

test_that("a worker of parallel uses one thread", {
  withr::local_envvar(`_R_CHECK_LIMIT_CORES_` = NA, R_LIBS = child_env()[["R_LIBS"]])
  cluster <- parallel::makePSOCKcluster(1)
  on.exit(parallel::stopCluster(cluster))
  threads <- parallel::clusterEvalQ(cluster, {
    c(runhooks:::default_threads(), runhooks:::use_threads())
  })
  expect_identical(threads, list(c(1L, 1L)))
  # The parent process is not a worker. mclapply() on one core starts no process, so it makes no
  # worker.
  expect_identical(default_threads(), 8L)
  expect_identical(parallel::mclapply(1, function(i) default_threads(), mc.cores = 1), list(8L))
})

test_that("a worker of future uses one thread, a sequential future does not limit threads", {
  skip_if_not_installed("processx")
  skip_if_not_installed("future")
  output <- in_child("
    library(future)
    threads <- function() value(future(runhooks:::default_threads()))
    cat(threads(), '')
    plan(multisession)
    cat(threads(), '')
    plan(sequential)
    options(mc.cores = 1L) # set by other kinds of workers
    cat(threads(), '')", R_PARALLELLY_AVAILABLECORES_SYSTEM = "2")
  expect_identical(output$stdout, "8 1 1 ", info = output$stderr)
})

# Creates an unregistered namespace with these functions, which simulates a package.
fake_namespace <- function(name, ...) {
  ns <- new.env(parent = baseenv())
  ns$.__NAMESPACE__. <- list2env(list(spec = c(name = name, version = "1")))
  functions <- lapply(list(...), function(f) `environment<-`(f, ns))
  list2env(functions, ns)
}

test_that("workers are recognized by the functions that evaluate their tasks", {
  withr::local_envvar(`_R_CHECK_LIMIT_CORES_` = NA)
  mirai <- fake_namespace(
    "mirai",
    daemon = function(task) eval_mirai(task), .daemon = function(task) eval_mirai(task),
    eval_mirai = function(task) task(), mirai = function(task) (eval_mirai(task))
  )
  expect_identical(mirai$daemon(default_threads), 1L)
  expect_identical(mirai$.daemon(default_threads), 1L)
  expect_identical(mirai$mirai(default_threads), 8L)
  future <- fake_namespace(
    "future", future = function(task) evalFuture(task), evalFuture = function(task) task()
  )
  expect_identical(future$evalFuture(default_threads), 1L)
  expect_identical(future$future(default_threads), 8L)
  snow <- fake_namespace("snow", workLoop = function(task) task())
  expect_identical(snow$workLoop(default_threads), 1L)
  other <- fake_namespace("other", workLoop = function(task) task())
  expect_identical(other$workLoop(default_threads), 8L)
})

test_that("an unsupported instruction set is an error that lists the supported ones", {
  warned <- function(wanted) {
    withr::local_envvar(RUNHOOKS_ISA = wanted)
    was_checked <- the$isa_checked
    withr::defer(the$isa_checked <- was_checked)
    the$isa_checked <- NULL
    warnings <- testthat::capture_warnings(warn_instruction_set())
    expect_length(testthat::capture_warnings(warn_instruction_set()), 0)
    warnings
  }
  expect_length(warned(NA), 0)
  for (name in cpp_instruction_sets()) expect_length(warned(name), 0)
  expect_match(warned("altivec"), "RUNHOOKS_ISA is \"altivec\".*Allowed here: \"base\"")
  withr::local_envvar(RUNHOOKS_ISA = "altivec")
  the$isa_checked <- NULL
  withr::defer(the$isa_checked <- NULL)
  expect_warning(warn_instruction_set(), class = "runhooks_warning_instruction_set")
})

test_that("a machine with the base instruction set trains", {
  skip_if_not_installed("processx")
  output <- in_child("
    library(runhooks)
    options(warn = 2)
    model <- linear_regressor(mpg ~ wt, data = mtcars)
    train(model)
    cat(runhooks:::cpp_instruction_sets()[[1]], all(is.finite(unlist(predict(model, mtcars)))))
  ", RUNHOOKS_ISA = "base")
  expect_identical(output$stdout, "base TRUE", info = output$stderr)
  output <- in_child("
    library(runhooks)
    model <- linear_regressor(mpg ~ wt, data = mtcars)
    train(model)
    cat('trained')
  ", RUNHOOKS_ISA = "altivec")
  expect_identical(output$stdout, "trained", info = output$stderr)
  expect_match(output$stderr, "RUNHOOKS_ISA is \"altivec\"", fixed = TRUE)
})
