# Random hook programs test the contract of the loop, whatever hooks fetch, request or raise. A
# failure reports the seed of its program.

program_count <- at_length(10000, if (identical(Sys.getenv("NOT_CRAN"), "true")) 1000 else 200)

# The toy model: a step is one assignment, and `sum` returns x + y.
toy_graph <- function() {
  graph <- tf$Graph()
  with(graph$as_default(), {
    step <- tf$train$get_or_create_global_step()
    x <- tf$placeholder_with_default(tf$constant(0), list(), name = "x")
    y <- tf$placeholder_with_default(tf$constant(0), list(), name = "y")
    list(
      graph = graph, train = tf$assign_add(step, 1L, name = "train"), sum = tf$add(x, y),
      step = step
    )
  })
}

fed_values <- c(x = 1, y = 2)

conditions <- list(
  error = function() {
    stop(structure(class = c("mine", "error", "condition"), list(message = "mine", call = NULL)))
  },
  stop_iteration = function() stop_iteration(),
  out_of_range = function() stop(tf$errors$OutOfRangeError(NULL, NULL, "over")),
  aborted = function() stop(tf$errors$AbortedError(NULL, NULL, "again")),
  unavailable = function() stop(tf$errors$UnavailableError(NULL, NULL, "gone")),
  interrupt = function() rlang::interrupt()
)

random_program <- function() {
  list(
    hooks = sample(4, 1), steps = sample(5, 1), kind = sample(
      c("none", "ask", names(conditions)), 1
    ),
    method = sample(c("begin", "created", "before", "after", "end"), 1), actor = sample(4, 1),
    call = sample(3, 1), fetches = sample(c("none", "one", "nested"), 4, replace = TRUE),
    feeds = sample(c("", "x", "y"), 4, replace = TRUE, prob = c(10, 1, 1)),
    # Some programs save checkpoints, every `save_steps` steps.
    save_steps = sample(c(0, 1:3), 1, prob = c(57, 1, 1, 1))
  )
}

# Creates a hook that logs its calls as letters, and acts according to the program.
program_hook <- function(program, index, log) {
  log$calls[[index]] <- character()
  counts <- list()
  note <- function(letter, method, context = NULL) {
    log$calls[[index]] <- c(log$calls[[index]], letter)
    counts[[method]] <<- c(counts[[method]], 1)
    acts <- index == program$actor && method == program$method && !log$fired
    if (!acts || length(counts[[method]]) != program$call) return()
    if (program$kind == "ask" && !is.null(context)) {
      log$fired <- TRUE
      context$request_stop()
    } else if (program$kind %in% names(conditions)) {
      log$fired <- TRUE
      conditions[[program$kind]]()
    }
  }
  fed <- program$feeds[[index]]
  feed_dict <- if (nzchar(fed)) as.list(fed_values[fed])
  request <- switch(program$fetches[[index]],
    none = if (nzchar(fed)) tf$train$SessionRunArgs(NULL, feed_dict),
    one = session_run_args("global_step:0", feed_dict = feed_dict),
    nested = session_run_args(
      a = list("global_step:0", b = list()), c = "train:0", feed_dict = feed_dict
    )
  )
  session_run_hook(
    begin = function() note("B", "begin"),
    after_create_session = function(session, coord) note("C", "created"),
    before_run = function(context) {
      note("R", "before", context)
      request
    },
    after_run = function(context, values) {
      good <- switch(program$fetches[[index]],
        none = is.null(values$results), one = is.numeric(values$results[[1]]),
        nested = is.numeric(values$results$a[[1]]) && identical(names(values$results), c("a", "c"))
      )
      if (!isTRUE(good)) log$wrong <- "results of another form"
      note("A", "after", context)
    },
    end = function(session) note("E", "end"),
    on_error = function(session, condition) log$calls[[index]] <- c(log$calls[[index]], "X")
  )
}

# Returns the value of `sum` in a run of the program.
expected_sum <- function(program) sum(fed_values[active_feeds(program)])

active_feeds <- function(program) Filter(nzchar, program$feeds[seq_len(program$hooks)])

# TRUE if two hooks feed the same tensor, so that the first run fails.
has_feed_conflict <- function(program) anyDuplicated(active_feeds(program)) > 0

run_program <- function(program, dir = NULL) {
  log <- new.env()
  log$calls <- list()
  log$fired <- FALSE
  log$steps <- 0
  toy <- toy_graph()
  hooks <- lapply(seq_len(program$hooks), function(i) program_hook(program, i, log))
  hooks <- c(hooks, list(hook_stop_at_step(last_step = program$steps)))
  creator <- NULL
  if (!is.null(dir)) {
    last <- session_run_hook(end = function(session) log$steps <- session$run("global_step:0"))
    saver <- hook_checkpoint_saver(dir, save_steps = program$save_steps)
    hooks <- c(list(last), hooks, list(saver))
    creator <- tf$train$ChiefSessionCreator(checkpoint_dir = dir)
  }
  log$error <- NULL
  keep <- function(condition) log$error <- condition
  with(toy$graph$as_default(), {
    tryCatch(
      with(monitored_session(creator, hooks = hooks) %as% sess, {
        log$session <- sess
        while (!sess$should_stop()) {
          results <- sess$run(list(toy$train, toy$sum))
          if (results[[2]] != expected_sum(program)) log$wrong <- "values that nobody fed"
        }
      }),
      error = keep, interrupt = keep
    )
  })
  log
}

