# Dataset functions that process their arguments in R before they call the core.

#' Combine elements of different sizes into padded batches
#'
#' Returns a dataset of batches. Elements are padded to the largest size in their batch, or to a
#' given size, and stacked.
#'
#' @param dataset A dataset.
#' @param batch_size Number of elements per batch.
#' @param padded_shapes Shapes after padding, in the structure of an element. A dimension of NA, -1
#'   or `NULL` is the largest one in the batch. Default, `NULL`: the largest for all dimensions.
#' @param padding_values Values for padding, in the structure of an element. Default, `NULL`: 0,
#'   `FALSE` or `""`.
#' @param drop_remainder `TRUE` drops an incomplete last batch. Default: `FALSE`.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_data_loss`: an element is larger than its padded shape.
#'   * `runhooks_error_invalid_argument`: an argument is invalid.
#' @family datasets
#' @export
#' @examples
#' range_dataset(1, 4) |>
#'   dataset_map(on_values(function(n) array(seq_len(n)), "int32")) |>
#'   dataset_padded_batch(3) |>
#'   dataset_collect()
dataset_padded_batch <- function(dataset, batch_size, padded_shapes = NULL, padding_values = NULL,
                                 drop_remainder = FALSE) {
  check_dataset(dataset)
  shapes <- if (!is.null(padded_shapes)) {
    lapply(component_shapes(padded_shapes, dataset$form, "padded_shapes"), function(dims) {
      if (!is.null(dims)) as.list(ifelse(is.na(dims), -1, dims))
    })
  }
  padded_batches(dataset, batch_size, shapes, padding_values, drop_remainder)
}

# Creates padded batches. `shapes` has a list of dimensions for each component. A dimension may be a
# tensor; -1 is an unknown dimension.
padded_batches <- function(dataset, batch_size, shapes, padding_values, drop_remainder,
                           call = parent.frame()) {
  args <- list(
    dataset = dataset, batch_size = batch_size, padded_shapes = shapes,
    padding_values = if (!is.null(padding_values)) flatten_structure(padding_values),
    drop_remainder = drop_remainder
  )
  new_dataset("PaddedBatchDataset", "dataset_padded_batch", args, call)
}

#' Split a dataset into windows
#'
#' Returns a dataset whose elements are windows: datasets of `size` consecutive elements, or records
#' with one such dataset per component. [dataset_flat_map()] converts windows to elements.
#'
#' @param dataset A dataset.
#' @param size Number of elements per window.
#' @param shift Distance between the starts of consecutive windows, in elements. Default, `NULL`:
#'   `size`.
#' @param stride Distance between the elements of a window. Default: 1.
#' @param drop_remainder `TRUE` drops incomplete windows. Default: `FALSE`.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 5) |>
#'   dataset_window(3, shift = 1, drop_remainder = TRUE) |>
#'   dataset_flat_map(function(window) dataset_batch(window, 3)) |>
#'   dataset_collect()
dataset_window <- function(dataset, size, shift = NULL, stride = 1, drop_remainder = FALSE) {
  args <- list(
    dataset = dataset, size = size, shift = shift, stride = stride, drop_remainder = drop_remainder
  )
  new_dataset("WindowDataset", "dataset_window", args)
}

#' Cache a dataset
#'
#' Returns a dataset that stores the elements during the first pass. Later passes read the cache
#' instead of the input.
#'
#' @param dataset A dataset.
#' @param filename Path of a cache file, which other processes can also read. It is created at the
#'   end of the first pass. Default, `NULL`: cache in memory.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_failed_precondition`: the cache file belongs to different data.
#'   * `runhooks_error_invalid_argument`: an argument is invalid.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 3) |> dataset_cache() |> dataset_repeat(2) |> dataset_collect() |> unlist()
dataset_cache <- function(dataset, filename = NULL) {
  check_string(filename, null = TRUE)
  if (is.null(filename)) {
    return(new_dataset("CacheDataset", "dataset_cache", list(dataset = dataset)))
  }
  args <- list(dataset = dataset, filename = path.expand(filename))
  new_dataset("FileCacheDataset", "dataset_cache", args)
}

#' Zip datasets or sample from them
#'
#' `zip_datasets()` combines the elements of several datasets at the same position into one element;
#' it ends with the shortest dataset. `sample_from_datasets()` draws the dataset that provides the
#' next element at random; it ends when all datasets have ended.
#'
#' @param ... Datasets, or a list of datasets. With names, elements are records; otherwise tuples.
#' @param datasets A list of datasets with elements of the same types.
#' @param weights Numbers: the relative frequencies of the datasets. `NULL` (the default): all
#'   equal.
#' @param seed Seed of the random choice. Together with the graph seed it gives the same order as in
#'   TensorFlow.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or the elements of `datasets` have
#'     different structures.
#' @family datasets
#' @export
#' @examples
#' zip_datasets(x = range_dataset(0, 3), y = range_dataset(10, 13)) |> dataset_collect()
zip_datasets <- function(...) {
  nested <- list(...)
  if (length(nested) == 1 && !is_dataset(nested[[1]])) nested <- nested[[1]]
  flat <- flatten_structure(nested)
  if (length(flat) == 0 || !all(vapply(flat, is_dataset, NA))) {
    abort_runhooks("{.fn zip_datasets} needs at least one dataset, and datasets only.")
  }
  args <- list(datasets = lapply(flat, function(x) x$handle))
  zipped <- cpp_dataset("ZipDataset", args, "zip_datasets()")
  forms <- lapply(flat, function(x) x$form)
  tf_dataset(zipped, structure_of(fill_structure(structure_of(nested), forms)))
}

