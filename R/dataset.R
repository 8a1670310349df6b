# Datasets: the object, the sources that take R's data, and what reads them. The kinds with a plain
# signature are in datasets.R, which is generated.

#' Datasets: input pipelines
#'
#' A dataset is a recipe for a stream of elements. Sources make one ([tensor_slices_dataset()],
#' [range_dataset()], ...), transformations make another one of it ([dataset_shuffle()],
#' [dataset_repeat()], [dataset_batch()], ...); nothing is read before somebody asks for elements.
#' They are chained with `%>%` or `|>`. [input_fn()] makes an input function of a dataset, an input
#' function may also return one; [dataset_collect()] gives the elements to R; iterators
#' ([make_iterator_one_shot()]) bring them into a graph.
#'
#' An element is a tensor, a record (a named list of tensors) or a tuple (an unnamed list), nested
#' to any depth. Printing a dataset shows its steps and what its elements are.
#'
#' @section Tensors: Numbers such as the `count` of [dataset_take()], file names and what
#'   [tensor_slices_dataset()] takes may be tensors of the graph, and functions of
#'   [dataset_map()] and the like may use such. Their values are those that they have when an
#'   iterator begins: [make_iterator_initializable()] takes them when its initializer runs, with
#'   what is fed then; [make_iterator_one_shot()] and [dataset_collect()] take constants, and what
#'   follows from them. Variables are what they are at that time, too.
#' @section Resuming: Each iterator can save and restore where it stands, with everything that makes
#'   its next elements what they are: positions, buffers of shuffles, seeds and random generators.
#'   See [hook_checkpoint_input_pipeline()].
#' @section Random order: A shuffle with a seed gives TensorFlow's order for it and the seed of the
#'   graph. Without, the order follows from the seed of the graph; where there is none from R's
#'   generator, so that `set.seed()` repeats a script. Queues ([dataset_prefetch()], parallel maps) read
#'   a fixed number of elements ahead: where [dataset_take()] leaves these, random functions before it
#'   have drawn for them, and a second pass has other numbers than without the queue; they are the same
#'   in each run.
#' @section Errors: `runhooks_error_invalid_argument` at once for arguments that do not hold: what is
#'   no dataset, a function whose graph cannot be made. What only the data show comes when they are
#'   read, with the file and line or the row: `runhooks_error_not_found` for a file that is not
#'   there, `runhooks_error_data_loss` for one that is damaged; see the pages of the sources.
#'
#'   Who asks again behind an error gets what comes next: a batch begins behind the element that failed, those beside
#'   it in [zip_datasets()] go with it, [dataset_window()] gives the error once for each window that takes it, and a pass of
#'   `dataset_repeat(n)` may have errors alone. TensorFlow loses errors in two places, ours does not: a short last batch or
#'   window that fails is the end there for a window behind it, with all that would follow (second passes, other
#'   datasets); and a batch behind [dataset_map()] goes with its error as a whole, where ours begins the next one
#'   behind it.
#' @param x A dataset.
#' @param ... Without effect.
#' @name datasets
#' @family datasets
#' @examples
#' numbers <- range_dataset(0, 10) %>%
#'   dataset_shuffle(10, seed = 1) %>%
#'   dataset_batch(4)
#' numbers
#' dataset_collect(numbers)
NULL

# `form`: an element in which each component is its number.
tf_dataset <- function(handle, form) {
  structure(list(handle = handle, form = form), class = c("tf_dataset", "runhooks_dataset"))
}

is_dataset <- function(x) inherits(x, "tf_dataset")

check_dataset <- function(x, arg = deparse(substitute(x)), call = parent.frame()) {
  check_arg(is_dataset(x), x, "a dataset", arg, call)
}

# A dataset of a registered kind. Its elements have the form of those of the dataset that it reads.
new_dataset <- function(type, fun, args, call = parent.frame()) {
  missing <- vapply(args, identical, NA, quote(expr = ))
  if (any(missing)) {
    abort_runhooks("{.arg {names(args)[missing]}} is missing, with no default.", call = call)
  }
  if ("dataset" %in% names(args)) check_dataset(args$dataset, "dataset", call)
  form <- if (is_dataset(args$dataset)) args$dataset$form else 1L
  handles <- lapply(args, function(x) if (is_dataset(x)) x$handle else x)
  made <- tf_dataset(cpp_dataset(type, handles, paste0(fun, "()")), form)
  gaps <- attr(args$dataset, "gaps")
  if (is.null(gaps)) return(made)
  with_gaps(made, function(...) {
    args$dataset <- gaps(...)
    new_dataset(type, fun, args, call)
  })
}

