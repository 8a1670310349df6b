# What the core has registered, with its arguments: defaults, kinds, ranges, words. Constructors
# and pages are made of it.

# A data frame of arguments by type, of all types or of one. One without words is the core's own.
registered <- function(what, type = "") {
  specs <- cpp_specs(what, type)
  specs <- specs[nzchar(specs$doc), ]
  split(specs, factor(specs$type, unique(specs$type)))
}

# Some rows of a registration as a list of their columns, which is quicker to look into than a data
# frame: constructors do so at each call.
spec_columns_of <- function(specs, rows = rep(TRUE, length(specs$name))) {
  lapply(as.list(specs), function(column) column[rows])
}

endpoints_of <- function(specs) endpoint_names(specs$endpoint[[1]])

endpoint_names <- function(endpoint) strsplit(endpoint, ", ", fixed = TRUE)[[1]]

registered_formals <- function(specs) {
  has_default <- ifelse(nzchar(specs$default), " = ", "")
  signature_formals(paste0(specs$name, has_default, specs$default, collapse = ", "))
}

# The arguments that a constructor was called with, by name.
given_arguments <- function(names, frame) {
  given <- mget(names, envir = frame)
  missing <- vapply(given, identical, NA, quote(expr = ))
  if (any(missing)) {
    abort_runhooks("{.arg {names(given)[missing]}} is missing, with no default.", call = frame)
  }
  given
}

# --- constructors that are nothing but their registration

# In the place of the constructor until the package is loaded, since only then the core, which knows
# its arguments, is there. `...` is what its maker has to know besides.
builtin <- function(what, type, ...) {
  structure(function(...) NULL, builtin = list(what = what, type = type, ...))
}
builtin_hook <- function(type) builtin("hook", type)
builtin_column <- function(type) builtin("column", type)
builtin_head <- function(type) builtin("head", type)
builtin_estimator <- function(type, ...) builtin("estimator", type, ...)

# Makers by the kind of thing: a function of the registration and of what builtin() was given.
constructor_factories <- new.env(parent = emptyenv())

# At the loading of the package: promises, so that only what is used is made.
complete_constructors <- function(namespace) {
  for (what in names(constructor_factories)) {
    for (endpoint in cpp_endpoints(what)) {
      name <- endpoint_names(endpoint)[1]
      if (is.na(name)) next
      place <- attr(namespace[[name]], "builtin")
      if (!is.null(place)) define_lazily(name, place, namespace)
    }
  }
}

define_lazily <- function(name, place, namespace) {
  force(place)
  delayedAssign(name, registered_constructor(place), environment(), namespace)
}

registered_constructor <- function(place) {
  make <- constructor_factories[[place$what]]
  make(registered(place$what, place$type)[[1]], place)
}

# Names below `tf` of what has a constructor of its own: "hook_x, train.XHook".
registered_symbols <- function(what) {
  symbols <- list()
  for (endpoint in cpp_endpoints(what)) {
    names <- endpoint_names(endpoint)
    if (length(names) > 1) symbols[names[-1]] <- list(get(names[[1]]))
  }
  symbols
}

# --- arguments by their kinds

# What becomes of an argument that only R can look at, by its kind: a function of the value, the
# name, the frame to show in errors, and what it must be ("a list of heads"). Each subject adds its
# own; all other arguments the core checks.
argument_kinds <- new.env(parent = emptyenv())

# Numbers, flags and words as the core knows them, whose words for what it was given are R's.
scalar_tests <- list(
  "whole number" = is_whole, count = function(x) is_whole(x) && x >= 1,
  "plain number" = is_number, probability = is_number, flag = is_flag, string = is_string,
  choice = is_string
)

# The arguments in `given`, which are those of `specs`, as the core takes them.
prepared_arguments <- function(given, specs, call) {
  for (i in seq_along(specs$name)) {
    name <- specs$name[[i]]
    x <- given[[name]]
    if (is.null(x) && specs$null_is_good[[i]]) next
    given[name] <- list(prepared_argument(x, name, specs$kind[[i]], specs$wanted[[i]], call))
  }
  given
}

