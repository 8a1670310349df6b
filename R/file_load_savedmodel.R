# Loads SavedModels, predicts with them, and writes TFRecord files.

#' Load a SavedModel
#'
#' Loads a SavedModel that [export_savedmodel()] or TensorFlow has written. `predict()` evaluates
#' one of its signatures.
#'
#' A signature needs one column of `newdata` for each of its inputs, which
#' `x$signatures[[name]]$inputs` lists. A signature that accepts serialized `tf.Example`s needs the
#' columns in `x$signatures[[name]]$example_features`; `predict()` creates the examples. NA omits a
#' feature. In a feature with a variable number of values, `""` and -1 are missing, as in feature
#' columns. Such a signature also accepts the examples themselves, as a list of raw vectors.
#'
#' @param dir Path of the export, a directory with `saved_model.pb` or `saved_model.pbtxt`.
#' @param tags Tags of the graph to load, strings. Exports of estimators have the tag `"serve"`.
#' @param object A model from `load_savedmodel()`.
#' @param newdata A data frame or named list with the inputs of the signature, or a list of raw
#'   vectors with serialized examples.
#' @param signature Name of a signature. Default: `serving_default`, or the only signature.
#' @param simplify `TRUE` (the default): return a tibble. `FALSE`: return a list with one named list
#'   per row.
#' @param x A model from `load_savedmodel()`.
#' @param ... Must be empty for `predict()`; ignored by `print()`.
#' @return `load_savedmodel()`: an object with the fields `signatures` and `dir`. `predict()`: with
#'   `simplify = TRUE`, a tibble with one row per example and one list column per output. For
#'   signatures with classes it also has `.pred_class`, the most likely class, which is a factor if
#'   the signature lists all classes.
#' @section Supported models: Graphs without functions whose operations exist in this package. These
#'   include the graphs of TensorFlow's canned estimators. `predict()` raises an error that names
#'   unsupported operations of the signature.
#' @section Untrusted models: Loaded models cannot write files or call R functions; see
#'   [foreign_files].
#' @section Errors:
#'   * `runhooks_error_not_found`: the model or the signature does not exist, or `newdata` lacks a
#'     column.
#'   * `runhooks_error_unimplemented`: the signature needs an unsupported operation.
#'   * `runhooks_error_permission_denied`: the model would write files, call functions, or read
#'     files outside its directory.
#'   * `runhooks_error_data_loss`: a file is damaged.
#' @seealso `tf.saved_model.load` of TensorFlow; an example of serving with plumber is in
#'   `system.file("examples/serving/plumber.R", package = "runhooks")`.
#' @family exported models
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model |> train(input_fn(mpg ~ drat, mtcars))
#' loaded <- load_savedmodel(export_savedmodel(model, tempfile("export")))
#' loaded
#' predict(loaded, data.frame(drat = c(3, 4)))
load_savedmodel <- function(dir, tags = "serve") {
  check_string(dir)
  good <- is.character(tags) && !anyNA(tags)
  check_arg(good, tags, "the names of tags", "tags", environment())
  dir <- absolute_path(dir, "dir")
  pointer <- cpp_load_savedmodel(dir, as.character(tags))
  structure(
    list(signatures = cpp_loaded_signatures(pointer), dir = dir, tags = tags, pointer = pointer),
    class = "runhooks_saved_model"
  )
}

#' @rdname load_savedmodel
#' @export
predict.runhooks_saved_model <- function(object, newdata, signature = "serving_default",
                                         simplify = TRUE, ...) {
  abort_extra_arguments("predict", list(...), c("newdata", "signature", "simplify"))
  if (missing(signature)) signature <- default_signature(object)
  check_string(signature)
  check_flag(simplify)
  predictions <- cpp_loaded_predict(object$pointer, signature, newdata, simplify, FALSE)
  if (!is.null(predictions)) return(predictions)
  data <- check_inputs(newdata, names(object$signatures[[signature]]$inputs))
  cpp_loaded_predict(object$pointer, signature, data, simplify, TRUE)
}

# Converts predicted classes to a factor unless levels are repeated. Called by the core for classes
# that are not strings.
factor_of_classes <- function(classes, levels) {
  if (anyDuplicated(levels)) classes else factor(classes, levels)
}

default_signature <- function(object) {
  names <- names(object$signatures)
  if (length(names) == 1) names else "serving_default"
}

