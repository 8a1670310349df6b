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

# Names of the components that selections, or a formula in the place of the first one, choose.
record_selection <- function(dataset, x, x_quo, y, y_quo, args, env, call = parent.frame()) {
  names <- names(dataset$form)
  if (!is.list(dataset$form) || is.null(names)) {
    stop_runhooks("The elements of the dataset must be records: named lists.", call = call)
  }
  stub <- setNames(as.list(seq_along(names)), names)
  formula <- if (is.call(x) && identical(x[[1]], quote(`~`))) eval(x, env)
  if (is.name(x) && !as.character(x) %in% c("", names)) {
    value <- get0(as.character(x), env)
    if (inherits(value, "formula")) formula <- value
  }
  if (!is.null(formula)) return(formula_components(formula, names, call))
  features <- select_names(stub, x, x_quo, args[[1]], call)
  response <- select_names(stub, y, y_quo, args[[2]], call)
  if (length(features) == 0) stop_runhooks("{.arg {args[[1]]}} selects no column.", call = call)
  if (length(response) > 1) {
    stop_runhooks(
      "{.arg {args[[2]]}} must be one column, not {length(response)}: {.val {response}}.",
      call = call
    )
  }
  list(features = features, response = response)
}

# `.` stands for all components but the response.
formula_components <- function(formula, names, call) {
  chosen <- parse_formula(formula)[c("features", "response")]
  if (identical(chosen$features, ".")) chosen$features <- setdiff(names, chosen$response)
  unknown <- setdiff(unlist(chosen), names)
  if (length(unknown)) {
    stop_runhooks(
      c("The records have no component {.val {unknown}}.", i = existing_names(names)),
      kind = "not_found", call = call
    )
  }
  chosen
}

dataset_input_fn <- function(dataset, features, response) {
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
