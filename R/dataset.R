# The dataset class, in-memory sources, and functions that read datasets.

#' Datasets: build input pipelines
#'
#' A dataset describes a stream of elements. Source functions create one, such as
#' [tensor_slices_dataset()] or [range_dataset()]. Transformations such as [dataset_shuffle()],
#' [dataset_repeat()] and [dataset_batch()] derive new datasets; chain them with `%>%` or `|>`.
#' Datasets are lazy: elements are read only when they are needed.
#'
#' To train with a dataset, pass it to [input_fn()] or return it from an input function. To read the
#' elements in R, use [dataset_collect()]. To use them in a graph, create an iterator with
#' [make_iterator_one_shot()].
#'
#' An element is a tensor, a record (a named list of tensors) or a tuple (an unnamed list), nested
#' to any depth. Printing a dataset shows its transformations and the types of its elements.
#'
#' @section Tensors as arguments: Numbers such as the `count` of [dataset_take()], file names and
#'   the data of [tensor_slices_dataset()] may be tensors of the graph, and functions of
#'   [dataset_map()] and similar functions may use such tensors. They are evaluated, together with
#'   variables, when an iterator begins. [make_iterator_initializable()] evaluates them when its
#'   initializer runs, so they may depend on feeds. [make_iterator_one_shot()] and
#'   [dataset_collect()] accept only constants and tensors computed from constants.
#' @section Saving and resuming: The state of an iterator can be saved in a checkpoint and restored:
#'   positions, shuffle buffers, seeds and random number generators. See
#'   [hook_checkpoint_input_pipeline()].
#' @section Random order: A shuffle with a seed has the same order as in TensorFlow with the same
#'   seed and graph seed. Without a seed, the order follows from the graph seed or, if there is
#'   none, from R's generator, so `set.seed()` makes a script reproducible. [dataset_prefetch()] and
#'   parallel maps read a fixed number of elements ahead. If a later [dataset_take()] discards those
#'   elements, random functions before it have still drawn numbers for them. A second pass can then
#'   differ from that of the same pipeline without prefetching. Every run still gives the same
#'   result.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or a function cannot be converted
#'     to a graph. Raised when the dataset is created.
#'   * `runhooks_error_not_found`: a file does not exist. Raised when the file is read.
#'   * `runhooks_error_data_loss`: a file is damaged. The message contains the file and the line or
#'     record.
#'
#'   Reading can continue after an error, and the next request returns the following element. A
#'   batch starts after the failed element. [zip_datasets()] drops the elements of its other
#'   datasets at the same position. [dataset_window()] raises the error once for each window that
#'   contains the element.
#'
#'   TensorFlow differs in two cases. If a short last batch or window fails, a [dataset_window()]
#'   after it ends, and later passes are lost. If an element of [dataset_map()] fails, a batch after
#'   it is dropped as a whole.
#' @param x A dataset.
#' @param ... Ignored by `print()` and `as.list()`; must be empty for `head()`.
#' @name datasets
#' @family datasets
#' @examples
#' numbers <- range_dataset(0, 10) |>
#'   dataset_shuffle(10, seed = 1) |>
#'   dataset_batch(4)
#' numbers
#' dataset_collect(numbers)
NULL

# Creates a dataset from a handle of the core. `form` is the structure of an element: nested lists
# with the index of each component.
tf_dataset <- function(handle, form) {
  structure(list(handle = handle, form = form), class = c("tf_dataset", "runhooks_dataset"))
}

is_dataset <- function(x) inherits(x, "tf_dataset")

check_dataset <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg(is_dataset(x), x, "a dataset", arg, call)
}

new_dataset <- function(type, fun, args, call = parent.frame()) {
  missing <- vapply(args, is_absent, NA)
  if (any(missing)) {
    abort_runhooks("{.arg {names(args)[missing]}} is missing, with no default.", call = call)
  }
  if ("dataset" %in% names(args)) check_dataset(args$dataset, "dataset", call)
  for (name in names(args)) check_not_na(args[[name]], name, call)
  form <- if (is_dataset(args$dataset)) args$dataset$form else 1L
  handles <- lapply(args, function(x) if (is_dataset(x)) x$handle else x)
  result <- tf_dataset(cpp_dataset(type, handles, paste0(fun, "()")), form)
  na_version <- attr(args$dataset, "na_version")
  if (is.null(na_version)) return(result)
  set_na_version(result, function(...) {
    args$dataset <- na_version(...)
    new_dataset(type, fun, args, call)
  })
}

