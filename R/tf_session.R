# Members of tf$train for monitored sessions, and tf$train$Coordinator().

monitored_symbols <- function() {
  list(
    MonitoredSession = monitored_session, SingularMonitoredSession = singular_monitored_session,
    MonitoredTrainingSession = monitored_training_session,
    ChiefSessionCreator = chief_session_creator, WorkerSessionCreator = worker_session_creator,
    Scaffold = new_scaffold, Coordinator = coordinator,
    SecondOrStepTimer = second_or_step_timer, NeverTriggerTimer = never_trigger_timer
  )
}

# Implements tf$train$Coordinator(). A hook does not get such an object, but the coordinator of its
# session, which the C++ core creates.
coordinator <- function(clean_stop_exception_types = NULL) {
  is_stopped <- FALSE
  exception <- NULL
  clean_types <- clean_stop_exception_types
  if (is.null(clean_types)) clean_types <- "out_of_range"
  self <- new.env(parent = emptyenv())
  self$request_stop <- function(ex = NULL) {
    if (!is_stopped && !is.null(ex) && !has_error_kind(ex, clean_types)) exception <<- ex
    is_stopped <<- TRUE
    invisible()
  }
  self$should_stop <- function() is_stopped
  self$clear_stop <- function() {
    is_stopped <<- FALSE
    exception <<- NULL
    invisible()
  }
  self$raise_requested_exception <- function() if (!is.null(exception)) stop(exception)
  self$join <- function(threads = NULL, ...) self$raise_requested_exception()
  class(self) <- "Coordinator"
  with_checked_members(self)
}
