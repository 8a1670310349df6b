# multi_predict() of parsnip, which predicts from the first trees of a fit, for several numbers of
# trees.

#' @rawNamespace
#' S3method(
#'   parsnip::multi_predict, "_tf_estimator_regressor_boosted_trees_regressor",
#'   trees_multi_predict
#' )
#' S3method(
#'   parsnip::multi_predict, "_tf_estimator_classifier_boosted_trees_classifier",
#'   trees_multi_predict
#' )
# lint: allow caller
trees_multi_predict <- function(object, new_data, type = NULL, trees = NULL, ...) {
  abort_extra_arguments("multi_predict", list(...), c("type", "trees"))
  num_trees <- object$fit$args$n_trees
  if (is.null(trees)) trees <- num_trees
  is_valid <- is.numeric(trees) && length(trees) > 0 && all(is.finite(trees)) && all(trees >= 1) &&
    all(trees <= num_trees) && all(trees == round(trees))
  expected <- paste("whole numbers between 1 and", num_trees)
  check_arg(is_valid, trees, expected, "trees", environment())
  trees <- sort(unique(trees))
  predicted <- lapply(trees, function(n) {
    object$fit$spec$first_trees <- if (n < num_trees) as.integer(n)
    predict(object, new_data, type = type)
  })
  columns <- c("trees", names(predicted[[1]]))
  rows <- lapply(seq_len(nrow(predicted[[1]])), function(row) {
    values <- lapply(columns, function(name) {
      if (name == "trees") return(trees)
      do.call(c, lapply(predicted, function(table) table[[name]][row]))
    })
    fast_tibble(setNames(values, columns), length(trees))
  })
  fast_tibble(list(.pred = rows), length(rows))
}
