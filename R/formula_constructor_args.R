# Matches the arguments of constructors: formula, data and hidden units may be in any order.

is_formula <- function(x) inherits(x, "formula")

# Matches the arguments of a constructor. `specs` contains its registered arguments, its formals,
# and an expression that returns which arguments are supplied. Returns a list with: * `args`: the
# values by name; * `given`: the names of the supplied arguments; * `written`: the names that the
# user has written in the call; * `moved_from`: for each moved argument, the argument to which R's
# matching had assigned the value.
constructor_arguments <- function(specs, call, written) {
  type <- specs$type
  arguments <- names(specs$formals)
  extras <- as.list(eval(quote(substitute(list(...))), call))[-1]
  is_xy <- names(extras) %in% c("x", "y")
  abort_unknown_args(if (any(is_xy)) extras[!is_xy] else extras, arguments, type, call)
  xy <- if (any(is_xy)) forced_arguments(function() eval(quote(list(...)), call), type, call)[is_xy]
  is_supplied <- eval(specs$asks_given, call)
  matched <- list(
    args = forced_arguments(function() mget(arguments, envir = call), type, call),
    given = arguments[is_supplied], type = type,
    traits = model_traits(type), slots = specs$slots, moved_from = list(), written = written
  )
  # the environment of a formula given as a string is that of the constructor's caller
  matched$args <- lapply(matched$args, text_as_formula, parent.frame(3))
  matched <- resolve_interface(matched, xy, specs$formals, call)
  matched <- match_arguments(matched, specs$formals, call)
  is_missing <- vapply(matched$args[specs$required], is_absent, NA)
  if (any(is_missing)) abort_missing_argument(specs$required[is_missing][[1]], matched, call)
  matched
}

# Evaluates the arguments. A name that is not found may be a column of the data, for example in
# linear_regressor(y = x, data), which lacks a formula.
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

# Converts a string that contains a formula to the formula, as lm() does.
text_as_formula <- function(x, env) {
  if (!is_string(x) || !grepl("~", x, fixed = TRUE)) return(x)
  parsed <- tryCatch(str2lang(x), error = function(e) NULL)
  if (!is.call(parsed) || !identical(parsed[[1]], quote(`~`))) return(x)
  stats::as.formula(x, env = env)
}

# The kinds of positional arguments (slots), and the values that they accept. A value in the wrong
# slot is moved to the slot that accepts it.
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

# Moves positional arguments to the slots that accept them, and data to `data`.
match_arguments <- function(matched, defaults, call) {
  args <- matched$args
  if (!is.null(args$formula) && !is_formula(args$formula)) {
    check_arg(FALSE, args$formula, "a formula", "formula", call)
  }
  slots <- matched$slots
  slot_names <- names(slots)
  slot_of <- function(kind) names(slots)[match(kind, slots)]
  # named arguments shift the positional arguments after them, so the formula may be in a later slot
  for (name in setdiff(matched$given, c(matched$written, slot_names, "formula"))) {
    if (is_formula(args[[name]])) matched <- move_argument(matched, name, "formula", defaults, call)
  }
  args <- matched$args
  if (!any(vapply(args[c(slot_names, "formula")], is_formula, NA))) {
    check_no_data_in_slots(matched, slot_names, call)
    return(matched)
  }
  for (name in matched$given) {
    value <- args[[name]]
    is_data <- is_formula_data(value) || inherits(value, "DBIConnection")
    # R has matched data in the position of lm()'s argument `data` to `model_dir`
    is_named <- name %in% matched$written || "data" %in% matched$given
    is_dir <- is.null(value) || is.character(value) || is_formula(value)
    is_data_like <- name == "model_dir" && !is_dir || is_list_of_columns(value)
    if (name != "data" && (is_data || is_data_like && !is_named)) {
      matched <- move_argument(matched, name, "data", defaults, call)
    }
  }
  for (name in intersect(slot_names, matched$given)) {
    value <- matched$args[[name]]
    if (is_absent(value) || slot_accepts(value, name, slots)) next
    # an invalid named argument is not moved; its check reports the error
    if (name %in% matched$written && !is_formula(value)) next
    target <- Find(function(slot) slot_accepts(value, slot, slots), slot_names)
    # models with several parts, and models without columns, have one formula for the whole model
    if (is.null(target) && is_formula(value)) target <- "formula"
    if (!is.null(target)) matched <- move_argument(matched, name, target, defaults, call)
  }
  if (!is.null(matched$args$formula) && "columns" %in% slots) {
    matched <- move_argument(matched, "formula", slot_of("columns"), defaults, call)
  }
  matched
}

is_list_of_columns <- function(x) {
  is_plain_list(x) && length(x) > 0 && !is.null(names(x)) && all(vapply(x, is_atomic, NA)) &&
    length(unique(lengths(x))) == 1
}

check_no_data_in_slots <- function(matched, slot_names, call) {
  if (!any(vapply(matched$args[slot_names[slot_names %in% matched$given]], is_formula_data, NA))) {
    return(invisible())
  }
  is_frame <- any(vapply(matched$args[slot_names], is.data.frame, NA)) # nolint: used by cli
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
  replaced <- matched$args[[to]]
  value <- matched$args[[from]]
  is_occupied <- to %in% matched$given
  slots <- matched$slots
  if (is_occupied && (!to %in% names(slots) || slot_accepts(replaced, to, slots))) {
    abort_runhooks("{.arg {to}} is given twice: by name, and by position as {.arg {from}}.",
      call = call
    )
  }
  matched$args[to] <- list(value)
  matched$moved_from[[to]] <- from
  if (is_occupied) matched$moved_from[[from]] <- to
  matched$given <- union(setdiff(matched$given, from), to)
  if (is_occupied) {
    matched$args[from] <- list(replaced)
    matched$given <- c(matched$given, from)
  } else {
    matched$args[from] <- defaults[from]
  }
  matched
}

