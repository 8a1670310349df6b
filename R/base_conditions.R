# Constructors of errors, and handlers that add hook, method and step to errors in training loops.

#' Raise an error of the package
#'
#' @param message Character vector as `rlang::abort()` takes it; cli markup is interpolated in the
#'   caller's frame.
#' @param kind The kind of the error: its class is `runhooks_error_<kind>`.
#' @param ... Fields of the condition.
#' @param call,env The frame whose call the error shows, and the frame in which markup is evaluated.
#' @noRd
abort_runhooks <- function(
  message,
  kind = "invalid_argument",
  ...,
  call = parent.frame(),
  env = parent.frame()
) {
  call <- call_for_message(call)
  cli::cli_abort(message, class = error_classes(kind), ..., call = call, .envir = env)
}

abort_plain <- function(message, kind = "invalid_argument", call = parent.frame()) {
  rlang::abort(message, class = error_classes(kind), call = call_for_message(call))
}

# Returns the call that an error shows. Lists that do.call() inserted are replaced by `list(...)`,
# because rlang would copy them.
call_for_message <- function(frame) {
  call <- frame
  if (is.environment(frame)) {
    at <- which(vapply(sys.frames(), identical, NA, frame))
    call <- if (length(at)) sys.call(at[[length(at)]])
  }
  if (!is.call(call)) return(frame)
  has_list <- function(x) is.list(x) || is.call(x) && any(vapply(as.list(x), is.list, NA))
  is_value <- vapply(as.list(call), has_list, NA)
  if (!any(is_value)) return(frame)
  call[is_value] <- list(quote(list(...)))
  call
}

error_classes <- function(kind) c(paste0("runhooks_error_", kind), "runhooks_error")

# Returns a hint if the error is about R's temporary folder, where models without a `model_dir` are
# saved; otherwise NULL.
tempdir_hint <- function(kind, text) {
  mentions_tempdir <- any(grepl(basename(tempdir()), text, fixed = TRUE))
  is_full <- kind == "resource_exhausted"
  is_unwritable <- kind == "permission_denied" &&
    (!dir.exists(tempdir()) || file.access(tempdir(), 2))
  if (mentions_tempdir && (is_full || is_unwritable)) {
    paste(
      "R's temporary folder", if (is_full) "is full." else "cannot be written.",
      "Use another `model_dir`, or set the environment variable TMPDIR before R starts."
    )
  }
}

# Raises an error of the C++ core in R. Called by the Rcpp bindings. `condition` is the R condition
# if R code raised the error. If it could not be preserved, `classes` are its classes.
raise_core_error <- function(condition, kind, message, hints, classes = NULL) {
  raise_warnings()
  if (!is.null(condition)) stop(condition)
  if (!is.null(classes)) {
    custom_classes <- setdiff(classes, c("rlang_error", "error", "condition"))
    rlang::abort(message, class = custom_classes, call = NULL)
  }
  hints <- c(hints, tempdir_hint(kind, message))
  bullets <- c(message, setNames(hints, rep("i", length(hints))))
  rlang::abort(bullets, class = error_classes(kind), call = call_for_message(user_frame()))
}

# Evaluates a call and returns an error as a value. Called by the core when it has to defer an error
# or to inspect it.
error_as_value <- function(call, env) {
  tryCatch(
    rlang::eval_bare(call, env),
    error = function(condition) structure(list(condition), class = "runhooks_deferred_error")
  )
}

condition_text <- function(condition) {
  text <- conditionMessage(condition)
  if (length(text) == 1) as.character(text) else ""
}

# Returns the frame of the package function that the user called: the innermost one with a caller
# outside the package, because lazy evaluation nests calls. If the user has renamed our functions,
# no frame matches, and the outermost frame of the package is used.
user_frame <- function() {
  ns <- topenv()
  frames <- sys.frames()
  parents <- sys.parents()
  calls <- sys.calls()
  inner <- which(seq_along(frames) > the$user_code_depth)
  is_package_frame <- vapply(frames, function(frame) identical(topenv(frame), ns), NA)
  package_frames <- inner[is_package_frame[inner]]
  for (n in rev(package_frames)) {
    if (is_user_facing_call(calls[[n]][[1]]) && is_user_code(parents[[n]], frames, parents, ns)) {
      return(call_without_method(calls[[n]], frames[[n]]))
    }
  }
  if (length(package_frames)) return(frames[[package_frames[[1]]]])
  if (the$user_code_depth > 0) return(frames[[the$user_code_depth]])
  NULL
}

