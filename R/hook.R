# Custom hooks: lists of functions, whose signatures are checked on creation.

hook_methods <- list(
  begin = character(), after_create_session = c("session", "coord"), before_run = "context",
  after_run = c("context", "values"), end = "session", on_error = c("session", "condition"),
  save_state = character(), restore_state = "state"
)

#' Create a custom run hook
#'
#' Combines R functions into a hook, which observes and controls every step of [train()],
#' [evaluate()] and [predict()][predict.tf_estimator]. All methods are optional; a missing method
#' costs nothing.
#'
#' The loop passes arguments by position, so their names are free. It calls the methods in this
#' order:
#'
#' 1. `begin()`, once, before the graph is finalized;
#' 2. `after_create_session()`, after a session was created, and again after a failure from which
#'    the loop recovers;
#' 3. `before_run()` and `after_run()`, before and after each step;
#' 4. `end()`, after the loop has ended without an error.
#'
#' An error in a method leaves `train()` as the same condition object, with its class, call and
#' fields. The loop adds the class `runhooks_error_hook`, a field `runhooks` (a list with `hook`,
#' `method` and `step`), and a line to the message.
#'
#' @param begin `function()`. Can add operations to the graph: `tf$get_default_graph()`.
#' @param after_create_session `function(session, coord)`. `coord$request_stop()` stops the loop,
#'   and `coord$should_stop()` tells whether it is stopping.
#' @param before_run `function(context)`. Returns `NULL`, or [session_run_args()] with the tensors
#'   that the hook requests. `context` has `$session`, `$original_args`, `$stop_requested` and
#'   `$request_stop()`. Three fields describe the input of this session. `$rows` is the number of
#'   rows read. `$epoch` is the pass of the last row, starting at 1. `$waited` is the number of
#'   seconds that steps waited for input. They are `NA` if the graph has no dataset. TensorFlow does
#'   not have these three fields.
#' @param after_run `function(context, values)`. `values$results` contains the requested values in
#'   the same structure as the request, or `NULL` without a request.
#' @param end `function(session)`.
#' @param on_error `function(session, condition)`. The loop calls it after an error, an interrupt or
#'   a jump to a restart, when the session is already closed. An error in `on_error()` becomes a
#'   warning, so that it does not hide the original error. TensorFlow does not have this method.
#' @param save_state,restore_state `save_state()` returns the state that checkpoints store for the
#'   hook, or `NULL`. `restore_state(state)` receives it when a run resumes, before
#'   `after_create_session()`. The state is identified by the name of the hook in the list `hooks`,
#'   or by its position. If a hook has a state, checkpoint savers run after all other hooks, so that
#'   they save the state after the step.
#' @param weight A number. Hooks with a larger weight run later.
#' @param ... Must be empty; other methods are an error.
#' @return A hook: a list of the functions with class `EstimatorSessionRunHook`. You can reuse it in
#'   several runs.
#' @section States: A checkpoint can come from an untrusted source, so it must not contain code. A
#'   state is plain data: `NULL`, logicals, numbers, strings, raw bytes, and lists of these.
#'   Attributes may be plain data too, so factors, dates and data frames are allowed. Functions,
#'   environments, R6 objects, formulas, external pointers and S4 objects are an error that names
#'   the element. Save the data needed to rebuild such an object, and rebuild it in
#'   `restore_state()`.
#' @section Other forms: All functions with an argument `hooks` also accept a named list of such
#'   functions, and R6 or reference objects that have them as methods.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: a method is not a function, or has the wrong number of
#'     arguments.
#' @seealso The class `tf.train.SessionRunHook` of TensorFlow 1.x; `vignette("run-hooks")`.
#' @family hooks
#' @export
#' @examples
#' count_steps <- function() {
#'   count <- 0
#'   session_run_hook(
#'     after_run = function(context, values) count <<- count + 1,
#'     end = function(session) cat("made", count, "steps\n")
#'   )
#' }
#' model <- linear_regressor(column_numeric("wt"))
#' model |> train(input_fn(mpg ~ wt, mtcars), steps = 1, hooks = count_steps())
session_run_hook <- function(begin = function() {},
                             after_create_session = function(session, coord) {},
                             before_run = function(context) {},
                             after_run = function(context, values) {},
                             end = function(session) {},
                             on_error = function(session, condition) {},
                             save_state = function() NULL,
                             restore_state = function(state) {},
                             weight = 0,
                             ...) {
  abort_abbreviated_arguments()
  abort_extra_arguments("session_run_hook", list(...), c(names(hook_methods), "weight"))
  supplied <- names(match.call())
  methods <- list(
    begin = begin, after_create_session = after_create_session, before_run = before_run,
    after_run = after_run, end = end, on_error = on_error, save_state = save_state,
    restore_state = restore_state
  )
  for (method in names(methods)) check_method(methods[[method]], method, hook_methods[[method]])
  check_number(weight)
  rebuild_hook(c(methods, list(absent = setdiff(names(methods), supplied), weight = weight)))
}

