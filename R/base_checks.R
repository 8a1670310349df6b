# Checks of arguments. Their errors name the argument, the expected kind and the actual value.

abort_absent_argument <- function(arg, call) {
  abort_runhooks("{.arg {arg}} is missing, with no default.", call = call)
}

check_arg <- function(good, x, expected, arg, call) {
  if (!isTRUE(good)) {
    force(x) # a missing argument raises R's own error
    # mget() returns the empty symbol for an argument that the user left out
    if (identical(x, quote(expr = ))) abort_runhooks("{.arg {arg}} is missing.", call = call)
    abort_runhooks("{.arg {arg}} must be {expected}, not {describe(x)}.", call = call)
  }
  invisible(x)
}

# Like is.atomic() before R 4.4: TRUE for NULL in every version of R.
is_atomic <- function(x) is.null(x) || is.atomic(x) # lint: allow is-atomic

describe <- function(x) {
  simple <- is_atomic(x) && is.null(attributes(x)) && length(x) == 1
  if (simple) return(if (is.character(x)) encodeString(x, quote = "\"") else number_text(x))
  if (is.null(x)) return("NULL")
  describe_type(x)
}

describe_type <- function(x) {
  if (inherits(x, "tf_estimator")) return("a model")
  # cli calls length(), which fails for objects such as tensors of unknown shape
  length <- if (is.object(x)) tryCatch(length(x), error = function(e) NA)
  if (is.object(x) && !is_number(length)) return(paste0("a <", class(x)[[1]], "> object"))
  cli::format_inline("{.obj_type_friendly {x}}")
}

# Formatting thousands of names is slow, so the message shows only the first ones.
abbreviated_names <- function(names, max_shown = 50) {
  n_hidden <- length(names) - max_shown # nolint: used by cli
  shown_names <- utils::head(names, max_shown) # nolint: used by cli
  text <- if (n_hidden > 0) {
    cli::format_inline(
      "The data have {.val {shown_names}} and {n_hidden} more.", keep_whitespace = FALSE
    )
  } else {
    cli::format_inline("The data have {.val {shown_names}}.", keep_whitespace = FALSE)
  }
  gsub("([{}])", "\\1\\1", text)
}

describe_first <- function(x) if (length(x)) describe(x[[1]]) else "nothing"

# Returns the elements of a vector, or of a list of scalars, as an unnamed list. Aborts if an
# element is NA or fails `test`.
check_elements <- function(x, test, expected, arg, call, empty = FALSE, na_advice = NULL) {
  is_flat <- is_atomic(x) || (is.list(x) && !is.object(x) && all(lengths(x) == 1))
  # lapply() drops the class
  if (is_flat && has_encoded_numbers(x)) check_arg(FALSE, x, expected, arg, call)
  elements <- if (is_flat) unname(lapply(x, function(element) element))
  are_valid <- vapply(elements, function(element) {
    is_atomic(element) && !has_encoded_numbers(element) && test(element)
  }, NA)
  good <- is_flat && (empty || length(x) > 0) && !is.null(elements) && all(are_valid)
  missing <- if (is_flat) which(vapply(elements, function(e) isTRUE(is.na(e)), NA))
  if (length(missing)) {
    abort_runhooks(
      c("{.arg {arg}} must not have NA; element {missing[[1]]} is NA.", i = na_advice), call = call
    )
  }
  if (is_flat && any(are_valid) && !all(are_valid)) {
    bad <- which(!are_valid)[[1]]
    abort_runhooks(
      "{.arg {arg}} must be {expected}; element {bad} is {describe(elements[[bad]])}.", call = call
    )
  }
  check_arg(good && !is.null(x), x, expected, arg, call)
  elements
}

# Whether the stored numbers of a classed vector, such as integer64 or Date, differ from its values.
has_encoded_numbers <- function(x) is.object(x) && cpp_has_encoded_numbers(x)

# Whether `x` is such a vector, or a list that contains one.
contains_encoded_numbers <- function(x, depth = 1L) {
  if (!is.list(x) || is.object(x)) return(has_encoded_numbers(x))
  check_nesting(depth)
  for (element in x) if (contains_encoded_numbers(element, depth + 1L)) return(TRUE)
  FALSE
}

as_strings <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg(argument_predicates$strings(x), x, "strings", arg, call)
  as.character(unlist(x))
}

unlist_unnamed <- function(x) if (length(x)) unname(unlist(x)) else integer()

max_whole <- 2^53

