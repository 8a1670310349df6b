# Transformations of datasets by functions.

#' Elements changed, left out or unfolded by a function
#'
#' `dataset_map()` changes each element by a function; `dataset_filter()` leaves those for which it
#' is TRUE; `dataset_flat_map()` makes a dataset of each element and gives the elements of one after
#' the other; `dataset_interleave()` reads several of these in turn.
#'
#' The function is called **once**, with tensors: what runs for each element is the graph that it
#' builds, in C++ and where asked for on several threads. A function of R values instead is wrapped
#' in `on_values()`; it is called for each element, on the main thread.
#'
#' @param dataset A dataset.
#' @param map_func,predicate A function of an element: a tensor, or a record as a named list of
#'   tensors; elements that are unnamed lists give one argument a component. A formula such as
#'   `~ .x + 1` stands for a function. For `dataset_map()` it returns a tensor, or a list of them:
#'   a named one is a record. For `dataset_filter()` a single logical; for the others a dataset.
#' @param num_parallel_calls How many threads run the function; the order stays. One that draws
#'   random numbers, or calls R, is run by one.
#' @param cycle_length How many datasets are read in turn.
#' @param block_length How many elements are taken of one before the next.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_invalid_argument` for a function that does not return what it
#'   must. A function of R values that fails is an error that names the number of the element.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 5) %>%
#'   dataset_map(function(x) list(x = x, square = x * x)) %>%
#'   dataset_filter(function(record) record$square > 3) %>%
#'   dataset_collect()
dataset_map <- function(dataset, map_func, num_parallel_calls = NULL) {
  check_dataset(dataset)
  check_positive_whole(num_parallel_calls, null = TRUE)
  built <- tensor_function(dataset, map_func, "map_func")
  args <- list(
    dataset = dataset, `function` = built$handle, num_parallel_calls = num_parallel_calls
  )
  made <- new_dataset("MapDataset", "dataset_map", args)
  with_gaps_through(tf_dataset(made$handle, built$form), dataset, "dataset_map", function(with_na) {
    dataset_map(with_na, map_func, num_parallel_calls)
  })
}

#' @rdname dataset_map
#' @export
dataset_filter <- function(dataset, predicate) {
  check_dataset(dataset)
  built <- tensor_function(dataset, predicate, "predicate")
  args <- list(dataset = dataset, predicate = built$handle)
  made <- new_dataset("FilterDataset", "dataset_filter", args)
  with_gaps_through(made, dataset, "dataset_filter", function(with_na) {
    dataset_filter(with_na, predicate)
  })
}

#' @rdname dataset_map
#' @export
#' @examples
#'
#' range_dataset(1, 4) %>%
#'   dataset_flat_map(function(n) range_dataset(0, n)) %>%
#'   dataset_collect() %>%
#'   unlist()
dataset_flat_map <- function(dataset, map_func) {
  check_dataset(dataset)
  built <- dataset_function(dataset, map_func)
  args <- list(dataset = dataset, map_func = built$handle)
  made <- new_dataset("FlatMapDataset", "dataset_flat_map", args)
  with_gaps_through(tf_dataset(made$handle, built$form), dataset, "dataset_flat_map", function(with_na) {
    dataset_flat_map(with_na, map_func)
  })
}

#' @rdname dataset_map
#' @export
#' @examples
#'
#' # two at a time, an element of each in turn
#' range_dataset(1, 4) %>%
#'   dataset_interleave(function(n) dataset_repeat(tensors_dataset(n), 3), cycle_length = 2) %>%
#'   dataset_collect() %>%
#'   unlist()
dataset_interleave <- function(dataset, map_func, cycle_length, block_length = 1) {
  check_dataset(dataset)
  built <- dataset_function(dataset, map_func)
  args <- list(
    dataset = dataset, map_func = built$handle, cycle_length = cycle_length,
    block_length = block_length
  )
  tf_dataset(new_dataset("InterleaveDataset", "dataset_interleave", args)$handle, built$form)
}

#' @rdname dataset_map
#' @param batch_size How many elements a batch has.
#' @param num_parallel_batches As many batches' elements are made at the same time.
#' @param drop_remainder TRUE leaves a last batch out that is short.
#' @export
#' @examples
#'
#' range_dataset(0, 4) %>%
#'   dataset_map_and_batch(function(x) x * x, batch_size = 2) %>%
#'   dataset_collect()
dataset_map_and_batch <- function(dataset, map_func, batch_size, num_parallel_batches = NULL,
                                  drop_remainder = FALSE, num_parallel_calls = NULL) {
  check_positive_whole(num_parallel_batches, null = TRUE)
  if (is.null(num_parallel_calls)) num_parallel_calls <- num_parallel_batches
  dataset_map(dataset, map_func, num_parallel_calls) %>% dataset_batch(batch_size, drop_remainder)
}

