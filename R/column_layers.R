# Input layers and linear models from feature columns, for custom model functions.

#' Convert features to tensors with feature columns
#'
#' `input_layer()` returns the values of dense feature columns as one matrix, in the order of the
#' columns' names. `linear_model()` returns a linear function of the columns: the sum of their
#' weights and a bias. Use both in model functions of [custom estimators][tf] and in graphs.
#'
#' @param features A named list of tensors, as input functions return.
#' @param feature_columns A column or a list of columns. `input_layer()` accepts dense columns, such
#'   as [column_numeric()], [column_embedding()] and [column_indicator()]; `linear_model()` accepts
#'   all columns.
#' @param weight_collections Names of additional collections for the variables, strings.
#' @param trainable Whether training updates the variables, a logical. Default: `TRUE`.
#' @param cols_to_vars An environment. The function assigns to it, by column name, the list of the
#'   column's variables.
#' @param cols_to_output_tensors Must be `NULL`.
#' @param units Number of outputs per row, a positive whole number. Default: 1.
#' @param sparse_combiner How the weights of several ids are combined: `"sum"` (the default),
#'   `"mean"` or `"sqrtn"`.
#' @return A float32 tensor: for `input_layer()` of shape `[batch, sum of widths]`, for
#'   `linear_model()` of shape `[batch, units]`.
#' @section Errors:
#'   * `runhooks_error_not_found`: a feature is missing.
#'   * `runhooks_error_invalid_argument`: two columns have the same name, `input_layer()` received a
#'     categorical column, or the type of a feature does not match its column.
#' @seealso `tf.feature_column.input_layer` and `linear_model` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' graph <- tf$Graph()
#' with(graph$as_default(), {
#'   features <- list(x = tf$constant(c(1, 2)))
#'   layer <- input_layer(features, column_numeric("x"))
#'   predictions <- linear_model(features, column_numeric("x"), units = 2)
#'   with(tf$Session() %as% sess, {
#'     sess$run(tf$global_variables_initializer())
#'     print(sess$run(layer))
#'     print(sess$run(predictions)) # the initial weights are zero
#'   })
#' })
input_layer <- function(
  features,
  feature_columns,
  weight_collections = NULL,
  trainable = TRUE,
  cols_to_vars = NULL,
  cols_to_output_tensors = NULL
) {
  abort_unsupported_arguments(cols_to_output_tensors)
  check_flag(trainable)
  layer <- cpp_input_layer(
    check_feature_tensors(features), columns_for_core(feature_columns),
    as_strings(weight_collections), trainable
  )
  record_variables(cols_to_vars, layer$variables)
  layer$tensor
}

#' @rdname input_layer
#' @export
linear_model <- function(
  features,
  feature_columns,
  units = 1L,
  sparse_combiner = "sum",
  weight_collections = NULL,
  trainable = TRUE,
  cols_to_vars = NULL
) {
  check_positive_whole(units)
  check_flag(trainable)
  model <- cpp_linear_model(
    check_feature_tensors(features), columns_for_core(feature_columns), units, sparse_combiner,
    as_strings(weight_collections), trainable
  )
  record_variables(cols_to_vars, model$variables)
  model$tensor
}

check_feature_tensors <- function(features, call = parent.frame()) {
  is_feature <- function(x) is_tensor(x) || is_sparse(x)
  good <- is.list(features) && length(features) > 0 && !is.null(names(features)) && all(
    vapply(features, is_feature, NA)
  )
  check_arg(good, features, "a named list of tensors", "features", call)
}

columns_for_core <- function(columns, call = parent.frame()) {
  columns <- as_column_list(columns, call = call)
  if (length(columns) == 0) {
    abort_runhooks("{.arg feature_columns} must have at least one column.", call = call)
  }
  lapply(columns, value_for_core)
}

record_variables <- function(target, variables) {
  if (is.environment(target)) list2env(variables, target)
  invisible()
}

# Converts a constructor of columns to TensorFlow's signature, which has `key` instead of `...`.
column_from_key <- function(constructor) {
  arguments <- formals(constructor)
  if (names(arguments)[[1]] != "...") return(constructor)
  f <- function() {
    check_string(key)
    args <- mget(names(formals())[-1], envir = environment())
    do.call(constructor, c(list(key), args), quote = TRUE)
  }
  formals(f) <- c(alist(key = ), arguments[-1])
  f
}

