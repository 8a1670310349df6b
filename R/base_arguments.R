# Checks names of arguments: rejects abbreviations, and converts `every_n_steps` to TensorFlow's
# names for intervals in steps.

# Aborts if the user abbreviated an argument of the calling function. R would complete the name, so
# `loss` would mean `loss_reduction`. `call` is the frame that the error shows.
abort_abbreviated_arguments <- function(call = parent.frame()) {
  n <- sys.parent()
  supplied <- supplied_arg_names(sys.call(n), parent.frame(2))
  formal_names <- names(formals(sys.function(n)))
  if (all(supplied %in% c("", formal_names))) return(invisible())
  fun <- sys.call(n)[[1]]
  is_named <- is.name(fun) || is.call(fun)
  fun <- if (is_named) generic_name(sub("^.*::", "", code_text(fun))) else "the function"
  check_abbreviations(supplied, formal_names, fun, call)
}

# The name of the generic function, because the call of a method contains the method's name.
generic_name <- function(name) sub("[.](tf|runhooks)_[a-z_]+$", "", name)

check_abbreviations <- function(supplied, formal_names, fun, call) {
  for (name in setdiff(supplied, c("", formal_names))) {
    completions <- setdiff(formal_names[startsWith(formal_names, name)], "...")
    if (length(completions)) {
      abort_runhooks(
        c(
          "{.fn {fun}} has no argument {.arg {name}}.", i = "Did you mean {.arg {completions}}?",
          i = if (name == "loss") "For a loss of your own, use {.fn estimator}."
        ),
        call = call
      )
    }
  }
}

# Returns the names of the arguments of `call`, including those in `...`, which is looked up in
# `frame`.
supplied_arg_names <- function(call, frame) {
  args <- as.list(call)[-1]
  arg_names <- names(args)
  is_dots <- vapply(args, identical, NA, quote(...))
  if (!any(is_dots)) return(arg_names)
  dots <- tryCatch(eval(quote(substitute(list(...))), frame), error = function(e) NULL)
  c(arg_names, names(as.list(dots)[-1]))
}

# TensorFlow's argument names for an interval in steps, and for one in seconds.
steps_arguments <- c("every_n_step", "every_n_iter", "save_steps", "run_every_steps")
seconds_arguments <- c("every_n_secs", "save_secs", "run_every_secs")

# Copies `every_n_steps`, an argument of the constructor with the frame `frame`, to the argument
# with TensorFlow's name, `steps_arg`. A default interval in seconds is removed, because a hook has
# only one kind of interval.
resolve_every_n_steps <- function(frame, steps_arg, seconds_arg = NULL) {
  if (is.null(frame$every_n_steps)) return(invisible())
  is_missing <- function(name) eval(call("missing", as.name(name)), frame)
  if (!is_missing(steps_arg)) {
    abort_runhooks(
      "Give either {.arg every_n_steps} or {.arg {steps_arg}}, not both.", call = frame
    )
  }
  check_positive_whole(frame$every_n_steps, arg = "every_n_steps", call = frame)
  assign(steps_arg, frame$every_n_steps, envir = frame)
  assign("every_n_steps", NULL, envir = frame)
  if (length(seconds_arg) && is_missing(seconds_arg)) assign(seconds_arg, NULL, envir = frame)
}
