# The trees of a tree model, and predictions with the contribution of each feature.

# Returns the trees in the newest checkpoint. `checks`: whether to raise an error if the model
# directory contains a different model.
model_trees <- function(object, function_name, call = parent.frame(), checks = TRUE) {
  check_estimator(object, call = call)
  checkpoint <- trained_checkpoint(object, function_name, call)
  if (checks) check_own_weights(object, local_model_dir(object), call)
  trees <- if (!is_custom(object)) cpp_estimator_trees(core_spec(object), checkpoint)
  if (is.null(trees)) abort_no_trees(function_name, call)
  trees
}

abort_no_trees <- function(function_name, call) {
  abort_runhooks(
    c(
      "{.fn {function_name}} needs a tree model.",
      i = "Create one with {.fn boosted_trees_regressor} or {.fn boosted_trees_classifier}."
    ),
    call = call
  )
}

with_explanations <- function(object) {
  object$spec$explains <- TRUE
  object
}

predict_contributions <- function(object, newdata, checkpoint_path, hooks, call) {
  columns <- model_trees(object, "predict", call)$columns
  data <- check_new_data(bake_newdata(object, newdata, call), call)
  values <- predict_rows(
    with_explanations(object), data, "contributions", checkpoint_path, hooks, call
  )[[1]]
  logits <- logit_names(object, ncol(values) / (length(columns) + 1))
  names <- outer(c(".bias", columns), logits, function(column, logit) {
    if (length(logits) == 1) column else paste(column, logit, sep = "_")
  })
  fast_tibble(prediction_columns(values, as.vector(names)), nrow(values))
}

# Returns the names of the `n` logits; each has its own contributions. Returns "" for one logit.
logit_names <- function(object, n) {
  if (n == 1) return("")
  labels <- model_labels(object)
  classes <- if (labels$n_classes == n) tidy_classes(object, labels)
  if (is.null(classes)) as.character(seq_len(n)) else classes
}