rebuild_hook <- function(fields) {
  type <- fields$type
  if (is_deferred_hook(fields)) return(fields)
  if (is_string(type)) {
    class(fields) <- c(type, "runhooks_builtin_hook")
    return(fields)
  }
  if (!identical(names(fields), c(names(hook_methods), "absent", "weight"))) return(NULL)
  structure(fields, class = "EstimatorSessionRunHook")
}

# A method that is set later counts as given, and a misspelled one is an error.
#' @export
`$<-.EstimatorSessionRunHook` <- function(x, name, value) {
  call <- parent.frame()
  fields <- unclass(x)
  if (name %in% names(hook_methods)) {
    check_method(value, name, hook_methods[[name]], call)
    fields$absent <- setdiff(fields$absent, name)
  } else if (name == "weight") {
    check_number(value, call = call)
  } else {
    check_method_names(setNames(list(value), name), call)
  }
  fields[[name]] <- value
  structure(fields, class = class(x))
}

#' @export
`[[<-.EstimatorSessionRunHook` <- function(x, i, value) {
  check_string(i)
  `$<-.EstimatorSessionRunHook`(x, i, value)
}

#' @export
`$.EstimatorSessionRunHook` <- function(x, name) {
  value <- .subset2(x, name)
  if (is.null(value) && !isNamespace(topenv(parent.frame()))) get_member(x, name) else value
}

#' @export
`$.runhooks_builtin_hook` <- `$.EstimatorSessionRunHook`

hook_from_methods <- function(x, call = parent.frame()) {
  check_method_names(x, call)
  methods <- hook_methods_of(x)
  if (!is.environment(x)) methods$weight <- x$weight
  do.call(session_run_hook, methods)
}

has_hook_methods <- function(x) {
  if (is.environment(x)) return(length(hook_methods_of(x)) > 0)
  is.list(x) && !is.object(x) && length(x) > 0 && !is.null(names(x)) &&
    all(vapply(x[names(x) != "weight"], is.function, NA))
}

hook_methods_of <- function(x) {
  methods <- lapply(setNames(nm = names(hook_methods)), function(name) hook_member(x, name))
  Filter(is.function, methods)
}

hook_member <- function(x, name) {
  if (!is.environment(x)) return(x[[name]])
  tryCatch(eval(call("$", x, as.name(name))), error = function(e) NULL)
}

# Aborts if a method has an unknown name, because it would never be called.
check_method_names <- function(x, call) {
  unknown <- setdiff(names(x), c(names(hook_methods), "weight"))
  if (is.environment(x)) {
    unknown <- Filter(function(name) is.function(x[[name]]), unknown)
    is_similar <- function(name) min(utils::adist(name, names(hook_methods))) <= 2
    unknown <- Filter(is_similar, unknown)
  }
  if (length(unknown)) {
    abort_runhooks(
      c(
        "A hook has no method {.val {unknown[[1]]}}.",
        did_you_mean(unknown[[1]], names(hook_methods)),
        i = "Its methods are {.val {names(hook_methods)}}."
      ),
      call = call
    )
  }
}

