#' An input function from named arrays
#'
#' @param x A named list of vectors, matrices or arrays with a row for each example.
#' @param y The labels: a vector or a matrix; `NULL`: none.
#' @param batch_size Rows in a batch. Batches run on across epochs; only the last one may be short.
#' @param num_epochs How often the data are read; `NULL` for ever.
#' @param shuffle TRUE or FALSE, which must be said: are the rows of each epoch in an order of their
#'   own, in prediction, too?
#' @param queue_capacity,num_threads Accepted; there is no queue.
#' @return An input function, as [input_fn()] gives one. Features have the names of `x`.
#' @section Errors: `runhooks_error_invalid_argument` where `x` is no named list, `shuffle` is
#'   missing, or the numbers of rows differ; otherwise as for [input_fn()].
#' @seealso `tf.estimator.inputs.numpy_input_fn` of TensorFlow 1.x.
#' @family input functions
#' @export
#' @examples
#' input <- numpy_input_fn(
#'   list(x = as.matrix(mtcars[c("drat", "cyl")])), mtcars$mpg, batch_size = 8, shuffle = TRUE
#' )
#' model <- linear_regressor(column_numeric("x", shape = 2))
#' model %>% train(input)
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
  # TensorFlow's name for labels is no feature's
  labels <- if (!is.null(y)) if ("y" %in% names(x)) "__target_key__" else "y"
  data <- c(as.list(x), if (!is.null(y)) setNames(list(y), labels))
  # what has no name of its own is the same under any
  new_input_fn(
    data, names(x), labels, batch_size, shuffle, num_epochs, as_matrix = FALSE,
    response_name = character()
  )
}

# For functions that return what TensorFlow's does: a function of no argument.
plain_numpy_input_fn <- function(x, y = NULL, batch_size = 128, num_epochs = 1, shuffle = NULL,
                                 queue_capacity = 1000, num_threads = 1) {
  numpy_input_fn(x, y, batch_size, num_epochs, shuffle)(NULL)
}

input_symbols <- function() {
  list(estimator.inputs.numpy_input_fn = plain_numpy_input_fn)
}
