# Matches the arguments of constructors: formula, data and hidden units may be in any order.

is_formula <- function(x) inherits(x, "formula")

# `args` by name, the names of the `given` ones, and of those `written` in the call. `specs` are the
# registered arguments, the formals, and an expression that returns which arguments are given.
constructor_arguments <- function(specs, call, written) {
  type <- specs$type
  arguments <- names(specs$formals)
  extras <- as.list(eval(quote(substitute(list(...))), call))[-1]
  is_xy <- names(extras) %in% c("x", "y")
  abort_unknown_args(if (any(is_xy)) extras[!is_xy] else extras, arguments, type, call)
  xy <- if (any(is_xy)) forced_arguments(function() eval(quote(list(...)), call), type, call)[is_xy]
  is_given <- eval(specs$asks_given, call)
  matched <- list(
    args = forced_arguments(function() mget(arguments, envir = call), type, call),
    given = arguments[is_given], type = type,
    traits = model_traits(type), slots = specs$slots, places = list(), written = written
  )
  # the caller of the constructor
  matched$args <- lapply(matched$args, text_as_formula, parent.frame(3))
  matched <- resolve_interface(matched, xy, specs$formals, call)
  matched <- match_arguments(matched, specs$formals, call)
  absent <- vapply(matched$args[specs$required], is_absent, NA)
  if (any(absent)) abort_absent(specs$required[absent][[1]], matched, call)
  matched
}

# Names of columns are not variables: linear_regressor(y = x, data) lacks a formula.
forced_arguments <- function(evaluate, type, call) {
  tryCatch(evaluate(), error = function(error) {
    text <- conditionMessage(error)
    if (!grepl("^object '.*' not found$", text)) stop(error)
    written <- as.list(eval(quote(sys.call()), call))[-1]
    has_formula <- any(vapply(written, function(x) is.call(x) && identical(x[[1]], quote(`~`)), NA))
    abort_runhooks(
      c(
        "{text}.",
        i = if (!has_formula) {
          "To name columns of the data, write a formula: {.code {type}(y ~ x, data)}."
        }
      ),
      kind = "not_found", call = call
    )
  })
}

# A formula may be a string, as in lm().
text_as_formula <- function(x, env) {
  if (!is_string(x) || !grepl("~", x, fixed = TRUE)) return(x)
  parsed <- tryCatch(str2lang(x), error = function(e) NULL)
  if (!is.call(parsed) || !identical(parsed[[1]], quote(`~`))) return(x)
  stats::as.formula(x, env = env)
}

# Positional slots and the values they accept. A value in the wrong slot moves to the right one.
slot_predicates <- list(
  head = function(x) is_head(x),
  widths = function(x) is.numeric(x) && is.null(dim(x)),
  columns = function(x) is_formula(x),
  string = function(x) is.character(x)
)

positional_slots <- function(specs) {
  has_slot <- (!nzchar(specs$default) & specs$kind %in% names(slot_predicates)) |
    specs$name == "model_dir"
  kinds <- setNames(specs$kind[has_slot], specs$name[has_slot])
  kinds[order(match(kinds, names(slot_predicates)))]
}

slot_accepts <- function(x, name, slots) slot_predicates[[slots[[name]]]](x)

