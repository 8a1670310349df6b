# print() methods of models, input functions, hooks, specifications and options.

describe_formula_model <- function(object) {
  folder <- model_dir(object)
  last <- training_record(object)$last
  steps <- if (is.null(cpp_latest_checkpoint(folder))) 0 else cpp_saved_global_step(folder)
  count <- function(n, word) {
    paste0(format(n, big.mark = ",", scientific = FALSE), " ", word, if (n != 1) "s")
  }
  progress <- if (steps == 0) {
    "not trained yet; call train(model)"
  } else {
    paste0(
      "trained on ", if (is_number(last$rows)) paste(count(last$rows, "row"), "for "),
      count(steps, "step"),
      if (is_number(last$loss)) paste(", last average loss", format(signif(last$loss, 4)))
    )
  }
  c(
    model_title(object),
    model_lines(object),
    paste0("  ", progress),
    paste0("  folder: ", folder)
  )
}

model_lines <- function(object) {
  traits <- model_traits(object$spec$type)
  c(
    if (length(traits$trained_parts)) paste0("  optimizer: ", describe_optimizer(object)),
    if (traits$has_trees && !is.null(cpp_latest_checkpoint(model_dir(object)))) {
      paste0("  trees: ", describe_trees(object))
    }
  )
}

# --- input functions and specifications

#' @export
print.runhooks_input_fn <- function(x, ...) {
  about <- attr(x, "about")
  epochs <- about$num_epochs
  order <- if (identical(about$shuffle, "auto")) {
    "shuffled except in prediction"
  } else if (about$shuffle) {
    "shuffled"
  } else {
    "in order"
  }
  lines <- c(
    sprintf("An input function of %s rows", format(about$rows, big.mark = ",", scientific = FALSE)),
    paste0("  features: ", abbreviate_names(about$features)),
    if (length(about$response)) paste0("  response: ", about$response),
    sprintf(
      "  batches of %s, %s, %s", format(about$batch_size, scientific = FALSE), order,
      if (is.null(epochs)) "repeated forever" else paste(epochs, if (epochs == 1) "time" else "times")
    )
  )
  cat(lines, sep = "\n") # lint: allow stdout
  invisible(x)
}

abbreviate_names <- function(names) {
  text <- paste(utils::head(names, 8), collapse = ", ")
  if (length(names) > 8) paste0(text, " and ", length(names) - 8, " more") else text
}

# Formats arguments as "name = value". A large value is replaced by its type, such as "<function>".
describe_arguments <- function(args) {
  args <- args[!vapply(args, function(x) is.null(x) || (is.list(x) && !length(x)), NA)]
  paste(names(args), vapply(args, format_argument_value, ""), sep = " = ", recycle0 = TRUE)
}

format_argument_value <- function(x) {
  if (inherits(x, "runhooks_input_fn")) {
    return(sprintf("<input function of %s rows>", format(attr(x, "about")$rows, big.mark = ",")))
  }
  if (is.function(x)) return("<function>")
  if (is.data.frame(x)) return(sprintf("<data frame of %d rows>", nrow(x)))
  if (is_hook(x)) return(describe_hook(x))
  if (inherits(x, "CheckpointSaverListener")) return("<listener>")
  if (is_atomic(x) && length(x) > 0 && length(x) <= 4) {
    is_text <- is.character(x)
    texts <- if (is_text) paste0("\"", x, "\"") else format(x, scientific = FALSE, trim = TRUE)
    return(if (length(x) == 1) texts else paste0("c(", paste(texts, collapse = ", "), ")"))
  }
  if (is.list(x) && !is.object(x) && length(x) <= 4) {
    values <- vapply(x, format_argument_value, "")
    if (!is.null(names(x))) values <- paste(names(x), values, sep = " = ")
    return(paste0("list(", paste(values, collapse = ", "), ")"))
  }
  paste0("<", describe(x), ">")
}

