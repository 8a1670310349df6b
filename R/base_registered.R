# What the core has registered, with its arguments: defaults, kinds, ranges, words. Constructors
# and pages are made of it.

# A data frame of arguments by type. One without words is the core's own.
registered <- function(what) {
  specs <- cpp_specs(what)
  specs <- specs[nzchar(specs$doc), ]
  split(specs, factor(specs$type, unique(specs$type)))
}

endpoints_of <- function(specs) strsplit(specs$endpoint[[1]], ", ", fixed = TRUE)[[1]]

registered_formals <- function(specs) {
  has_default <- ifelse(nzchar(specs$default), " = ", "")
  signature_formals(paste0(specs$name, has_default, specs$default, collapse = ", "))
}

# The arguments that a constructor was called with, by name.
given_arguments <- function(names, frame) {
  given <- mget(names, envir = frame)
  missing <- vapply(given, identical, NA, quote(expr = ))
  if (any(missing)) {
    stop_runhooks("{.arg {names(given)[missing]}} is missing, with no default.", call = frame)
  }
  given
}

range_rd <- function(specs) {
  ifelse(nzchar(specs$range), paste0(" In \\code{", specs$range, "}."), "")
}

# --- hooks

# The constructor of a hook that is nothing but its registration; the core, which knows its
# arguments, is there when the package is loaded.
builtin_hook <- function(type) structure(function(...) NULL, hook = type)

# At the loading of the package.
complete_hook_constructors <- function(namespace) {
  for (specs in registered("hook")) {
    name <- endpoints_of(specs)[1]
    if (is.na(name) || is.null(attr(namespace[[name]], "hook"))) next
    assign(name, hook_constructor(specs), envir = namespace)
  }
}

hook_constructor <- function(specs) {
  .specs <- specs
  f <- function() make_builtin_hook(.specs, environment())
  formals(f) <- registered_formals(specs)
  f
}

make_builtin_hook <- function(specs, frame) {
  given <- given_arguments(specs$name, frame)
  prepared <- Map(prepare_argument, given, specs$name, specs$kind, list(frame))
  do.call(new_builtin_hook, c(list(specs$type[[1]]), prepared))
}

# What only R can look at; all the rest the core checks.
prepare_argument <- function(x, name, kind, call) {
  if (startsWith(kind, "function(")) {
    wanted <- regmatches(kind, gregexpr("[a-z_]+(?=[,)])", kind, perl = TRUE))[[1]]
    check_method(x, name, wanted, call)
  }
  switch(kind,
    path = absolute_path(x, name, call),
    listeners = as_listener_list(x, call),
    saver = {
      check_saver(x, call)
      x
    },
    scaffold = {
      check_scaffold(x, call)
      x
    },
    unsupported = refuse_argument(x, name, call),
    x
  )
}

is_missing_value <- function(x) is.atomic(x) && length(x) == 1 && is.na(x)

refuse_argument <- function(x, name, call) {
  if (!is.null(x)) {
    stop_runhooks("{.arg {name}} is not supported.", kind = "unimplemented", call = call)
  }
}

# Names below `tf` of hooks.
hook_symbols <- function() {
  symbols <- list()
  for (specs in registered("hook")) {
    names <- endpoints_of(specs)
    if (length(names) > 1) symbols[names[-1]] <- list(get(names[[1]]))
  }
  symbols
}

# The arguments on a hook's page, made when roxygen2 writes it. lint: allow caller
hook_params <- function(type) {
  specs <- registered("hook")[[type]]
  paste0("@param ", specs$name, " ", specs$doc, range_rd(specs))
}
