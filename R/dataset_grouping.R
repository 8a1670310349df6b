# Datasets that group, scan and resample elements.

#' Group elements by a key
#'
#' `dataset_group_by_window()` collects elements with the same key into windows and makes a dataset
#' of each window. `dataset_bucket_by_sequence_length()` batches elements of similar length, so that
#' little padding is needed.
#'
#' A window is complete when it has as many elements as its size. At the end of the data, incomplete
#' windows follow in the order of their keys.
#'
#' @param dataset A dataset.
#' @param key_func A function of an element that returns its key, a whole number.
#' @param reduce_func A function of a key and a window, which is a dataset. It returns a dataset.
#' @param window_size Number of elements per window.
#' @param window_size_func A function of a key that returns the number of elements per window,
#'   instead of `window_size`.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, a function returns a value of the
#'     wrong kind, or, with `pad_to_bucket_boundary`, an element is too long.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 7) %>%
#'   dataset_group_by_window(
#'     key_func = function(x) x %% 2L, reduce_func = function(key, window) dataset_batch(window, 3),
#'     window_size = 3
#'   ) %>%
#'   dataset_collect()
dataset_group_by_window <- function(dataset, key_func, reduce_func, window_size = NULL,
                                    window_size_func = NULL) {
  check_dataset(dataset)
  check_function(reduce_func)
  if (is.null(window_size) == is.null(window_size_func)) {
    abort_runhooks("Give either {.arg window_size} or {.arg window_size_func}.")
  }
  check_positive_whole(window_size, null = TRUE)
  if (is.null(window_size_func)) window_size_func <- function(key) tf$constant(window_size, "int64")
  size <- tensor_function(range_dataset(0, 1), int64_result(window_size_func), "window_size_func")
  key <- tensor_function(dataset, int64_result(key_func), "key_func")
  args <- list(dataset = dataset, key_func = key$handle, window_size_func = size$handle)
  groups <- new_dataset("GroupByWindowDataset", "dataset_group_by_window", args)
  count <- length(flatten_structure(dataset$form))
  groups <- tf_dataset(groups$handle, list(1L, as.list(1L + seq_len(count))))
  dataset_flat_map(groups, function(key, window) {
    parts <- cpp_dataset(
      "ZipDataset", list(datasets = lapply(window, function(x) x$handle)),
      "dataset_group_by_window()"
    )
    reduce_func(key, tf_dataset(parts, dataset$form))
  })
}

int64_result <- function(f) {
  f <- rlang::as_function(f)
  function(...) tf$cast(f(...), "int64")
}

