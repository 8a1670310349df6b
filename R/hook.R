# Hooks of the user: five closures, checked when the hook is made.

hook_methods <- list(
  begin = character(), after_create_session = c("session", "coord"), before_run = "context",
  after_run = c("context", "values"), end = "session"
)

#' A run hook of one's own
#'
#' A hook watches and steers every step of [train()], [evaluate()] and
#' [predict()][predict.tf_estimator]. Its methods are R functions; the ones that are not given do
#' nothing and cost nothing.
#'
#' The methods are called by position, so the names of their arguments are free. Order: `begin()`
#' once before the graph is finalized; `after_create_session()` when a session has been made (again
#' after a failure that the loop recovers from); then `before_run()`, the run, `after_run()` for
#' each step; `end()` when the loop has ended well (the steps are made, the data have ended, a stop
#' was requested), not after an error.
#'
#' An error in a method leaves `train()` as the same condition object, with its class, call and
#' fields. It gets the field `runhooks` (a list with `hook`, `method`, `step`), the class
#' `runhooks_error_hook` and a line that names them.
#'
#' @param begin `function()`. May add to the graph: `tf$get_default_graph()`.
#' @param after_create_session `function(session, coord)`. `coord$request_stop()` and
#'   `coord$should_stop()` steer the loop.
#' @param before_run `function(context)`. Returns `NULL` or [session_run_args()]: what the hook
#'   wants of the next run. `context` has `$session`, `$original_args`, `$stop_requested` and
#'   `$request_stop()`.
#' @param after_run `function(context, values)`. `values$results` is what was asked for, in the same
#'   form; `NULL` where nothing was.
#' @param end `function(session)`.
#' @return A hook: an object of class `EstimatorSessionRunHook`, a list of the five functions. It
#'   may be used again.
#' @section Errors: `runhooks_error_invalid_argument` for a method that is no function or takes
#'   another number of arguments.
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
#' model %>% train(input_fn(mpg ~ wt, mtcars), steps = 1, hooks = count_steps())
session_run_hook <- function(begin = function() {},
                             after_create_session = function(session, coord) {},
                             before_run = function(context) {},
                             after_run = function(context, values) {},
                             end = function(session) {}) {
  given <- c(
    begin = missing(begin), after_create_session = missing(
      after_create_session
    ), before_run = missing(before_run),
    after_run = missing(after_run), end = missing(end)
  )
  methods <- list(
    begin = begin, after_create_session = after_create_session, before_run = before_run,
    after_run = after_run, end = end
  )
  for (method in names(methods)) check_method(methods[[method]], method, hook_methods[[method]])
  structure(methods, absent = names(given)[given], class = "EstimatorSessionRunHook")
}

# A method of a hook or a listener: a function that can be called with these arguments.
check_method <- function(method, name, arguments, call = parent.frame()) {
  wanted <- paste0(
    "a function of ", length(arguments), if (length(arguments) == 1) " argument" else " arguments"
  )
  if (!is.function(method)) {
    stop_runhooks("{.arg {name}} must be {wanted}, not {.obj_type_friendly {method}}.", call = call)
  }
  if (!takes_arguments(method, length(arguments))) {
    has <- names(formals(args(method)))
    signature <- paste0("function(", paste(arguments, collapse = ", "), ")")
    stop_runhooks(
      c(
        "{.arg {name}} must be {wanted}: {.code {signature}}.",
        x = if (length(has)) "It takes {length(has)}: {.arg {has}}." else "It takes none."
      ),
      call = call
    )
  }
}

# TRUE where `f` can be called with n arguments by position.
takes_arguments <- function(f, n) {
  formals <- formals(args(f))
  if (is.null(formals)) return(n == 0L || is.primitive(f))
  dots <- names(formals) == "..."
  has_default <- vapply(formals, function(x) !identical(x, quote(expr = )), logical(1))
  required <- sum(!dots & !has_default)
  required <= n && (any(dots) || n <= sum(!dots))
}

#' What a hook wants of the next run
#'
#' @param ... Tensors, operations, variables, names of tensors (`"loss:0"`), or lists of these,
#'   named or not, nested to any depth. They come back in `after_run()` as `values$results` with the
#'   same names and nesting; an operation gives `NULL`.
#' @param feed_dict Values to feed: a list named by tensors (`list("x:0" = 1)`), or `NULL`. Two
#'   hooks must not feed the same tensor.
#' @param options Options of the run, or `NULL`.
#' @return An object of class `session_run_args` for `before_run()` of a hook to return. One that is
#'   made once and returned again each time costs least.
#' @section Errors: A fetch that is not in the graph is a `runhooks_error_not_found` when the hook
#'   returns it.
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
  # straight to the core: hooks call this in every step
  .Call(`_runhooks_cpp_session_run_args`, list(...), feed_dict, options)
}

#' @export
print.EstimatorSessionRunHook <- function(x, ...) {
  own <- setdiff(names(hook_methods), attr(x, "absent"))
  # lint: allow stdout
  cat(
    "A run hook with", if (length(own)) paste0(own, "()", collapse = ", ") else "no methods", "\n"
  )
  invisible(x)
}

# The objects that methods of hooks are given. They are environments, because `$` on them is as fast
# as R gets.

new_context <- function(pointer, session) {
  context <- new.env(parent = emptyenv())
  context$session <- session
  context$stop_requested <- FALSE
  makeActiveBinding("original_args", function() cpp_context_original_args(pointer), context)
  context$request_stop <- function() cpp_context_request_stop(pointer)
  class(context) <- "SessionRunContext"
  context
}

new_coordinator <- function(pointer) {
  coordinator <- new.env(parent = emptyenv())
  coordinator$request_stop <- function(ex = NULL) {
    # the end of the data is a good reason
    if (!is.null(ex) && is_one_of(ex, c("out_of_range", "stop_iteration"))) ex <- NULL
    kind <- if (!is.null(ex)) steering_kind(ex)
    cpp_coordinator_request_stop(pointer, ex, if (is.null(kind)) "unknown" else kind)
  }
  coordinator$should_stop <- function() cpp_coordinator_should_stop(pointer)
  class(coordinator) <- "Coordinator"
  coordinator
}

is_hook <- function(x) {
  inherits(x, c("EstimatorSessionRunHook", "runhooks_builtin_hook")) || is_deferred_hook(x)
}

# One hook or a list of them as a list; each is checked, and an error names its place.
as_hook_list <- function(hooks, call = parent.frame()) {
  if (is.null(hooks)) return(list())
  if (is_hook(hooks)) return(list(hooks))
  if (!is.list(hooks)) {
    stop_runhooks(
      "{.arg hooks} must be a hook or a list of hooks, not {.obj_type_friendly {hooks}}.",
      call = call
    )
  }
  good <- vapply(hooks, is_hook, logical(1))
  if (!all(good)) {
    place <- which(!good)[[1]]
    stop_runhooks(
      c(
        "Every element of {.arg hooks} must be a hook.",
        x = "Element {place} is {.obj_type_friendly {hooks[[place]]}}.",
        i = "Make one with {.fn session_run_hook} or one of the {.code hook_*()} functions."
      ),
      call = call
    )
  }
  unname_empty(hooks)
}

unname_empty <- function(x) if (all(names(x) %in% "")) unname(x) else x