# For a method of an operator, returns the call with the operator, such as `a + b`. Operators are
# primitives and have no frame that rlang could show.
call_without_method <- function(call, frame) {
  fun <- if (is.symbol(call[[1]])) as.character(call[[1]]) else ""
  if (!grepl("^(Ops|Math|Summary|\\[)[.]tensorflow", fun)) return(frame)
  call[[1]] <- if (startsWith(fun, "[")) quote(`[`) else as.symbol(get(".Generic", frame))
  call
}

# Whether a user can write this call: `tf$...`, an exported function or a method.
is_user_facing_call <- function(fun) {
  if (is.call(fun)) return(TRUE)
  if (!is.symbol(fun)) return(FALSE)
  name <- as.character(fun)
  name %in% getNamespaceExports(topenv()) || grepl("[.](tensorflow|runhooks|tf)[._]", name)
}

# Whether frame n runs code from outside the package. For a frame of base R, its caller decides.
is_user_code <- function(n, frames, parents, ns) {
  while (n > 0) {
    home <- topenv(frames[[n]])
    if (identical(home, ns)) return(FALSE)
    if (!identical(home, baseenv()) && !identical(home, .BaseNamespaceEnv)) return(TRUE)
    n <- parents[[n]]
  }
  TRUE
}

# Evaluates a call of a user's function. Inside it, user_frame() ignores all frames outside it.
eval_user_code <- function(expr) {
  outer <- the$user_code_depth
  on.exit(the$user_code_depth <- outer)
  the$user_code_depth <- sys.nframe()
  expr
}

# Kinds of errors that end or restart a loop, named after TensorFlow's error codes. The first class
# of a condition determines its kind.
control_error_kinds <- c("out_of_range", "stop_iteration", "aborted", "unavailable")

control_error_kind <- function(condition) {
  kind <- sub("^runhooks_error_", "", class(condition)[[1]])
  if (kind %in% control_error_kinds) kind else NULL
}

# Runs a loop of the core. Errors in hooks get a note with hook, method and step. `history()`
# returns the training history so far, which is added to an interrupt condition. `interrupted()` is
# called after an interrupt.
with_loop_conditions <- function(expr, history = NULL, interrupted = NULL) {
  use_threads()
  on.exit(end_progress_line(), add = TRUE)
  with_run_conditions(expr, history, interrupted)
}

# Evaluates one session run of a loop that is written in R, with handlers for errors. Instead
# of invoking a restart (withRestarts() is slow), the handler of an error jumps to this frame. The
# core catches this jump at its boundary and destroys its C++ objects before the jump goes on.
with_run_conditions <- function(expr, history = NULL, interrupted = NULL) {
  frame <- environment()
  failure <- nonlocal_exit
  # runs during unwinding, after the session has been closed
  on.exit(if (!is.null(failure)) raise_failure(failure, history, interrupted))
  value <- withCallingHandlers(
    expr,
    error = function(condition) {
      failure <<- annotate_error(condition, frame)
      if (!identical(failure, condition)) stop(failure)
    },
    interrupt = function(condition) {
      failure <<- condition
      unwind_to(frame, condition, "interrupt")
    }
  )
  failure <- NULL
  value
}

# Adds hook, method and step to an error condition. Does not return if the condition controls the
# loop.
annotate_error <- function(condition, frame) {
  location <- cpp_loop_location()
  kind <- if (!is.null(location)) control_error_kind(condition)
  text <- condition_text(condition)
  # in before_run() and after_run(), a control condition ends or restarts the loop: it is no error
  is_error <- is.null(kind) || !location$method %in% c("before_run", "after_run")
  if (!is.null(location) && is_error && is.null(condition$runhooks)) {
    condition <- add_hook_location(condition, location)
  }
  if (!is.null(kind)) unwind_to(frame, condition, kind, text)
  # the core sees only that R jumps, so record why the run ended
  cpp_record_loop_error(condition_text(condition))
  condition
}

# Makes the function with the frame `frame` return the condition that ended the loop. The core
# intercepts the jump and reads that value.
unwind_to <- function(frame, condition, kind, text = condition_text(condition)) {
  loop_exit <- structure(list(condition, kind, text), class = "runhooks_loop_exit")
  rlang::eval_bare(call("return", loop_exit), frame)
}

# The condition that is reported without a signalled condition: a restart, callCC() or return() left
# the loop.
nonlocal_exit <- simpleCondition("The loop was left by a jump.")

raise_failure <- function(failure, history, interrupted) {
  raise_warnings()
  is_interrupt <- inherits(failure, "interrupt")
  if (!is.null(history)) {
    history_so_far <- history() # also stores the history for last_history()
    if (is_interrupt) failure$history <- history_so_far
  }
  if (is_interrupt && !is.null(interrupted)) interrupted()
  call_on_error(failure)
  if (is_interrupt) raise_interrupt(failure)
}

