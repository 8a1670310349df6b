# The package's conditions: one constructor of errors, classed by kind, and the handler that says
# where in a loop a user's error happened.

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
  cli::cli_abort(message, class = error_classes(kind), ..., call = shown_call(call), .envir = env)
}

# The same with the text exactly as given.
abort_plain <- function(message, kind = "invalid_argument", call = parent.frame()) {
  rlang::abort(message, class = error_classes(kind), call = shown_call(call))
}

# The frame whose call an error shows; its call without the lists that do.call() has put into it, of
# which rlang makes copies, however deep they are.
shown_call <- function(frame) {
  call <- frame
  if (is.environment(frame)) {
    at <- which(vapply(sys.frames(), identical, NA, frame))
    call <- if (length(at)) sys.call(at[[length(at)]])
  }
  if (!is.call(call)) return(frame)
  # do.call(quote = TRUE) puts quote(<value>) there
  has_list <- function(x) is.list(x) || is.call(x) && any(vapply(as.list(x), is.list, NA))
  is_value <- vapply(as.list(call), has_list, NA)
  if (!any(is_value)) return(frame)
  call[is_value] <- list(quote(list(...)))
  call
}

error_classes <- function(kind) c(paste0("runhooks_error_", kind), "runhooks_error")

# Called by the border: an error of the core as an R condition. `condition` is one that came from R
# and goes back as it was; `classes` are those of one that could not be kept.
raise_core_error <- function(condition, kind, message, hints, classes = NULL) {
  raise_warnings()
  if (!is.null(condition)) stop(condition)
  if (!is.null(classes)) {
    own <- setdiff(classes, c("rlang_error", "error", "condition"))
    rlang::abort(message, class = own, call = NULL)
  }
  bullets <- c(message, setNames(hints, rep("i", length(hints))))
  rlang::abort(bullets, class = error_classes(kind), call = shown_call(user_frame()))
}

# Called by the core for an error that waits for another call, or is judged: it comes as a value.
error_as_value <- function(call, env) {
  tryCatch(
    rlang::eval_bare(call, env),
    error = function(condition) structure(list(condition), class = "runhooks_held")
  )
}

# The text of an error or interrupt, for the core.
condition_text <- function(condition) {
  text <- conditionMessage(condition)
  if (length(text) == 1) as.character(text) else ""
}

# The frame of the function of ours that the user called. That is the innermost one whose caller is
# the user's code: an argument that is evaluated late (`tf$reduce_sum(tf$matmul(x, y))`) is a call of
# its own. Where none is, because the user has given our functions other names, the outermost one.
user_frame <- function() {
  ns <- topenv()
  frames <- sys.frames()
  parents <- sys.parents()
  calls <- sys.calls()
  inside <- which(seq_along(frames) > the$users_depth)
  is_ours <- vapply(frames, function(frame) identical(topenv(frame), ns), NA)
  ours <- inside[is_ours[inside]]
  for (n in rev(ours)) {
    if (is_users_word(calls[[n]][[1]]) && is_users_code(parents[[n]], frames, parents, ns)) {
      return(call_of_operator(calls[[n]], frames[[n]]))
    }
  }
  if (length(ours)) return(frames[[ours[[1]]]])
  if (the$users_depth > 0) return(frames[[the$users_depth]])
  NULL
}

# `a + b` and `x[1]` rather than the methods that do them: rlang looks for a generic's frame, which R's
# own operators do not have.
call_of_operator <- function(call, frame) {
  word <- if (is.symbol(call[[1]])) as.character(call[[1]]) else ""
  if (!grepl("^(Ops|Math|Summary|\\[)[.]tensorflow", word)) return(frame)
  call[[1]] <- if (startsWith(word, "[")) quote(`[`) else as.symbol(get(".Generic", frame))
  call
}

# What the user may write: tf$..., what is exported, and methods. What the core calls has other names.
is_users_word <- function(word) {
  if (is.call(word)) return(TRUE)
  if (!is.symbol(word)) return(FALSE)
  name <- as.character(word)
  name %in% getNamespaceExports(topenv()) || grepl("[.](tensorflow|runhooks|tf)[._]", name)
}

# Whether frame n, or what called it through functions of R's own, is not of this package.
is_users_code <- function(n, frames, parents, ns) {
  while (n > 0) {
    home <- topenv(frames[[n]])
    if (identical(home, ns)) return(FALSE)
    if (!identical(home, baseenv()) && !identical(home, .BaseNamespaceEnv)) return(TRUE)
    n <- parents[[n]]
  }
  TRUE
}

