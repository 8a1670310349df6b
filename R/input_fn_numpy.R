#' Create an input function from named arrays
#'
#' Returns an input function that reads a list of arrays in batches, with their names as the names
#' of the features.
#'
#' @param x A named list of vectors, matrices or arrays with one row per example.
#' @param y Labels, a vector or matrix. Default, `NULL`: no labels.
#' @param batch_size Number of rows per batch. Default: 128. Batches continue across epochs; only
#'   the last batch can be shorter.
#' @param num_epochs Number of passes over the data. `NULL`: no limit. Default: 1.
#' @param shuffle Whether to shuffle the rows in each epoch, a logical, also for prediction. There
#'   is no default.
#' @param queue_capacity,num_threads Ignored; there is no queue.
#' @return An input function; see [input_fn()].
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: `x` is not a named list, `shuffle` is missing, or the
#'     numbers of rows differ.
#'   * The other errors of [input_fn()].
#' @seealso `tf.estimator.inputs.numpy_input_fn` of TensorFlow 1.x.
#' @family input functions
#' @export
#' @examples
#' input <- numpy_input_fn(
#'   list(x = as.matrix(mtcars[c("drat", "cyl")])), mtcars$mpg, batch_size = 8, shuffle = TRUE
#' )
#' model <- linear_regressor(column_numeric("x", shape = 2))
#' model |> train(input)
#' model |> evaluate(input)
numpy_input_fn <- function(x, y = NULL, batch_size = 128, num_epochs = 1, shuffle = NULL,
                           queue_capacity = 1000, num_threads = 1) {
  good <- is.list(x) && length(x) > 0 && !is.null(names(x)) && all(nzchar(names(x)))
  check_arg(good, x, "a named list of arrays", "x", environment())
  check_unique_names(names(x))
  if (!is_flag(shuffle)) {
    abort_runhooks(
      "{.arg shuffle} must be provided and explicitly set as boolean (it is recommended to set it as
       TRUE for training); got {describe(shuffle)}."
    )
  }
  # TensorFlow's name of the labels, if a feature has the name "y"
  labels <- if (!is.null(y)) if ("y" %in% names(x)) "__target_key__" else "y"
  data <- c(as.list(x), if (!is.null(y)) setNames(list(y), labels))
  # the labels have no name, so they match a response of any name
  new_input_fn(
    data, names(x), labels, batch_size, shuffle, num_epochs, as_matrix = FALSE,
    response_name = character()
  )
}

# Returns an input function without arguments, as TensorFlow does.
plain_numpy_input_fn <- function(x, y = NULL, batch_size = 128, num_epochs = 1, shuffle = NULL,
                                 queue_capacity = 1000, num_threads = 1) {
  numpy_input_fn(x, y, batch_size, num_epochs, shuffle)(NULL)
}

input_symbols <- function() {
  list(estimator.inputs.numpy_input_fn = plain_numpy_input_fn)
}