# TRUE if the program's condition must reach the caller.
must_surface <- function(program, log) {
  in_run <- program$method %in% c("before", "after")
  is_recovered <- program$kind %in% c("aborted", "unavailable") &&
    (in_run || program$method == "created")
  is_quiet <- program$kind %in% c("stop_iteration", "out_of_range") && in_run
  log$fired && program$kind %in% names(conditions) && !is_recovered && !is_quiet
}

error_class <- function(program) {
  switch(program$kind,
    error = "mine", interrupt = "interrupt", paste0("runhooks_error_", program$kind)
  )
}

is_feed_conflict <- function(condition) {
  inherits(condition, "runhooks_error_failed_precondition") &&
    grepl("Same tensor is fed by two hooks.*hooks\\[\\[.*hooks\\[\\[", conditionMessage(condition))
}

broken_error_promises <- function(program, log, calls) {
  if (is.null(log$error)) return("an error was lost")
  c(
    if (!inherits(log$error, error_class(program))) "another error",
    if (!all(grepl("^[^X]*X$", calls))) "on_error() is not called once, at the end",
    if (program$method != "end" && any(grepl("E", calls))) "end() after an error"
  )
}

# Returns the violations of the contract by a program whose hooks feed the same tensor. The action
# of its hooks may end the run before the conflict.
broken_conflict_promises <- function(program, log) {
  if (is.null(log$error)) {
    return(if (!log$fired || program$kind %in% c("none", "ask")) "a feed conflict was lost")
  }
  own <- log$fired && inherits(log$error, error_class(program))
  c(
    if (!own && !is_feed_conflict(log$error)) "another error than the feeds'",
    if (!log$session_closed()) "the session is open"
  )
}

# Returns the step that the newest checkpoint must have after an interrupted run, or NULL.
interrupted_step <- function(program, log) {
  if (!inherits(log$error, "interrupt")) return(NULL)
  switch(program$method, before = program$call - 1, after = program$call)
}

broken_files <- function(program, log, dir) {
  interrupted <- interrupted_step(program, log)
  newest <- latest_checkpoint(dir)
  files <- list.files(dir)
  saved <- if (!is.null(newest)) cpp_checkpoint_values(newest, "global_step")[[1]]
  is_well <- is.null(log$error)
  c(
    if (any(grepl("tmp", files))) "a temporary file is left",
    if (is_well && is.null(newest)) "nothing was saved",
    if (!is.null(newest) && !endsWith(newest, paste0("-", saved))) "a checkpoint of another step",
    if (is_well && saved != log$steps) "the last step was not saved",
    if (!is.null(interrupted) && !isTRUE(saved == interrupted)) "an interrupt lost a step"
  )
}

broken_promises <- function(program, log) {
  log$session_closed <- function() is.null(log$session) || log$session$should_stop()
  if (has_feed_conflict(program)) return(broken_conflict_promises(program, log))
  calls <- vapply(log$calls, paste, "", collapse = "")
  is_error <- must_surface(program, log)
  c(
    log$wrong,
    if (is_error) broken_error_promises(program, log, calls),
    if (!is_error && !is.null(log$error)) "an error out of nothing",
    if (!is_error && !all(grepl("E$", calls))) "no end()",
    if (!all(grepl("^B?(C(RA)*R?)*E?X?$", calls))) "an order that cannot be",
    if (!log$fired && any(grepl("RR|RE", calls))) "a run without after_run()",
    if (!log$session_closed()) "the session is open"
  )
}

test_that("random hook programs keep the contract of the loop", {
  first <- property_seed("hook programs")
  failed <- character()
  # Compiling closures that run a few times does not pay off.
  level <- compiler::enableJIT(0)
  withr::defer(compiler::enableJIT(level))
  gc()
  held_before <- cpp_held_count()
  for (seed in first + seq_len(program_count)) {
    program <- withr::with_seed(seed, random_program())
    dir <- if (program$save_steps > 0) tempfile("program")
    log <- run_program(program, dir)
    wrong <- c(broken_promises(program, log), if (!is.null(dir)) broken_files(program, log, dir))
    unlink(dir, recursive = TRUE)
    if (length(wrong)) failed <- c(failed, paste0("seed ", seed, ": ", wrong[[1]]))
  }
  expect_identical(utils::head(failed, 5), character(), info = paste("seeds after", first))
  # Collects objects of the last programs.
  gc()
  gc()
  expect_lt(cpp_held_count() - held_before, 100)
})
