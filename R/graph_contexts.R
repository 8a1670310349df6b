# Contexts for with(), like context managers in Python. A context is an environment with three
# functions. `.enter()` returns the value for `%as%`. `.exit(condition)` receives an error or NULL.
# `.swallows(condition)` returns TRUE for errors that with() ignores.

new_context_manager <- function(enter, exit, swallows = function(condition) FALSE) {
  context <- new.env(parent = emptyenv())
  add_context_methods(context, enter, exit, swallows)
  class(context) <- "runhooks_context"
  context
}

add_context_methods <- function(object, enter, exit, swallows = function(condition) FALSE) {
  object$.enter <- enter
  object$.exit <- exit
  object$.swallows <- swallows
  object
}

# Adds flush() and close() to an object that writes `path`, and makes it a context. close() calls
# `flush` once. Returns a function that aborts if the object is closed.
add_close_methods <- function(object, path, flush) {
  is_open <- TRUE
  object$flush <- function() {
    flush()
    invisible()
  }
  object$close <- function() {
    if (is_open) flush()
    is_open <<- FALSE
    invisible()
  }
  add_context_methods(
    object, enter = function() object, exit = function(condition) object$close()
  )
  function() {
    if (!is_open) abort_runhooks("{.path {path}} is closed.", kind = "failed_precondition")
  }
}

#' Evaluate code in a session, graph or scope
#'
#' `with(context, expr)` enters a context, evaluates `expr` and leaves the context, also after an
#' error. `context %as% name` assigns the value of the context, such as the session, to a variable
#' during the evaluation, and restores the variable afterwards.
#'
#' Contexts are:
#'
#' * [monitored_session()] and similar sessions: on leaving without an error, they call `end()` of
#'   their hooks; they are always closed.
#' * `tf$Session()`: its graph is the default graph in `expr`, and it is closed on leaving.
#' * `graph$as_default()`, `tf$name_scope()`, `tf$variable_scope()` and `tf$control_dependencies()`.
#'
#' @param data A context, or the value of `%as%`.
#' @param expr Code to evaluate.
#' @param as Name of the variable, as an alternative to `%as%`: a bare name for `%as%`, a string for
#'   `with()`.
#' @param object A context.
#' @param ... Ignored.
#' @return `with()`: the value of `expr`. `%as%`: an object for `with()`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `as` is not a name, or the name of a scope is invalid.
#'   * `runhooks_error_failed_precondition`: a closed session is used.
#'   * Any error of `expr`, raised after the context has been left.
#' @name with_context
#' @family sessions
#' @examples
#' with(tf$Graph()$as_default(), {
#'   with(tf$name_scope("layer"), x <- tf$constant(2, name = "x"))
#'   with(tf$Session() %as% sess, sess$run(x * 3))
#' })
NULL

#' @rdname with_context
#' @export
with.runhooks_context <- function(data, expr, as = NULL, ...) {
  # package reticulate has its own `%as%`, which stores the name in an attribute
  if (is.null(as)) as <- attr(data, "as")
  check_string(as, null = TRUE)
  eval_in_context(data, expr, as, parent.frame())
}

#' @rdname with_context
#' @export
with.runhooks_context_as <- function(data, expr, ...) {
  eval_in_context(data$context, expr, data$name, parent.frame())
}

#' @rdname with_context
#' @export
`%as%` <- function(object, as) {
  as <- substitute(as)
  check_arg(is.name(as) || is.character(as), as, "a name", "as", environment())
  name <- as.character(as)
  if (inherits(object, "runhooks_context")) {
    return(structure(list(context = object, name = name), class = "runhooks_context_as"))
  }
  # contexts of the package reticulate read the name from this attribute
  attr(object, "as") <- name
  object
}

eval_in_context <- function(context, expr, name, frame) {
  value <- context$.enter()
  is_left <- FALSE
  # NULL unless the block fails; return() and break leave the block without an error
  failure <- NULL
  on.exit(if (!is_left) context$.exit(failure))
  if (!is.null(name)) {
    previous <- frame[[name]]
    was_defined <- exists(name, envir = frame, inherits = FALSE)
    assign(name, value, envir = frame)
    on.exit(
      if (was_defined) assign(name, previous, envir = frame) else remove_if_exists(name, frame),
      add = TRUE
    )
  }
  record_failure <- function(condition) failure <<- condition
  result <- eval_with_ignored_errors(expr, context$.swallows, record_failure)
  is_left <- TRUE
  context$.exit(NULL)
  if (result$is_visible) result$value else invisible(result$value)
}

remove_if_exists <- function(name, frame) {
  if (exists(name, envir = frame, inherits = FALSE)) rm(list = name, envir = frame)
}

