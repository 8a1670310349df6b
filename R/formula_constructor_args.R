# Matches the arguments of constructors: formula, data and hidden units may be in any order.

is_formula <- function(x) inherits(x, "formula")

# `args` by name, the names of the `given` ones, and of those `written` in the call. `specs` are the
# registered arguments, the formals, and an expression that returns which arguments are given.
constructor_arguments <- function(specs, call, written) {
  type <- specs$type
  arguments <- names(specs$formals)
  extras <- as.list(eval(quote(substitute(list(...))), call))[-1]
  is_door <- names(extras) %in% c("x", "y")
  abort_unknown_args(if (any(is_door)) extras[!is_door] else extras, arguments, type, call)
  doors <- if (any(is_door)) eval(quote(list(...)), call)[is_door]
  is_given <- eval(specs$asks_given, call)
  settled <- list(
    args = mget(arguments, envir = call), given = arguments[is_given], type = type,
    traits = model_traits(type), seats = specs$seats, places = list(), written = written
  )
  settled <- resolve_interface(settled, doors, specs$formals, call)
  settled <- match_arguments(settled, specs$formals, call)
  absent <- vapply(settled$args[specs$required], is_absent, NA)
  if (any(absent)) abort_absent(specs$required[absent][[1]], settled, call)
  settled
}

# Positional slots and the values they accept. A value in the wrong slot moves to the right one.
slot_predicates <- list(
  head = function(x) is_head(x),
  widths = function(x) is.numeric(x) && is.null(dim(x)),
  columns = function(x) is_formula(x),
  string = function(x) is.character(x)
)

positional_slots <- function(specs) {
  has_seat <- (!nzchar(specs$default) & specs$kind %in% names(slot_predicates)) |
    specs$name == "model_dir"
  kinds <- setNames(specs$kind[has_seat], specs$name[has_seat])
  kinds[order(match(kinds, names(slot_predicates)))]
}

slot_accepts <- function(x, name, seats) slot_predicates[[seats[[name]]]](x)

match_arguments <- function(settled, defaults, call) {
  args <- settled$args
  if (!is.null(args$formula) && !is_formula(args$formula)) {
    check_arg(FALSE, args$formula, "a formula", "formula", call)
  }
  seats <- settled$seats
  first <- names(seats)
  home_of <- function(kind) names(seats)[match(kind, seats)]
  # named arguments shift the positional arguments after them, so the formula may be in a later slot
  for (name in setdiff(settled$given, c(settled$written, first, "formula"))) {
    if (is_formula(args[[name]])) settled <- move_argument(settled, name, "formula", defaults, call)
  }
  args <- settled$args
  if (!any(vapply(args[c(first, "formula")], is_formula, NA))) {
    check_no_frame(settled, first, call)
    return(settled)
  }
  for (name in settled$given) {
    value <- args[[name]]
    is_data <- is_formula_data(value) || inherits(value, "DBIConnection")
    # where lm() has its data, positional matching has put the value into `model_dir`
    is_named <- name %in% settled$written || "data" %in% settled$given
    is_folder <- is.null(value) || is.character(value) || is_formula(value)
    is_meant <- name == "model_dir" && !is_folder || is_list_of_columns(value)
    if (name != "data" && (is_data || is_meant && !is_named)) {
      settled <- move_argument(settled, name, "data", defaults, call)
    }
  }
  for (name in intersect(first, settled$given)) {
    value <- settled$args[[name]]
    if (is_absent(value) || slot_accepts(value, name, seats)) next
    # a misused named argument is not moved: its own check reports it
    if (name %in% settled$written && !is_formula(value)) next
    home <- Find(function(seat) slot_accepts(value, seat, seats), first)
    # models with several parts, or without columns, have one formula for the whole model
    if (is.null(home) && is_formula(value)) home <- "formula"
    if (!is.null(home)) settled <- move_argument(settled, name, home, defaults, call)
  }
  if (!is.null(settled$args$formula) && "columns" %in% seats) {
    settled <- move_argument(settled, "formula", home_of("columns"), defaults, call)
  }
  settled
}

is_list_of_columns <- function(x) {
  is_plain_list(x) && length(x) > 0 && !is.null(names(x)) && all(vapply(x, is_atomic, NA)) &&
    length(unique(lengths(x))) == 1
}