# TRUE for a single number. is.numeric() is also TRUE for some classes whose stored numbers are not
# their values, such as integer64.
is_number <- function(x) {
  is.numeric(x) && length(x) == 1 && !is.na(x) && !(is.object(x) && cpp_has_encoded_numbers(x))
}
is_whole <- function(x) is_number(x) && x == trunc(x) && abs(x) <= max_whole

# Converts whole numbers in a vector or a list to integers. Classed vectors such as dates are
# errors, because their stored numbers are not their values.
as_whole_numbers <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  original <- x
  if (is.list(x) && !is.object(x)) x <- unlist(x)
  good <- is.numeric(x) && !is.object(x) && all(is.finite(x)) && all(abs(x) <= 2^31 - 1) &&
    all(x == trunc(x))
  check_arg(good, original, "whole numbers", arg, call)
  as.integer(x)
}

check_number <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg((null && is.null(x)) || is_number(x), x, "a number", arg, call)
}

check_whole <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  check_not_huge(x, arg, call)
  check_arg((null && is.null(x)) || is_whole(x), x, "a whole number", arg, call)
}

check_not_huge <- function(x, arg, call) {
  is_huge <- is_number(x) && is.finite(x) && abs(x) > max_whole
  if (is_huge) check_arg(FALSE, x, "a whole number of at most 2^53", arg, call)
}

check_positive_whole <- function(
  x,
  null = FALSE,
  arg = deparse(substitute(x)),
  call = parent.frame()
) {
  check_not_huge(x, arg, call)
  check_arg((null && is.null(x)) || (is_whole(x) && x > 0), x, "a positive whole number", arg, call)
}

check_flag <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg(is_flag(x), x, "TRUE or FALSE", arg, call)
}

# Checks a required argument after `...`, which must be named. If it is missing, the user has
# probably passed it by position.
check_named <- function(is_given, arg, call = parent.frame()) {
  if (is_given) return(invisible())
  abort_runhooks(
    c(
      "{.arg {arg}} is missing.",
      i = "Name the argument: {.code {arg} = }. Unnamed arguments are names of features."
    ),
    call = call
  )
}

is_flag <- function(x) is.logical(x) && length(x) == 1 && !is.na(x)

is_string <- function(x) is.character(x) && length(x) == 1 && !is.na(x)

check_string <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  if (missing(x)) abort_absent_argument(arg, call)
  if (is.data.frame(x) || inherits(x, "tf_dataset")) abort_data_for_string(x, arg, call)
  if (null && is.null(x)) return(invisible(x))
  check_arg(is_string(x), x, "a single string", arg, call)
  if (Encoding(x) == "bytes") {
    abort_runhooks(
      c(
        "{.arg {arg}} must be text, not a string that is marked as bytes.",
        i = "Declare its encoding, for example {.code Encoding(x) <- \"latin1\"}."
      ),
      call = call
    )
  }
  # without this check, R's string functions would fail without naming the argument
  check_arg(validEnc(x), x, "a string of valid letters", arg, call)
}

# Aborts because `x` is data in place of a string: the user has probably swapped two arguments.
abort_data_for_string <- function(x, arg, call) {
  kind <- if (is.data.frame(x)) "a data frame" else "a dataset" # nolint: used by cli
  abort_runhooks(
    c(
      "{.arg {arg}} must be a single string, not {kind}.",
      i = "Pass data to their own argument: write the names of arguments, as in
           {.code data = } or {.code {arg} = \"...\"}."
    ),
    call = call
  )
}

check_path <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_string(x, arg = arg, call = call)
  check_arg(nzchar(x), x, "a non-empty path", arg, call)
}

# Like match.arg(): the unchanged default, a vector of all choices, selects the first one.
check_one_of <- function(x, choices, arg = deparse(substitute(x)), call = parent.frame()) {
  if (identical(x, choices)) return(choices[[1]])
  if (is_string(x) && x %in% choices) return(x)
  abort_runhooks(
    c(
      "{.arg {arg}} must be {.or {.val {choices}}}, not {describe(x)}.", did_you_mean(x, choices)
    ),
    call = call
  )
}

# Returns a hint with the candidates closest to `name`, or NULL. `braces`: whether to double braces,
# because cli will interpolate the text.
did_you_mean <- function(name, candidates, braces = TRUE) {
  candidates <- setdiff(as.character(candidates), c("", NA))
  if (!is_string(name) || length(candidates) == 0) return(NULL)
  matches <- cpp_closest_matches(name, candidates)
  if (length(matches) == 0) return(NULL)
  if (braces) matches <- gsub("([{}])", "\\1\\1", matches)
  quoted <- paste0("\"", matches, "\"")
  n <- length(quoted)
  text <- if (n == 1) quoted else paste(paste(quoted[-n], collapse = ", "), "or", quoted[n])
  c(i = paste0("Did you mean ", text, "?"))
}