check_method <- function(method, name, arguments, call = parent.frame()) {
  expected <- paste0(
    "a function of ", length(arguments), if (length(arguments) == 1) " argument" else " arguments"
  )
  if (!is.function(method)) {
    abort_runhooks("{.arg {name}} must be {expected}, not {describe_type(method)}.", call = call)
  }
  if (!takes_arguments(method, length(arguments))) {
    actual <- names(formals(args(method)))
    signature <- paste0("function(", paste(arguments, collapse = ", "), ")")
    abort_runhooks(
      c(
        "{.arg {name}} must be {expected}: {.code {signature}}.",
        x = if (length(actual)) "It has {length(actual)}: {.arg {actual}}." else "It has none."
      ),
      call = call
    )
  }
}

#' Request tensors for the next step
#'
#' Creates the return value of a hook's `before_run()`: the tensors to fetch and the values to feed
#' in the next step.
#'
#' @param ... Tensors, operations, variables, names of tensors (`"loss:0"`), or nested lists of
#'   these, with or without names. `after_run()` receives the values as `values$results`, with the
#'   same names and nesting. The value of an operation is `NULL`.
#' @param feed_dict Values to feed: a list named by tensors (`list("x:0" = 1)`), or `NULL`. Two
#'   hooks must not feed the same tensor.
#' @param options Options of the run, or `NULL`.
#' @return An object of class `session_run_args`. If the request never changes, create it once and
#'   return the same object in each step; this is the fastest way.
#' @section Errors:
#'   * `runhooks_error_not_found`: a requested tensor is not in the graph. The error occurs when
#'     `before_run()` returns.
#' @seealso The class `tf.train.SessionRunArgs` of TensorFlow 1.x.
#' @family hooks
#' @export
#' @examples
#' session_run_hook(
#'   before_run = function(context) {
#'     session_run_args(losses = context$session$graph$get_collection("losses"))
#'   },
#'   after_run = function(context, values) print(values$results$losses[[2]])
#' )
session_run_args <- function(..., feed_dict = NULL, options = NULL) {
  # hooks call this in every step, so it bypasses the Rcpp wrapper
  .Call(`_runhooks_cpp_session_run_args`, list(...), feed_dict, options)
}

#' @export
print.EstimatorSessionRunHook <- function(x, ...) {
  defined <- setdiff(names(hook_methods), x$absent)
  # lint: allow stdout
  cat(
    "A run hook with",
    if (length(defined)) paste0(defined, "()", collapse = ", ") else "no methods", "\n"
  )
  invisible(x)
}

# Contexts and coordinators, the arguments of hook methods, are environments because `$` is fastest
# on environments.

new_context <- function(pointer, session) {
  context <- new.env(parent = emptyenv())
  context$session <- session
  context$stop_requested <- FALSE
  makeActiveBinding("original_args", function() cpp_context_original_args(pointer), context)
  makeActiveBinding("rows", function() cpp_context_progress(pointer)[[1]], context)
  makeActiveBinding("epoch", function() cpp_context_progress(pointer)[[2]], context)
  makeActiveBinding("waited", function() cpp_context_progress(pointer)[[3]], context)
  context$request_stop <- function() {
    cpp_context_request_stop(pointer)
    context$stop_requested <- TRUE
    invisible()
  }
  class(context) <- "SessionRunContext"
  context
}

new_coordinator <- function(pointer) {
  coordinator <- new.env(parent = emptyenv())
  coordinator$request_stop <- function(ex = NULL) {
    # the end of the data is a normal reason to stop
    if (!is.null(ex) && has_error_kind(ex, c("out_of_range", "stop_iteration"))) ex <- NULL
    kind <- if (!is.null(ex)) control_error_kind(ex)
    cpp_coordinator_request_stop(pointer, ex, if (is.null(kind)) "unknown" else kind)
  }
  coordinator$should_stop <- function() cpp_coordinator_should_stop(pointer)
  class(coordinator) <- "Coordinator"
  coordinator
}

