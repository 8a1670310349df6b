# Input functions of datasets.

#' @rdname input_fn
#' @section Datasets: The elements of a dataset must be batches of records ([dataset_batch()]), of
#'   which `features` and `response` select components; a formula in the place of `features` does
#'   both. A canned estimator gets the features by their names, a model function of one's own one
#'   matrix `[batch, number of features]` of them. How often, in which order and in batches of which
#'   size is the dataset's own. `auto_shard = FALSE` gives each of several processes all of it; how it is
#'   dealt else is below [mpi_strategy()].
#' @export
input_fn.tf_dataset <- function(object, features, response = NULL, ..., auto_shard = TRUE) {
  inform_unused(...)
  check_flag(auto_shard)
  chosen <- record_selection(
    object, substitute(features), rlang::enquo(features), substitute(response),
    rlang::enquo(response), c("features", "response"), parent.frame()
  )
  input <- dataset_input_fn(object, chosen$features, chosen$response)
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

# Features side by side, in one matrix of float32 where their types differ.
features_matrix <- function(features) {
  types <- vapply(features, function(x) x$dtype$name, "")
  if (length(unique(types)) > 1) features <- lapply(features, tf$cast, "float32")
  columns <- lapply(features, function(x) {
    if (identical(length(x$shape), 1L)) tf$expand_dims(x, 1L) else x
  })
  tf$concat(unname(columns), 1L)
}
