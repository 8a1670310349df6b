# Ctrl-C during a step that updates variables ends the step, and partial updates are never saved.
set.seed(1)

skip_on_cran()
skip_on_os("windows")
skip_if_not_installed("processx")

# A step increments a variable, in an endless loop on request. `run` runs such steps in `session`.
counting <- "
  library(runhooks)
  say <- function(...) cat(paste(...), '\\n', file = '%s', append = TRUE)
  step <- tf$train$get_or_create_global_step()
  counts <- tf$get_variable('counts', list(), initializer = tf$zeros_initializer())
  endless <- tf$placeholder('bool', list())
  count <- tf$while_loop(
    function(i) tf$logical_or(endless, i < 5),
    function(i) with(tf$control_dependencies(list(counts$assign_add(1))), tf$identity(i + 1)),
    list(tf$constant(0))
  )
  done <- with(tf$control_dependencies(list(count)), step$assign_add(1L))
  run <- function(session) {
    for (i in 1:2) session$run(done, dict(endless = FALSE))
    say('begins')
    session$run(done, dict(endless = TRUE))
  }
  withCallingHandlers(
    tryCatch(%s, interrupt = function(e) say('interrupted')),
    warning = function(w) say('warned', gsub('\n', ' ', conditionMessage(w)))
  )
  %s
  say('done')"

# Returns the output of an interrupted process, and the time that it took to end.
interrupted <- function(...) {
  diary <- withr::local_tempfile()
  script <- withr::local_tempfile(lines = sprintf(counting, diary, ...), fileext = ".R")
  process <- processx::process$new(
    child_rscript(), script, env = child_env(), stdout = "|", stderr = "2>&1"
  )
  withr::defer(process$kill())
  said <- function() if (file.exists(diary)) trimws(readLines(diary))
  wait <- function(what, seconds) {
    deadline <- Sys.time() + seconds
    while (!any(startsWith(c("", said()), what)) && process$is_alive() && Sys.time() < deadline) {
      Sys.sleep(0.005)
    }
  }
  wait("begins", 60)
  Sys.sleep(0.1) # it is counting
  at <- Sys.time()
  process$interrupt()
  wait("interrupted", 10)
  took <- as.numeric(Sys.time() - at, units = "secs")
  wait("done", 20)
  list(said = said(), took = took, printed = process$read_all_output())
}

test_that("Ctrl-C ends a loop that changes variables", {
  ended <- interrupted(
    "{
      session <- tf$Session()
      session$run(tf$global_variables_initializer())
      run(session)
    }",
    "before <- session$run(counts)
    session$run(done, dict(endless = FALSE))
    say('and runs again', before > 10, session$run(counts) - before)"
  )
  expect_identical(
    ended$said, c("begins", "interrupted", "and runs again TRUE 5", "done"), info = ended$printed
  )
  # The step ends a tenth of a second after Ctrl-C; 2 s are tolerance for a busy machine.
  expect_lt(ended$took, 2)
})

test_that("no checkpoint is saved of a partial step", {
  folder <- withr::local_tempdir()
  ended <- interrupted(
    sprintf("with(
      monitored_training_session(
        checkpoint_dir = '%1$s', save_checkpoint_secs = NULL,
        hooks = list(hook_checkpoint_saver('%1$s', save_steps = 1))
      ) %%as%% session,
      run(session)
    )", folder),
    ""
  )
  expect_match(ended$said, "warned .*during a variable update", all = FALSE)
  expect_true("interrupted" %in% ended$said, info = ended$printed)
  expect_lt(ended$took, 2)
  newest <- latest_checkpoint(folder)
  expect_match(newest, "-2$")
  expect_equal(tf$train$load_variable(newest, "counts"), 10)
})