check_no_frame <- function(settled, first, call) {
  if (!any(vapply(settled$args[first[first %in% settled$given]], is_formula_data, NA))) {
    return(invisible())
  }
  is_frame <- any(vapply(settled$args[first], is.data.frame, NA)) # nolint: used by cli
  written <- Find(function(name) is_string(settled$args[[name]]), first)
  text <- if (!is.null(written)) settled$args[[written]]
  abort_runhooks(
    c(
      "{if (is_frame) 'A data frame' else 'A dataset'} needs a formula that names the response and
       the features.",
      x = if (length(text) && grepl("~", text)) "{.val {text}} is a string.",
      i = "Example: {.code {settled$type}(mpg ~ wt, data = mtcars)}, without quotes."
    ),
    call = call
  )
}

move_argument <- function(settled, from, to, defaults, call) {
  there <- settled$args[[to]]
  value <- settled$args[[from]]
  is_taken <- to %in% settled$given
  seats <- settled$seats
  if (is_taken && (!to %in% names(seats) || slot_accepts(there, to, seats))) {
    abort_runhooks("{.arg {to}} is given twice: by name, and by position as {.arg {from}}.",
      call = call
    )
  }
  settled$args[to] <- list(value)
  settled$places[[to]] <- from
  if (is_taken) settled$places[[from]] <- to
  settled$given <- union(setdiff(settled$given, from), to)
  if (is_taken) {
    settled$args[from] <- list(there)
    settled$given <- c(settled$given, from)
  } else {
    settled$args[from] <- defaults[from]
  }
  settled
}

# Renames the arguments of a call as they were matched; a formula is always named `formula`.
normalize_call <- function(call, settled) {
  names <- names(call)
  for (to in names(settled$places)) names[names(call) == settled$places[[to]]] <- to
  for (name in names(settled$seats)[settled$seats == "columns"]) {
    if (is_formula(settled$args[[name]])) names[names == name] <- "formula"
  }
  names(call) <- names
  call
}

abort_absent <- function(name, settled, call) {
  kind <- if (name %in% names(settled$seats)) settled$seats[[name]] else ""
  if (kind == "columns" && !is.null(settled$args$data)) {
    abort_runhooks(
      c("{.arg formula} is missing.", i = "Name the response and the features: {.code
        {settled$type}(response ~ a + b, data = ...)}."),
      call = call
    )
  }
  others <- c(head = "head = regression_head(), ", widths = "hidden_units = c(16, 8), ")
  # nolint: used by cli
  before <- paste(others[intersect(names(others), settled$seats)], collapse = "")
  advice <- switch(kind,
    columns = c(
      i = "With a formula and data: {.code {settled$type}({before}formula = mpg ~ wt, data =
           mtcars)}.",
      i = "With columns: {.code {settled$type}({before}feature_columns = column_numeric(\"wt\"))}."
    ),
    widths = c(
      i = "Give the number of units of each hidden layer: {.code {settled$type}(mpg ~ wt, data =
           mtcars, hidden_units = c(16, 8))}."
    ),
    head = c(i = "Give the kind of prediction, such as {.code head = regression_head()}.")
  )
  abort_runhooks(c("{.arg {name}} is missing.", advice), call = call)
}

# Names that other packages use, by the argument or function that replaces them here.
other_names <- list(
  train = c(
    "epochs", "num_epochs", "n_epochs", "steps", "max_steps", "batch_size", "shuffle", "hooks",
    "validation", "validation_data", "validation_split", "stop", "callbacks", "verbose"
  ),
  predict = c("newdata", "new_data", "type"),
  hidden_units = c("units", "layers", "hidden", "hidden_layers", "size"),
  learning_rate = c("lr", "rate", "eta", "learn_rate"),
  weight_column = c("weights", "weight", "case_weights"),
  na.action = c("na_action", "na.rm"),
  normalize = c("standardize", "scale", "normalise"),
  activation_fn = "activation"
)

abort_unknown_args <- function(extras, arguments, type, call) {
  if (length(extras) == 0) return(invisible())
  name <- if (is.null(names(extras))) "" else names(extras)[[1]]
  text <- term_name(extras[[1]])
  if (!nzchar(name)) {
    abort_runhooks(
      c(
        "{.fn {type}} has too many arguments: it has no argument for {.code {text}}.",
        i = "Only the first arguments can be given without their names."
      ),
      call = call
    )
  }
  abort_runhooks(
    c("{.fn {type}} has no argument {.arg {name}}.", i = unknown_arg_hint(name, text, arguments, type)),
    call = call
  )
}