# A dataset whose source puts something in the place of what is missing. `gaps` makes the same
# dataset with NA there, for who knows what to do about it; with TRUE integers are doubles, whose NaN
# goes through what functions compute.
with_gaps <- function(dataset, gaps) {
  attr(dataset, "gaps") <- gaps
  dataset
}

as_read_with_gaps <- function(dataset) {
  gaps <- attr(dataset, "gaps")
  if (is.null(gaps)) dataset else gaps(FALSE)
}

# What `again` makes by a function, of a dataset with NA in its gaps, too. Where the function cannot
# do with that, the gaps are what they were, which is said.
with_gaps_through <- function(made, dataset, fun, again) {
  gaps <- attr(dataset, "gaps")
  if (is.null(gaps)) return(made)
  with_gaps(made, function(...) {
    tryCatch(again(gaps(TRUE)), runhooks_error = function(error) {
      cli::cli_inform(
        c(
          "The function of {.fn {fun}} does without NA: what is missing is 0, {.val {\"\"}} or FALSE there,
           as TensorFlow reads it.",
          x = conditionMessage(error),
          i = "Rows that lack something can be left out before, by {.fn dataset_filter}."
        ),
        class = "runhooks_message_gaps"
      )
      made
    })
  })
}

# --- elements: nested lists of components

# The components of a structure in order, as a list.
flatten_form <- function(x, depth = 1L) {
  if (!is_structure(x)) return(list(x))
  check_nesting(depth)
  do.call(c, c(list(list()), lapply(unname(as.list(x)), flatten_form, depth + 1L)))
}

# What is taken apart; a data frame is a record of its columns.
is_structure <- function(x) {
  is.list(x) && (!is.object(x) || is.data.frame(x) || inherits(x, "tuple"))
}

# The same structure with the numbers of its components.
form_of <- function(x) {
  count <- 0L
  number <- function(x, depth) {
    if (is_structure(x)) {
      check_nesting(depth)
      return(lapply(as.list(x), number, depth + 1L))
    }
    count <<- count + 1L
    count
  }
  number(x, 1L)
}

# A structure of this form with these components.
fill_form <- function(form, components) {
  if (is.list(form)) lapply(form, fill_form, components) else components[[form]]
}

# --- sources of R's data

#' Datasets of data in memory
#'
#' `tensor_slices_dataset()` gives an element for each row of the tensors, `tensors_dataset()` a
#' single one.
#'
#' @param tensors A vector, matrix or array, a data frame, a sparse matrix (`dgCMatrix` of the
#'   package Matrix, whose rows become dense one by one), a tensor, or a list of these, nested to
#'   any depth: a named list gives records, an unnamed one tuples. The first dimension counts the
#'   rows. Doubles in a plain vector become float32; those in data frames, matrices and arrays
#'   float64; what [np_array()] gave a type has that one. Factors become int32 codes from 0.
#' @return A dataset, see [datasets].
#' @section Errors: `runhooks_error_invalid_argument` where the numbers of rows differ.
#' @family datasets
#' @export
#' @examples
#' tensor_slices_dataset(list(x = c(1, 2, 3), y = c("a", "b", "c"))) %>%
#'   dataset_batch(2) %>%
#'   dataset_collect()
tensor_slices_dataset <- function(tensors) {
  memory_dataset("TensorSliceDataset", tensors, "tensor_slices_dataset()")
}

#' @rdname tensor_slices_dataset
#' @export
#' @examples
#'
#' tensors_dataset(matrix(1:4, 2)) %>% dataset_collect()
tensors_dataset <- function(tensors) {
  memory_dataset("TensorDataset", tensors, "tensors_dataset()")
}

