# Sessions: the R object of a session of the core, and the default session.

# Creates the R object of a session of the core. The core calls this function once for each session.
new_session <- function(pointer, graph) {
  session <- new.env(parent = emptyenv())
  session$.pointer <- pointer
  session$graph <- graph
  session$run <- function(fetches, feed_dict = NULL, options = NULL, run_metadata = NULL) {
    cpp_session_run(pointer, fetches, feed_dict, options, run_metadata)
  }
  session$close <- function() cpp_session_close(pointer)
  # in with(session$as_default(), ...), unlike in with(session, ...), the default graph does not
  # change, and the session stays open
  session$as_default <- function() {
    new_context_manager(
      function() {
        the$sessions <- c(the$sessions, list(session))
        session
      },
      function(condition) the$sessions <- the$sessions[-length(the$sessions)]
    )
  }
  add_context_methods(
    session,
    enter = function() push_session(session), exit = function(condition) pop_session(session)
  )
  class(session) <- c("tensorflow.python.client.session.Session", "runhooks_context")
  session
}

is_session <- function(x) {
  inherits(x, "tensorflow.python.client.session.Session") ||
    inherits(x, "runhooks_monitored_session") || is.environment(x) && is.function(x$run)
}

#' @export
print.tensorflow.python.client.session.Session <- function(x, ...) {
  # lint: allow stdout
  cat("<Session of a graph of", length(x$graph$get_operations()), "operations>\n")
  invisible(x)
}

#' Create a feed dictionary
#'
#' `dict()` returns a named list of values to feed, as in `sess$run(y, feed_dict = dict(x = 1))`. If
#' a name is a variable of the calling frame that holds a tensor, the key is this tensor. Other keys
#' are strings.
#'
#' @param ... Named values.
#' @return A named list with the attribute `keys`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a value has no name. Unknown names are errors when the
#'     session runs.
#' @family sessions
#' @export
#' @examples
#' dict(a = 1, b = "text")
dict <- function(...) {
  values <- list(...)
  is_named <- length(values) == 0 || !is.null(names(values)) && all(nzchar(names(values)))
  check_arg(is_named, values, "values, each with the name of its tensor", "...", environment())
  frame <- parent.frame()
  keys <- lapply(names(values), function(name) {
    value <- get0(name, envir = frame)
    if (is_tensor(value)) value else name
  })
  structure(values, keys = keys)
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

# Returns the session of the core for an argument that is a session or a monitored session.
underlying_session <- function(x, arg = "sess", call = parent.frame()) {
  check_arg(is_session(x), x, "a session", arg, call)
  if (inherits(x, "runhooks_monitored_session")) x$raw_session() else x
}

session_or_default <- function(session, call = parent.frame()) {
  check_arg(is.null(session) || is_session(session), session, "a session", "session", call)
  if (is.null(session)) session <- session_symbols()$get_default_session()
  if (is.null(session)) {
    abort_runhooks(
      c(
        "There is no default session.",
        i = "Give {.arg session}, or evaluate inside {.code with(tf$Session(), ...)}."
      ),
      kind = "failed_precondition", call = call
    )
  }
  session
}

session_symbols <- function() {
  list(
    Session = function(target = "", graph = NULL, config = NULL) {
      check_arg(is.null(graph) || is_graph(graph), graph, "a graph", "graph", environment())
      use_threads()
      with_checked_members(cpp_session_new(if (is.null(graph)) NULL else graph$.pointer))
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