# Names the arguments of a call as they were matched. A formula is always named `formula`.
normalize_call <- function(call, matched) {
  names <- names(call)
  for (to in names(matched$moved_from)) names[names(call) == matched$moved_from[[to]]] <- to
  for (name in names(matched$slots)[matched$slots == "columns"]) {
    if (is_formula(matched$args[[name]])) names[names == name] <- "formula"
  }
  names(call) <- names
  call
}

abort_missing_argument <- function(name, matched, call) {
  kind <- if (name %in% names(matched$slots)) matched$slots[[name]] else ""
  if (kind == "columns" && !is.null(matched$args$data)) {
    abort_runhooks(
      c("{.arg formula} is missing.", i = "Name the response and the features: {.code
        {matched$type}(response ~ a + b, data = ...)}."),
      call = call
    )
  }
  examples <- c(head = "head = regression_head(), ", widths = "hidden_units = c(16, 8), ")
  # nolint: used by cli
  leading_args <- paste(examples[intersect(names(examples), matched$slots)], collapse = "")
  advice <- switch(kind,
    columns = c(
      i = "With a formula and data: {.code {matched$type}({leading_args}formula = mpg ~ wt, data =
           mtcars)}.",
      i = "With columns: {.code {matched$type}({leading_args}feature_columns =
           column_numeric(\"wt\"))}."
    ),
    widths = c(
      i = "Give the number of units of each hidden layer: {.code {matched$type}(mpg ~ wt, data =
           mtcars, hidden_units = c(16, 8))}."
    ),
    head = c(i = "Give the kind of prediction, such as {.code head = regression_head()}.")
  )
  abort_runhooks(c("{.arg {name}} is missing.", advice), call = call)
}

# Argument names of other packages, by the argument or function that replaces them here.
argument_synonyms <- list(
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
  hint <- unknown_arg_hint(name, text, arguments)
  abort_runhooks(c("{.fn {type}} has no argument {.arg {name}}.", i = hint), call = call)
}

unknown_arg_hint <- function(name, text, arguments) {
  is_synonym <- vapply(argument_synonyms, function(names) ascii_lower(name) %in% names, NA)
  replacement <- names(argument_synonyms)[is_synonym]
  if (identical(replacement, "train")) {
    train_arg <- switch(name, epochs = , n_epochs = "num_epochs", name)
    return(cli::format_inline(
      "Pass it to {.fn train}: {.code train(model, data, {train_arg} = {text})}."
    ))
  }
  if (identical(replacement, "predict")) {
    return("Pass data to {.fn predict}: {.code predict(model, data)}.")
  }
  if (identical(replacement, "weight_column")) {
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
  is_argument <- length(replacement) && replacement %in% arguments
  suggestion <- if (is_argument) replacement else closest_name(name, arguments)
  if (length(suggestion)) return(cli::format_inline("Did you mean {.arg {suggestion}}?"))
  is_name <- grepl("^[.[:alpha:]][._[:alnum:]]*$", text) && !text %in% c("TRUE", "FALSE", "NULL")
  if ("formula" %in% arguments && is_name) {
    return(cli::format_inline("For a formula, write {.code {name} ~ {text}}."))
  }
  cli::format_inline("Its arguments are {.arg {arguments}}.")
}

# Sets the optimizers and their learning rates. Formula models have default optimizers that converge
# for standardized numbers.
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
    is_default <- is_formula && !arg %in% matched$given
    if (is_default) args[[arg]] <- default_formula_optimizer(part)
    if (is.null(rate)) next
    args[arg] <- list(set_learning_rate(args[[arg]], rate, is_default, part, call))
  }
  args
}

default_formula_optimizer <- function(part) {
  if (part$rate_of_formula == 0) return(part$of_formula)
  new_optimizer_spec(part$of_formula, part$rate_of_formula)
}

set_learning_rate <- function(optimizer, rate, is_default, part, call) {
  arg <- part$optimizer
  if (is.null(optimizer)) optimizer <- part$missing
  if (is_default && is_optimizer(optimizer)) return(new_optimizer_spec(optimizer$type, rate))
  if (is_string(optimizer)) {
    check_optimizer(optimizer, arg, call)
    return(new_optimizer_spec(optimizer, rate))
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

needs_all_rows <- function(x) {
  if (is.null(the$all_rows)) the$all_rows <- cpp_full_batch_optimizers()
  optimizer_type(x) %in% the$all_rows
}

# Whether the optimizer adds a penalty, which moves its optimum away from the minimum of the loss.
is_penalized <- function(x) is_optimizer(x) && cpp_optimizer_is_penalized(optimizer_fields(x))

is_full_batch_linear <- function(args, traits) {
  optimizer <- full_batch_optimizer(args, traits)
  !is.null(optimizer) && !is_penalized(optimizer)
}

is_penalized_linear <- function(args, traits) is_penalized(full_batch_optimizer(args, traits))

# Returns the optimizer of a linear model if it reads all rows in each step, as L-BFGS does;
# otherwise NULL.
full_batch_optimizer <- function(args, traits) {
  parts <- traits$parts
  if (length(parts) != 1 || parts[[1]]$is_deep || !isTRUE(traits$has_coefficients)) return(NULL)
  optimizer <- args[[parts[[1]]$optimizer]]
  if (needs_all_rows(optimizer)) optimizer
}

new_optimizer_spec <- function(name, rate) {
  structure(
    list(type = name, learning_rate = rate), owner = paste0("tf$train$", name, "Optimizer()"),
    class = c(paste0(name, "Optimizer"), "runhooks_optimizer")
  )
}
