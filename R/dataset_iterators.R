# Iterators, which read datasets in graphs.

#' Read a dataset in a graph with an iterator
#'
#' These functions create an iterator in the default graph. `iterator_get_next()` returns tensors
#' that evaluate to the next element in each run of a session.
#'
#' * `make_iterator_one_shot()`: starts at the first element in each session.
#' * `make_iterator_initializable()`: starts at the first element whenever its initializer runs.
#' * `make_iterator_from_structure()`: reads any dataset with the given types and shapes. An
#'   initializer from `iterator_make_initializer()` selects the dataset.
#'
#' @param dataset A dataset.
#' @param output_types,output_shapes Types and shapes of the elements, as from [output_types()] and
#'   [output_shapes()]. Default of `output_shapes`, `NULL`: unknown shapes.
#' @param shared_name Ignored; sessions do not share iterators.
#' @param iterator An iterator.
#' @param name Name of the operation. Default, `NULL`: `"IteratorGetNext"` or `"MakeIterator"`.
#' @return `make_iterator_*()`: an iterator, with the members `get_next()`, `initializer`,
#'   `make_initializer(dataset)`, `output_types` and `output_shapes`. `iterator_get_next()`: tensors
#'   in the structure of an element. `iterator_initializer()` and `iterator_make_initializer()`: an
#'   operation.
#' @section Errors:
#'   * `runhooks_error_out_of_range`: the data have ended; see [until_out_of_range()].
#'   * `runhooks_error_failed_precondition`: the initializer has not run.
#'   * `runhooks_error_invalid_argument`: an argument is invalid, or the elements of `dataset` have
#'     another structure than those of the iterator.
#' @family datasets
#' @export
#' @examples
#' batch <- range_dataset(0, 4) |>
#'   dataset_batch(2) |>
#'   make_iterator_one_shot() |>
#'   iterator_get_next()
#' with(tf$Session() %as% sess, {
#'   until_out_of_range(print(sess$run(batch)))
#' })
#'
#' # starts again whenever the initializer runs
#' iterator <- make_iterator_initializable(range_dataset(0, 4))
#' value <- iterator_get_next(iterator)
#' with(tf$Session() %as% sess, {
#'   sess$run(iterator_initializer(iterator))
#'   print(sess$run(value))
#' })
#'
#' # one iterator for two datasets of the same structure
#' training <- tensor_slices_dataset(c(1, 2))
#' iterator <- make_iterator_from_structure(output_types(training), output_shapes(training))
#' begin_train <- iterator_make_initializer(iterator, training)
#' begin_test <- iterator_make_initializer(iterator, tensor_slices_dataset(c(10, 20)))
#' value <- iterator_get_next(iterator)
#' with(tf$Session() %as% sess, {
#'   sess$run(begin_train)
#'   print(sess$run(value))
#'   sess$run(begin_test)
#'   print(sess$run(value))
#' })
make_iterator_one_shot <- function(dataset) {
  check_dataset(dataset)
  dataset <- sharded_dataset(dataset)
  new_iterator(dataset$handle, cpp_dataset_info(dataset$handle), dataset$form)
}

# Returns the part of a dataset that this process reads. In training it consists of some of the
# files or records, otherwise of some of the batches.
sharded_dataset <- function(dataset) {
  shard <- the$reading$shard
  if (is.null(shard)) return(dataset)
  is_sharded <- cpp_dataset_info(dataset$handle)$is_part
  shard$sharded_by <- if (is_sharded) "input_fn" else "package"
  if (is_sharded) return(dataset)
  sharded_by_file <- if (shard$shards_rows) {
    cpp_dataset_shard_by_file(dataset$handle, shard$size, shard$rank)
  }
  if (is.null(sharded_by_file)) return(dataset_shard(dataset, shard$size, shard$rank))
  tf_dataset(sharded_by_file, dataset$form)
}