# Returns the code of a hook, which identifies unnamed hooks in checkpoints. It has no comments and
# does not depend on enclosing environments.
hook_code <- function(hook) {
  methods <- hook[setdiff(names(hook_methods), hook$absent)]
  code <- lapply(methods, deparse, control = c("keepNA", "keepInteger", "digits17"))
  paste(rep(names(code), lengths(code)), unlist(code), collapse = "\n")
}

# Evaluates `expr` and returns an error as a value. The core calls it while an interrupt is pending.
value_or_error <- function(expr) {
  tryCatch(expr, error = identity, interrupt = function(condition) simpleError("interrupted again"))
}

is_hook <- function(x) {
  inherits(x, c("EstimatorSessionRunHook", "runhooks_builtin_hook")) || is_deferred_hook(x)
}

as_hook_list <- function(hooks, call = parent.frame()) {
  if (is.null(hooks)) return(list())
  if (is_hook(hooks)) return(list(hooks))
  if (has_hook_methods(hooks)) return(list(hook_from_methods(hooks, call)))
  if (inherits(hooks, "runhooks_early_stopping")) {
    abort_runhooks(
      c(
        "{.fn early_stopping} is not a hook.",
        i = "Use the argument {.arg stop}: {.code train(model, data, validation = , stop =
             early_stopping({.val {hooks$metric_name}}, patience = {hooks$patience}))}."
      ),
      call = call
    )
  }
  if (!is.list(hooks)) {
    abort_runhooks(
      c(
        "{.arg hooks} must be a hook or a list of hooks, not {describe_type(hooks)}.",
        no_hook_advice(hooks)
      ),
      call = call
    )
  }
  hooks <- lapply(
    unsplice(hooks, c("begin", "hook_fn", "type"), rebuild_hook),
    function(x) if (!is_hook(x) && has_hook_methods(x)) hook_from_methods(x, call) else x
  )
  good <- vapply(hooks, is_hook, logical(1))
  if (!all(good)) {
    position <- which(!good)[[1]]
    abort_runhooks(
      c(
        "Every element of {.arg hooks} must be a hook.",
        x = "Element {position} is {describe_type(hooks[[position]])}.",
        no_hook_advice(hooks[[position]])
      ),
      call = call
    )
  }
  # hooks with a larger weight run later; hooks of equal weight keep their order
  weights <- vapply(hooks, function(hook) {
    weight <- hook[["weight"]]
    if (is.null(weight)) 0 else weight # built-in hooks have no weight
  }, 0)
  # names preserve the user's positions for messages and saved states
  if (is.unsorted(weights)) hooks <- name_hooks(hooks)[order(weights)]
  if (all(names(hooks) %in% "")) unname(hooks) else hooks
}

no_hook_advice <- function(x) {
  if (is.function(x)) {
    constructors <- Filter(function(f) is.function(f), mget(
      ls(topenv(), pattern = "^hook_"), envir = topenv()
    ))
    matching <- names(constructors)[vapply(constructors, identical, NA, x)]
    if (length(matching)) return(c(i = sprintf("Call it: {.code hooks = %s()}.", matching[[1]])))
    example <- "session_run_hook(after_run = function(context, values) ...)"
    return(c(i = paste0("For example {.code ", example, "}.")))
  }
  if (is_string(x)) {
    constructor_names <- grep("^hook_", getNamespaceExports(topenv()), value = TRUE)
    if (x %in% constructor_names) return(c(i = sprintf("Call it: {.code hooks = %s()}.", x)))
    return(did_you_mean(x, constructor_names))
  }
  c(i = "Create one with {.fn session_run_hook} or a {.code hook_*()} function.")
}


# Creates deferred hooks, without adding the default hooks of training and evaluation.
finish_hooks <- function(hooks, mode) {
  lapply(hooks, function(hook) if (is_deferred_hook(hook)) hook$hook_fn(mode, NULL) else hook)
}

# Names hooks by their positions in the user's list, such as `hooks[[2]]`, for messages.
name_hooks <- function(hooks, argument = "hooks") {
  user_names <- if (is.null(names(hooks))) rep("", length(hooks)) else names(hooks)
  positions <- sprintf("%s[[%d]]", argument, seq_along(hooks))
  setNames(hooks, ifelse(user_names == "", positions, user_names))
}