describe_hook <- function(hook) {
  if (!inherits(hook, "runhooks_builtin_hook")) return("<hook>")
  fields <- unclass(hook)
  attributes(fields) <- attributes(fields)["names"]
  args <- describe_arguments(fields[names(fields) != "type"])
  paste0(hook$type, "(", paste(args, collapse = ", "), ")")
}

#' @export
print.runhooks_builtin_hook <- function(x, ...) {
  cat("A built-in hook: ", describe_hook(x), "\n", sep = "") # lint: allow stdout
  invisible(x)
}

#' @export
print.CheckpointSaverListener <- function(x, ...) {
  methods <- Filter(function(name) length(body(x[[name]])) > 1, names(x))
  # lint: allow stdout
  cat(
    "A checkpoint saver listener with ",
    if (length(methods)) paste0(methods, "()", collapse = ", ") else "no methods", "\n", sep = ""
  )
  invisible(x)
}

print_arguments <- function(x, title, args) {
  cat(c(title, paste0("  ", describe_arguments(args))), sep = "\n") # lint: allow stdout
  invisible(x)
}

#' @export
print.runhooks_train_spec <- function(x, ...) print_arguments(x, "Training specification", x$args)

#' @export
print.runhooks_eval_spec <- function(x, ...) print_arguments(x, "Evaluation specification", x$args)

#' @export
print.runhooks_run_options <- function(x, ...) print_arguments(x, "Run options", unclass(x))

#' @export
print.runhooks_vocab_info <- function(x, ...) {
  print_arguments(x, "Vocabulary for a warm start", unclass(x))
}

# --- names of our objects in the list columns of tibbles

#' @rawNamespace S3method(pillar::type_sum, tf_estimator)
type_sum.tf_estimator <- function(x) if (is_custom(x)) "custom model" else describe_model(x)

#' @rawNamespace S3method(pillar::type_sum, tf_estimator_history)
type_sum.tf_estimator_history <- function(x) "history"

#' @rawNamespace S3method(pillar::type_sum, runhooks_input_fn)
type_sum.runhooks_input_fn <- function(x) "input function"

#' @rawNamespace S3method(pillar::type_sum, runhooks_feature_column)
type_sum.runhooks_feature_column <- function(x) "feature column"

#' @rawNamespace S3method(pillar::type_sum, runhooks_builtin_hook)
type_sum.runhooks_builtin_hook <- function(x) "hook"

#' @rawNamespace S3method(pillar::type_sum, EstimatorSessionRunHook)
type_sum.EstimatorSessionRunHook <- function(x) "hook"

#' @rawNamespace S3method(pillar::type_sum, runhooks_run_config)
type_sum.runhooks_run_config <- function(x) "run config"

#' @rawNamespace S3method(pillar::type_sum, runhooks_early_stopping)
type_sum.runhooks_early_stopping <- function(x) "early stopping"

#' @rawNamespace S3method(pillar::type_sum, runhooks_head)
type_sum.runhooks_head <- function(x) "head"

#' @rawNamespace S3method(pillar::type_sum, tf_dataset)
type_sum.tf_dataset <- function(x) "dataset"

# --- errors for a history that is given instead of its model

abort_needs_model <- function(function_name, call = parent.frame()) {
  abort_runhooks(
    c(
      "{.fn {function_name}} needs the model; this is the history that {.fn train} returned.",
      i = "Training changes the model in place: {.code history <- train(model, ...)}, then
           {.code {function_name}(model, ...)}."
    ),
    call = call
  )
}

#' @export
predict.tf_estimator_history <- function(object, ...) abort_needs_model("predict")

#' @export
evaluate.tf_estimator_history <- function(object, ...) abort_needs_model("evaluate")

#' @export
train.tf_estimator_history <- function(object, ...) abort_needs_model("train")

#' @export
coef.tf_estimator_history <- function(object, ...) abort_needs_model("coef")

#' @export
model_dir.tf_estimator_history <- function(object, ...) abort_needs_model("model_dir")
