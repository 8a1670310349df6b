# Random hook programs: whatever hooks fetch, ask for or raise, wherever they do it, the loop keeps
# its contract. A program that fails is named by its seed.

program_count <- if (identical(Sys.getenv("NOT_CRAN"), "true")) 10000 else 200

# The toy model: a step is one assignment.
toy_graph <- function() {
  graph <- tf$Graph()
  with(graph$as_default(), {
    step <- tf$train$get_or_create_global_step()
    list(graph = graph, train = tf$assign_add(step, 1L, name = "train"))
  })
}

conditions <- list(
  error = function() {
    stop(structure(class = c("mine", "error", "condition"), list(message = "mine", call = NULL)))
  },
  stop_iteration = function() stop_iteration(),
  out_of_range = function() stop(tf$errors$OutOfRangeError(NULL, NULL, "over")),
  aborted = function() stop(tf$errors$AbortedError(NULL, NULL, "again")),
  unavailable = function() stop(tf$errors$UnavailableError(NULL, NULL, "gone"))
)

random_program <- function() {
  list(
    hooks = sample(4, 1), steps = sample(5, 1), kind = sample(
      c("none", "ask", names(conditions)), 1
    ),
    method = sample(c("begin", "created", "before", "after", "end"), 1), actor = sample(4, 1),
    call = sample(3, 1), fetches = sample(c("none", "one", "nested"), 4, replace = TRUE)
  )
}

# A hook that notes what is called as a letter, and acts where the program says so.
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
  request <- switch(program$fetches[[index]],
    one = session_run_args("global_step:0"),
    nested = session_run_args(a = list("global_step:0", b = list()), c = "train:0")
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

run_program <- function(program) {
  log <- new.env()
  log$calls <- list()
  log$fired <- FALSE
  toy <- toy_graph()
  hooks <- lapply(seq_len(program$hooks), function(i) program_hook(program, i, log))
  hooks <- c(hooks, list(hook_stop_at_step(last_step = program$steps)))
  log$error <- NULL
  with(toy$graph$as_default(), {
    tryCatch(
      with(monitored_session(hooks = hooks) %as% sess, {
        log$session <- sess
        while (!sess$should_stop()) sess$run(toy$train)
      }),
      error = function(condition) log$error <- condition
    )
  })
  log
}

# TRUE where the condition that the program raises must reach the caller.
must_surface <- function(program, log) {
  in_run <- program$method %in% c("before", "after")
  is_recovered <- program$kind %in% c("aborted", "unavailable") &&
    (in_run || program$method == "created")
  is_quiet <- program$kind %in% c("stop_iteration", "out_of_range") && in_run
  log$fired && program$kind %in% names(conditions) && !is_recovered && !is_quiet
}

broken_error_promises <- function(program, log, calls) {
  if (is.null(log$error)) return("an error was lost")
  class <- if (program$kind == "error") "mine" else paste0("runhooks_error_", program$kind)
  c(
    if (!inherits(log$error, class)) "another error",
    if (!all(grepl("^[^X]*X$", calls))) "on_error() is not called once, at the end",
    if (program$method != "end" && any(grepl("E", calls))) "end() after an error"
  )
}

# What is wrong with the run of a program, or nothing.
broken_promises <- function(program, log) {
  calls <- vapply(log$calls, paste, "", collapse = "")
  is_error <- must_surface(program, log)
  is_open <- !is.null(log$session) && !log$session$should_stop()
  c(
    log$wrong,
    if (is_error) broken_error_promises(program, log, calls),
    if (!is_error && !is.null(log$error)) "an error out of nothing",
    if (!is_error && !all(grepl("E$", calls))) "no end()",
    if (!all(grepl("^B?(C(RA)*R?)*E?X?$", calls))) "an order that cannot be",
    if (!log$fired && any(grepl("RR|RE", calls))) "a run without after_run()",
    if (is_open) "the session is open"
  )
}

test_that("random hook programs keep the contract of the loop", {
  first <- as.integer(Sys.getenv("RUNHOOKS_SEED", sample(1e6, 1)))
  failed <- character()
  gc()
  held <- cpp_held_count()
  for (seed in first + seq_len(program_count)) {
    program <- withr::with_seed(seed, random_program())
    wrong <- broken_promises(program, run_program(program))
    if (length(wrong)) failed <- c(failed, paste0("seed ", seed, ": ", wrong[[1]]))
  }
  expect_identical(utils::head(failed, 5), character(), info = paste("seeds after", first))
  # what the last programs hold may still wait for R's collector
  gc()
  gc()
  expect_lt(cpp_held_count() - held, 100)
})
