# Input functions of datasets.

#' @rdname input_fn
#' @section Datasets: The elements of a dataset must be batches of records ([dataset_batch()]), of
#'   which `features` and `response` select components; a formula in the place of `features` does
#'   both. A canned estimator gets the features by their names, a model function of one's own one
#'   matrix `[batch, number of features]` of them. How often, in which order and in batches of which
#'   size is the dataset's own.
#' @export
input_fn.tf_dataset <- function(object, features, response = NULL, ...) {
  note_unused(...)
  names <- names(object$form)
  if (!is.list(object$form) || is.null(names)) {
    stop_runhooks("The elements of the dataset must be records: named lists.")
  }
  stub <- setNames(as.list(seq_along(names)), names)
  given <- tryCatch(eval(substitute(features), parent.frame()), error = function(e) NULL)
  if (inherits(given, "formula")) {
    parsed <- parse_formula(given, stub)
    features <- parsed$features
    response <- parsed$response
  } else {
    features <- select_names(stub, substitute(features), rlang::enquo(features), "features")
    response <- select_names(stub, substitute(response), rlang::enquo(response), "response")
  }
  dataset_input_fn(object, features, response)
}

dataset_input_fn <- function(dataset, features, response, call = parent.frame()) {
  if (length(features) == 0) stop_runhooks("{.arg features} selects no column.", call = call)
  if (length(response) > 1) {
    stop_runhooks(
      "{.arg response} must be one column, not {length(response)}: {.val {response}}.", call = call
    )
  }
  function(estimator) {
    is_custom <- is_estimator(estimator) && is.null(estimator$spec)
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