# Signals the condition before R's own interrupt, so that handlers can read its history.
raise_interrupt <- function(condition) {
  signalCondition(condition)
  rlang::interrupt()
}

# Calls on_error() of the hooks of a failed loop. An error in on_error() becomes a warning so that
# it does not replace the first error.
call_on_error <- function(condition) {
  for (failure in cpp_take_failed_hooks()) {
    tryCatch(
      failure[[1]](failure[[2]], condition),
      error = function(error) {
        text <- paste0(
          "on_error() of hook `", failure[[3]], "` failed as well: ", conditionMessage(error)
        )
        warning(text, call. = FALSE)
      }
    )
  }
}

add_hook_location <- function(condition, location) {
  condition$runhooks <- location
  step <- if (location$step >= 0) sprintf(" at global step %.0f", location$step) else ""
  note <- sprintf("in %s() of hook `%s`%s", location$method, location$hook, step)
  condition <- add_note(condition, paste(c(missing_member_note(condition), note), collapse = "; "))
  position <- match("error", class(condition), nomatch = length(class(condition)))
  class(condition) <- append(class(condition), "runhooks_error_hook", position - 1L)
  condition
}

# Describes the missing member of a call `object$member()`. Base R's message is only "attempt to
# apply non-function", so the member is searched in the bodies of the functions on the call stack. A
# method for `$` could also report it, but would take as long as a short session run.
missing_member_note <- function(condition) {
  unnamed <- gettext("attempt to apply non-function", domain = "R")
  if (!identical(conditionMessage(condition), unnamed)) return(NULL)
  for (n in rev(seq_len(sys.nframe()))) {
    for (called in member_calls(body(sys.function(n)))) {
      note <- describe_missing_member(called, sys.frame(n))
      if (!is.null(note)) return(note)
    }
  }
}

# Returns all `object$member` in an expression that are called as functions.
member_calls <- function(expr) {
  if (!is.call(expr)) return(list())
  calls <- if (is.call(expr[[1]]) && identical(expr[[1]][[1]], quote(`$`))) list(expr[[1]])
  for (i in seq_along(expr)) {
    if (is.call(expr[[i]])) calls <- c(calls, member_calls(expr[[i]]))
  }
  calls
}

# Returns a note about the missing member, or NULL unless the object is a classed environment that
# lacks it. Evaluates only names and `$`.
describe_missing_member <- function(called, frame) {
  object <- called[[2]]
  if (!all(all.names(object) %in% c("$", all.vars(object)))) return(NULL)
  value <- tryCatch(eval(object, frame), error = function(error) NULL)
  name <- as.character(called[[3]])
  has_members <- is.environment(value) && is.object(value)
  if (!has_members || exists(name, envir = value, inherits = FALSE)) return(NULL)
  problem <- sprintf("`%s` has no member `%s`", deparse1(object), name)
  suggestions <- c(closest_name(name, ls(value)), grep(name, ls(value), fixed = TRUE, value = TRUE))
  if (length(suggestions) == 0) return(problem)
  sprintf("%s; did you mean `%s$%s`?", problem, deparse1(object), suggestions[[1]])
}

add_note <- function(condition, note) {
  if (inherits(condition, "rlang_error")) {
    condition$footer <- c(condition$footer, c(i = note))
  } else {
    condition$message <- paste0(conditionMessage(condition), "\n  (", note, ")")
  }
  condition
}

#' End a loop from a hook or an input function
#'
#' Raises a condition that ends the loop without an error, like Python's `StopIteration`. Raised in
#' `before_run()` or `after_run()` of a hook, or in an input function, it ends the loop, and `end()`
#' of all hooks is called. In `begin()`, `after_create_session()` and `end()` it is an ordinary
#' error.
#'
#' @param message Message of the condition, a string. Default: empty.
#' @return Does not return: raises a condition of class `runhooks_error_stop_iteration`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `message` is not a single string.
#' @family hooks
#' @export
#' @examples
#' stop_after_three <- session_run_hook(
#'   before_run = function(context) {
#'     steps <<- steps + 1
#'     if (steps > 3) stop_iteration()
#'   }
#' )
#' steps <- 0
#' model <- linear_regressor(column_numeric("wt"))
#' input <- input_fn(mtcars, features = wt, response = mpg, num_epochs = NULL)
#' train(model, input, hooks = stop_after_three)
#' steps
stop_iteration <- function(message = "") {
  check_string(message)
  stop(structure(
    class = c(error_classes("stop_iteration"), "error", "condition"),
    list(message = message, call = sys.call(-1))
  ))
}

# Ends the line of the progress bar before other output to the terminal and after a loop.
end_progress_line <- function() if (!is.null(the$line)) the$line$finish()
