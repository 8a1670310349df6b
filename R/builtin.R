# Generates constructors and help pages from the registrations of the core.

# Returns the specifications of the arguments of registered objects, such as hooks, as one data
# frame for each type. Arguments without a description are internal to the core and are left out.
registered <- function(object, type = "") {
  specs <- cpp_specs(object, type)
  specs <- specs[nzchar(specs$doc), ]
  split(specs, factor(specs$type, unique(specs$type)))
}

# Returns the columns of `specs` as a list. Constructors run often, and subsetting a data frame is
# slow.
specs_as_list <- function(specs, rows = rep(TRUE, length(specs$name))) {
  lapply(as.list(specs), function(column) column[rows])
}

endpoints_of <- function(specs) endpoint_names(specs$endpoint[[1]])

endpoint_names <- function(endpoint) strsplit(endpoint, ", ", fixed = TRUE)[[1]]

registered_formals <- function(specs) {
  has_default <- ifelse(nzchar(specs$default), " = ", "")
  signature_formals(paste0(specs$name, has_default, specs$default, collapse = ", "))
}

argument_values <- function(names, frame) {
  values <- mget(names, envir = frame)
  is_missing <- vapply(values, is_absent, NA)
  if (any(is_missing)) {
    abort_runhooks("{.arg {names(values)[is_missing]}} is missing, with no default.", call = frame)
  }
  values
}

# Returns a placeholder for a constructor. define_builtin_constructors() replaces it after the core,
# which describes the arguments, is loaded.
builtin <- function(object, type, ...) {
  structure(function(...) NULL, builtin = list(object = object, type = type, ...))
}
builtin_hook <- function(type) builtin("hook", type)
builtin_column <- function(type) builtin("column", type)
builtin_head <- function(type) builtin("head", type)
builtin_estimator <- function(type, ...) builtin("estimator", type, ...)

# Functions by kind of object: each makes a constructor from a registration and a placeholder.
constructor_factories <- new.env(parent = emptyenv())

# Replaces the placeholders when the package is loaded. Constructors are promises, so that each is
# built on first use.
define_builtin_constructors <- function(namespace) {
  for (object in names(constructor_factories)) {
    for (endpoint in cpp_endpoints(object)) {
      name <- endpoint_names(endpoint)[1]
      if (is.na(name)) next
      placeholder <- attr(namespace[[name]], "builtin")
      if (!is.null(placeholder)) define_constructor_lazily(name, placeholder, namespace)
    }
  }
}

define_constructor_lazily <- function(name, placeholder, namespace) {
  force(placeholder)
  delayedAssign(name, registered_constructor(placeholder), environment(), namespace)
}

registered_constructor <- function(placeholder) {
  factory <- constructor_factories[[placeholder$object]]
  factory(registered(placeholder$object, placeholder$type)[[1]], placeholder)
}

# Returns the generated constructors by their names in `tf`, from endpoints such as "hook_x,
# train.XHook".
registered_tf_members <- function(object) {
  symbols <- list()
  for (endpoint in cpp_endpoints(object)) {
    names <- endpoint_names(endpoint)
    if (length(names) > 1) symbols[names[-1]] <- list(get(names[[1]]))
  }
  symbols
}

# Converters for arguments, by the kind that the core registers. Each is a function of the value,
# the name of the argument, the frame that errors show, and a description of valid values. Other
# files add converters.
argument_converters <- new.env(parent = emptyenv())

# Predicates for scalars. R checks them before the core does, so that errors describe the value in
# R's terms.
scalar_predicates <- list(
  "whole number" = is_whole, count = function(x) is_whole(x) && x >= 1,
  "plain number" = is_number, probability = is_number, flag = is_flag, string = is_string,
  choice = is_string
)

convert_arguments <- function(args, specs, call) {
  for (i in seq_along(specs$name)) {
    name <- specs$name[[i]]
    x <- args[[name]]
    if (is.null(x) && specs$null_is_good[[i]]) next
    args[name] <- list(convert_argument(x, name, specs$kind[[i]], specs$wanted[[i]], call))
  }
  args
}

convert_argument <- function(x, name, kind, expected, call) {
  converter <- argument_converters[[kind]]
  if (!is.null(converter)) return(converter(x, name, call, expected))
  predicate <- scalar_predicates[[kind]]
  if (!is.null(predicate) && !predicate(x)) {
    check_not_huge(x, name, call)
    check_arg(FALSE, x, expected, name, call)
  }
  x
}

argument_converters$path <- function(x, name, call, expected) absolute_path(x, name, call)
argument_converters$`function` <- function(x, name, call, expected) {
  check_arg(is.function(x), x, expected, name, call)
}
argument_converters$initializer <- argument_converters$`function`
argument_converters$type <- function(x, name, call, expected) as_dtype(x)
argument_converters$vector <- function(x, name, call, expected) unname(x)
argument_converters$numbers <- function(x, name, call, expected) {
  check_elements(x, is.numeric, expected, name, call)
}
argument_converters$probabilities <- function(x, name, call, expected) {
  is_probability <- function(x) is_number(x) && x > 0 && x < 1
  unlist_unnamed(check_elements(x, is_probability, expected, name, call))
}
argument_converters$widths <- function(x, name, call, expected) {
  is_width <- function(x) is_whole(x) && x >= 1
  unlist_unnamed(check_elements(x, is_width, expected, name, call, empty = TRUE))
}

is_missing_value <- function(x) is_atomic(x) && length(x) == 1 && is.na(x)

check_not_na <- function(x, arg, call) {
  if (is_missing_value(x)) abort_runhooks("{.arg {arg}} must not be NA.", call = call)
}

abort_unsupported_argument <- function(x, name, call) {
  if (!is.null(x)) {
    abort_runhooks("{.arg {name}} is not supported.", kind = "unimplemented", call = call)
  }
}

# --- help pages, called by roxygen2

range_rd <- function(specs) {
  ifelse(nzchar(specs$range), paste0(" In \\code{", specs$range, "}."), "")
}

# Roxygen tags for the arguments of several constructors on one page. If constructors share an
# argument, the first description is used.
registered_params <- function(object, types, without = character()) {
  specs <- do.call(rbind, unname(lapply(types, function(type) registered(object, type)[[1]])))
  specs <- specs[!duplicated(specs$name) & !specs$name %in% without, ]
  names <- ifelse(specs$kind == "feature", "...", specs$name)
  paste0("@param ", names, " ", specs$doc, range_rd(specs))
}

# lint: allow caller
hook_params <- function(type) {
  steps_arg <- intersect(steps_arguments, registered("hook", type)[[1]]$name)
  c(registered_params("hook", type), if (length(steps_arg)) every_n_steps_param(steps_arg))
}
every_n_steps_param <- function(steps_arg) {
  paste0("@param every_n_steps Another name of \\code{", steps_arg, "}, the same for all hooks.")
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
  if (is.function(x)) function_for_core(x) else x
}

# Converts the fields of an R object, such as a hook, to values for the core. The loop skips plain
# vectors without a function call, because models can have many columns.
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

# Wraps `f` for the core: converts its result if that is an R object, such as an optimizer. The
# attribute `wrapped` stores `f`.
function_for_core <- function(f) structure(function(...) value_for_core(f(...)), wrapped = f)
