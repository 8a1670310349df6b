# Generates constructors and help pages from the registrations of the core.

# Arguments without a description are internal to the core.
registered <- function(what, type = "") {
  specs <- cpp_specs(what, type)
  specs <- specs[nzchar(specs$doc), ]
  split(specs, factor(specs$type, unique(specs$type)))
}

# As a list, because constructors run often and subsetting a data frame is slow.
spec_columns_of <- function(specs, rows = rep(TRUE, length(specs$name))) {
  lapply(as.list(specs), function(column) column[rows])
}

endpoints_of <- function(specs) endpoint_names(specs$endpoint[[1]])

endpoint_names <- function(endpoint) strsplit(endpoint, ", ", fixed = TRUE)[[1]]

registered_formals <- function(specs) {
  has_default <- ifelse(nzchar(specs$default), " = ", "")
  signature_formals(paste0(specs$name, has_default, specs$default, collapse = ", "))
}

given_arguments <- function(names, frame) {
  given <- mget(names, envir = frame)
  missing <- vapply(given, identical, NA, quote(expr = ))
  if (any(missing)) {
    abort_runhooks("{.arg {names(given)[missing]}} is missing, with no default.", call = frame)
  }
  given
}

# A placeholder: the arguments come from the core, which is available once the package is loaded.
builtin <- function(what, type, ...) {
  structure(function(...) NULL, builtin = list(what = what, type = type, ...))
}
builtin_hook <- function(type) builtin("hook", type)
builtin_column <- function(type) builtin("column", type)
builtin_head <- function(type) builtin("head", type)
builtin_estimator <- function(type, ...) builtin("estimator", type, ...)

# Functions by kind of object: each makes a constructor from a registration and a placeholder.
constructor_factories <- new.env(parent = emptyenv())

# Called when the package is loaded. Uses promises, so that each constructor is built on first use.
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

# Generated constructors by their names in `tf`, from endpoints such as "hook_x, train.XHook".
registered_symbols <- function(what) {
  symbols <- list()
  for (endpoint in cpp_endpoints(what)) {
    names <- endpoint_names(endpoint)
    if (length(names) > 1) symbols[names[-1]] <- list(get(names[[1]]))
  }
  symbols
}

# Converters of arguments that need R: functions of the value, the argument's name, the frame for
# errors and the expected kind. Other files of the package add converters.
argument_kinds <- new.env(parent = emptyenv())

# R checks scalars before the core does, because errors of R describe the given value in R's terms.
scalar_predicates <- list(
  "whole number" = is_whole, count = function(x) is_whole(x) && x >= 1,
  "plain number" = is_number, probability = is_number, flag = is_flag, string = is_string,
  choice = is_string
)

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
  is_good <- scalar_predicates[[kind]]
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

check_not_na <- function(x, arg, call) {
  if (is_missing_value(x)) abort_runhooks("{.arg {arg}} must not be NA.", call = call)
}

abort_argument <- function(x, name, call) {
  if (!is.null(x)) {
    abort_runhooks("{.arg {name}} is not supported.", kind = "unimplemented", call = call)
  }
}

# --- help pages, called by roxygen2

range_rd <- function(specs) {
  ifelse(nzchar(specs$range), paste0(" In \\code{", specs$range, "}."), "")
}

# Descriptions for a page of several constructors; the first description of an argument is used.
registered_params <- function(what, types, without = character()) {
  specs <- do.call(rbind, unname(lapply(types, function(type) registered(what, type)[[1]])))
  specs <- specs[!duplicated(specs$name) & !specs$name %in% without, ]
  names <- ifelse(specs$kind == "feature", "...", specs$name)
  paste0("@param ", names, " ", specs$doc, range_rd(specs))
}

# lint: allow caller
hook_params <- function(type) {
  own <- intersect(steps_arguments, registered("hook", type)[[1]]$name)
  c(registered_params("hook", type), if (length(own)) every_n_steps_param(own))
}
every_n_steps_param <- function(own) {
  paste0("@param every_n_steps Another name of \\code{", own, "}, the same for all hooks.")
}
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

value_for_core <- function(x) {
  if (!is.object(x)) {
    if (is_atomic(x)) return(x)
    if (is.list(x)) return(values_for_core(x))
  } else if (inherits(x, "tensorflow.dtype")) {
    return(dtype_name(x))
  } else if (is_column(x) || is_optimizer(x) || is_head(x)) {
    return(values_for_core(x))
  } else if (inherits(x, "runhooks_initializer")) {
    return(initializer_spec(x))
  }
  if (is.function(x)) wrap_function(x) else x
}

# Skips plain vectors without a function call, because models can have many columns.
values_for_core <- function(x) {
  fields <- unclass(x)
  owner <- if (is.object(x)) attr(x, "owner")
  for (i in seq_along(fields)) {
    field <- fields[[i]]
    if (is.object(field) || !is_atomic(field)) fields[i] <- list(value_for_core(field))
  }
  attributes(fields) <- list(names = names(fields), owner = owner)
  fields
}

# Converts an optimizer that `f` returns. The attribute `wrapped` identifies the original function.
wrap_function <- function(f) structure(function(...) value_for_core(f(...)), wrapped = f)
