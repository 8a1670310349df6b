# Transformations of datasets that call a function: map, filter, flat map and interleave.

#' Map, filter or flat-map a dataset
#'
#' `dataset_map()` applies a function to each element. `dataset_filter()` keeps the elements for
#' which a function returns `TRUE`. `dataset_flat_map()` creates a dataset from each element and
#' concatenates them. `dataset_interleave()` reads several of these datasets alternately.
#'
#' The function is called **once**, with symbolic tensors, and builds a graph. The graph then runs
#' for each element in C++, on several threads if requested. To call an R function with R values for
#' each element, wrap it in `on_values()`; it then runs on the main thread.
#'
#' @param dataset A dataset.
#' @param map_func,predicate A function of an element, or a formula such as `~ .x + 1`. A record is
#'   passed as a named list of tensors; the components of a tuple are passed as separate arguments.
#'   The function returns: for `dataset_map()`, a tensor or a list of tensors (a named list is a
#'   record); for `dataset_filter()`, a scalar logical; for the other functions, a dataset.
#' @param num_parallel_calls Number of threads that run the function; the order of the elements does
#'   not change. Functions that draw random numbers or call R always use one thread. Default,
#'   `NULL`: one thread.
#' @param cycle_length Number of datasets that are read alternately.
#' @param block_length Number of consecutive elements from each dataset. Default: 1.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: the function returns a value of the wrong kind, or an
#'     argument is invalid.
#'   * Any error of a function in `on_values()`, with its own class. The message contains the number
#'     of the element.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 5) |>
#'   dataset_map(function(x) list(x = x, square = x * x)) |>
#'   dataset_filter(function(record) record$square > 3) |>
#'   dataset_collect()
dataset_map <- function(dataset, map_func, num_parallel_calls = NULL) {
  check_dataset(dataset)
  # -1 is the value of tf$data$experimental$AUTOTUNE
  if (is_number(num_parallel_calls) && num_parallel_calls == -1) num_parallel_calls <- 2
  check_positive_whole(num_parallel_calls, null = TRUE)
  graph_fun <- tensor_function(dataset, map_func, "map_func")
  args <- list(
    dataset = dataset, `function` = graph_fun$handle, num_parallel_calls = num_parallel_calls
  )
  result <- tf_dataset(new_dataset("MapDataset", "dataset_map", args)$handle, graph_fun$form)
  transform_na_version(result, dataset, "dataset_map", function(with_na) {
    dataset_map(with_na, map_func, num_parallel_calls)
  })
}

#' @rdname dataset_map
#' @export
dataset_filter <- function(dataset, predicate) {
  check_dataset(dataset)
  graph_fun <- tensor_function(dataset, predicate, "predicate")
  args <- list(dataset = dataset, predicate = graph_fun$handle)
  result <- new_dataset("FilterDataset", "dataset_filter", args)
  transform_na_version(result, dataset, "dataset_filter", function(with_na) {
    dataset_filter(with_na, predicate)
  })
}

#' @rdname dataset_map
#' @export
#' @examples
#'
#' range_dataset(1, 4) |>
#'   dataset_flat_map(function(n) range_dataset(0, n)) |>
#'   dataset_collect() |>
#'   unlist()
dataset_flat_map <- function(dataset, map_func) {
  check_dataset(dataset)
  graph_fun <- dataset_function(dataset, map_func)
  args <- list(dataset = dataset, map_func = graph_fun$handle)
  handle <- new_dataset("FlatMapDataset", "dataset_flat_map", args)$handle
  result <- tf_dataset(handle, graph_fun$form)
  transform_na_version(result, dataset, "dataset_flat_map", function(with_na) {
    dataset_flat_map(with_na, map_func)
  })
}

#' @rdname dataset_map
#' @export
#' @examples
#'
#' # read two datasets at a time, one element from each in turn
#' range_dataset(1, 4) |>
#'   dataset_interleave(function(n) dataset_repeat(tensors_dataset(n), 3), cycle_length = 2) |>
#'   dataset_collect() |>
#'   unlist()
dataset_interleave <- function(dataset, map_func, cycle_length, block_length = 1) {
  check_dataset(dataset)
  graph_fun <- dataset_function(dataset, map_func)
  args <- list(
    dataset = dataset, map_func = graph_fun$handle, cycle_length = cycle_length,
    block_length = block_length
  )
  tf_dataset(new_dataset("InterleaveDataset", "dataset_interleave", args)$handle, graph_fun$form)
}

#' @rdname dataset_map
#' @param batch_size Number of elements per batch.
#' @param num_parallel_batches Number of threads, if `num_parallel_calls` is `NULL`.
#' @param drop_remainder `TRUE` drops an incomplete last batch. Default: `FALSE`.
#' @export
#' @examples
#'
#' range_dataset(0, 4) |>
#'   dataset_map_and_batch(function(x) x * x, batch_size = 2) |>
#'   dataset_collect()
dataset_map_and_batch <- function(dataset, map_func, batch_size, num_parallel_batches = NULL,
                                  drop_remainder = FALSE, num_parallel_calls = NULL) {
  check_positive_whole(num_parallel_batches, null = TRUE)
  if (is.null(num_parallel_calls)) num_parallel_calls <- num_parallel_batches
  dataset_map(dataset, map_func, num_parallel_calls) %>% dataset_batch(batch_size, drop_remainder)
}

