# Sessions in R.

# Called by the core when R first asks for a session.
new_session <- function(pointer, graph) {
  session <- new.env(parent = emptyenv())
  session$.pointer <- pointer
  session$graph <- graph
  session$run <- function(fetches, feed_dict = NULL, options = NULL, run_metadata = NULL) {
    cpp_session_run(pointer, fetches, feed_dict, options, run_metadata)
  }
  session$close <- function() cpp_session_close(pointer)
  as_context(
    session,
    enter = function() push_session(session), exit = function(condition) pop_session(session)
  )
  class(session) <- c("tensorflow.python.client.session.Session", "runhooks_context")
  session
}

#' @export
print.tensorflow.python.client.session.Session <- function(x, ...) {
  # lint: allow stdout
  cat("<Session of a graph of", length(x$graph$get_operations()), "operations>\n")
  invisible(x)
}

#' A dictionary
#'
#' Named values whose keys may be tensors: a name that is a variable of the calling frame holding a
#' tensor stands for that tensor, as in `sess$run(y, feed_dict = dict(x = 1))`. Other names are
#' strings.
#'
#' @param ... Named values.
#' @return A named list, with the keys as attribute `keys`.
#' @family sessions
#' @export
#' @examples
#' dict(a = 1, b = "text")
dict <- function(...) {
  values <- list(...)
  frame <- parent.frame()
  keys <- lapply(names(values), function(name) {
    found <- get0(name, envir = frame)
    if (is_tensor(found)) found else name
  })
  structure(values, keys = keys)
}