# A source that replaces missing values by 0 or "" has the attribute `na_version`, a function that
# returns the same dataset with NA. With the argument TRUE, integers become doubles, because NaN
# propagates through computations.
set_na_version <- function(dataset, na_version) {
  attr(dataset, "na_version") <- na_version
  dataset
}

with_na_values <- function(dataset) {
  na_version <- attr(dataset, "na_version")
  if (is.null(na_version)) dataset else na_version(FALSE)
}

# Applies a transformation also to the version of `dataset` with NA. If the user's function does not
# support NA, that version is replaced by `filled`, the dataset without NA, with a message.
transform_na_version <- function(filled, dataset, fun, transform) {
  na_version <- attr(dataset, "na_version")
  if (is.null(na_version)) return(filled)
  set_na_version(filled, function(...) {
    tryCatch(transform(na_version(TRUE)), runhooks_error = function(error) {
      cli::cli_inform(
        c(
          "The function of {.fn {fun}} does not support NA; missing values are 0, {.val {\"\"}} or
           FALSE there, as in TensorFlow.",
          x = conditionMessage(error),
          i = "To drop rows with missing values first, use {.fn dataset_filter}."
        ),
        class = "runhooks_message_gaps"
      )
      filled
    })
  })
}

flatten_structure <- function(x, depth = 1L) {
  if (!is_structure(x)) return(list(x))
  check_nesting(depth)
  do.call(c, c(list(list()), lapply(unname(as.list(x)), flatten_structure, depth + 1L)))
}

is_structure <- function(x) {
  is.list(x) && (!is.object(x) || is.data.frame(x) || inherits(x, "tuple"))
}

structure_of <- function(x) {
  count <- 0L
  index_components <- function(x, depth) {
    if (is_structure(x)) {
      check_nesting(depth)
      return(lapply(as.list(x), index_components, depth + 1L))
    }
    count <<- count + 1L
    count
  }
  index_components(x, 1L)
}

# Replaces each index in `form`, the structure of an element, by the component with this index.
fill_structure <- function(form, components) {
  if (is.list(form)) lapply(form, fill_structure, components) else components[[form]]
}

#' Create a dataset from R objects
#'
#' `tensor_slices_dataset()` returns a dataset with one element per row of the data;
#' `tensors_dataset()` returns a dataset with all data as its only element.
#'
#' @param tensors A vector, matrix, array, data frame, tensor, sparse matrix (`dgCMatrix` of the
#'   package Matrix; its rows become dense one at a time), or a nested list of these. A named list
#'   gives records, an unnamed one tuples. The first dimension is the number of rows. Doubles in
#'   plain vectors become float32; those in data frames, matrices and arrays become float64.
#'   [np_array()] selects another type. Factors become int32 codes from 0.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `tensors` is not data, or its parts have different numbers
#'     of rows.
#' @family datasets
#' @export
#' @examples
#' tensor_slices_dataset(list(x = c(1, 2, 3), y = c("a", "b", "c"))) |>
#'   dataset_batch(2) |>
#'   dataset_collect()
tensor_slices_dataset <- function(tensors) {
  in_memory_dataset("TensorSliceDataset", tensors, "tensor_slices_dataset()")
}

#' @rdname tensor_slices_dataset
#' @export
#' @examples
#'
#' tensors_dataset(matrix(1:4, 2)) |> dataset_collect()
tensors_dataset <- function(tensors) {
  in_memory_dataset("TensorDataset", tensors, "tensors_dataset()")
}

in_memory_dataset <- function(type, tensors, owner, call = parent.frame()) {
  if (is_sparse_matrix(plain_sparse(tensors))) tensors <- plain_sparse(tensors)
  components <- flatten_structure(as_components(tensors))
  is_data <- function(x) {
    is.atomic(x) && !is.null(x) || is_sparse_matrix(x) || is_tensor(x) || is_variable(x)
  }
  good <- vapply(components, is_data, NA)
  if (length(components) == 0 || !all(good)) {
    if (is.data.frame(tensors) && length(components) == 0) {
      abort_runhooks("{.arg tensors} is a data frame without columns.", call = call)
    }
    unsupported <- if (length(components)) components[!good][[1]] else tensors # nolint: used by cli
    abort_runhooks(
      "{.arg tensors} must be data (vectors, arrays, or lists of these), not
       {describe_type(unsupported)}.",
      call = call
    )
  }
  if (type == "TensorSliceDataset") check_equal_rows(tensors, call)
  dtypes <- vapply(components, declared_type, "")
  handle <- cpp_tensors_dataset(type, components, dtypes, owner)
  tf_dataset(handle, structure_of(as_components(tensors)))
}