# Evaluates a call of a function of the user's: errors in there show their own calls.
as_users_code <- function(expr) {
  outer <- the$users_depth
  on.exit(the$users_depth <- outer)
  the$users_depth <- sys.nframe()
  expr
}

# Conditions that steer a loop, by exact class: the last words of TensorFlow's error classes.
steering_kinds <- c("out_of_range", "stop_iteration", "aborted", "unavailable")

steering_kind <- function(condition) {
  kind <- sub("^runhooks_error_", "", class(condition)[[1]])
  if (kind %in% steering_kinds) kind else NULL
}

# Runs a loop of the core. An error of a hook reaches the user as the same condition, with hook,
# method and step added; this costs nothing per step, because the handler looks only when something
# is signalled. `history` is a function that gives the history so far, for an interrupt's condition.
# `interrupted` is called where one has ended the loop.
with_loop_conditions <- function(expr, history = NULL, interrupted = NULL) {
  use_threads()
  on.exit(end_progress_line(), add = TRUE)
  with_run_conditions(expr, history, interrupted)
}

# The same for one run of a loop that is made in R: only what it cannot do without. A restart to
# jump to would take most of the time, so the jump is a return from this very frame; the core
# catches it on its way.
with_run_conditions <- function(expr, history = NULL, interrupted = NULL) {
  frame <- environment()
  failure <- left_by_jump
  # while R unwinds: the session is closed by now
  on.exit(if (!is.null(failure)) finish_failure(failure, history, interrupted))
  value <- withCallingHandlers(
    expr,
    error = function(condition) {
      failure <<- annotate_error(condition, frame)
      if (!identical(failure, condition)) stop(failure)
    },
    interrupt = function(condition) {
      # raised again when the loop has ended
      failure <<- condition
      unwind_to(frame, condition, "interrupt")
    }
  )
  failure <- NULL
  value
}

# The condition with its place added. Does not return where it steers the loop.
annotate_error <- function(condition, frame) {
  where <- cpp_run_where()
  kind <- if (!is.null(where)) steering_kind(condition)
  if (!is.null(kind)) {
    unwind_to(frame, condition, kind)
  }
  if (!is.null(where) && is.null(condition$runhooks)) condition <- add_place(condition, where)
  # the core sees a jump, and writes down why the run has ended
  cpp_note_error(condition_text(condition))
  condition
}

# Leaves `frame` by a value that tells the core, which meets it on the way, why.
unwind_to <- function(frame, condition, kind) {
  leave <- structure(list(condition, kind, condition_text(condition)), class = "runhooks_leave")
  rlang::eval_bare(call("return", leave), frame)
}

# Where nothing was signalled: a restart, callCC(), return() of a function around.
left_by_jump <- simpleCondition("The loop was left by a jump.")

finish_failure <- function(failure, history, interrupted) {
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

# To whoever catches interrupts, and if nobody does, as R's own.
raise_interrupt <- function(condition) {
  signalCondition(condition)
  rlang::interrupt()
}

# What goes wrong here must not hide what went wrong before.
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

# The condition itself with a field, a line of message and a class more; its own classes stay in
# front.
add_place <- function(condition, where) {
  condition$runhooks <- where
  step <- if (where$step >= 0) sprintf(" at global step %.0f", where$step) else ""
  condition <- add_note(
    condition, sprintf("in %s() of hook `%s`%s", where$method, where$hook, step)
  )
  place <- match("error", class(condition), nomatch = length(class(condition)))
  class(condition) <- append(class(condition), "runhooks_error_hook", place - 1L)
  condition
}

# The condition itself with a line of message more.
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
#' Signals that the data have ended, as Python's `StopIteration` does: raised in `before_run()` or
#' `after_run()` of a hook it ends the loop quietly and `end()` of all hooks is called. Raised in
#' `begin()`, `after_create_session()` or `end()` it is an error like any other.
#'
#' @param message The text of the condition.
#' @return Does not return: raises a condition of class `runhooks_error_stop_iteration`.
#' @section Errors: `runhooks_error_invalid_argument` for a message that is no single string.
#' @family hooks
#' @export
#' @examples
#' stop_early <- session_run_hook(after_run = function(context, values) stop_iteration())
stop_iteration <- function(message = "") {
  check_string(message)
  stop(structure(
    class = c(error_classes("stop_iteration"), "error", "condition"),
    list(message = message, call = sys.call(-1))
  ))
}

# Before anything else is written to the terminal, and when a loop was left.
end_progress_line <- function() if (!is.null(the$line)) the$line$finish()
