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
  chosen <- record_selection(
    object, substitute(features), rlang::enquo(features), substitute(response),
    rlang::enquo(response), c("features", "response"), parent.frame()
  )
  dataset_input_fn(object, chosen$features, chosen$response)
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

# A model of a formula computes its terms of the columns that are selected, batch by batch.
formula_batches <- function(dataset, features, response, model) {
  blueprint <- model$blueprint
  form <- record_form(dataset, response, user_frame())
  columns <- intersect(names(form), model$blueprint$columns)
  lacks <- setdiff(columns, c(features, response, blueprint$response_variables))
  if (length(lacks)) stop_unselected(lacks, model$formula)
  if (length(response) && !response %in% blueprint$response_variables) {
    stop_other_response(response, blueprint$response$name)
  }
  function() {
    mode <- the$mode
    if (!identical(mode, "infer") && length(response) == 0) return(next_batch(dataset)[features])
    batches <- tf_dataset(dataset$handle, form)
    batch <- next_batch(feature_batches(batches, columns, model, mode))
    if (identical(mode, "infer")) return(batch)
    last <- length(batch)
    list(batch[-last], batch[[last]])
  }
}

stop_unselected <- function(names, formula) {
  stop_runhooks(
    c(
      "{.arg features} leaves out {.val {names}}, which the formula of the model reads.",
      i = "The formula is {.code {term_name(formula)}}; the dataset itself will do, without
           {.fn input_fn}."
    ),
    call = user_frame()
  )
}

stop_other_response <- function(response, name) {
  stop_runhooks(
    "{.arg response} is {.val {response}}, but the model predicts {.val {name}}.", call = user_frame()
  )
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
