# Constructors of errors, and handlers that add hook, method and step to errors in training loops.

#' Raise an error of the package
#'
#' @param message Character vector as `rlang::abort()` takes it; cli markup is interpolated in the
#'   caller's frame.
#' @param kind The kind: the condition's class is `runhooks_error_<kind>`.
#' @param ... Fields of the condition.
#' @param call,env The frame to show and the one to interpolate in.
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

# The call that an error shows, without lists from do.call(), which rlang would copy.
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

# The hint if R's temporary folder, where models without a `model_dir` are saved, is the problem.
temporary_hint <- function(kind, text) {
  is_there <- any(grepl(basename(tempdir()), text, fixed = TRUE))
  is_full <- kind == "resource_exhausted"
  is_closed <- kind == "permission_denied" && (!dir.exists(tempdir()) || file.access(tempdir(), 2))
  if (is_there && (is_full || is_closed)) {
    paste(
      "R's temporary folder", if (is_full) "is full." else "cannot be written.",
      "Use another `model_dir`, or set the environment variable TMPDIR before R starts."
    )
  }
}

# Called by the bindings. `condition` is an R condition that passed through the core; `classes` are
# those of one that could not be preserved.
raise_core_error <- function(condition, kind, message, hints, classes = NULL) {
  raise_warnings()
  if (!is.null(condition)) stop(condition)
  if (!is.null(classes)) {
    own <- setdiff(classes, c("rlang_error", "error", "condition"))
    rlang::abort(message, class = own, call = NULL)
  }
  hints <- c(hints, temporary_hint(kind, message))
  bullets <- c(message, setNames(hints, rep("i", length(hints))))
  rlang::abort(bullets, class = error_classes(kind), call = call_for_message(user_frame()))
}

# Called by the core when it has to defer an error or to inspect it: returns the error as a value.
error_as_value <- function(call, env) {
  tryCatch(
    rlang::eval_bare(call, env),
    error = function(condition) structure(list(condition), class = "runhooks_held")
  )
}

condition_text <- function(condition) {
  text <- conditionMessage(condition)
  if (length(text) == 1) as.character(text) else ""
}

# The frame of the package function that the user called: the innermost one with a caller outside
# the package, because lazy evaluation nests calls. If the user has renamed our functions, no frame
# matches, and the outermost frame of the package is used.
user_frame <- function() {
  ns <- topenv()
  frames <- sys.frames()
  parents <- sys.parents()
  calls <- sys.calls()
  inside <- which(seq_along(frames) > the$users_depth)
  is_ours <- vapply(frames, function(frame) identical(topenv(frame), ns), NA)
  ours <- inside[is_ours[inside]]
  for (n in rev(ours)) {
    if (is_user_facing_call(calls[[n]][[1]]) && is_user_code(parents[[n]], frames, parents, ns)) {
      return(call_without_method(calls[[n]], frames[[n]]))
    }
  }
  if (length(ours)) return(frames[[ours[[1]]]])
  if (the$users_depth > 0) return(frames[[the$users_depth]])
  NULL
}

# Shows `a + b` instead of its method: operators are primitives and have no frame for rlang.
call_without_method <- function(call, frame) {
  word <- if (is.symbol(call[[1]])) as.character(call[[1]]) else ""
  if (!grepl("^(Ops|Math|Summary|\\[)[.]tensorflow", word)) return(frame)
  call[[1]] <- if (startsWith(word, "[")) quote(`[`) else as.symbol(get(".Generic", frame))
  call
}

# Whether a user can write this call: `tf$...`, an exported function or a method.
is_user_facing_call <- function(word) {
  if (is.call(word)) return(TRUE)
  if (!is.symbol(word)) return(FALSE)
  name <- as.character(word)
  name %in% getNamespaceExports(topenv()) || grepl("[.](tensorflow|runhooks|tf)[._]", name)
}

# Whether frame n runs code from outside the package. Frames of base R count as their callers.
is_user_code <- function(n, frames, parents, ns) {
  while (n > 0) {
    home <- topenv(frames[[n]])
    if (identical(home, ns)) return(FALSE)
    if (!identical(home, baseenv()) && !identical(home, .BaseNamespaceEnv)) return(TRUE)
    n <- parents[[n]]
  }
  TRUE
}

# Evaluates a call of a user's function; user_frame() ignores the frames outside it.
eval_user_code <- function(expr) {
  outer <- the$users_depth
  on.exit(the$users_depth <- outer)
  the$users_depth <- sys.nframe()
  expr
}

# Conditions that control a loop, matched by their first class. These are TensorFlow's error codes.
control_error_kinds <- c("out_of_range", "stop_iteration", "aborted", "unavailable")

control_error_kind <- function(condition) {
  kind <- sub("^runhooks_error_", "", class(condition)[[1]])
  if (kind %in% control_error_kinds) kind else NULL
}

