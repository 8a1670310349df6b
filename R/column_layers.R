# The input layer and the linear model of feature columns, for custom models.

#' Feature columns as tensors
#'
#' `input_layer()` puts the dense tensors of feature columns side by side, in the order of the
#' columns' names; `linear_model()` adds up the weights of what each example has, and a bias. For
#' model functions of [custom estimators][tf] and graphs made by hand.
#'
#' @param features A named list of tensors, as input functions give them.
#' @param feature_columns A column or a list of columns. `input_layer()` takes dense ones, such as
#'   [column_numeric()], [column_embedding()], [column_indicator()]; `linear_model()` takes all.
#' @param weight_collections Names of further collections that the variables are added to.
#' @param trainable Whether the variables are trained.
#' @param cols_to_vars An environment that receives the list of variables of each column, by name.
#' @param cols_to_output_tensors Must be `NULL`.
#' @param units How many sums there are for an example.
#' @param sparse_combiner How the weights of several ids are combined: `"sum"`, `"mean"`, `"sqrtn"`.
#' @return A float32 tensor, `[batch, sum of widths]` or `[batch, units]`.
#' @section Errors: `runhooks_error_not_found` for a feature that is missing;
#'   `runhooks_error_invalid_argument` for columns of the same name, a categorical column in
#'   `input_layer()`, a feature of another type than its column.
#' @seealso `tf.feature_column.input_layer` and `linear_model` of TensorFlow 1.x.
#' @family feature columns
#' @export
#' @examples
#' graph <- tf$Graph()
#' with(graph$as_default(), {
#'   features <- list(x = tf$constant(c(1, 2)))
#'   dim(input_layer(features, column_numeric("x")))
#'   predictions <- linear_model(features, column_numeric("x"))
#'   dim(predictions)
#' })
input_layer <- function(
  features,
  feature_columns,
  weight_collections = NULL,
  trainable = TRUE,
  cols_to_vars = NULL,
  cols_to_output_tensors = NULL
) {
  unsupported(cols_to_output_tensors)
  check_flag(trainable)
  layer <- cpp_input_layer(
    column_features(features), core_columns(feature_columns), strings_of(weight_collections),
    trainable
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
    column_features(features), core_columns(feature_columns), units, sparse_combiner,
    strings_of(weight_collections), trainable
  )
  record_variables(cols_to_vars, model$variables)
  model$tensor
}

column_features <- function(features, call = parent.frame()) {
  is_feature <- function(x) is_tensor(x) || is_sparse(x)
  good <- is.list(features) && length(features) > 0 && !is.null(names(features)) && all(
    vapply(features, is_feature, NA)
  )
  check_arg(good, features, "a named list of tensors", "features", call)
}

core_columns <- function(columns, call = parent.frame()) {
  columns <- as_column_list(columns, call = call)
  if (length(columns) == 0) {
    abort_runhooks("{.arg feature_columns} must have at least one column.", call = call)
  }
  lapply(columns, core_value)
}

record_variables <- function(target, variables) {
  if (is.environment(target)) list2env(variables, target)
  invisible()
}

# `tf$feature_column`: the constructors by the names that the core's columns say.
# TensorFlow's columns have one key, `key`, and their other arguments by place.
of_one_key <- function(constructor) {
  arguments <- formals(constructor)
  if (names(arguments)[[1]] != "...") return(constructor)
  f <- function() {
    check_string(key)
    given <- mget(names(formals())[-1], envir = environment())
    do.call(constructor, c(list(key), given), quote = TRUE)
  }
  formals(f) <- c(alist(key = ), arguments[-1])
  f
}

