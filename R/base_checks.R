# Checks of arguments: what was given, what is expected, which argument.

check_arg <- function(good, x, wanted, arg, call) {
  if (!isTRUE(good)) {
    force(x) # one that is missing is R's own error, and not one of the text
    # what was not given, out of the environment of the call that it was not given to
    if (identical(x, quote(expr = ))) abort_runhooks("{.arg {arg}} is missing.", call = call)
    abort_runhooks("{.arg {arg}} must be {wanted}, not {describe(x)}.", call = call)
  }
  invisible(x)
}

# NULL counts, as it did for is.atomic() before R 4.4.
is_atomic <- function(x) is.null(x) || is.atomic(x) # lint: allow is-atomic

# The value itself where it is short, else what it is.
describe <- function(x) {
  simple <- is_atomic(x) && is.null(attributes(x)) && length(x) == 1
  if (simple) return(if (is.character(x)) encodeString(x, quote = "\"") else number_text(x))
  if (is.null(x)) return("NULL")
  kind_of(x)
}

# What it is, in words: "a tensor", "a function".
kind_of <- function(x) {
  # cli asks for the length, which not every object has: a tensor's may be unknown
  length <- if (is.object(x)) tryCatch(length(x), error = function(e) NA)
  if (is.object(x) && !is_number(length)) return(paste0("a <", class(x)[[1]], "> object"))
  cli::format_inline("{.obj_type_friendly {x}}")
}

# What the data have, for a message: of very many names the first ones, since each takes its time.
existing_names <- function(names, most = 50) {
  rest <- length(names) - most # nolint: used by cli
  shown <- utils::head(names, most) # nolint: used by cli
  text <- if (rest > 0) {
    cli::format_inline("The data have {.val {shown}} and {rest} more.", keep_whitespace = FALSE)
  } else {
    cli::format_inline("The data have {.val {shown}}.", keep_whitespace = FALSE)
  }
  gsub("([{}])", "\\1\\1", text)
}

describe_all <- function(x) if (length(x)) describe(x[[1]]) else "nothing"

# The elements of a vector, or of a list of single values, as a list without names, which mean
# nothing here. Each must pass `test` and be there.
check_elements <- function(x, test, wanted, arg, call, empty = FALSE, na_advice = NULL) {
  is_flat <- is_atomic(x) || (is.list(x) && !is.object(x) && all(lengths(x) == 1))
  elements <- if (is_flat) unname(lapply(x, function(element) element))
  good <- is_flat && (empty || length(x) > 0) && !is.null(elements) &&
    all(vapply(elements, function(element) is_atomic(element) && test(element), NA))
  missing <- if (is_flat) which(vapply(elements, function(e) isTRUE(is.na(e)), NA))
  if (length(missing)) {
    abort_runhooks(
      c("{.arg {arg}} must not have NA, as element {missing[[1]]} is.", i = na_advice), call = call
    )
  }
  check_arg(good && !is.null(x), x, wanted, arg, call)
  elements
}

# Strings in a vector or in lists, as a vector; NULL is none.
strings_of <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg(own_argument_tests$strings(x), x, "strings", arg, call)
  as.character(unlist(x))
}

# Such elements as a vector.
plain_vector <- function(x) if (length(x)) unname(unlist(x)) else integer()

# Beyond this, doubles do not hold each whole number any more.
largest_whole <- 2^53

is_number <- function(x) is.numeric(x) && length(x) == 1 && !is.na(x)
is_whole <- function(x) is_number(x) && x == trunc(x) && abs(x) <= largest_whole

check_number <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg((null && is.null(x)) || is_number(x), x, "a number", arg, call)
}

check_whole <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  check_not_huge(x, arg, call)
  check_arg((null && is.null(x)) || is_whole(x), x, "a whole number", arg, call)
}

# A number that is whole, but that the core could not count to.
check_not_huge <- function(x, arg, call) {
  is_huge <- is_number(x) && is.finite(x) && abs(x) > largest_whole
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

# An argument behind `...` that was not given, most likely because its name was left out.
check_named <- function(given, arg, call = parent.frame()) {
  if (given) return(invisible())
  abort_runhooks(
    c(
      "{.arg {arg}} is missing.",
      i = "It needs its name, as in {.code {arg} = }: what has none is the name of a feature."
    ),
    call = call
  )
}

is_flag <- function(x) is.logical(x) && length(x) == 1 && !is.na(x)

is_string <- function(x) is.character(x) && length(x) == 1 && !is.na(x)

check_string <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  if (is.data.frame(x) || inherits(x, "tf_dataset")) abort_data_for_string(x, arg, call)
  if (null && is.null(x)) return(invisible(x))
  check_arg(is_string(x), x, "a single string", arg, call)
  # what is no text in any encoding R's own functions would refuse later, without its name
  check_arg(validEnc(x), x, "a string of valid letters", arg, call)
}