#' @rdname dataset_group_by_window
#' @param element_length_func A function of an element that returns its length, a whole number.
#' @param bucket_boundaries Increasing whole numbers: the first length of each bucket but the first.
#' @param bucket_batch_sizes Batch sizes of the buckets, one more than `bucket_boundaries`.
#' @param padded_shapes,padding_values See [dataset_padded_batch()].
#' @param pad_to_bucket_boundary `TRUE` pads unknown dimensions to the boundary of the bucket minus
#'   1. Default, `FALSE`: to the longest element of the batch.
#' @param no_padding `TRUE` makes batches without padding, so elements must have the same shape.
#'   Default: `FALSE`.
#' @param drop_remainder `TRUE` drops incomplete batches. Default: `FALSE`.
#' @export
#' @examples
#'
#' range_dataset(1, 6) %>%
#'   dataset_map(function(n) tf$fill(list(n), n)) %>%
#'   dataset_bucket_by_sequence_length(
#'     element_length_func = function(x) tf$size(x), bucket_boundaries = 4,
#'     bucket_batch_sizes = c(3, 2)
#'   ) %>%
#'   dataset_collect()
dataset_bucket_by_sequence_length <- function(dataset, element_length_func, bucket_boundaries,
                                              bucket_batch_sizes, padded_shapes = NULL,
                                              padding_values = NULL,
                                              pad_to_bucket_boundary = FALSE, no_padding = FALSE,
                                              drop_remainder = FALSE) {
  check_dataset(dataset)
  check_flag(pad_to_bucket_boundary)
  check_flag(no_padding)
  check_flag(drop_remainder)
  limits <- check_buckets(bucket_boundaries, bucket_batch_sizes)
  length_of <- rlang::as_function(element_length_func)
  bucket_of <- function(...) {
    size <- tf$cast(length_of(...), "int64")
    if (pad_to_bucket_boundary) size <- assert_below(size, max(limits))
    tf$reduce_sum(tf$cast(tf$greater_equal(size, tf$constant(limits, "int64")), "int64"))
  }
  at <- function(values, bucket) tf$gather(tf$constant(as.double(values), "int64"), bucket)
  shapes <- output_shapes(dataset)
  if (!is.null(padded_shapes)) shapes <- padded_shapes
  shapes <- component_shapes(shapes, dataset$form, "padded_shapes")
  batches <- function(bucket, window) {
    size <- at(bucket_batch_sizes, bucket)
    if (no_padding) return(dataset_batch(window, size, drop_remainder))
    padded_size <- if (pad_to_bucket_boundary) at(limits, bucket) - 1L else -1
    padded <- lapply(shapes, function(dims) {
      if (!is.null(dims)) lapply(dims, function(n) if (is.na(n) || n < 0) padded_size else n)
    })
    padded_batches(window, size, padded, padding_values, drop_remainder)
  }
  dataset_group_by_window(
    dataset, bucket_of, batches,
    window_size_func = function(bucket) at(bucket_batch_sizes, bucket)
  )
}

check_buckets <- function(boundaries, sizes, call = parent.frame()) {
  boundaries <- as.double(unlist(boundaries))
  sizes <- as.double(unlist(sizes))
  good <- length(boundaries) > 0 && !anyNA(boundaries) &&
    !is.unsorted(boundaries, strictly = TRUE) && all(boundaries == round(boundaries))
  check_arg(good, boundaries, "increasing whole numbers", "bucket_boundaries", call)
  good <- length(sizes) == length(boundaries) + 1 && all(is.finite(sizes) & sizes >= 1)
  if (!good) {
    abort_runhooks(
      "{.arg bucket_batch_sizes} must be {length(boundaries) + 1} batch sizes, one more than
       {.arg bucket_boundaries}, not {.val {sizes}}.",
      call = call
    )
  }
  boundaries
}

assert_below <- function(size, limit) {
  message <- paste(
    "With `pad_to_bucket_boundary = TRUE`, elements must be shorter than the last of",
    "`bucket_boundaries`,", limit
  )
  fits <- tf$Assert(tf$less(size, tf$constant(limit, "int64")), list(message, size))
  with(tf$control_dependencies(list(fits)), tf$identity(size))
}

#' Map elements by a function with a state
#'
#' Returns a dataset of the results of a function that is called with a state and an element, and
#' returns the next state and the result.
#'
#' @param dataset A dataset.
#' @param initial_state The state for the first element: data or tensors, or a list of these.
#' @param scan_func A function of the state and an element that returns a list of the next state and
#'   the result. The state keeps its types.
#' @return A dataset; see [datasets].
#' @section Errors: `runhooks_error_invalid_argument`: an argument is invalid, or `scan_func`
#'   returns a value of the wrong kind.
#' @family datasets
#' @export
#' @examples
#' range_dataset(1, 6) %>%
#'   dataset_scan(np_array(0, "int64"), function(sum, x) list(sum + x, sum + x)) %>%
#'   dataset_collect() %>%
#'   unlist()
dataset_scan <- function(dataset, initial_state, scan_func) {
  check_dataset(dataset)
  check_function(scan_func)
  first <- tensors_dataset(initial_state)
  result_form <- NULL
  step <- function(state, element) {
    is_tuple <- is.list(element) && is.null(names(element))
    result <- do.call(scan_func, c(list(state), if (is_tuple) element else list(element)))
    if (!is.list(result) || length(result) != 2) {
      abort_runhooks("{.arg scan_func} must return a list of the next state and the result.")
    }
    if (!identical(structure_of(result[[1]]), first$form)) {
      abort_runhooks("{.arg scan_func} must return a state like {.arg initial_state}.")
    }
    result_form <<- structure_of(result[[2]])
    c(flatten_structure(result[[1]]), flatten_structure(result[[2]]))
  }
  fun <- tensor_function(zip_datasets(first, dataset), step, "scan_func")
  args <- list(dataset = dataset, initial_state = first, scan_func = fun$handle)
  tf_dataset(new_dataset("ScanDataset", "dataset_scan", args)$handle, result_form)
}