#' @rdname zip_datasets
#' @export
#' @examples
#'
#' sample_from_datasets(list(range_dataset(0, 3), range_dataset(10, 13)), seed = 1) |>
#'   dataset_collect() |>
#'   unlist()
sample_from_datasets <- function(datasets, weights = NULL, seed = NULL) {
  good <- is.list(datasets) && !is_dataset(datasets) && length(datasets) > 0 &&
    all(vapply(datasets, is_dataset, NA))
  check_arg(good, datasets, "a list of datasets", "datasets", environment())
  check_arg(!has_encoded_numbers(weights), weights, "plain numbers", "weights", environment())
  form <- datasets[[1]]$form
  if (!all(vapply(datasets, function(x) identical(x$form, form), NA))) {
    abort_runhooks("The elements of {.arg datasets} have different structures.")
  }
  args <- list(
    datasets = unname(lapply(datasets, function(x) x$handle)),
    weights = if (!is.null(weights)) as.list(weights), seed = seed
  )
  tf_dataset(cpp_dataset("SampleFromDatasets", args, "sample_from_datasets()"), form)
}

#' Select features and response from records
#'
#' Returns a dataset with the selected features, stacked into one tensor, and the response, in the
#' form that model functions accept.
#'
#' @param dataset A dataset of records.
#' @param x,y Features and response: tidyselect selections. `x` may also be a formula such as
#'   `y ~ a + b`.
#' @param named `TRUE` (the default): elements are records with `y` and `x`. `FALSE`: elements are
#'   tuples of `x` and `y`.
#' @param named_features `TRUE`: the features are a record instead of one tensor. Default: `FALSE`.
#' @param parallel_records Number of threads; see `num_parallel_calls` in [dataset_map()].
#' @param batch_size Number of rows per batch. Default, `NULL`: no batches.
#' @param num_parallel_batches Number of threads, if `parallel_records` is `NULL`.
#' @param drop_remainder `TRUE` drops an incomplete last batch. Default: `FALSE`.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the elements are not records, a selection is empty, or
#'     another argument is invalid.
#'   * `runhooks_error_not_found`: the records have no component of this name.
#' @family datasets
#' @export
#' @examples
#' tensor_slices_dataset(mtcars) |>
#'   dataset_prepare(x = c(wt, hp), y = mpg, batch_size = 2) |>
#'   dataset_collect(1)
dataset_prepare <- function(dataset, x, y = NULL, named = TRUE, named_features = FALSE,
                            parallel_records = NULL, batch_size = NULL,
                            num_parallel_batches = NULL, drop_remainder = FALSE) {
  check_dataset(dataset)
  check_flag(named)
  check_flag(named_features)
  selection <- record_selection(
    dataset, substitute(x), rlang::enquo(x), substitute(y), rlang::enquo(y), c("x", "y"),
    parent.frame()
  )
  select_record <- function(record) {
    features <- record[selection$features]
    inputs <- if (named_features) features else stacked_features(features)
    if (length(selection$response) == 0) return(if (named) list(x = inputs) else inputs)
    response <- record[[selection$response]]
    if (named) list(y = response, x = inputs) else list(inputs, response)
  }
  threads <- if (is.null(parallel_records)) num_parallel_batches else parallel_records
  prepared <- dataset_map(dataset, select_record, threads)
  if (is.null(batch_size)) return(prepared)
  dataset_batch(prepared, batch_size, drop_remainder)
}

# Stacks all features into one tensor: a vector for a row, a matrix for a batch. Features of
# different types become float32.
stacked_features <- function(features) {
  types <- vapply(features, function(x) x$dtype$name, "")
  if (length(unique(types)) > 1) features <- lapply(features, tf$cast, "float32")
  tf$stack(unname(features), axis = -1L)
}

record_selection <- function(dataset, x, x_quo, y, y_quo, args, env, call = parent.frame()) {
  names <- names(dataset$form)
  if (!is.list(dataset$form) || is.null(names)) {
    abort_runhooks("The elements of the dataset must be records: named lists.", call = call)
  }
  columns <- setNames(as.list(seq_along(names)), names)
  formula <- if (is.call(x) && identical(x[[1]], quote(`~`))) eval(x, env)
  if (is.name(x) && !as.character(x) %in% c("", names)) {
    value <- get0(as.character(x), env)
    if (inherits(value, "formula")) formula <- value
  }
  if (!is.null(formula)) return(selection_from_formula(formula, names, call))
  features <- select_names(columns, x, x_quo, args[[1]], call)
  response <- select_names(columns, y, y_quo, args[[2]], call)
  if (length(features) == 0) abort_runhooks("{.arg {args[[1]]}} selects no column.", call = call)
  warn_response_feature(features, response)
  if (length(response) > 1) {
    abort_runhooks(
      "{.arg {args[[2]]}} must be one column, not {length(response)}: {.val {response}}.",
      call = call
    )
  }
  list(features = features, response = response)
}

# Returns the names of features and response in a formula. `.` means all components except the
# response.
selection_from_formula <- function(formula, names, call) {
  selection <- parse_formula(formula)[c("features", "response")]
  if ("." %in% all.names(formula[[length(formula)]])) {
    columns <- as.data.frame(setNames(as.list(names), names), optional = TRUE)
    selection$features <- gsub("`", "", labels(stats::terms(formula, data = columns)), fixed = TRUE)
  }
  unknown <- setdiff(unlist(selection), names)
  if (length(unknown)) {
    abort_runhooks(
      c("The records have no component {.val {unknown}}.", i = abbreviated_names(names)),
      kind = "not_found", call = call
    )
  }
  selection
}