#' @rdname make_iterator_one_shot
#' @export
make_iterator_initializable <- function(dataset, shared_name = NULL) {
  check_dataset(dataset)
  dataset <- sharded_dataset(dataset)
  iterator <- new_iterator(NULL, cpp_dataset_info(dataset$handle), dataset$form)
  initializer <- cpp_iterator_initializer(unclass(iterator)$handle, dataset$handle, "MakeIterator")
  set_initializer(iterator, initializer)
}

#' @rdname make_iterator_one_shot
#' @export
make_iterator_from_structure <- function(output_types, output_shapes = NULL, shared_name = NULL) {
  types <- lapply(flatten_structure(output_types), element_dtype)
  form <- structure_of(output_types)
  dims <- vector("list", length(types))
  if (!is.null(output_shapes)) dims <- component_shapes(output_shapes, form)
  info <- list(dtypes = unlist(types), dims = dims)
  new_iterator(NULL, info, form)
}

element_dtype <- function(x, call = parent.frame(2)) {
  check_arg(
    is_dtype(x) || is_string(x), x, "types, as output_types() gives them", "output_types", call
  )
  dtype_name(x)
}

# Returns the dimensions of each component. An unknown dimension is NA; an unknown number of
# dimensions is NULL.
component_shapes <- function(shapes, form, arg = "output_shapes", call = parent.frame()) {
  lapply(shapes_in_structure(shapes, form, arg, call), shape_dims, arg, call)
}

# Returns a flat list of shapes. A shape may itself be a list, so `form` determines where a shape
# starts.
shapes_in_structure <- function(shapes, form, arg, call) {
  if (!is.list(form)) return(list(shapes))
  check_arg(
    is.list(shapes) && length(shapes) == length(form), shapes,
    "shapes in the form of an element", arg, call
  )
  inner <- Map(function(x, form) shapes_in_structure(x, form, arg, call), shapes, form)
  do.call(c, c(list(list()), unname(inner)))
}

shape_dims <- function(shape, arg, call) {
  if (inherits(shape, "tensorflow.shape")) return(unclass(shape)$dims)
  if (is.null(shape)) return(NULL)
  is_size <- function(d) {
    is.null(d) || is_atomic(d) && length(d) == 1 && (is.na(d) || is_whole(d) && d >= -1)
  }
  good <- (is.list(shape) || is_atomic(shape)) && all(vapply(as.list(shape), is_size, NA))
  check_arg(good, shape, "shapes, as output_shapes() gives them", arg, call)
  vapply(as.list(shape), function(d) if (is.null(d) || is.na(d)) NA_real_ else as.double(d), 0)
}

new_iterator <- function(dataset, info, form) {
  handle <- cpp_iterator(dataset, info$dtypes, info$dims)
  structure(list(handle = handle, info = info, form = form), class = "tf_iterator")
}

set_initializer <- function(iterator, initializer) {
  fields <- unclass(iterator)
  fields$initializer <- initializer
  structure(fields, class = "tf_iterator")
}

check_iterator <- function(x, arg = "iterator", call = parent.frame()) {
  check_arg(inherits(x, "tf_iterator"), x, "an iterator", arg, call)
}

#' @rdname make_iterator_one_shot
#' @export
iterator_get_next <- function(iterator, name = NULL) {
  check_iterator(iterator)
  check_string(name, null = TRUE)
  fields <- unclass(iterator)
  if (is.null(name)) name <- "IteratorGetNext"
  fill_structure(fields$form, cpp_iterator_get_next(fields$handle, name))
}

#' @rdname make_iterator_one_shot
#' @export
iterator_initializer <- function(iterator) {
  check_iterator(iterator)
  initializer <- unclass(iterator)$initializer
  if (is.null(initializer)) {
    abort_runhooks(
      c(
        "The iterator has no initializer.",
        i = "Use {.fn make_iterator_initializable} or {.fn iterator_make_initializer}."
      ),
      kind = "invalid_argument"
    )
  }
  initializer
}