#' Resample a dataset to given class frequencies
#'
#' Returns a dataset of pairs of a class and an element, in which classes have the frequencies of
#' `target_dist`. Elements of classes that are too frequent are dropped at random; no element is
#' repeated. TensorFlow reads the data in two streams instead, of which one is not filtered.
#'
#' @param dataset A dataset, which is read twice at the same time.
#' @param class_func A function of an element that returns its class, a whole number from 0.
#' @param target_dist Frequencies of the classes in the result.
#' @param initial_dist Frequencies of the classes in `dataset`. Default, `NULL`: estimated from the
#'   elements read so far.
#' @param seed Seed of the random choice.
#' @return A dataset of tuples of class and element; see [datasets].
#' @section Errors: `runhooks_error_invalid_argument`: an argument is invalid.
#' @family datasets
#' @export
#' @examples
#' rows <- tensor_slices_dataset(list(y = rep(c(0L, 0L, 0L, 1L), 100)))
#' kept <- rows %>%
#'   dataset_rejection_resample(function(row) row$y, c(0.5, 0.5), c(0.75, 0.25), seed = 1) %>%
#'   dataset_collect()
#' table(vapply(kept, function(pair) pair[[1]], 0L))
dataset_rejection_resample <- function(dataset, class_func, target_dist, initial_dist = NULL,
                                       seed = NULL) {
  check_dataset(dataset)
  target <- check_frequencies(target_dist)
  class_of <- rlang::as_function(class_func)
  classes <- dataset_map(dataset, function(...) tf$cast(class_of(...), "int32"))
  is_accepted <- function(class, initial) {
    ratio <- tf$constant(target, "float32") / tf$maximum(initial, 1e-30)
    acceptance <- tf$gather(ratio / tf$reduce_max(ratio), class)
    tf$less(tf$random_uniform(list(), seed = seed), acceptance)
  }
  if (!is.null(initial_dist)) {
    initial <- check_frequencies(initial_dist, length(target))
    return(dataset_filter(zip_datasets(classes, dataset), function(class, ...) {
      is_accepted(class, tf$constant(initial, "float32"))
    }))
  }
  zip_datasets(classes, dataset, estimated_frequencies(classes, length(target))) %>%
    dataset_filter(function(class, element, initial) is_accepted(class, initial)) %>%
    dataset_map(function(class, element, initial) list(class, element))
}

check_frequencies <- function(x, n = length(x), arg = deparse(substitute(x)),
                              call = parent.frame()) {
  x <- unlist(x)
  good <- is.numeric(x) && length(x) == n && n > 0 && all(is.finite(x) & x >= 0) &&
    abs(sum(x) - 1) < 1e-3
  check_arg(good, x, "frequencies of the classes that sum to 1", arg, call)
  x
}

# Estimates the frequencies of `n` classes. As in TensorFlow, the counts begin at 10 for each class
# and grow by batches of 32 elements.
estimated_frequencies <- function(classes, n) {
  classes %>%
    dataset_batch(32) %>%
    dataset_scan(np_array(rep(10, n), "float32"), function(counts, batch) {
      counts <- counts + tf$reduce_sum(tf$one_hot(batch, n), axis = 0L)
      list(counts, counts / tf$reduce_sum(counts))
    }) %>%
    dataset_flat_map(function(estimate) dataset_repeat(tensors_dataset(estimate), 32))
}
