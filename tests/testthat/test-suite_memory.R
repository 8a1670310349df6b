skip_on_cran()

resident_kb <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("^VmRSS", status, value = TRUE)))
}

test_that("memory and preserved objects do not grow over many steps with an R hook", {
  skip_if_not(file.exists("/proc/self/status"), "no /proc to measure memory")
  measured <- list()
  measure <- function() {
    gc()
    measured[[length(measured) + 1]] <<- c(resident = resident_kb(), held = cpp_held_count())
  }
  losses <- 0
  steps <- 0
  warm_up <- at_length(200000, 50000)
  count <- at_length(1e6, 1e5)
  hook <- session_run_hook(
    before_run = function(context) {
      session_run_args(losses = context$session$graph$get_collection("losses"))
    },
    after_run = function(context, values) {
      losses <<- losses + values$results$losses[[2]]
      steps <<- steps + 1
      if (steps == warm_up / 2) gc() # R's heap grows once at the beginning
      if (steps == warm_up || steps == warm_up + count) measure()
    }
  )
  # Logging and summaries are off, because they would make the history grow.
  train(
    mtcars_model(log_step_count_steps = 1e6, save_summary_steps = 1e6),
    mtcars_input(num_epochs = NULL), steps = warm_up + count,
    hooks = list(hook, hook_history_saver(every_n_step = 1e6))
  )
  expect_equal(steps, warm_up + count)
  expect_lt(measured[[2]][["resident"]] - measured[[1]][["resident"]], 2 * 1024)
  expect_equal(measured[[2]][["held"]], measured[[1]][["held"]])
})

test_that("a graph that R has collected is not reused before its finalizer runs", {
  # Collects garbage but delays the finalizers.
  collect_without_finalizers <- function() {
    gctorture(TRUE)
    numeric(10)
    gctorture(FALSE)
  }
  found <- integer()
  looks <- session_run_hook(begin = function() {
    tf$get_default_graph()$finalized
    NULL
  })
  collects <- session_run_hook(
    begin = collect_without_finalizers,
    after_create_session = function(session, coord) gc(),
    after_run = function(context, values) {
      found <<- c(found, length(context$session$graph$get_collection("global_step")))
    }
  )
  train(mtcars_model(), mtcars_input(), steps = 3, hooks = list(looks, collects))
  expect_equal(found, c(1, 1, 1))
})

test_that("a run survives a garbage collection at every allocation", {
  skip_if_not_installed("processx")
  script <- "
    library(runhooks)
    model <- linear_regressor(column_numeric('wt'), config = run_config(tf_random_seed = 1))
    input <- input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = NULL)
    seen <- list()
    hook <- session_run_hook(
      before_run = function(context) {
        session_run_args(list(a = 'global_step:0', b = list('global_step:0')))
      },
      after_run = function(context, values) seen[[length(seen) + 1]] <<- values$results,
      end = function(session) seen$end <<- session$run('global_step:0'),
      save_state = function() list(n = length(seen)), restore_state = function(state) state
    )
    bad <- session_run_hook(after_run = function(context, values) stop('on purpose'))
    train(model, input, steps = 1)
    gctorture2(as.integer(Sys.getenv('RUNHOOKS_TORTURE')))
    train(model, input, steps = 3, hooks = list(hook, hook_logging_tensor('global_step:0', 1)))
    said <- tryCatch(train(model, input, hooks = list(hook, bad)), error = conditionMessage)
    gctorture(FALSE)
    stopifnot(grepl('on purpose', said), seen[[1]]$a == 1, seen[[3]]$b[[1]] == 3)
    cat('survived\\n')"
  result <- processx::run(
    child_rscript(), c("-e", script), error_on_status = FALSE, timeout = 300,
    env = c(child_env(), RUNHOOKS_TORTURE = as.character(at_length(3, 20)))
  )
  expect_match(result$stdout, "survived", info = result$stderr)
})

# Returns the growth of memory and preserved objects over the later rounds of `round`. Collects
# garbage before measuring, so that R's heap has settled.
growth_of <- function(round) {
  measure <- function() {
    gc()
    pages <- as.numeric(strsplit(readLines("/proc/self/statm"), " ")[[1]][[2]])
    c(resident_kb = pages * 4, held = cpp_held_count())
  }
  for (i in 1:10) round()
  gc()
  for (i in 1:40) round()
  before <- measure()
  for (i in 1:100) round()
  # Takes the minimum of several measurements, because R may return pages of its heap only at the
  # next collection.
  after <- measure()
  for (block in 1:2) {
    for (i in 1:25) round()
    after <- pmin(after, measure())
  }
  after - before
}

skip_where_memory_is_not_known <- function() {
  skip_if_not(file.exists("/proc/self/statm"), "no /proc to measure memory")
}

expect_flat <- function(growth) {
  expect_lte(growth[["held"]], 0)
  expect_lt(growth[["resident_kb"]], 3 * 1024)
}

test_that("200 trainings of one estimator with a hook leak nothing", {
  skip_where_memory_is_not_known()
  model <- mtcars_model()
  expect_flat(growth_of(function() {
    hook <- session_run_hook(
      before_run = function(context) session_run_args("global_step:0"),
      after_run = function(context, values) NULL, on_error = function(session, condition) NULL
    )
    train(model, mtcars_input(), steps = 2, hooks = hook)
  }))
})

test_that("200 trainings that a hook ends by an error or a restart leak nothing", {
  skip_where_memory_is_not_known()
  model <- mtcars_model()
  end_by <- function(end) {
    session_run_hook(
      after_run = function(context, values) end(), on_error = function(session, condition) NULL
    )
  }
  expect_flat(growth_of(function() {
    hook <- end_by(function() stop("on purpose"))
    try(train(model, mtcars_input(), steps = 2, hooks = hook), silent = TRUE)
  }))
  expect_flat(growth_of(function() {
    hook <- end_by(function() invokeRestart("leave"))
    withRestarts(train(model, mtcars_input(), steps = 2, hooks = hook), leave = function() NULL)
  }))
})

test_that("200 graphs with a session, closed or not, leak nothing", {
  skip_where_memory_is_not_known()
  # Measures in a new process, because the memory of other tests varies with each collection.
  for (closes in c(TRUE, FALSE)) {
    growth <- callr::r(function(growth_of, closes, inside_library) {
      library(runhooks)
      environment(growth_of) <- new.env(parent = asNamespace("runhooks"))
      held_count <- getNativeSymbolInfo("inside_held_count", dyn.load(inside_library))$address
      assign("cpp_held_count", function() .Call(held_count), environment(growth_of))
      growth_of(function() {
        with(tf$Graph()$as_default(), {
          x <- tf$constant(runif(20000))
          session <- tf$Session()
          session$run(x * 2)
          if (closes) session$close()
        })
      })
    }, list(growth_of, closes, inside_library))
    expect_flat(growth)
  }
})