#' @rdname make_iterator_one_shot
#' @export
iterator_make_initializer <- function(iterator, dataset, name = NULL) {
  check_iterator(iterator)
  check_dataset(dataset)
  check_string(name, null = TRUE)
  if (is.null(name)) name <- "MakeIterator"
  fields <- unclass(iterator)
  if (!identical(fields$form, dataset$form)) {
    abort_runhooks("The elements of {.arg dataset} and of the iterator have different structures.")
  }
  cpp_iterator_initializer(fields$handle, dataset$handle, name)
}

#' @export
`$.tf_iterator` <- function(x, name) {
  switch(name,
    get_next = function(name = NULL) iterator_get_next(x, name),
    initializer = iterator_initializer(x),
    make_initializer = function(dataset, name = NULL) iterator_make_initializer(x, dataset, name),
    output_types = output_types(x),
    output_shapes = output_shapes(x),
    form = unclass(x)$form,
    abort_no_member(x, name)
  )
}

#' @export
print.tf_iterator <- function(x, ...) {
  info <- unclass(x)$info
  cat("<tf_iterator> of ", length(info$dtypes), " components\n", sep = "") # lint: allow stdout
  invisible(x)
}

#' Save the position of an iterator in checkpoints
#'
#' Returns an object that adds the position of an iterator to checkpoints. Add it to the collection
#' `saveable_objects`; `tf$train$Saver()` and the checkpoints of a model then include the position.
#' If the position is restored before the iterator's initializer runs, the first initialization
#' starts at this position.
#'
#' @param iterator An iterator.
#' @param on_other_data What to do if a restored position belongs to different data or to a
#'   different pipeline. `"stop"` (the default): raise an error that describes both. `"begin"`: log
#'   the mismatch and start at the first element.
#' @return An object for `tf$add_to_collection("saveable_objects", )`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `iterator` is not an iterator.
#' @seealso [hook_checkpoint_input_pipeline()]
#' @family datasets
#' @export
#' @examples
#' tf$reset_default_graph()
#' iterator <- make_iterator_one_shot(range_dataset(0, 4))
#' value <- iterator_get_next(iterator)
#' tf$add_to_collection("saveable_objects", make_saveable_from_iterator(iterator))
#' saver <- tf$train$Saver()
#' path <- file.path(tempdir(), "position.ckpt")
#' with(tf$Session() %as% sess, {
#'   print(sess$run(value))
#'   saver$save(sess, path)
#' })
#' with(tf$Session() %as% sess, {
#'   saver$restore(sess, path)
#'   print(sess$run(value))
#' })
make_saveable_from_iterator <- function(iterator, on_other_data = c("stop", "begin")) {
  check_iterator(iterator)
  on_other_data <- check_one_of(on_other_data, c("stop", "begin"))
  cpp_iterator_saveable(unclass(iterator)$handle, on_other_data)
}

#' Get the next element of a dataset as tensors
#'
#' Returns tensors that evaluate to the next element of a dataset in each run of a session.
#'
#' If the dataset depends on variables or feeds (see [datasets]), its iterator starts when
#' `tf$tables_initializer()` runs. Estimators run this operation; in a session, run it yourself.
#'
#' @param dataset A dataset or an iterator.
#' @return Tensors of the default graph, in the structure of an element.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `dataset` is neither a dataset nor an iterator.
#' @family datasets
#' @export
#' @examples
#' batch <- next_batch(range_dataset(0, 4) |> dataset_batch(2))
#' with(tf$Session() %as% sess, until_out_of_range(print(sess$run(batch))))
next_batch <- function(dataset) {
  if (inherits(dataset, "tf_iterator")) return(iterator_get_next(dataset))
  check_dataset(dataset)
  if (cpp_dataset_is_constant(dataset$handle)) {
    return(iterator_get_next(make_iterator_one_shot(dataset)))
  }
  iterator <- make_iterator_initializable(dataset)
  tf$add_to_collection("table_initializer", iterator_initializer(iterator))
  iterator_get_next(iterator)
}