memory_dataset <- function(type, tensors, owner, call = parent.frame()) {
  if (is_sparse_matrix(plain_sparse(tensors))) tensors <- plain_sparse(tensors)
  parts <- flatten_form(as_components(tensors))
  is_data <- function(x) {
    is.atomic(x) && !is.null(x) || is_sparse_matrix(x) || is_tensor(x) || is_variable(x)
  }
  good <- vapply(parts, is_data, NA)
  if (length(parts) == 0 || !all(good)) {
    odd <- if (length(parts)) parts[!good][[1]] else tensors # nolint: used by cli
    abort_runhooks(
      "{.arg tensors} must be data: vectors, arrays, or lists of these, not
       {kind_of(odd)}.",
      call = call
    )
  }
  dtypes <- vapply(parts, component_type, "")
  tf_dataset(cpp_tensors_dataset(type, parts, dtypes, owner), form_of(as_components(tensors)))
}

plain_sparse <- function(x) if (is_matrix_package(x)) plain_matrix(x) else x

# Data frames keep their doubles; other plain vectors of doubles are float32, as constants are.
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
  if (is.double(x) && is.null(dim(x)) && !in_frame) attr(x, "dtype") <- "float32"
  x
}

component_type <- function(x) wanted_type(x)

# --- reading

#' The elements of a dataset
#'
#' @param dataset A dataset.
#' @param n At most so many.
#' @return A list of elements, each an R value or a list of them.
#' @section Errors: `runhooks_error_invalid_argument` for what is no dataset, and for other arguments that do
#'   not hold.
#' @family datasets
#' @export
#' @examples
#' dataset_collect(range_dataset(0, 3))
#' range_dataset(0, 100) %>% dataset_collect(n = 2)
dataset_collect <- function(dataset, n = Inf) {
  check_dataset(dataset)
  check_arg(is_number(n) && n >= 0, n, "a number of elements", "n", environment())
  lapply(cpp_dataset_collect(dataset$handle, n), function(parts) element_of(dataset, parts))
}

#' Types and shapes of the elements of a dataset
#'
#' @param object A dataset or an iterator.
#' @return Of a single tensor its type or shape, else a list in the form of an element. Shapes have
#'   NA for unknown dimensions.
#' @section Errors: `runhooks_error_invalid_argument` for what is no dataset, and for other arguments that do
#'   not hold.
#' @family datasets
#' @export
#' @examples
#' batches <- range_dataset(0, 10) %>% dataset_batch(4)
#' output_types(batches)
#' output_shapes(batches)
output_types <- function(object) {
  check_readable(object)
  fill_form(object$form, lapply(object_info(object)$dtypes, tf_dtype))
}

#' @rdname output_types
#' @export
output_shapes <- function(object) {
  check_readable(object)
  dims <- object_info(object)$dims
  fill_form(object$form, lapply(dims, function(d) if (is.null(d)) NULL else as.integer(d)))
}

object_info <- function(object) {
  if (is_dataset(object)) cpp_dataset_info(object$handle) else unclass(object)$info
}

check_readable <- function(object, call = parent.frame()) {
  good <- is_dataset(object) || inherits(object, "tf_iterator")
  check_arg(good, object, "a dataset or an iterator", "object", call)
}

#' @rdname datasets
#' @export
print.tf_dataset <- function(x, ...) {
  info <- cpp_dataset_info(x$handle)
  words <- form_words(x$form, paste(info$dtypes, info$shapes))
  # lint: allow stdout
  cat("<tf_dataset> ", info$description, "\nelements: ", words, "\n", sep = "")
  invisible(x)
}

#' @export
str.tf_dataset <- function(object, ...) print(object) # lint: allow stdout

#' @export
names.tf_dataset <- function(x) if (is.list(x[["form"]])) names(x[["form"]])

# How many elements there are is known when they have been read.
#' @export
length.tf_dataset <- function(x) NA_integer_

#' @rdname datasets
#' @param n How many elements.
#' @importFrom utils head
#' @export
head.tf_dataset <- function(x, n = 6L, ...) {
  if (...length()) {
    abort_runhooks("{.fn head} of a dataset takes {.arg n} and nothing more, not {describe(list(...))}.")
  }
  dataset_collect(x, n)
}

# "{x: float32 (), y: string ()}"; tuples in round brackets.
form_words <- function(form, words) {
  if (!is.list(form)) return(words[[form]])
  parts <- vapply(form, form_words, "", words)
  if (is.null(names(form))) return(paste0("(", paste(parts, collapse = ", "), ")"))
  paste0("{", paste0(names(form), ": ", parts, collapse = ", "), "}")
}
