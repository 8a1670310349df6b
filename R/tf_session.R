# tf$Session and its default, and the parts of monitored sessions under tf$train.

session_symbols <- function() {
  list(
    Session = function(target = "", graph = NULL, config = NULL) {
      use_threads()
      cpp_session_new(if (is.null(graph)) NULL else graph$.pointer)
    },
    get_default_session = function() {
      if (length(the$sessions)) the$sessions[[length(the$sessions)]]
    },
    ConfigProto = function(...) list(...),
    RunOptions = run_options,
    RunOptions.NO_TRACE = 0L, RunOptions.SOFTWARE_TRACE = 1L, RunOptions.HARDWARE_TRACE = 2L,
    RunOptions.FULL_TRACE = 3L,
    RunMetadata = run_metadata
  )
}

push_session <- function(session) {
  cpp_graph_push_default(session$graph$.pointer)
  the$sessions <- c(the$sessions, list(session))
  session
}

pop_session <- function(session) {
  the$sessions <- the$sessions[-length(the$sessions)]
  cpp_graph_pop_default()
  session$close()
}

# The session of `$eval()` and `$run()` of tensors and operations.
session_or_default <- function(session, call = parent.frame()) {
  if (is.null(session)) session <- session_symbols()$get_default_session()
  if (is.null(session)) {
    stop_runhooks(
      c(
        "There is no default session.",
        i = "Give {.arg session}, or evaluate inside of {.code with(tf$Session(), ...)}."
      ),
      kind = "failed_precondition", call = call
    )
  }
  session
}

monitored_symbols <- function() {
  list(
    MonitoredSession = monitored_session, SingularMonitoredSession = singular_monitored_session,
    MonitoredTrainingSession = monitored_training_session,
    ChiefSessionCreator = chief_session_creator, WorkerSessionCreator = worker_session_creator,
    Scaffold = new_scaffold, Coordinator = coordinator,
    SecondOrStepTimer = second_or_step_timer, NeverTriggerTimer = never_trigger_timer
  )
}

# tf.train.Coordinator of one's own; the ones that hooks are given belong to their session.
coordinator <- function(clean_stop_exception_types = NULL) {
  is_stopped <- FALSE
  why <- NULL
  clean <- if (is.null(clean_stop_exception_types)) "out_of_range" else clean_stop_exception_types
  self <- new.env(parent = emptyenv())
  self$request_stop <- function(ex = NULL) {
    if (!is_stopped && !is.null(ex) && !is_one_of(ex, clean)) why <<- ex
    is_stopped <<- TRUE
    invisible()
  }
  self$should_stop <- function() is_stopped
  self$clear_stop <- function() {
    is_stopped <<- FALSE
    why <<- NULL
    invisible()
  }
  self$raise_requested_exception <- function() if (!is.null(why)) stop(why)
  self$join <- function(threads = NULL, ...) self$raise_requested_exception()
  class(self) <- "Coordinator"
  self
}
