# Inspection of tree models: importance of features, nodes of trees, and contributions of features
# to predictions.

#' Feature importance, nodes and contributions of tree models
#'
#' `feature_importances()` returns the importance of each feature of a tree model. `as.data.frame()`
#' returns its nodes. `experimental_predict_with_explanations()` returns predictions with the
#' contribution of each feature.
#'
#' @param model,object,x A trained tree model, such as [boosted_trees_regressor()].
#' @param normalize If `TRUE`, the importances are divided by their sum.
#' @param by `"gain"` (the default): the total decrease of the loss by the splits of a feature, as
#'   in TensorFlow. `"count"`: the number of these splits.
#' @param row.names,optional Not used.
#' @param input_fn,predict_keys,hooks,checkpoint_path As in [predict()][predict.tf_estimator].
#' @param ... Not used.
#' @return Depends on the function:
#'   * `feature_importances()`: a tibble with the columns `feature` and `importance`, in decreasing
#'     order. With `pruning_mode = "none"`, gains can be negative. Before the first split all are 0,
#'     and there is a message.
#'   * `as.data.frame()`: a data frame with one row for each node:
#'       - `tree` (from 1), `node` (from 0, the root) and `depth`.
#'       - `is_leaf`: whether the node is a leaf.
#'       - `feature`, `question`, `threshold`: the feature of the split, its condition as text, and
#'         the number in the condition (`NA` for strings).
#'       - `left`, `right`: the nodes for "yes" and "no".
#'       - `gain`: the gain of the split.
#'       - `value`: the value of the node as a leaf. With several logits: `value_1`, `value_2`, ...
#'       - `weight`: the weight of the tree.
#'       - `missing_goes_left`: whether missing values go to the left.
#'       - `is_finished`: whether the tree is finished.
#'   * `experimental_predict_with_explanations()`: a list with an element for each row. It contains
#'     the predictions, the `bias`, and `dfc`, the contributions of the features with the largest
#'     first. The bias and the contributions add up to the prediction; for two classes, to the
#'     probability of the second class. With more classes or responses, which TensorFlow does not
#'     support, `bias` is a vector and `dfc` a matrix with one column for each.
#'   * `predict(model, newdata, type = "contributions")`: the same as a tibble with `.bias` and a
#'     column for each feature, or `.bias_<class>` and `<feature>_<class>`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the model has no trees.
#'   * `runhooks_error_failed_precondition`: the model has not been trained.
#' @seealso `experimental_feature_importances()` and `experimental_predict_with_explanations()` of
#'   `tf.estimator.BoostedTreesRegressor` in TensorFlow 1.15.
#' @family estimator methods
#' @export
#' @examples
#' model <- boosted_trees_regressor(mpg ~ wt + hp, mtcars, n_trees = 10, max_depth = 2)
#' train(model)
#' feature_importances(model)
#' head(as.data.frame(model))
#' predict(model, mtcars[1:3, ], type = "contributions")
#'
#' # TensorFlow's form: a list for each row
#' explained <- experimental_predict_with_explanations(model, input_fn(mpg ~ wt + hp, mtcars))
#' explained[[1]]$dfc
feature_importances <- function(model, normalize = FALSE, by = c("gain", "count")) {
  check_flag(normalize)
  by <- check_one_of(by, c("gain", "count"))
  trees <- model_trees(model, "feature_importances")
  if (all(trees$nodes$is_leaf)) {
    cli::cli_inform(
      "The trees have no splits yet, so all importances are 0.",
      class = "runhooks_message_no_splits"
    )
  }
  sorted_importances(trees, normalize, by)
}

sorted_importances <- function(trees, normalize, by = "gain") {
  values <- trees[[by]]
  if (normalize && any(values != 0)) values <- values / sum(values)
  order <- order(-values, enc2utf8(trees$columns), method = "radix")
  tibble::tibble(feature = trees$columns[order], importance = values[order])
}

#' @rdname feature_importances
#' @export
as.data.frame.tf_estimator <- function(x, row.names = NULL, optional = FALSE, ...) {
  nodes <- format_time_thresholds(model_trees(x, "as.data.frame")$nodes, x$blueprint)
  value <- nodes$value
  names <- if (ncol(value) > 1) paste0("value_", seq_len(ncol(value))) else "value"
  values <- setNames(lapply(seq_len(ncol(value)), function(k) value[, k]), names)
  first_columns <- c(
    "tree", "node", "is_leaf", "feature", "question", "threshold", "left", "right", "gain"
  )
  last_columns <- c("weight", "missing_goes_left", "is_finished")
  table <- as.data.frame(c(nodes[first_columns], values, nodes[last_columns]), optional = TRUE)
  depth <- node_depths(table)
  cbind(table[1:2], depth = depth, table[-(1:2)])
}

#' @rdname feature_importances
#' @export
experimental_predict_with_explanations <- function(object, input_fn, predict_keys = NULL,
                                                   hooks = NULL, checkpoint_path = NULL) {
  columns <- model_trees(object, "experimental_predict_with_explanations")$columns
  keys <- if (is.null(predict_keys)) character() else c(as_strings(predict_keys), "contributions")
  if (is.data.frame(input_fn)) {
    data <- check_new_data(bake_newdata(object, input_fn, environment()), environment())
    features <- newdata_features(object, data, environment())$columns
    n <- n_rows(flat_column(features[[1]]))
    input_fn <- new_input_fn(
      features, names(features), character(), min(n, 1024), shuffle = FALSE, num_epochs = 1
    )
  }
  input <- as_model_input(input_fn, object)
  run <- prediction_runner(with_explanations(object), input, keys, checkpoint_path, hooks)
  batches <- run(all = TRUE)
  lapply(cpp_batch_examples(batches), function(row) {
    contributions <- matrix(row$contributions, length(columns) + 1)
    logits <- logit_names(object, ncol(contributions))
    dimnames(contributions) <- list(c("", columns), if (length(logits) > 1) logits)
    row$contributions <- NULL
    dfc <- contributions[-1, , drop = FALSE]
    dfc <- dfc[order(-do.call(pmax, as.data.frame(abs(dfc)))), , drop = FALSE]
    if (length(logits) > 1) return(c(row, list(bias = contributions[1, ], dfc = dfc)))
    c(row, list(bias = contributions[[1]], dfc = dfc[, 1]))
  })
}

node_depths <- function(table) {
  ids <- paste(table$tree, table$node)
  depth <- setNames(integer(nrow(table)), ids)
  for (i in which(!table$is_leaf)) {
    children <- paste(table$tree[[i]], c(table$left[[i]], table$right[[i]]))
    depth[children] <- depth[[i]] + 1L
  }
  unname(depth)
}

describe_trees <- function(object) {
  trees <- model_trees(object, "print", checks = FALSE)
  nodes <- trees$nodes
  is_finished <- nodes$is_finished
  importances <- utils::head(sorted_importances(trees, normalize = TRUE), 3)
  importances <- importances[is.finite(importances$importance) & importances$importance > 0, ]
  features <- sprintf("%s (%.0f%%)", importances$feature, 100 * importances$importance)
  paste0(
    length(unique(nodes$tree[is_finished])), ", of ", sum(nodes$is_leaf[is_finished]), " leaves",
    if (length(features)) paste0("; most important: ", paste(features, collapse = ", "))
  )
}
