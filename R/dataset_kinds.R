# Kinds of datasets whose R functions do more than calling the core.

#' Batches of elements of different sizes
#'
#' Elements are padded to the size of the longest in their batch, or to a given one, and stacked.
#'
#' @param dataset A dataset.
#' @param batch_size How many elements.
#' @param padded_shapes Shapes to pad to, in the form of an element: vectors in which NA, -1 or
#'   `NULL` stand for the longest in the batch. `NULL`: the longest throughout.
#' @param padding_values What to pad with, in the form of an element; `NULL`: 0, `FALSE`, `""`.
#' @param drop_remainder TRUE leaves a last batch out that is short.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_data_loss` for an element that is longer than its padded shape.
#' @family datasets
#' @export
#' @examples
#' range_dataset(1, 4) %>%
#'   dataset_map(on_values(function(n) array(seq_len(n)), "int32")) %>%
#'   dataset_padded_batch(3) %>%
#'   dataset_collect()
dataset_padded_batch <- function(dataset, batch_size, padded_shapes = NULL, padding_values = NULL,
                                 drop_remainder = FALSE) {
  check_dataset(dataset)
  args <- list(
    dataset = dataset, batch_size = batch_size,
    padded_shapes = if (!is.null(padded_shapes)) {
      lapply(shapes_in_form(padded_shapes, dataset$form), function(shape) {
        dims <- plain_shape(shape)
        if (!is.null(dims)) as.list(ifelse(is.na(dims), -1, dims))
      })
    },
    padding_values = if (!is.null(padding_values)) flatten_form(padding_values),
    drop_remainder = drop_remainder
  )
  new_dataset("PaddedBatchDataset", "dataset_padded_batch", args)
}

#' Windows over the elements
#'
#' Each element of the result is a dataset of `size` consecutive elements, or a record of datasets,
#' one for each component; [dataset_flat_map()] makes elements of them again.
#'
#' @param dataset A dataset.
#' @param size How many elements a window has.
#' @param shift How far the next window is from this one; `NULL`: `size`.
#' @param stride How far the elements of a window are from one another.
#' @param drop_remainder TRUE leaves windows out that are short.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_invalid_argument` for what is no dataset, and for other arguments that do
#'   not hold.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 5) %>%
#'   dataset_window(3, shift = 1, drop_remainder = TRUE) %>%
#'   dataset_flat_map(function(window) dataset_batch(window, 3)) %>%
#'   dataset_collect()
dataset_window <- function(dataset, size, shift = NULL, stride = 1, drop_remainder = FALSE) {
  args <- list(
    dataset = dataset, size = size, shift = shift, stride = stride, drop_remainder = drop_remainder
  )
  new_dataset("WindowDataset", "dataset_window", args)
}

#' Elements kept for later passes
#'
#' The first pass through the data keeps the elements; later ones do not read the input again.
#'
#' @param dataset A dataset.
#' @param filename A file to keep them in, which later processes read, too; `NULL` keeps them in
#'   memory. It appears when the first pass has come to its end.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_failed_precondition` for a file of other data.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 3) %>% dataset_cache() %>% dataset_repeat(2) %>% dataset_collect() %>% unlist()
dataset_cache <- function(dataset, filename = NULL) {
  check_string(filename, null = TRUE)
  if (is.null(filename)) {
    return(new_dataset("CacheDataset", "dataset_cache", list(dataset = dataset)))
  }
  args <- list(dataset = dataset, filename = path.expand(filename))
  new_dataset("FileCacheDataset", "dataset_cache", args)
}

#' Datasets side by side
#'
#' `zip_datasets()` puts the elements of several datasets side by side, until one ends.
#' `sample_from_datasets()` draws which of them gives the next element, until all have ended.
#'
#' @param ... Datasets, named or not, or one list of them: elements are records or tuples of theirs.
#' @param datasets A list of datasets with elements of the same types.
#' @param weights How often each is drawn, numbers; `NULL`: equally often.
#' @param seed Fixes the order: with the seed of the graph it is TensorFlow's for both.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_invalid_argument` for what is no dataset, and for other arguments that do
#'   not hold.
#' @family datasets
#' @export
#' @examples
#' zip_datasets(x = range_dataset(0, 3), y = range_dataset(10, 13)) %>% dataset_collect()
zip_datasets <- function(...) {
  given <- list(...)
  if (length(given) == 1 && !is_dataset(given[[1]])) given <- given[[1]]
  parts <- flatten_form(given)
  if (length(parts) == 0 || !all(vapply(parts, is_dataset, NA))) {
    abort_runhooks("{.fn zip_datasets} takes datasets.")
  }
  args <- list(datasets = lapply(parts, function(x) x$handle))
  made <- cpp_dataset("ZipDataset", args, "zip_datasets()")
  tf_dataset(made, form_of(fill_form(form_of(given), lapply(parts, function(x) x$form))))
}

