# Names of arguments: no abbreviations, and one name for intervals in steps.

# R completes abbreviated names, so `loss` would mean `loss_reduction`. Aborts if the caller was
# called with the abbreviation of an argument. `call` is the frame for the error.
abort_abbreviated_arguments <- function(call = parent.frame()) {
  n <- sys.parent()
  given <- given_names(sys.call(n), parent.frame(2))
  known <- names(formals(sys.function(n)))
  if (all(given %in% c("", known))) return(invisible())
  what <- sys.call(n)[[1]]
  is_named <- is.name(what) || is.call(what)
  what <- if (is_named) generic_name(sub("^.*::", "", code_text(what))) else "the function"
  check_abbreviations(given, known, what, call)
}

# R's calls have the name of the method.
generic_name <- function(name) sub("[.](tf|runhooks)_[a-z_]+$", "", name)

check_abbreviations <- function(given, known, what, call) {
  for (name in setdiff(given, c("", known))) {
    meant <- setdiff(known[startsWith(known, name)], "...") # nolint: used by cli
    if (length(meant)) {
      abort_runhooks(
        c(
          "{.fn {what}} has no argument {.arg {name}}.", i = "Did you mean {.arg {meant}}?",
          i = if (name == "loss") "For a loss of your own, use {.fn estimator}."
        ),
        call = call
      )
    }
  }
}

# `frame` has the `...` of the call.
given_names <- function(call, frame) {
  args <- as.list(call)[-1]
  given <- names(args)
  is_dots <- vapply(args, identical, NA, quote(...))
  if (!any(is_dots)) return(given)
  dots <- tryCatch(eval(quote(substitute(list(...))), frame), error = function(e) NULL)
  c(given, names(as.list(dots)[-1]))
}

# TensorFlow's names of an interval in steps.
steps_arguments <- c("every_n_step", "every_n_iter", "save_steps", "run_every_steps")
seconds_arguments <- c("every_n_secs", "save_secs", "run_every_secs")

# Moves `every_n_steps` of a constructor to its argument with TensorFlow's name. An interval in
# seconds that is only a default does not count.
resolve_every_n_steps <- function(frame, own, seconds = NULL) {
  if (is.null(frame$every_n_steps)) return(invisible())
  is_missing <- function(name) eval(call("missing", as.name(name)), frame)
  if (!is_missing(own)) {
    abort_runhooks("Give either {.arg every_n_steps} or {.arg {own}}, not both.", call = frame)
  }
  check_positive_whole(frame$every_n_steps, arg = "every_n_steps", call = frame)
  assign(own, frame$every_n_steps, envir = frame)
  assign("every_n_steps", NULL, envir = frame)
  if (length(seconds) && is_missing(seconds)) assign(seconds, NULL, envir = frame)
}