check_function <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg((null && is.null(x)) || is.function(x), x, "a function", arg, call)
}

# Aborts if an argument of the caller that this package does not support differs from its default.
# `...` contains the names of these arguments.
abort_unsupported_arguments <- function(..., frame = parent.frame()) {
  names <- vapply(substitute(list(...))[-1], as.character, "")
  defaults <- formals(sys.function(sys.parent()))
  is_changed <- function(name) !identical(frame[[name]], eval(defaults[[name]], frame))
  changed <- Filter(is_changed, names)
  if (length(changed)) {
    abort_runhooks(
      c("Unused argument: {.arg {changed}} is not supported.", i = "Leave it at its default."),
      kind = "unimplemented", call = frame
    )
  }
}

takes_arguments <- function(f, n) {
  formals <- formals(args(f))
  if (is.null(formals)) return(n == 0L || is.primitive(f))
  dots <- names(formals) == "..."
  has_default <- vapply(formals, function(x) !identical(x, quote(expr = )), logical(1))
  required <- sum(!dots & !has_default)
  required <= n && (any(dots) || n <= sum(!dots))
}

check_saver <- function(saver, call = parent.frame()) {
  good <- is.null(saver) || inherits(saver, "runhooks_saver")
  check_arg(good, saver, "NULL or tf$train$Saver()", "saver", call)
}

last_or_na <- function(x) if (length(x)) x[[length(x)]] else NA_real_

check_steps <- function(steps, arg, call = parent.frame()) {
  check_whole(steps, null = TRUE, arg = arg, call = call)
  if (!is.null(steps) && steps <= 0) {
    abort_plain(sprintf("Must specify %s > 0, given: %.0f", arg, steps), call = call)
  }
}

check_file_name <- function(x, arg, call = parent.frame()) {
  check_string(x, null = arg == "latest_filename", arg = arg, call = call)
  if (is.null(x) || (nzchar(x) && identical(basename(x), x))) return(invisible())
  abort_plain(sprintf("'%s' must not contain path components", arg), call = call)
}

is_absent <- function(x) identical(x, quote(expr = ))

is_head <- function(x) inherits(x, "runhooks_head")

has_error_kind <- function(condition, kinds) {
  kind <- control_error_kind(condition)
  !is.null(kind) && kind %in% kinds
}

check_scaffold <- function(scaffold, call = parent.frame()) {
  good <- is.null(scaffold) || inherits(scaffold, "runhooks_scaffold")
  check_arg(good, scaffold, "NULL or tf$train$Scaffold()", "scaffold", call)
}

is_column <- function(x) inherits(x, "runhooks_feature_column")

is_optimizer <- function(x) inherits(x, "runhooks_optimizer")

# Rejects arguments in `...` that a method does not read. `arg_names` are the names that it reads.
abort_extra_arguments <- function(
  fun,
  extras,
  arg_names = character(),
  call = parent.frame(),
  advice = NULL
) {
  if (length(extras) == 0) return(invisible())
  name <- if (is.null(names(extras))) "" else names(extras)[[1]]
  problem <- if (nzchar(name)) "argument {.arg {name}}" else "argument for {describe(extras[[1]])}"
  match <- closest_name(name, arg_names)
  if (is.null(advice)) {
    advice <- if (length(match)) "Did you mean {.arg {match}}?" else if (length(arg_names)) {
      "Its arguments are {.arg {arg_names}}."
    } else {
      "The model is its only argument."
    }
  }
  abort_runhooks(
    c(paste0("{.fn {fun}} has no ", problem, "."), i = advice), call = call, env = environment()
  )
}

closest_name <- function(name, candidates) {
  matches <- cpp_closest_matches(name, candidates)
  if (nzchar(name) && length(matches)) matches[[1]]
}

# Warns if a selection such as everything() includes the response.
warn_response_feature <- function(features, response) {
  overlap <- intersect(response, features) # nolint: used by cli
  if (length(overlap) == 0) return(invisible())
  cli::cli_warn(
    c(
      "The response {.val {overlap}} is also a feature, so the model can copy it.",
      i = "Leave it out: {.code features = -{overlap}}."
    ),
    class = c("runhooks_warning_response_feature", "runhooks_warning"), call = NULL
  )
}