match_arguments <- function(matched, defaults, call) {
  args <- matched$args
  if (!is.null(args$formula) && !is_formula(args$formula)) {
    check_arg(FALSE, args$formula, "a formula", "formula", call)
  }
  slots <- matched$slots
  first <- names(slots)
  home_of <- function(kind) names(slots)[match(kind, slots)]
  # named arguments shift the positional arguments after them, so the formula may be in a later slot
  for (name in setdiff(matched$given, c(matched$written, first, "formula"))) {
    if (is_formula(args[[name]])) matched <- move_argument(matched, name, "formula", defaults, call)
  }
  args <- matched$args
  if (!any(vapply(args[c(first, "formula")], is_formula, NA))) {
    check_no_frame(matched, first, call)
    return(matched)
  }
  for (name in matched$given) {
    value <- args[[name]]
    is_data <- is_formula_data(value) || inherits(value, "DBIConnection")
    # where lm() has its data, positional matching has put the value into `model_dir`
    is_named <- name %in% matched$written || "data" %in% matched$given
    is_folder <- is.null(value) || is.character(value) || is_formula(value)
    is_meant <- name == "model_dir" && !is_folder || is_list_of_columns(value)
    if (name != "data" && (is_data || is_meant && !is_named)) {
      matched <- move_argument(matched, name, "data", defaults, call)
    }
  }
  for (name in intersect(first, matched$given)) {
    value <- matched$args[[name]]
    if (is_absent(value) || slot_accepts(value, name, slots)) next
    # a misused named argument is not moved: its own check reports it
    if (name %in% matched$written && !is_formula(value)) next
    home <- Find(function(slot) slot_accepts(value, slot, slots), first)
    # models with several parts, or without columns, have one formula for the whole model
    if (is.null(home) && is_formula(value)) home <- "formula"
    if (!is.null(home)) matched <- move_argument(matched, name, home, defaults, call)
  }
  if (!is.null(matched$args$formula) && "columns" %in% slots) {
    matched <- move_argument(matched, "formula", home_of("columns"), defaults, call)
  }
  matched
}

is_list_of_columns <- function(x) {
  is_plain_list(x) && length(x) > 0 && !is.null(names(x)) && all(vapply(x, is_atomic, NA)) &&
    length(unique(lengths(x))) == 1
}

check_no_frame <- function(matched, first, call) {
  if (!any(vapply(matched$args[first[first %in% matched$given]], is_formula_data, NA))) {
    return(invisible())
  }
  is_frame <- any(vapply(matched$args[first], is.data.frame, NA)) # nolint: used by cli
  abort_runhooks(
    c(
      "{if (is_frame) 'A data frame' else 'A dataset'} needs a formula that names the response and
       the features.",
      i = "Example: {.code {matched$type}(mpg ~ wt, data = mtcars)}."
    ),
    call = call
  )
}

move_argument <- function(matched, from, to, defaults, call) {
  there <- matched$args[[to]]
  value <- matched$args[[from]]
  is_taken <- to %in% matched$given
  slots <- matched$slots
  if (is_taken && (!to %in% names(slots) || slot_accepts(there, to, slots))) {
    abort_runhooks("{.arg {to}} is given twice: by name, and by position as {.arg {from}}.",
      call = call
    )
  }
  matched$args[to] <- list(value)
  matched$places[[to]] <- from
  if (is_taken) matched$places[[from]] <- to
  matched$given <- union(setdiff(matched$given, from), to)
  if (is_taken) {
    matched$args[from] <- list(there)
    matched$given <- c(matched$given, from)
  } else {
    matched$args[from] <- defaults[from]
  }
  matched
}

# Renames the arguments of a call as they were matched; a formula is always named `formula`.
normalize_call <- function(call, matched) {
  names <- names(call)
  for (to in names(matched$places)) names[names(call) == matched$places[[to]]] <- to
  for (name in names(matched$slots)[matched$slots == "columns"]) {
    if (is_formula(matched$args[[name]])) names[names == name] <- "formula"
  }
  names(call) <- names
  call
}