#' @rdname dataset_map
#' @param f A function of R values, called with an element as [dataset_collect()] returns it.
#' @param output_types Types of the components of the result, in its structure: names, or objects
#'   such as `tf$float32`. Default, `NULL`: the types and shapes of the result for the first
#'   element. The function is called once with this element when the dataset is created.
#' @export
#' @examples
#'
#' tensor_slices_dataset(c("a b", "c")) |>
#'   dataset_map(on_values(function(x) length(strsplit(x, " ")[[1]]))) |>
#'   dataset_collect()
on_values <- function(f, output_types = NULL) {
  good <- is.function(f) || rlang::is_formula(f)
  check_arg(good, f, "a function or a formula", "f", environment())
  structure(list(f = rlang::as_function(f), types = output_types), class = "runhooks_on_values")
}

# Builds the graph of `f`, which returns tensors. Returns the graph's handle and the structure of
# the result.
tensor_function <- function(dataset, f, arg, call = parent.frame()) {
  f <- element_function(f, dataset, arg, call)
  form <- NULL
  handle <- cpp_dataset_function(dataset$handle, function(components) {
    result <- call_with_element(f, element_from_components(dataset, components))
    if (is_dataset(result)) {
      abort_runhooks(
        c("{.arg {arg}} returned a dataset.", i = "Use {.fn dataset_flat_map} for such functions."),
        call = call
      )
    }
    parts <- flatten_structure(result)
    if (length(parts) == 0 || any(vapply(parts, is.null, NA))) {
      abort_runhooks(
        c(
          "{.arg {arg}} must return a tensor or a list of tensors.",
          x = "It returned NULL{if (length(parts)) ', or a list with NULL'}.",
          i = if (length(names(dataset))) "The elements have {.field {names(dataset)}}."
        ),
        call = call
      )
    }
    form <<- structure_of(result)
    lapply(parts, as_tensor)
  })
  list(handle = handle, form = form)
}

# Like tensor_function(), for a function `f` that returns a dataset.
dataset_function <- function(dataset, f, call = parent.frame()) {
  f <- element_function(f, dataset, "map_func", call)
  form <- NULL
  handle <- cpp_dataset_valued_function(dataset$handle, function(components) {
    result <- call_with_element(f, element_from_components(dataset, components))
    if (!is_dataset(result)) {
      abort_runhooks(
        "{.arg map_func} must return a dataset, not {describe_type(result)}.", call = call
      )
    }
    form <<- result$form
    result$handle
  })
  list(handle = handle, form = form)
}

element_function <- function(f, dataset, arg, call) {
  if (inherits(f, "runhooks_on_values")) return(as_graph_function(f, dataset, call))
  good <- is.function(f) || inherits(f, "formula")
  check_arg(good, f, "a function or a formula", arg, call)
  rlang::as_function(f)
}

# Restores an element from its components. Components of a window are handles of datasets with a
# single tensor per element.
element_from_components <- function(dataset, components) {
  components <- lapply(components, function(x) {
    if (typeof(x) == "externalptr" && !is_graph_element(x)) tf_dataset(x, 1L) else x
  })
  fill_structure(dataset$form, components)
}

# Calls `f` with an element. The components of a tuple are separate arguments.
call_with_element <- function(f, element) {
  is_tuple <- is.list(element) && !is_dataset(element) && is.null(names(element))
  with_tensor_generics(if (is_tuple) do.call(f, element, quote = TRUE) else f(element))
}

# Converts an R function of values, which the user marked by on_values(), to a function of tensors.
# The result calls the R function in an operation of tf$py_func().
as_graph_function <- function(on_values, dataset, call) {
  f <- on_values$f
  types <- on_values$types
  shapes <- NULL
  if (is.null(types)) {
    first <- dataset_collect(dataset, 1)
    if (length(first) == 0) {
      abort_runhooks(
        c("The dataset is empty, so types cannot be inferred.", i = "Give {.arg output_types}."),
        call = call
      )
    }
    types <- as_components(call_with_element(f, first[[1]]))
    shapes <- lapply(flatten_structure(types), value_shape)
    types <- fill_structure(structure_of(types), lapply(flatten_structure(types), value_type))
  }
  form <- structure_of(types)
  names <- vapply(flatten_structure(types), dtype_name, "")
  element_number <- 0
  on_components <- function(...) {
    element_number <<- element_number + 1
    element <- fill_structure(dataset$form, list(...))
    result <- with_element_number(
      call_with_element(f, element), element_number, "A function of a dataset"
    )
    parts <- flatten_structure(as_components(result))
    if (!identical(structure_of(result), form)) {
      abort_runhooks(
        "For element {element_number}, a function returned a value of a different structure."
      )
    }
    parts
  }
  function(...) {
    inputs <- flatten_structure(list(...))
    results <- py_func(on_components, inputs, as.list(names), name = "on_values")
    if (!is.null(shapes)) results <- Map(tf$ensure_shape, results, shapes)
    fill_structure(form, unname(results))
  }
}

value_type <- function(x) {
  declared <- declared_type(x)
  if (!is.na(declared)) return(declared)
  switch(typeof(x),
    double = "float64", integer = "int32", logical = "bool", character = "string",
    abort_runhooks(
      "A component of an element must be data, not {describe_type(x)}.", call = user_frame()
    )
  )
}

value_shape <- function(x) {
  if (!is.null(dim(x))) return(dim(x))
  if (length(x) == 1) list() else length(x)
}

# Adds the number of the element to the message of an error. The class of the error does not change.
with_element_number <- function(expr, element_number, subject) {
  withCallingHandlers(expr, error = function(e) {
    note <- paste0(subject, " failed at element ", element_number, ".")
    if (is.null(control_error_kind(e))) stop(add_note(e, note))
  })
}