#' @rdname dataset_map
#' @param f A function of R values: an element as [dataset_collect()] gives it.
#' @param output_types Types of what it returns, in its form: names or `tf$float32` and the like.
#'   `NULL`: those of its value for the first element, for which it is called once when the dataset
#'   is made; shapes are then known, too.
#' @export
#' @examples
#'
#' tensor_slices_dataset(c("a b", "c")) %>%
#'   dataset_map(on_values(function(x) length(strsplit(x, " ")[[1]]))) %>%
#'   dataset_collect()
on_values <- function(f, output_types = NULL) {
  good <- is.function(f) || rlang::is_formula(f)
  check_arg(good, f, "a function or a formula", "f", environment())
  structure(list(f = rlang::as_function(f), types = output_types), class = "runhooks_on_values")
}

# --- functions as graphs

# The handle of the function that `f` builds for the elements of the dataset, and the form of what
# it returns.
tensor_function <- function(dataset, f, arg, call = parent.frame()) {
  f <- element_function(f, dataset, arg, call)
  form <- NULL
  handle <- cpp_dataset_function(dataset$handle, function(components) {
    result <- call_with_element(f, element_of(dataset, components))
    if (is_dataset(result)) {
      abort_runhooks(
        c("{.arg {arg}} returned a dataset.", i = "{.fn dataset_flat_map} takes such functions."),
        call = call
      )
    }
    parts <- flatten_form(result)
    if (length(parts) == 0 || any(vapply(parts, is.null, NA))) {
      abort_runhooks("{.arg {arg}} must return a tensor or a list of tensors.", call = call)
    }
    form <<- form_of(result)
    lapply(parts, as_tensor)
  })
  list(handle = handle, form = form)
}

dataset_function <- function(dataset, f, call = parent.frame()) {
  f <- element_function(f, dataset, "map_func", call)
  form <- NULL
  handle <- cpp_dataset_maker(dataset$handle, function(components) {
    result <- call_with_element(f, element_of(dataset, components))
    if (!is_dataset(result)) {
      abort_runhooks(
        "{.arg map_func} must return a dataset, not {kind_of(result)}.", call = call
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

# Components that are datasets are of one tensor.
element_of <- function(dataset, components) {
  wrapped <- lapply(components, function(x) {
    if (typeof(x) == "externalptr" && !is_graph_element(x)) tf_dataset(x, 1L) else x
  })
  fill_form(dataset$form, wrapped)
}

# A tuple gives one argument a component.
call_with_element <- function(f, element) {
  is_tuple <- is.list(element) && !is_dataset(element) && is.null(names(element))
  with_tensor_words(if (is_tuple) do.call(f, element, quote = TRUE) else f(element))
}

# A function of tensors that calls a function of R values.
as_graph_function <- function(on_values, dataset, call) {
  f <- on_values$f
  types <- on_values$types
  shapes <- NULL
  if (is.null(types)) {
    first <- dataset_collect(dataset, 1)
    if (length(first) == 0) {
      abort_runhooks(
        c("The dataset has no element to learn types from.", i = "Give {.arg output_types}."),
        call = call
      )
    }
    types <- as_components(call_with_element(f, first[[1]]))
    shapes <- lapply(flatten_form(types), value_shape)
    types <- fill_form(form_of(types), lapply(flatten_form(types), value_type))
  }
  form <- form_of(types)
  names <- vapply(flatten_form(types), dtype_name, "")
  number <- 0
  on_components <- function(...) {
    number <<- number + 1
    element <- fill_form(dataset$form, list(...))
    result <- with_element_number(call_with_element(f, element), number, "A function of a dataset")
    parts <- flatten_form(as_components(result))
    if (!identical(form_of(result), form)) {
      abort_runhooks("For element {number} a function returned a value of another form.")
    }
    parts
  }
  function(...) {
    inputs <- flatten_form(list(...))
    results <- py_func(on_components, inputs, as.list(names), name = "on_values")
    if (!is.null(shapes)) results <- Map(tf$ensure_shape, results, shapes)
    fill_form(form, unname(results))
  }
}

# The type that a value of R has as a tensor.
value_type <- function(x) {
  given <- wanted_type(x)
  if (!is.na(given)) return(given)
  switch(typeof(x),
    double = "float64", integer = "int32", logical = "bool", character = "string",
    abort_runhooks("A component of an element must be data, not {kind_of(x)}.")
  )
}

value_shape <- function(x) {
  if (!is.null(dim(x))) return(dim(x))
  if (length(x) == 1) list() else length(x)
}

# What fails says for which element, and is what it was.
with_element_number <- function(expr, number, what) {
  withCallingHandlers(expr, error = function(e) {
    note <- paste0(what, " failed at element ", number, ".")
    if (is.null(steering_kind(e))) stop(add_note(e, note))
  })
}