#' Loop until a dataset ends
#'
#' `until_out_of_range()` evaluates an expression repeatedly until a dataset ends or `break` is
#' called. `with_dataset()` evaluates an expression once and returns if a dataset ends.
#' `out_of_range_handler()` is a handler for `tryCatch(error = )` that ignores the end of a dataset.
#'
#' @param expr An expression, evaluated in the calling frame.
#' @param e A condition.
#' @return `NULL`, invisibly. `with_dataset()`: the value of the expression, or `NULL` if a dataset
#'   has ended.
#' @section Errors:
#'   * Any error of the expression except `runhooks_error_out_of_range`, the end of a dataset.
#'   * `runhooks_error_invalid_argument`: the argument of `out_of_range_handler()` is not a
#'     condition.
#' @family datasets
#' @export
#' @examples
#' value <- next_batch(range_dataset(0, 3))
#' with(tf$Session() %as% sess, {
#'   until_out_of_range(print(sess$run(value)))
#' })
#'
#' # with an explicit loop, and as a handler of tryCatch()
#' value <- next_batch(range_dataset(0, 3))
#' with(tf$Session() %as% sess, {
#'   with_dataset(while (TRUE) print(sess$run(value)))
#'   tryCatch(sess$run(value), error = out_of_range_handler)
#' })
until_out_of_range <- function(expr) {
  loop <- call("while", TRUE, substitute(expr))
  tryCatch(eval(loop, parent.frame()), runhooks_error_out_of_range = function(e) NULL)
  invisible()
}

#' @rdname until_out_of_range
#' @export
with_dataset <- function(expr) {
  tryCatch(expr, runhooks_error_out_of_range = function(e) invisible())
}

#' @rdname until_out_of_range
#' @export
out_of_range_handler <- function(e) {
  check_arg(inherits(e, "condition"), e, "a condition", "e", environment())
  if (!inherits(e, "runhooks_error_out_of_range")) stop(e)
  invisible()
}

#' Read a dataset element by element
#'
#' `as_iterator()` returns an iterator over the elements of a dataset, for [iter_next()] and
#' [iterate()]. [dataset_collect()] reads all elements at once.
#'
#' @param x A dataset. An iterator is returned unchanged.
#' @return An object with the functions `next_item()`, which returns `NULL` at the end, and
#'   `close()`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `x` is neither a dataset nor an iterator.
#' @family datasets
#' @export
#' @examples
#' iterator <- as_iterator(dataset_batch(range_dataset(0, 4), 2))
#' iter_next(iterator)
#' iter_next(iterator)
#' iter_next(iterator, completed = "the end")
as_iterator <- function(x) {
  if (inherits(x, "runhooks_iterator")) return(x)
  check_dataset(x, "x")
  graph <- tf$Graph()
  with(graph$as_default(), {
    value <- iterator_get_next(make_iterator_one_shot(x))
    session <- tf$Session()
  })
  next_item <- function() {
    tryCatch(session$run(value), runhooks_error_out_of_range = function(condition) NULL)
  }
  structure(list(next_item = next_item, close = session$close), class = "runhooks_iterator")
}

#' Prefetch to a device
#'
#' The same as [dataset_prefetch()], for scripts written for tfdatasets: the only device is the
#' processor.
#'
#' @param dataset A dataset.
#' @param device Name of a device; ignored.
#' @param buffer_size Number of elements to produce ahead, or `NULL`.
#' @return A dataset; see [datasets].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid.
#' @family datasets
#' @export
#' @examples
#' range_dataset(0, 3) |> dataset_prefetch_to_device("/gpu:0") |> dataset_collect()
dataset_prefetch_to_device <- function(dataset, device, buffer_size = NULL) {
  check_string(device)
  dataset_prefetch(dataset, buffer_size)
}
