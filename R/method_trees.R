# A look into models of trees.

#' Which features trees ask
#'
#' @param model,object,x A trained model of trees, such as [boosted_trees_regressor()].
#' @param normalize `TRUE`: parts of the sum.
#' @param by `"gain"`: by how much all splits by a column have lowered the loss, as TensorFlow has it;
#'   `"count"`: how many there are.
#' @param row.names,optional Not used.
#' @param input_fn,predict_keys,hooks,checkpoint_path As in [predict()][predict.tf_estimator].
#' @param ... Not used.
#' @return * `feature_importances()`: a tibble of `feature` and `importance`, falling. Of a model with
#'   `pruning_mode = "none"` a split may lose, and so may a column. Before the first split all are 0, and a
#'   message says so.
#'   * `as.data.frame()`: a row a node, with the `tree` (from 1), the `node` in it (from 0, the root), its
#'   `depth`, whether it `is_leaf`, the `feature` that it asks, the `question` (who says yes goes
#'   `left`), the `threshold` (the number that it asks about, `NA` of words), the numbers of the nodes `left` and `right`, the `gain` of the split, the `value` of the
#'   node as a leaf, the `weight` of the tree, whether what is missing goes left, and whether the tree is
#'   finished. A model of several logits has `value_1`, `value_2`, ...
#'   * `experimental_predict_with_explanations()`: a list for each row: its predictions, the `bias`, and
#'   `dfc`, what each feature adds to it, the largest first; the sum is the prediction (of two classes:
#'   the probability of the second). `predict(model, newdata, type = "contributions")` is the same as a
#'   tibble: `.bias` and a column a feature. Of more classes, or several responses, each has its own,
#'   which TensorFlow lacks: `bias` by class and `dfc` a matrix with a column a class, and in the tibble
#'   `.bias_<class>` and `<feature>_<class>`; the sums are the probabilities.
#' @section Errors: `runhooks_error_invalid_argument` for models without trees,
#'   `runhooks_error_failed_precondition` where nothing is trained.
#' @seealso `experimental_feature_importances()` and `experimental_predict_with_explanations()` of
#'   TensorFlow 1.15's `tf.estimator.BoostedTreesRegressor`.
#' @family estimator methods
#' @export
#' @examples
#' model <- boosted_trees_regressor(mpg ~ wt + hp, mtcars, n_trees = 10, max_depth = 2)
#' train(model)
#' feature_importances(model)
#' head(as.data.frame(model))
#' predict(model, mtcars[1:3, ], type = "contributions")
#'
#' # in TensorFlow's words, a list for each row
#' explained <- experimental_predict_with_explanations(model, input_fn(mpg ~ wt + hp, mtcars))
#' explained[[1]]$dfc
feature_importances <- function(model, normalize = FALSE, by = c("gain", "count")) {
  check_flag(normalize)
  by <- check_one_of(by, c("gain", "count"))
  trees <- trees_of(model, "feature_importances")
  if (all(trees$nodes$is_leaf)) {
    cli::cli_inform(
      "No tree asks for anything yet, so that all importances are 0.",
      class = "runhooks_message_no_splits"
    )
  }
  importances_of(trees, normalize, by)
}

importances_of <- function(trees, normalize, by = "gain") {
  values <- trees[[by]]
  if (normalize && any(values != 0)) values <- values / sum(values)
  falling <- order(-values, enc2utf8(trees$columns), method = "radix")
  tibble::tibble(feature = trees$columns[falling], importance = values[falling])
}

#' @rdname feature_importances
#' @export
as.data.frame.tf_estimator <- function(x, row.names = NULL, optional = FALSE, ...) {
  nodes <- with_time_questions(trees_of(x, "as.data.frame")$nodes, x$blueprint)
  value <- nodes$value
  names <- if (ncol(value) > 1) paste0("value_", seq_len(ncol(value))) else "value"
  values <- setNames(lapply(seq_len(ncol(value)), function(k) value[, k]), names)
  before <- c("tree", "node", "is_leaf", "feature", "question", "threshold", "left", "right", "gain")
  after <- c("weight", "missing_goes_left", "is_finished")
  table <- as.data.frame(c(nodes[before], values, nodes[after]), optional = TRUE)
  depth <- node_depths(table)
  cbind(table[1:2], depth = depth, table[-(1:2)])
}

#' @rdname feature_importances
#' @export
experimental_predict_with_explanations <- function(object, input_fn, predict_keys = NULL,
                                                   hooks = NULL, checkpoint_path = NULL) {
  columns <- trees_of(object, "experimental_predict_with_explanations")$columns
  keys <- if (is.null(predict_keys)) character() else c(strings_of(predict_keys), "contributions")
  if (is.data.frame(input_fn)) {
    data <- check_new_data(bake_newdata(object, input_fn, environment()), environment())
    features <- new_features(object, data, environment())$columns
    n <- n_rows(flat_column(features[[1]]))
    input_fn <- new_input_fn(
      features, names(features), character(), min(n, 1024), shuffle = FALSE, num_epochs = 1
    )
  }
  input <- as_model_input(input_fn, object)
  batches <- prediction_start(explaining(object), input, keys, checkpoint_path, hooks)(all = TRUE)
  lapply(cpp_batch_examples(batches), function(row) {
    said <- matrix(row$contributions, length(columns) + 1)
    logits <- logit_names(object, ncol(said))
    dimnames(said) <- list(c("", columns), if (length(logits) > 1) logits)
    row$contributions <- NULL
    dfc <- said[-1, , drop = FALSE]
    dfc <- dfc[order(-do.call(pmax, as.data.frame(abs(dfc)))), , drop = FALSE]
    if (length(logits) > 1) return(c(row, list(bias = said[1, ], dfc = dfc)))
    c(row, list(bias = said[[1]], dfc = dfc[, 1]))
  })
}

# How many questions lead to each node of a table; children come after their parents.
node_depths <- function(table) {
  at <- paste(table$tree, table$node)
  depth <- setNames(integer(nrow(table)), at)
  for (i in which(!table$is_leaf)) {
    children <- paste(table$tree[[i]], c(table$left[[i]], table$right[[i]]))
    depth[children] <- depth[[i]] + 1L
  }
  unname(depth)
}

# "20, of 74 leaves; asked most: wt (74%), hp (26%)"
tree_words <- function(object) {
  trees <- trees_of(object, "print", checks = FALSE)
  nodes <- trees$nodes
  done <- nodes$is_finished
  parts <- utils::head(importances_of(trees, normalize = TRUE), 3)
  parts <- parts[is.finite(parts$importance) & parts$importance > 0, ]
  asked <- sprintf("%s (%.0f%%)", parts$feature, 100 * parts$importance)
  paste0(
    length(unique(nodes$tree[done])), ", of ", sum(nodes$is_leaf[done]), " leaves",
    if (length(asked)) paste0("; asked most: ", paste(asked, collapse = ", "))
  )
}
