# What a model of a formula, an input function and a run configuration say of themselves.

describe_formula_model <- function(object) {
  folder <- model_dir(object)
  words <- model_words(object)
  substr(words, 1, 1) <- toupper(substr(words, 1, 1))
  last <- last_training(object)
  steps <- if (is.null(cpp_latest_checkpoint(folder))) 0 else cpp_saved_global_step(folder)
  count <- function(n, word) {
    paste0(format(n, big.mark = ",", scientific = FALSE), " ", word, if (n != 1) "s")
  }
  trained <- if (steps == 0) {
    "not trained yet: train(model) does it"
  } else {
    paste0(
      "trained on ", if (!is.null(last$rows)) paste(count(last$rows, "row"), "for "), count(steps, "step"),
      if (!is.null(last$loss)) paste(", last average loss", format(signif(last$loss, 4)))
    )
  }
  c(
    paste0(words, ": ", paste(deparse(object$formula, 500), collapse = " ")),
    paste0("  optimizer: ", optimizer_words(object)),
    paste0("  ", trained),
    paste0("  folder: ", folder)
  )
}

optimizer_words <- function(object) {
  parts <- model_traits(object$spec$type)$parts
  words <- vapply(parts, function(part) part_optimizer_words(object$args[[part$optimizer]], part), "")
  names <- sub("_?optimizer$", "", vapply(parts, `[[`, "", "optimizer"))
  if (length(parts) > 1) paste(names, words, collapse = ", ") else words[[1]]
}

part_optimizer_words <- function(optimizer, part) {
  if (is.function(optimizer)) return("by a function")
  if (is.null(optimizer)) return(part$missing)
  name <- optimizer_type(optimizer)
  if (wants_all_rows(name)) return(paste0(name, ", over all rows in each step"))
  rate <- if (is_optimizer(optimizer)) {
    optimizer$learning_rate
  } else if (!part$rate_falls) {
    part$rate
  }
  if (is_number(rate)) sprintf("%s (learning rate %s)", name, format(unname(rate))) else name
}

# --- what the last training was

last_training <- function(object) {
  last <- training_record(object)$last
  list(
    rows = if (is_number(last$rows)) last$rows, loss = if (is_number(last$loss)) last$loss
  )
}

# --- input functions

#' @export
print.runhooks_input_fn <- function(x, ...) {
  about <- attr(x, "about")
  epochs <- about$num_epochs
  order <- if (identical(about$shuffle, "auto")) {
    "shuffled but in prediction"
  } else if (about$shuffle) {
    "shuffled"
  } else {
    "in order"
  }
  lines <- c(
    sprintf("An input function of %s rows", format(about$rows, big.mark = ",", scientific = FALSE)),
    paste0("  features: ", few_names(about$features)),
    if (length(about$response)) paste0("  response: ", about$response),
    sprintf(
      "  batches of %s, %s, %s", format(about$batch_size, scientific = FALSE), order,
      if (is.null(epochs)) "without end" else paste(epochs, if (epochs == 1) "time" else "times")
    )
  )
  cat(lines, sep = "\n") # lint: allow stdout
  invisible(x)
}

few_names <- function(names, most = 8) {
  rest <- length(names) - most
  shown <- paste(utils::head(names, most), collapse = ", ")
  if (rest > 0) paste0(shown, " and ", rest, " more") else shown
}

# --- what train() returned is no model

stop_history <- function(what, call = parent.frame()) {
  stop_runhooks(
    c(
      "{.fn {what}} wants the model; this is the history that {.fn train} returned.",
      i = "Training changes the model in place: {.code history <- train(model, ...)}, then
           {.code {what}(model, ...)}."
    ),
    call = call
  )
}

#' @export
predict.tf_estimator_history <- function(object, ...) stop_history("predict")

#' @export
evaluate.tf_estimator_history <- function(object, ...) stop_history("evaluate")

#' @export
train.tf_estimator_history <- function(object, ...) stop_history("train")

#' @export
coef.tf_estimator_history <- function(object, ...) stop_history("coef")

#' @export
model_dir.tf_estimator_history <- function(object, ...) stop_history("model_dir")