# Runs a loop of the core. Errors in hooks get hook, method and step. `history` returns the history
# so far, which an interrupt condition contains. `interrupted` is called after an interrupt.
with_loop_conditions <- function(expr, history = NULL, interrupted = NULL) {
  use_threads()
  on.exit(end_progress_line(), add = TRUE)
  with_run_conditions(expr, history, interrupted)
}

# The minimum for one run of a loop written in R. Establishing a restart per run is too slow, so the
# handler returns from this frame instead; the core intercepts that jump while it unwinds.
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

# Adds the location to the condition. Does not return if the condition controls the loop.
annotate_error <- function(condition, frame) {
  where <- cpp_run_where()
  kind <- if (!is.null(where)) control_error_kind(condition)
  text <- condition_text(condition)
  # in before_run() and after_run(), such a condition ends or restarts the loop and is no error
  is_error <- is.null(kind) || !where$method %in% c("before_run", "after_run")
  if (!is.null(where) && is_error && is.null(condition$runhooks)) {
    condition <- add_hook_location(condition, where)
  }
  if (!is.null(kind)) unwind_to(frame, condition, kind, text)
  # the core only observes a jump, so record the reason why the run ended
  cpp_note_error(condition_text(condition))
  condition
}

# Returns from `frame` with a value that tells the core, which intercepts the jump, the reason.
unwind_to <- function(frame, condition, kind, text = condition_text(condition)) {
  leave <- structure(list(condition, kind, text), class = "runhooks_leave")
  rlang::eval_bare(call("return", leave), frame)
}

# The initial value: no condition was signalled, so a restart, callCC() or return() left the loop.
nonlocal_exit <- simpleCondition("The loop was left by a jump.")

raise_failure <- function(failure, history, interrupted) {
  raise_warnings()
  is_interrupt <- inherits(failure, "interrupt")
  if (!is.null(history)) {
    so_far <- history() # also for last_history()
    if (is_interrupt) failure$history <- so_far
  }
  if (is_interrupt && !is.null(interrupted)) interrupted()
  call_on_error(failure)
  if (is_interrupt) raise_interrupt(failure)
}

# Gives handlers for interrupts a chance before R's own interrupt.
raise_interrupt <- function(condition) {
  signalCondition(condition)
  rlang::interrupt()
}

# An error in on_error() becomes a warning so that it does not replace the first error.
call_on_error <- function(condition) {
  for (failed in cpp_take_failed_hooks()) {
    tryCatch(
      failed[[1]](failed[[2]], condition),
      error = function(error) {
        text <- paste0(
          "on_error() of hook `", failed[[3]], "` failed as well: ", conditionMessage(error)
        )
        warning(text, call. = FALSE)
      }
    )
  }
}

add_hook_location <- function(condition, where) {
  condition$runhooks <- where
  step <- if (where$step >= 0) sprintf(" at global step %.0f", where$step) else ""
  note <- sprintf("in %s() of hook `%s`%s", where$method, where$hook, step)
  condition <- add_note(condition, paste(c(missing_member_note(condition), note), collapse = "; "))
  place <- match("error", class(condition), nomatch = length(class(condition)))
  class(condition) <- append(class(condition), "runhooks_error_hook", place - 1L)
  condition
}

# For `object$member()` without such a member, base R says only "attempt to apply non-function".
# Finds the member in the functions that were called. A method for `$` would report it as well, but
# would cost as much as a run of a session.
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

# All `object$member` in an expression that are called.
member_calls <- function(expr) {
  if (!is.call(expr)) return(list())
  found <- if (is.call(expr[[1]]) && identical(expr[[1]][[1]], quote(`$`))) list(expr[[1]])
  for (i in seq_along(expr)) {
    if (is.call(expr[[i]])) found <- c(found, member_calls(expr[[i]]))
  }
  found
}

# NULL unless the object is a classed environment that lacks the member. Evaluates only names and
# `$`.
describe_missing_member <- function(called, frame) {
  object <- called[[2]]
  if (!all(all.names(object) %in% c("$", all.vars(object)))) return(NULL)
  value <- tryCatch(eval(object, frame), error = function(error) NULL)
  name <- as.character(called[[3]])
  is_checked <- is.environment(value) && is.object(value)
  if (!is_checked || exists(name, envir = value, inherits = FALSE)) return(NULL)
  problem <- sprintf("`%s` has no member `%s`", deparse1(object), name)
  near <- c(near_name(name, ls(value)), grep(name, ls(value), fixed = TRUE, value = TRUE))
  if (length(near) == 0) return(problem)
  sprintf("%s; did you mean `%s$%s`?", problem, deparse1(object), near[[1]])
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

# Called before other output to the terminal and after a loop has ended.
end_progress_line <- function() if (!is.null(the$line)) the$line$finish()