# Arguments in each other's place.
abort_data_for_string <- function(x, arg, call) {
  what <- if (is.data.frame(x)) "a data frame" else "a dataset" # nolint: used by cli
  abort_runhooks(
    c(
      "{.arg {arg}} must be a single string, not {what}.",
      i = "Data have an argument of their own: write the names of arguments, as in
           {.code data = } or {.code {arg} = \"...\"}."
    ),
    call = call
  )
}

# A path that the system can be asked about.
check_path <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_string(x, arg = arg, call = call)
  check_arg(nzchar(x), x, "a path, which no empty string is", arg, call)
}

# One of `choices`; all of them, as the default has it, is the first.
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

# "Did you mean ...?" as a bullet of an error, for all that is looked up by a name; none where
# nothing is near. For texts that cli does not look into `braces` is FALSE.
did_you_mean <- function(name, known, braces = TRUE) {
  known <- setdiff(as.character(known), c("", NA))
  if (!is_string(name) || length(known) == 0) return(NULL)
  near <- cpp_near_names(name, known)
  if (length(near) == 0) return(NULL)
  if (braces) near <- gsub("([{}])", "\\1\\1", near)
  words <- paste0("\"", near, "\"")
  last <- length(words)
  text <- if (last == 1) words else paste(paste(words[-last], collapse = ", "), "or", words[last])
  c(i = paste0("Did you mean ", text, "?"))
}

check_function <- function(x, null = FALSE, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg((null && is.null(x)) || is.function(x), x, "a function", arg, call)
}

# Arguments that TensorFlow has and this package does not read: an error where one was given,
# rather than silence. They are arguments of the function that calls this.
unsupported <- function(..., frame = parent.frame()) {
  names <- vapply(substitute(list(...))[-1], as.character, "")
  defaults <- formals(sys.function(sys.parent()))
  is_given <- function(name) !identical(frame[[name]], eval(defaults[[name]], frame))
  given <- Filter(is_given, names)
  if (length(given)) {
    abort_runhooks(
      c("Unused argument: {.arg {given}} is not supported.", i = "Leave it at its default."),
      kind = "unimplemented", call = frame
    )
  }
}

# TRUE where `f` can be called with n arguments by position.
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

last_of <- function(x) if (length(x)) x[[length(x)]] else NA_real_

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

is_one_of <- function(condition, kinds) {
  kind <- steering_kind(condition)
  !is.null(kind) && kind %in% kinds
}

check_scaffold <- function(scaffold, call = parent.frame()) {
  good <- is.null(scaffold) || inherits(scaffold, "runhooks_scaffold")
  check_arg(good, scaffold, "NULL or tf$train$Scaffold()", "scaffold", call)
}

is_column <- function(x) inherits(x, "runhooks_feature_column")

is_optimizer <- function(x) inherits(x, "runhooks_optimizer")

# For methods whose generic has `...`: what they do not read is refused. `known` are the names of what
# they do.
abort_more <- function(fun, extras, known = character(), call = parent.frame()) {
  if (length(extras) == 0) return(invisible())
  name <- if (is.null(names(extras))) "" else names(extras)[[1]]
  what <- if (nzchar(name)) "argument {.arg {name}}" else "place for {describe(extras[[1]])}"
  near <- near_name(name, known)
  advice <- if (length(near)) "Did you mean {.arg {near}}?" else if (length(known)) {
    "Its arguments are {.arg {known}}."
  } else {
    "It takes the model and nothing more."
  }
  abort_runhooks(
    c(paste0("{.fn {fun}} has no ", what, "."), i = advice), call = call, env = environment()
  )
}

# The known name that is most like `name`; none where all are far away.
near_name <- function(name, known) {
  near <- cpp_near_names(name, known)
  if (nzchar(name) && length(near)) near[[1]]
}