# Aborts if the components of a list have different numbers of rows. Tensors are skipped, because
# the core counts their rows.
check_equal_rows <- function(tensors, call) {
  if (!is_structure(tensors) || is.null(names(tensors))) return(invisible())
  rows <- vapply(tensors, function(x) {
    if (is_tensor(x) || is_variable(x)) return(NA_real_)
    counts <- vapply(flatten_structure(x), function(y) if (is_tensor(y)) NA else NROW(y), 0)
    if (length(unique(counts)) == 1) counts[[1]] else -1
  }, 0)
  lists <- names(tensors)[vapply(tensors, function(x) is.list(x) && !is.data.frame(x), NA)]
  ragged <- if (is.data.frame(tensors)) lists else intersect(lists, names(rows)[rows %in% -1])
  if (length(ragged)) {
    abort_runhooks(
      c(
        "The column {.val {ragged[[1]]}} is a list, which has no rows of one length.",
        i = "Make it a matrix, for example with {.code do.call(rbind, x)}, or use
             {.fn generator_dataset} and {.fn dataset_padded_batch}."
      ),
      kind = "invalid_argument", call = call
    )
  }
  counts <- rows[!is.na(rows)]
  if (length(unique(counts)) <= 1) return(invisible())
  different <- names(counts)[counts != counts[[1]]][[1]]
  abort_runhooks(
    "All components must have the same number of rows: {.val {names(counts)[[1]]}} has
     {counts[[1]]} and {.val {different}} has {counts[[different]]}.",
    kind = "invalid_argument", call = call
  )
}

plain_sparse <- function(x) if (is_matrix_package(x)) plain_matrix(x) else x

# Converts R objects to the components of elements. Doubles in data frames stay float64; those in
# plain vectors become float32, as in tf$constant().
as_components <- function(x, in_frame = FALSE, name = "tensors", depth = 1L) {
  if (is_structure(x)) {
    check_nesting(depth)
    names <- if (is.null(names(x))) rep(name, length(x)) else names(x)
    return(Map(
      as_components, as.list(x), is.data.frame(x), names, depth + 1L,
      USE.NAMES = !is.null(names(x))
    ))
  }
  x <- plain_sparse(x)
  if (is.factor(x)) x <- encode_column(x, name)
  is_int64 <- inherits(x, "integer64")
  if (is.double(x) && is.null(dim(x)) && !in_frame && !is_int64) attr(x, "dtype") <- "float32"
  x
}


#' Read the elements of a dataset into R
#'
#' Returns the first `n` elements of a dataset as R values.
#'
#' @param dataset A dataset.
#' @param n Maximum number of elements, a number. Default: all elements.
#' @return A list of elements. An element is an R value, or a list for records and tuples.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `dataset` is not a dataset, or `n` is not a number of 0 or
#'     more.
#'   * Any error that occurs while reading; see [datasets].
#' @family datasets
#' @export
#' @examples
#' dataset_collect(range_dataset(0, 3))
#' range_dataset(0, 100) |> dataset_collect(n = 2)
dataset_collect <- function(dataset, n = Inf) {
  check_dataset(dataset)
  check_arg(is_number(n) && n >= 0, n, "a number of elements", "n", environment())
  # a repeated dataset without elements ends
  if (n == Inf && is_endless(dataset) && length(cpp_dataset_collect(dataset$handle, 1))) {
    abort_runhooks(
      c(
        "The dataset never ends, because it repeats without a limit.",
        i = "Use {.code n = 10} to read the first elements, or {.fn dataset_take}."
      )
    )
  }
  elements <- cpp_dataset_collect(dataset$handle, n)
  lapply(elements, function(components) element_from_components(dataset, components))
}

#' Get the types and shapes of a dataset's elements
#'
#' `output_types()` returns the data types of the components of an element, `output_shapes()` their
#' shapes.
#'
#' @param object A dataset or an iterator.
#' @return For elements that are a single tensor, its type or shape; otherwise a list with the
#'   structure of an element. Shapes are integer vectors with NA for unknown dimensions.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `object` is neither a dataset nor an iterator.
#' @family datasets
#' @export
#' @examples
#' batches <- range_dataset(0, 10) |> dataset_batch(4)
#' output_types(batches)
#' output_shapes(batches)
output_types <- function(object) {
  check_dataset_or_iterator(object)
  fill_structure(object$form, lapply(dataset_or_iterator_info(object)$dtypes, tf_dtype))
}