# Evaluates `expr`. If `swallows()` is TRUE for an error, the value is NULL; `on_other()` is called
# for other errors. The restart is invoked as an object, because nested blocks have the same restart
# name.
eval_with_ignored_errors <- function(expr, swallows, on_other = function(condition) NULL) {
  restart <- NULL
  on_error <- function(condition) {
    if (swallows(condition)) invokeRestart(restart)
    on_other(condition)
  }
  evaluate <- function() {
    restart <<- computeRestarts()[[1]]
    result <- withCallingHandlers(withVisible(expr), error = on_error, interrupt = on_other)
    list(value = result$value, is_visible = result$visible)
  }
  withRestarts(
    evaluate(), runhooks_leave_block = function() list(value = NULL, is_visible = FALSE)
  )
}

scope_context <- function(open, graph = NULL) {
  pointer <- if (!is.null(graph)) graph$.pointer
  new_context_manager(function() open(pointer), function(condition) cpp_scope_close())
}

name_scope <- function(name, default_name = NULL, values = NULL, graph = NULL) {
  if (is.null(name)) name <- default_name
  check_string(name, null = TRUE)
  scope_context(function(graph) cpp_scope_open_name(graph, if (is.null(name)) "" else name), graph)
}

# `values` is ignored: in TensorFlow it selects the graph, and this package always uses the default
# graph.
variable_scope <- function(name_or_scope, default_name = NULL, values = NULL, initializer = NULL,
                           regularizer = NULL, caching_device = NULL, partitioner = NULL,
                           custom_getter = NULL, reuse = NULL, dtype = NULL, use_resource = NULL,
                           constraint = NULL, auxiliary_name_scope = TRUE) {
  abort_unsupported_arguments(caching_device, auxiliary_name_scope)
  is_scope <- inherits(name_or_scope, "runhooks_variable_scope")
  if (is_scope) name_or_scope <- unclass(name_or_scope)$name
  name <- if (is.null(name_or_scope)) default_name else name_or_scope
  check_string(name)
  check_function(regularizer, null = TRUE)
  check_function(constraint, null = TRUE)
  check_function(custom_getter, null = TRUE)
  check_partitioner(partitioner, "partitioner", environment())
  if (!is.null(use_resource)) check_flag(use_resource)
  defaults <- list(
    initializer = initializer, regularizer = regularizer, constraint = constraint, dtype = dtype,
    use_resource = use_resource,
    partitioner = if (!is.null(partitioner)) wrap_partitioner(partitioner),
    getter = if (!is.null(custom_getter)) compose_getters(custom_getter, cpp_scope_getter())
  )
  if (is.null(name_or_scope) && isTRUE(reuse)) {
    abort_runhooks("{.code reuse = TRUE} cannot be used without a {.arg name_or_scope}.")
  }
  mode <- if (is.null(reuse) || isFALSE(reuse)) "" else if (isTRUE(reuse)) "always" else "auto"
  if (is.null(name_or_scope)) mode <- "unique"
  scope_context(function(graph) {
    cpp_scope_open_variables(graph, name, mode, defaults, is_scope)
    current_variable_scope()
  })
}

# Returns the value that with(... %as% scope) assigns to `scope`, which tf$variable_scope() accepts
# as a scope, too.
current_variable_scope <- function() {
  structure(cpp_variable_scope(), class = "runhooks_variable_scope")
}

#' @export
`$.runhooks_variable_scope` <- function(x, name) {
  switch(name,
    name = unclass(x)$name,
    reuse = if (unclass(x)$reuse == "auto") tf$AUTO_REUSE else unclass(x)$reuse == "always",
    original_name_scope = paste0(unclass(x)$name, "/"),
    reuse_variables = function() invisible(cpp_variable_scope_reuse()),
    global_variables = function() scope_variables(x, "variables"),
    trainable_variables = function() scope_variables(x, "trainable_variables"),
    abort_no_member(x, name)
  )
}

scope_variables <- function(scope, collection) {
  cpp_graph_default()$get_collection(collection, paste0(scope$name, "/"))
}

#' @export
print.runhooks_variable_scope <- function(x, ...) {
  cat("<variable scope \"", unclass(x)$name, "\">\n", sep = "") # lint: allow stdout
  invisible(x)
}

control_dependencies <- function(control_inputs, graph = NULL) {
  if (is_graph_element(control_inputs)) control_inputs <- list(control_inputs)
  scope_context(function(graph) cpp_scope_open_control(graph, control_inputs), graph)
}

default_graph_context <- function(graph) {
  new_context_manager(
    function() {
      cpp_graph_push_default(graph$.pointer)
      graph
    },
    function(condition) cpp_graph_pop_default()
  )
}

# Combines a custom getter of variables with that of the enclosing scope, or with the default
# getter.
compose_getters <- function(getter, outer) {
  force(getter)
  inner <- if (is.null(outer)) default_variable_getter else outer
  function(name, ...) getter(inner, name, ...)
}
