# Input functions for datasets.

#' @rdname input_fn
#' @section Datasets: The elements of a dataset must be batches of records; see [dataset_batch()].
#'   `features` and `response` select components; `features` may also be a formula. Canned
#'   estimators get the features by name, custom models one matrix `[batch, number of features]`.
#'   The dataset determines the number of passes, the order and the batch size. With `auto_shard =
#'   FALSE`, each of several processes reads the whole dataset; see [mpi_strategy()] for automatic
#'   sharding.
#' @export
input_fn.tf_dataset <- function(object, features, response = NULL, ..., auto_shard = TRUE) {
  abort_abbreviated_arguments()
  inform_unused(...)
  check_flag(auto_shard)
  selection <- record_selection(
    object, substitute(features), rlang::enquo(features), substitute(response),
    rlang::enquo(response), c("features", "response"), parent.frame()
  )
  input <- dataset_input_fn(object, selection$features, selection$response)
  if (auto_shard) return(input)
  function(estimator) {
    read <- input(estimator)
    function() without_sharding(auto_shard, read())
  }
}

dataset_input_fn <- function(dataset, features, response) {
  function(estimator) {
    is_custom <- is_estimator(estimator) && is.null(estimator$spec)
    if (is_estimator(estimator) && !is.null(estimator$blueprint)) {
      return(formula_batches(dataset, features, response, estimator))
    }
    function() {
      batch <- next_batch(dataset)
      inputs <- batch[features]
      if (is_custom) inputs <- features_matrix(inputs)
      if (length(response)) list(inputs, batch[[response]]) else inputs
    }
  }
}

# Combines features to one matrix, of type float32 if their types differ.
features_matrix <- function(features) {
  types <- vapply(features, function(x) x$dtype$name, "")
  if (length(unique(types)) > 1) features <- lapply(features, tf$cast, "float32")
  columns <- lapply(features, function(x) {
    if (identical(length(x$shape), 1L)) tf$expand_dims(x, 1L) else x
  })
  matrix <- tf$concat(unname(columns), 1L)
  widths <- vapply(columns, function(x) as.integer(dim(x)[2]), 1L)
  if (!anyNA(widths)) attr(matrix, "columns") <- rep(names(columns), widths)
  matrix
}