check_inputs <- function(newdata, keys, call = parent.frame()) {
  if (is_matrix_package(newdata)) newdata <- as.matrix(newdata)
  if (is.matrix(newdata)) newdata <- as.data.frame(newdata, optional = TRUE)
  if (is.raw(newdata) || is.character(newdata) || is.list(newdata) && is.null(names(newdata))) {
    return(newdata)
  }
  check_arg(is.list(newdata), newdata, "a data frame or a list of raw vectors", "newdata", call)
  data <- lapply(newdata, input_column)
  for (key in keys[keys %in% names(data)]) {
    if (is.list(data[[key]])) data[[key]] <- matrix_of_rows(data[[key]], key, call)
  }
  data
}

input_column <- function(x) {
  if (is.factor(x)) return(as.character(x))
  if (is.list(x) && !is.data.frame(x)) {
    is_raw <- vapply(x, is.raw, NA)
    return(if (all(is_raw)) x else lapply(unname(x), unlist_cell))
  }
  if (is_matrix_package(x)) as.matrix(x) else x
}

# Converts a list column to a matrix. A list of serialized examples is returned unchanged.
matrix_of_rows <- function(x, name, call = parent.frame()) {
  if (length(x) == 0 || all(vapply(x, is.raw, NA))) return(x)
  kinds <- unique(vapply(x, typeof, ""))
  mixes <- any(kinds == "character") && length(kinds) > 1
  is_plain <- !mixes && !contains_encoded_numbers(x)
  if (!all(vapply(x, is_atomic, NA)) || any(lengths(x) == 0) || !is_plain) {
    abort_runhooks(
      "Input {.field {name}} must have only numbers, or only strings, in all rows.", call = call
    )
  }
  different <- which(lengths(x) != lengths(x)[[1]])
  if (length(different)) {
    abort_runhooks(
      "Input {.field {name}} must have the same number of values in each row: row 1 has
       {lengths(x)[[1]]}, row {different[[1]]} has {lengths(x)[[different[[1]]]]}.",
      call = call
    )
  }
  if (is.data.frame(x)) as.matrix(x) else matrix(unlist(x), nrow = length(x), byrow = TRUE)
}

unlist_cell <- function(cell) {
  cell <- if (is.list(cell)) unlist(cell) else cell
  if (is.factor(cell)) as.character(cell) else cell
}

#' @rdname load_savedmodel
#' @export
print.runhooks_saved_model <- function(x, ...) {
  texts <- vapply(names(x$signatures), function(name) {
    signature <- x$signatures[[name]]
    takes <- if (length(signature$example_features)) {
      paste0("examples of ", toString(names(signature$example_features)))
    } else {
      toString(names(signature$inputs))
    }
    problem <- if (nzchar(signature$problem)) " (cannot be run)" else ""
    paste0(name, ": ", takes, " -> ", toString(names(signature$outputs)), problem)
  }, "")
  # lint: allow stdout
  cat("<SavedModel ", x$dir, ">\n", paste0("  ", texts, "\n"), sep = "")
  invisible(x)
}

#' Write a TFRecord file
#'
#' Writes the rows of a data frame as `tf.Example`s to a TFRecord file. Read it with TensorFlow, or
#' with [tfrecord_dataset()] and `tf$parse_example()`.
#'
#' Doubles become floats, integers and logicals int64, strings and factors bytes. A matrix column or
#' a list column gives a row several values of a feature. NA omits the value.
#'
#' @param data A data frame or a named list of columns; or a list of raw vectors, which are written
#'   as records without conversion.
#' @param path Path of the file. An existing file is replaced.
#' @param compression_type `"GZIP"`, `"ZLIB"`, or `NULL` (the default) for no compression.
#' @return The number of records, invisibly.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an example cannot contain values of this type (dates,
#'     `integer64`), or a number is too large for a float.
#' @section Warnings: Whole numbers in a column of doubles are not exact as floats.
#' @family exported models
#' @export
#' @examples
#' path <- tempfile(fileext = ".tfrecord")
#' write_tfrecord(data.frame(x = c(1.5, 2), n = 1:2, word = c("a", NA)), path)
#' tfrecord_dataset(path) |>
#'   dataset_map(function(record) {
#'     tf$parse_single_example(record, list(x = tf$FixedLenFeature(1L, tf$float32)))
#'   }) |>
#'   dataset_collect() |>
#'   str()
write_tfrecord <- function(data, path, compression_type = NULL) {
  check_string(path)
  check_string(compression_type, null = TRUE)
  if (is.matrix(data)) data <- as.data.frame(data, optional = TRUE)
  check_arg(
    is.list(data) || is.raw(data), data, "a data frame or a list of raw vectors", "data",
    environment()
  )
  if (!is.null(names(data))) {
    check_unique_names(names(data))
    data <- lapply(data, input_column)
  }
  compression <- if (is.null(compression_type)) "" else compression_type
  invisible(cpp_write_tfrecord(data, absolute_path(path, "path"), compression))
}
