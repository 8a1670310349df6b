# tf$Session, its default, and the members of tf$train for monitored sessions.

monitored_symbols <- function() {
  list(
    MonitoredSession = monitored_session, SingularMonitoredSession = singular_monitored_session,
    MonitoredTrainingSession = monitored_training_session,
    ChiefSessionCreator = chief_session_creator, WorkerSessionCreator = worker_session_creator,
    Scaffold = new_scaffold, Coordinator = coordinator,
    SecondOrStepTimer = second_or_step_timer, NeverTriggerTimer = never_trigger_timer
  )
}

# tf.train.Coordinator(). Coordinators that hooks get belong to their session instead.
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
  checked_members(self)
}
