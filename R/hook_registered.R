# Constructors of hooks that are generated from the registrations of the core.

constructor_factories$hook <- function(specs, placeholder) {
  .specs <- specs
  f <- function() {
    abort_abbreviated_arguments()
    make_builtin_hook(.specs, environment())
  }
  formals(f) <- registered_formals(specs)
  .own <- intersect(steps_arguments, names(formals(f)))
  if (length(.own) == 0) return(f)
  .seconds <- intersect(seconds_arguments, names(formals(f)))
  body(f) <- quote({
    abort_abbreviated_arguments()
    resolve_every_n_steps(environment(), .own, .seconds)
    make_builtin_hook(.specs, environment())
  })
  formals(f) <- c(formals(f), alist(every_n_steps = NULL))
  f
}

make_builtin_hook <- function(specs, frame) {
  values <- argument_values(specs$name, frame)
  converted <- Map(convert_hook_argument, values, specs$name, specs$kind, list(frame))
  do.call(new_builtin_hook, c(list(specs$type[[1]]), converted), quote = TRUE)
}

# Converts and checks arguments that need R; the core checks the others.
convert_hook_argument <- function(x, name, kind, call) {
  if (startsWith(kind, "function(")) {
    arg_names <- regmatches(kind, gregexpr("[a-z_]+(?=[,)])", kind, perl = TRUE))[[1]]
    check_method(x, name, arg_names, call)
  }
  switch(kind,
    path = absolute_path(x, name, call),
    listeners = as_listener_list(x, call),
    saver = check_saver(x, call),
    scaffold = check_scaffold(x, call),
    unsupported = abort_unsupported_argument(x, name, call),
    x
  )
}