#' @rdname zip_datasets
#' @export
#' @examples
#'
#' sample_from_datasets(list(range_dataset(0, 3), range_dataset(10, 13)), seed = 1) %>%
#'   dataset_collect() %>%
#'   unlist()
sample_from_datasets <- function(datasets, weights = NULL, seed = NULL) {
  good <- is.list(datasets) && !is_dataset(datasets) && length(datasets) > 0 &&
    all(vapply(datasets, is_dataset, NA))
  check_arg(good, datasets, "a list of datasets", "datasets", environment())
  form <- datasets[[1]]$form
  if (!all(vapply(datasets, function(x) identical(x$form, form), NA))) {
    abort_runhooks("The elements of {.arg datasets} have different forms.")
  }
  args <- list(
    datasets = unname(lapply(datasets, function(x) x$handle)),
    weights = if (!is.null(weights)) as.list(weights), seed = seed
  )
  tf_dataset(cpp_dataset("SampleFromDatasets", args, "sample_from_datasets()"), form)
}

#' Records as features and response
#'
#' Selects components of records and stacks the features to one tensor, as model functions take
#' them.
#'
#' @param dataset A dataset of records.
#' @param x,y Features and response, selections as in tidyselect; or a formula `y ~ a + b` in the
#'   place of `x`.
#' @param named TRUE: elements are records with `y` and `x`, FALSE: tuples of `x` and `y`.
#' @param named_features TRUE leaves the features a record instead of stacking them.
#' @param parallel_records How many threads do this; see [dataset_map()].
#' @param batch_size Makes batches, too.
#' @param num_parallel_batches As many batches' elements are made at the same time.
#' @param drop_remainder TRUE leaves a last batch out that is short.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_invalid_argument` for what is no dataset, and for other arguments that do
#'   not hold.
#' @family datasets
#' @export
#' @examples
#' tensor_slices_dataset(mtcars) %>%
#'   dataset_prepare(x = c(wt, hp), y = mpg, batch_size = 2) %>%
#'   dataset_collect(1)
dataset_prepare <- function(dataset, x, y = NULL, named = TRUE, named_features = FALSE,
                            parallel_records = NULL, batch_size = NULL,
                            num_parallel_batches = NULL, drop_remainder = FALSE) {
  check_dataset(dataset)
  check_flag(named)
  check_flag(named_features)
  chosen <- record_selection(
    dataset, substitute(x), rlang::enquo(x), substitute(y), rlang::enquo(y), c("x", "y"),
    parent.frame()
  )
  pick <- function(record) {
    features <- record[chosen$features]
    inputs <- if (named_features) features else stacked_features(features)
    if (length(chosen$response) == 0) return(if (named) list(x = inputs) else inputs)
    response <- record[[chosen$response]]
    if (named) list(y = response, x = inputs) else list(inputs, response)
  }
  threads <- if (is.null(parallel_records)) num_parallel_batches else parallel_records
  prepared <- dataset_map(dataset, pick, threads)
  if (is.null(batch_size)) return(prepared)
  dataset_batch(prepared, batch_size, drop_remainder)
}

# Scalars of one type, or of float32 where types differ, as one vector; batches as a matrix.
stacked_features <- function(features) {
  types <- vapply(features, function(x) x$dtype$name, "")
  if (length(unique(types)) > 1) features <- lapply(features, tf$cast, "float32")
  tf$stack(unname(features), axis = -1L)
}

# Names of the components that selections, or a formula in the place of the first one, choose.
record_selection <- function(dataset, x, x_quo, y, y_quo, args, env, call = parent.frame()) {
  names <- names(dataset$form)
  if (!is.list(dataset$form) || is.null(names)) {
    abort_runhooks("The elements of the dataset must be records: named lists.", call = call)
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
  if (length(features) == 0) abort_runhooks("{.arg {args[[1]]}} selects no column.", call = call)
  if (length(response) > 1) {
    abort_runhooks(
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
    abort_runhooks(
      c("The records have no component {.val {unknown}}.", i = existing_names(names)),
      kind = "not_found", call = call
    )
  }
  chosen
}