unknown_arg_hint <- function(name, text, arguments, type) {
  is_meant <- vapply(other_names, function(names) ascii_lower(name) %in% names, NA)
  meant <- names(other_names)[is_meant]
  if (identical(meant, "train")) {
    to <- switch(name, epochs = , n_epochs = "num_epochs", name)
    return(cli::format_inline(
      "Pass it to {.fn train}: {.code train(model, data, {to} = {text})}."
    ))
  }
  if (identical(meant, "predict")) {
    return("Pass data to {.fn predict}: {.code predict(model, newdata = data)}.")
  }
  if (identical(meant, "weight_column")) {
    text <- gsub("\"", "", text)
    return(cli::format_inline(
      "Give the name of the column with the weights: {.code weight_column = \"{text}\"}."
    ))
  }
  if (name == "family") {
    return(
      "Use {.fn linear_regressor} for numbers, {.fn linear_classifier} for classes, and
       {.code linear_estimator(poisson_regression_head(), ...)} for counts."
    )
  }
  if (name == "offset") {
    return(cli::format_inline("Write it in the formula: {.code y ~ x + offset({text})}."))
  }
  if (name %in% c("subset", "contrasts")) {
    return("Prepare the data instead: models use all rows, and factors without contrasts.")
  }
  near <- if (length(meant) && meant %in% arguments) meant else near_name(name, arguments)
  if (length(near)) return(cli::format_inline("Did you mean {.arg {near}}?"))
  cli::format_inline("Its arguments are {.arg {arguments}}.")
}

# Formula models have a default optimizer that converges for standardized numbers.
optimizer_arguments <- function(settled, is_formula, call) {
  args <- settled$args
  rate <- args$learning_rate
  if (!is.null(rate)) {
    check_arg(is_number(rate) && rate > 0, rate, "a positive number", "learning_rate", call)
  }
  for (part in settled$traits$trained_parts) {
    arg <- part$optimizer
    chosen <- is_formula && !arg %in% settled$given
    if (chosen) args[[arg]] <- formula_optimizer(part)
    if (is.null(rate)) next
    args[arg] <- list(with_rate(args[[arg]], rate, chosen, part, call))
  }
  args
}

formula_optimizer <- function(part) {
  if (part$rate_of_formula == 0) return(part$of_formula)
  named_optimizer(part$of_formula, part$rate_of_formula)
}

with_rate <- function(optimizer, rate, chosen, part, call) {
  arg <- part$optimizer
  if (is.null(optimizer)) optimizer <- part$missing
  if (chosen && is_optimizer(optimizer)) return(named_optimizer(optimizer$type, rate))
  if (is_string(optimizer)) {
    check_optimizer(optimizer, arg, call)
    return(named_optimizer(optimizer, rate))
  }
  if (!is_optimizer(optimizer) && !is.function(optimizer)) check_optimizer(optimizer, arg, call)
  abort_runhooks(
    c(
      "{.arg learning_rate} requires the name of an optimizer, but {.arg {arg}} is
       {if (is.function(optimizer)) 'a function' else 'an optimizer'} with its own rate.",
      i = "Set the rate there, or write {.code {arg} = \"Adam\", learning_rate = {rate}}."
    ),
    call = call
  )
}

optimizer_type <- function(x) {
  if (is_optimizer(x)) unclass(x)$type else if (is_string(x)) x else NA_character_
}

wants_all_rows <- function(x) {
  if (is.null(the$all_rows)) the$all_rows <- cpp_optimizers_of_all_rows()
  optimizer_type(x) %in% the$all_rows
}

# Whether regularization moves the optimum away from that of the loss.
is_penalized <- function(x) is_optimizer(x) && cpp_optimizer_is_penalized(unclass_deep(x))

is_full_batch_linear <- function(args, traits) {
  parts <- traits$parts
  if (length(parts) != 1 || parts[[1]]$is_deep || !isTRUE(traits$has_coefficients)) return(FALSE)
  optimizer <- args[[parts[[1]]$optimizer]]
  wants_all_rows(optimizer) && !is_penalized(optimizer)
}

named_optimizer <- function(name, rate) {
  structure(
    list(type = name, learning_rate = rate), owner = paste0("tf$train$", name, "Optimizer()"),
    class = c(paste0(name, "Optimizer"), "runhooks_optimizer")
  )
}
