# multi_predict() of parsnip: predictions of tree models by the number of trees, from one fit.

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
  grown <- object$fit$args$n_trees
  if (is.null(trees)) trees <- grown
  good <- is.numeric(trees) && length(trees) > 0 && all(is.finite(trees)) && all(trees >= 1) &&
    all(trees <= grown) && all(trees == round(trees))
  check_arg(good, trees, paste("whole numbers between 1 and", grown), "trees", environment())
  trees <- sort(unique(trees))
  predicted <- lapply(trees, function(n) {
    object$fit$spec$first_trees <- if (n < grown) as.integer(n)
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
