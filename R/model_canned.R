# What the constructors of canned estimators have in common: each argument is checked in one place.

# `call` is the frame of a constructor, whose arguments are all checked, after columns have taken
# the place of a formula where it has one; `kind` is "regressor",
# "classifier" or "estimator". The columns and whatever else the core needs go into the
# specification.
canned_estimator <- function(type, kind, call = parent.frame()) {
  constructor <- sys.function(sys.parent())
  settled <- constructor_arguments(constructor, type, call)
  check_string(settled$args$model_dir, null = TRUE, arg = "model_dir", call = call)
  config <- as_run_config(settled$args$config, settled$args$model_dir, call)
  derived <- formula_arguments(settled, kind, config$model_dir, call)
  args <- derived$args
  checks <- argument_checks()
  for (name in intersect(names(checks), names(args))) checks[[name]](args[[name]], name, call)
  spec <- c(args[setdiff(names(args), not_in_spec)], derived$spec)
  for (name in grep("feature_columns$", names(spec), value = TRUE)) {
    if (!is.null(spec[[name]])) spec[[name]] <- as_column_list(spec[[name]], name, call)
  }
  spec$warm_start_from <- as_warm_start(args$warm_start_from, call)
  is_partitioner <- grepl("partitioner$", names(spec)) & lengths(spec) > 0
  spec[is_partitioner] <- lapply(spec[is_partitioner], wrap_partitioner)
  # NULL says that an argument is not given, as does an empty list of columns; no hidden units are a
  # model without hidden layers
  vectors <- c("hidden_units", "dnn_hidden_units", "label_vocabulary")
  is_vector <- names(spec) %in% vectors & !vapply(spec, is.null, NA)
  spec[is_vector] <- lapply(spec[is_vector], plain_vector)
  spec <- spec[is_vector | lengths(spec) > 0]
  model <- new_canned_estimator(
    type, camel_case(type), kind, canned_class(type, kind), spec,
    args[setdiff(names(args), c("formula", "data"))], config
  )
  made_model(model)
  written <- match.call(constructor, sys.call(sys.parent()), envir = parent.frame(2))
  model$call <- settled_call(written, settled)
  for (name in c("formula", "blueprint", "data")) model[[name]] <- derived[[name]]
  model
}

not_in_spec <- c(
  "model_dir", "config", "warm_start_from", "formula", "data", "normalize", "na.action",
  "learning_rate"
)

# "dnn_linear_combined_regressor" is "DNNLinearCombinedRegressor".
camel_case <- function(type) {
  words <- strsplit(type, "_")[[1]]
  capitals <- paste0(toupper(substring(words, 1, 1)), substring(words, 2))
  words <- ifelse(words == "dnn", "DNN", capitals)
  paste(words, collapse = "")
}

# One of tfestimators' classes is irregular.
canned_class <- function(type, kind) {
  if (type == "dnn_linear_combined_regressor") return("tf_estimator_dnn_linear_combined_regressor")
  paste0("tf_estimator_", kind, "_", type)
}

# --- checks by the name of the argument: function(value, name, call)

check_label_vocabulary <- function(x, name, call) {
  if (is.null(x)) return(invisible())
  wanted <- "a character vector, a word for each class"
  words <- check_elements(x, is.character, wanted, name, call)
  check_arg(length(words) > 1, x, wanted, name, call)
}

check_hidden_units <- function(x, name, call) {
  if (is.null(x)) return(invisible())
  is_width <- function(x) is_whole(x) && x >= 1
  wanted <- "positive whole numbers, one for each layer"
  check_elements(x, is_width, wanted, name, call, empty = TRUE)
}

check_activation_fn <- function(x, name, call) {
  if (is.null(x) || is.function(x)) return(invisible())
  check_string(x, arg = name, call = call)
  if (!x %in% names(tf$nn)) {
    stop_plain(
      sprintf("'%s' is not a known activation function in the 'tf$nn' module", x), call = call
    )
  }
}

check_dropout <- function(x, name, call) {
  check_number(x, null = TRUE, arg = name, call = call)
  good <- is.null(x) || (x >= 0 && x < 1)
  check_arg(good, x, "a probability from 0 to below 1", name, call)
}

check_columns_given <- function(x, name, call) {
  if (length(x) == 0) {
    stop_runhooks("{.arg {name}} must have at least one column.", call = call)
  }
}

check_thresholds <- function(x, name, call) {
  if (is.null(x)) return(invisible())
  is_probability <- function(x) is_number(x) && x > 0 && x < 1
  check_elements(x, is_probability, "numbers between 0 and 1", name, call)
}

check_n_classes <- function(x, name, call) {
  check_whole(x, arg = name, call = call)
  check_arg(x >= 2, x, "2 or more", name, call)
}

check_head <- function(x, name, call) {
  check_arg(is_head(x), x, "a head, such as binary_class_head() makes", name, call)
}

check_choice <- function(...) {
  choices <- c(...)
  function(x, name, call) {
    good <- is_string(x) && x %in% choices
    check_arg(good, x, paste0("one of ", paste0("\"", choices, "\"", collapse = ", ")), name, call)
  }
}

# A function, because it names functions of files that are loaded later.
argument_checks <- function() {
  list(
    model_dir = function(x, name, call) check_string(x, null = TRUE, arg = name, call = call),
    feature_columns = check_columns_given,
    label_dimension = function(x, name, call) check_positive_whole(x, arg = name, call = call),
    n_classes = check_n_classes,
    label_vocabulary = check_label_vocabulary,
    weight_column = function(x, name, call) check_weight_column(x, call),
    optimizer = check_optimizer, linear_optimizer = check_optimizer,
    dnn_optimizer = check_optimizer,
    hidden_units = check_hidden_units, dnn_hidden_units = check_hidden_units,
    activation_fn = check_activation_fn, dnn_activation_fn = check_activation_fn,
    dropout = check_dropout, dnn_dropout = check_dropout,
    batch_norm = function(x, name, call) check_flag(x, arg = name, call = call),
    compute_full_loss = function(x, name, call) check_flag(x, arg = name, call = call),
    thresholds = check_thresholds,
    loss_reduction = function(x, name, call) check_string(x, arg = name, call = call),
    sparse_combiner = check_choice("sum", "mean", "sqrtn"),
    head = check_head, partitioner = check_partitioner,
    input_layer_partitioner = check_partitioner
  )
}

check_weight_column <- function(weight_column, call = parent.frame()) {
  good <- is.null(weight_column) || inherits(weight_column, "NumericColumn") ||
    is_string(weight_column)
  check_arg(good, weight_column, "the name of a feature or a numeric column", "weight_column", call)
}