prepared_argument <- function(x, name, kind, wanted, call) {
  prepare <- argument_kinds[[kind]]
  if (!is.null(prepare)) return(prepare(x, name, call, wanted))
  is_good <- scalar_tests[[kind]]
  if (!is.null(is_good) && !is_good(x)) {
    check_not_huge(x, name, call)
    check_arg(FALSE, x, wanted, name, call)
  }
  x
}

argument_kinds$path <- function(x, name, call, wanted) absolute_path(x, name, call)
argument_kinds$`function` <- function(x, name, call, wanted) {
  check_arg(is.function(x), x, wanted, name, call)
}
argument_kinds$initializer <- argument_kinds$`function`
argument_kinds$type <- function(x, name, call, wanted) as_dtype(x)
argument_kinds$vector <- function(x, name, call, wanted) unname(x)
argument_kinds$numbers <- function(x, name, call, wanted) {
  check_elements(x, is.numeric, wanted, name, call)
}
argument_kinds$probabilities <- function(x, name, call, wanted) {
  is_probability <- function(x) is_number(x) && x > 0 && x < 1
  plain_vector(check_elements(x, is_probability, wanted, name, call))
}
argument_kinds$widths <- function(x, name, call, wanted) {
  is_width <- function(x) is_whole(x) && x >= 1
  plain_vector(check_elements(x, is_width, wanted, name, call, empty = TRUE))
}

is_missing_value <- function(x) is_atomic(x) && length(x) == 1 && is.na(x)

abort_argument <- function(x, name, call) {
  if (!is.null(x)) {
    abort_runhooks("{.arg {name}} is not supported.", kind = "unimplemented", call = call)
  }
}

# --- pages, made when roxygen2 writes them

range_rd <- function(specs) {
  ifelse(nzchar(specs$range), paste0(" In \\code{", specs$range, "}."), "")
}

# The arguments of one or several things on their common page, each once. Where one has a word of its
# own for an argument the first has it. `without` are those that the page tells itself.
registered_params <- function(what, types, without = character()) {
  specs <- do.call(rbind, unname(lapply(types, function(type) registered(what, type)[[1]])))
  specs <- specs[!duplicated(specs$name) & !specs$name %in% without, ]
  names <- ifelse(specs$kind == "feature", "...", specs$name)
  paste0("@param ", names, " ", specs$doc, range_rd(specs))
}

# lint: allow caller
hook_params <- function(type) registered_params("hook", type)
# lint: allow caller
column_params <- function(..., without = character()) {
  registered_params("column", c(...), without)
}
# lint: allow caller
head_params <- function(...) registered_params("head", c(...))
# lint: allow caller
estimator_params <- function(model) {
  registered_params("estimator", paste0(model, c("_regressor", "_classifier", "_estimator")))
}

signature_formals <- function(arguments) {
  formals(eval(str2lang(paste0("function(", arguments, ") NULL")), baseenv()))
}

# Specifications within specifications as plain lists.
core_value <- function(x) {
  # most are numbers and words
  if (!is.object(x)) {
    if (is_atomic(x)) return(x)
    if (is.list(x)) return(core_values(x))
  } else if (inherits(x, "tensorflow.dtype")) {
    return(dtype_name(x))
  } else if (is_column(x) || is_optimizer(x) || is_head(x)) {
    return(core_values(x))
  } else if (inherits(x, "runhooks_initializer")) {
    return(initializer_spec(x))
  }
  if (is.function(x)) wrap_function(x) else x
}

# Of each field. Many things are made of columns with twenty of them: those that are numbers and words
# are not asked one by one.
core_values <- function(x) {
  fields <- unclass(x)
  owner <- if (is.object(x)) attr(x, "owner")
  for (i in seq_along(fields)) {
    field <- fields[[i]]
    if (is.object(field) || !is_atomic(field)) fields[i] <- list(core_value(field))
  }
  attributes(fields) <- list(names = names(fields), owner = owner)
  fields
}

# A function given for an optimizer returns one: as plain data, too. By `wrapped` the core knows the
# function again.
wrap_function <- function(f) structure(function(...) core_value(f(...)), wrapped = f)