#' @rdname output_types
#' @export
output_shapes <- function(object) {
  check_dataset_or_iterator(object)
  dims <- dataset_or_iterator_info(object)$dims
  fill_structure(object$form, lapply(dims, function(d) if (is.null(d)) NULL else as.integer(d)))
}

# A generator may have only one pass, so repeating it may end.
is_endless <- function(dataset) {
  info <- cpp_dataset_info(dataset$handle)
  info$is_endless && !grepl("Generator(", info$description, fixed = TRUE)
}

dataset_or_iterator_info <- function(object) {
  if (is_dataset(object)) cpp_dataset_info(object$handle) else unclass(object)$info
}

check_dataset_or_iterator <- function(object, call = parent.frame()) {
  good <- is_dataset(object) || inherits(object, "tf_iterator")
  check_arg(good, object, "a dataset or an iterator", "object", call)
}

#' @rdname datasets
#' @export
print.tf_dataset <- function(x, ...) {
  info <- cpp_dataset_info(x$handle)
  types <- describe_structure(x$form, paste(info$dtypes, info$shapes))
  # lint: allow stdout
  cat("<tf_dataset> ", info$description, "\nelements: ", types, "\n", sep = "")
  invisible(x)
}

#' @export
str.tf_dataset <- function(object, ...) print(object) # lint: allow stdout

#' @export
names.tf_dataset <- function(x) if (is.list(x[["form"]])) names(x[["form"]])

# `Inf` for a dataset without an end, `NA` for an unknown number of elements, as in tfdatasets.
#' @rdname datasets
#' @export
length.tf_dataset <- function(x) {
  count <- cpp_dataset_cardinality(x$handle)
  caller <- calling_function("length")
  caller <- sub("[.]default$", "", caller)
  # seq_along() would create 2^31 numbers
  if (count < 0 && caller == "seq_along") {
    abort_runhooks(
      "The number of elements of the dataset is {if (count == -1) 'infinite' else 'unknown'}.",
      call = environment()
    )
  }
  # these select elements by position
  if (caller %in% c("rev", "tail", "sample", "summary")) {
    abort_runhooks(
      c(
        "{.fn {caller}} does not work on a dataset, which is a stream without positions.",
        i = "{.fn dataset_collect} returns the elements as a list."
      ),
      call = environment()
    )
  }
  if (count < 0) return(if (count == -1) Inf else NA_integer_)
  if (count <= .Machine$integer.max) as.integer(count) else count
}

# lapply() calls it.
#' @rdname datasets
#' @export
as.list.tf_dataset <- function(x, ...) dataset_collect(x)

# c() of datasets is a list of them, for zip_datasets() and sample_from_datasets().
#' @export
c.tf_dataset <- function(...) list(...)

#' @export
`[.tf_dataset` <- function(x, i, ...) {
  abort_runhooks(
    c(
      "A dataset is a stream, which has no positions.",
      i = "Use {.fn dataset_take} and {.fn dataset_skip} to select elements, {.fn dataset_map} to
           select columns, or {.fn dataset_collect} to read the elements."
    ),
    kind = "unimplemented"
  )
}

#' @export
as.data.frame.tf_dataset <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint
  abort_runhooks(
    c(
      "A dataset cannot become a data frame.",
      i = "{.fn dataset_collect} reads its elements as a list. Elements that are single rows become
           a data frame with {.code do.call(rbind, lapply(elements, as.data.frame))}."
    ),
    kind = "unimplemented"
  )
}

#' @rdname datasets
#' @param n Maximum number of elements to return.
#' @importFrom utils head
#' @export
head.tf_dataset <- function(x, n = 6L, ...) {
  if (...length()) {
    abort_runhooks(
      "{.fn head} of a dataset has only the argument {.arg n}, not {describe(list(...))}."
    )
  }
  dataset_collect(x, n)
}

# Describes a record as "{x: float32 (), y: string ()}" and a tuple as "(float32 (), string ())".
describe_structure <- function(form, descriptions) {
  if (!is.list(form)) return(descriptions[[form]])
  parts <- vapply(form, describe_structure, "", descriptions)
  if (is.null(names(form))) return(paste0("(", paste(parts, collapse = ", "), ")"))
  paste0("{", paste0(names(form), ": ", parts, collapse = ", "), "}")
}
