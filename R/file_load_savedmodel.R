# Models that were exported, here or by TensorFlow, and their answers.

#' Load an exported model
#'
#' Loads a SavedModel that [export_savedmodel()] or TensorFlow has written. `predict()` asks it.
#'
#' A signature takes one column of `newdata` for each of its inputs, in `names(x$signatures)`'s
#' terms: `x$signatures[[name]]$inputs`. One that takes serialized `tf.Example`s takes the columns
#' of the features that it parses (`x$signatures[[name]]$example_features`), from which the examples
#' are made: in a feature of any number of values "" and -1 are missing, as in the columns of a
#' model; NA leaves a feature out. It also takes the examples themselves, a list of raw vectors.
#'
#' @param dir The folder of the export, with `saved_model.pb` or `saved_model.pbtxt`.
#' @param tags The tags of the graph that is wanted; exports of estimators have `"serve"`.
#' @param object What `load_savedmodel()` gives.
#' @param newdata A data frame or named list with what the signature takes; or serialized examples,
#'   a list of raw vectors.
#' @param signature The name of a signature. Without this argument it is `serving_default`, or the
#'   only one.
#' @param simplify TRUE: a tibble with one row for each example and a list column for each output,
#'   and `.pred_class`, the most likely class, where the signature has classes (a factor where it
#'   says all of them); FALSE: one named list for each row.
#' @param x The same.
#' @param ... Not used.
#' @return `load_savedmodel()`: an object with `signatures` and `dir`. `predict()`: as `simplify`
#'   says.
#' @section What can be loaded: Graphs of operations that this package has, which are those of
#'   TensorFlow's canned estimators, without functions. What a signature needs that is not there is
#'   named when that signature is asked.
#' @section Models of somebody else: They compute and never act: see [foreign_files].
#' @section Errors: `runhooks_error_not_found` where there is no model, no such signature, or where
#'   the data lack a column; `runhooks_error_unimplemented` for what cannot be run;
#'   `runhooks_error_permission_denied` for what would act or read outside of its folder;
#'   `runhooks_error_data_loss` for damaged files.
#' @seealso `tf.saved_model.load` of TensorFlow; an example of serving with plumber is in
#'   `system.file("examples/serving/plumber.R", package = "runhooks")`.
#' @family exported models
#' @export
#' @examples
#' model <- linear_regressor(column_numeric("drat"))
#' model %>% train(input_fn(mpg ~ drat, mtcars))
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
  abort_more("predict", list(...), c("newdata", "signature", "simplify"))
  if (missing(signature)) signature <- usual_signature(object)
  check_string(signature)
  check_flag(simplify)
  answer <- cpp_loaded_predict(object$pointer, signature, newdata, simplify, FALSE)
  if (!is.null(answer)) return(answer)
  data <- served_data(newdata, names(object$signatures[[signature]]$inputs))
  cpp_loaded_predict(object$pointer, signature, data, simplify, TRUE)
}

# Classes that are no strings, which the core leaves to R.
served_factor <- function(classes, levels) {
  if (anyDuplicated(levels)) classes else factor(classes, levels)
}

# A model with one signature is asked that one.
usual_signature <- function(object) {
  names <- names(object$signatures)
  if (length(names) == 1) names else "serving_default"
}

# Columns as the core takes them. List columns for inputs of the signature, `keys`, become matrices.
served_data <- function(newdata, keys, call = parent.frame()) {
  if (is_matrix_package(newdata)) newdata <- as.matrix(newdata)
  if (is.matrix(newdata)) newdata <- as.data.frame(newdata, optional = TRUE)
  if (is.raw(newdata) || is.character(newdata) || is.list(newdata) && is.null(names(newdata))) {
    return(newdata)
  }
  check_arg(is.list(newdata), newdata, "a data frame or a list of raw vectors", "newdata", call)
  data <- lapply(newdata, served_column)
  for (key in keys[keys %in% names(data)]) {
    if (is.list(data[[key]])) data[[key]] <- served_rows(data[[key]], key, call)
  }
  data
}

served_column <- function(x) {
  if (is.factor(x)) return(as.character(x))
  if (is.list(x) && !is.data.frame(x)) {
    is_raw <- vapply(x, is.raw, NA)
    return(if (all(is_raw)) x else lapply(unname(x), unlist_cell))
  }
  if (is_matrix_package(x)) as.matrix(x) else x
}

# The rows of a list column or of a data frame as a matrix, which an input takes; examples as they
# are.
served_rows <- function(x, name, call = parent.frame()) {
  if (length(x) == 0 || all(vapply(x, is.raw, NA))) return(x)
  kinds <- unique(vapply(x, typeof, ""))
  mixes <- any(kinds == "character") && length(kinds) > 1
  if (!all(vapply(x, is_atomic, NA)) || any(lengths(x) == 0) || mixes) {
    abort_runhooks("Input {.field {name}} must have numbers, or strings, in all rows.", call = call)
  }
  odd <- which(lengths(x) != lengths(x)[[1]])
  if (length(odd)) {
    abort_runhooks(
      "Input {.field {name}} must have as many values in each row: row 1 has {lengths(x)[[1]]},
       row {odd[[1]]} has {lengths(x)[[odd[[1]]]]}.",
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

#' Write a file of records
#'
#' Writes the rows of a data frame as `tf.Example`s into a TFRecord file, which TensorFlow and
#' `tfrecord_dataset()` read and `tf$parse_example()` takes apart.
#'
#' Doubles are written as floats, integers and logicals as int64, strings and factors as bytes. A
#' matrix column or a list column gives an example several values of a feature. What is NA is left
#' out.
#'
#' @param data A data frame or a named list of columns; or records as they are, a list of raw
#'   vectors.
#' @param path The file, which is replaced.
#' @param compression_type `NULL`, `"GZIP"` or `"ZLIB"`.
#' @return The number of records, invisibly.
#' @section Errors: `runhooks_error_invalid_argument` for columns that an example cannot hold (dates,
#'   `integer64`), and for numbers that are too large for a float. Whole numbers in doubles that a
#'   float rounds are a warning.
#' @family exported models
#' @export
#' @examples
#' path <- tempfile(fileext = ".tfrecord")
#' write_tfrecord(data.frame(x = c(1.5, 2), n = 1:2, word = c("a", NA)), path)
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
    data <- lapply(data, served_column)
  }
  compression <- if (is.null(compression_type)) "" else compression_type
  invisible(cpp_write_tfrecord(data, absolute_path(path, "path"), compression))
}