abort_absent <- function(name, matched, call) {
  kind <- if (name %in% names(matched$slots)) matched$slots[[name]] else ""
  if (kind == "columns" && !is.null(matched$args$data)) {
    abort_runhooks(
      c("{.arg formula} is missing.", i = "Name the response and the features: {.code
        {matched$type}(response ~ a + b, data = ...)}."),
      call = call
    )
  }
  others <- c(head = "head = regression_head(), ", widths = "hidden_units = c(16, 8), ")
  # nolint: used by cli
  before <- paste(others[intersect(names(others), matched$slots)], collapse = "")
  advice <- switch(kind,
    columns = c(
      i = "With a formula and data: {.code {matched$type}({before}formula = mpg ~ wt, data =
           mtcars)}.",
      i = "With columns: {.code {matched$type}({before}feature_columns = column_numeric(\"wt\"))}."
    ),
    widths = c(
      i = "Give the number of units of each hidden layer: {.code {matched$type}(mpg ~ wt, data =
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
  activation_fn = "activation",
  n_trees = c("nrounds", "trees", "ntrees", "n_estimators", "num_trees"),
  max_depth = c("depth", "tree_depth"),
  min_node_weight = c("min_n", "min_child_weight", "min_data_in_leaf"),
  sample_size = c("subsample", "bagging_fraction"),
  mtry = c("colsample_bytree", "feature_fraction"),
  l2_regularization = c("lambda", "reg_lambda"),
  l1_regularization = c("alpha", "reg_alpha")
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
    return("Pass data to {.fn predict}: {.code predict(model, data)}.")
  }
  if (identical(meant, "weight_column")) {
    text <- sub("^.*\\$", "", gsub("\"", "", text)) # `data$w` is column w
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
  if (name %in% c("seed", "random_state")) {
    return(cli::format_inline(
      "Give it to the configuration: {.code config = run_config(tf_random_seed = {text})}."
    ))
  }
  if (name == "metrics") return("Use {.fn add_metrics} for metrics of your own.")
  if (name %in% c("l1", "l2", "penalty", "lambda", "alpha") && "optimizer" %in% arguments) {
    return(
      "Give the penalty to the optimizer: {.code optimizer =
       tf$train$LBFGSOptimizer(l2_regularization_strength = 0.1)}."
    )
  }
  if (name == "class_weights") return("Class weights are for classifiers.")
  near <- if (length(meant) && meant %in% arguments) meant else near_name(name, arguments)
  if (length(near)) return(cli::format_inline("Did you mean {.arg {near}}?"))
  is_variable <- grepl("^[.[:alpha:]][._[:alnum:]]*$", text) && !text %in% c("TRUE", "FALSE", "NULL")
  if ("formula" %in% arguments && is_variable) {
    return(cli::format_inline("For a formula, write {.code {name} ~ {text}}."))
  }
  cli::format_inline("Its arguments are {.arg {arguments}}.")
}

# Formula models have a default optimizer that converges for standardized numbers.
optimizer_arguments <- function(matched, is_formula, call) {
  args <- matched$args
  rate <- args$learning_rate
  if (!is.null(rate)) {
    if (is.function(rate)) {
      abort_runhooks(
        c("{.arg learning_rate} must be a positive number, not a function.",
          i = "Use {.fn hook_learning_rate} to change the rate during training."),
        call = call
      )
    }
    check_arg(is_number(rate) && rate > 0, rate, "a positive number", "learning_rate", call)
  }
  for (part in matched$traits$trained_parts) {
    arg <- part$optimizer
    chosen <- is_formula && !arg %in% matched$given
    if (chosen) args[[arg]] <- formula_optimizer(part)
    if (is.null(rate)) next
    args[arg] <- list(set_learning_rate(args[[arg]], rate, chosen, part, call))
  }
  args
}

formula_optimizer <- function(part) {
  if (part$rate_of_formula == 0) return(part$of_formula)
  named_optimizer(part$of_formula, part$rate_of_formula)
}

set_learning_rate <- function(optimizer, rate, chosen, part, call) {
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
  optimizer <- optimizer_of_all_rows(args, traits)
  !is.null(optimizer) && !is_penalized(optimizer)
}

is_penalized_linear <- function(args, traits) is_penalized(optimizer_of_all_rows(args, traits))

# NULL if the model is not linear or trains in batches.
optimizer_of_all_rows <- function(args, traits) {
  parts <- traits$parts
  if (length(parts) != 1 || parts[[1]]$is_deep || !isTRUE(traits$has_coefficients)) return(NULL)
  optimizer <- args[[parts[[1]]$optimizer]]
  if (wants_all_rows(optimizer)) optimizer
}

named_optimizer <- function(name, rate) {
  structure(
    list(type = name, learning_rate = rate), owner = paste0("tf$train$", name, "Optimizer()"),
    class = c(paste0(name, "Optimizer"), "runhooks_optimizer")
  )
}
