# Linear models.

#' A linear model
#'
#' The label is a weighted sum of the feature columns and a bias; the weights start at 0.
#'
#' @param feature_columns A column or a list of columns, dense or categorical: [column_numeric()],
#'   [categorical_columns], [column_crossed()] and others.
#' @param model_dir The folder of checkpoints and event files; one that has a checkpoint is
#'   continued. `NULL`: the folder of the active tfruns run, else that of `config`, else a new one
#'   in `tempdir()`.
#' @param label_dimension How many numbers the label of an example is.
#' @param weight_column The name of a feature that weights the examples, or a [column_numeric()] of
#'   it, or `NULL`.
#' @param optimizer The name of an optimizer, an optimizer, or a function that returns one; see
#'   [optimizers]. A name takes the learning rate 0.2; `NULL` is Ftrl with the smaller of 0.2 and 1
#'   / sqrt(number of columns).
#' @param config A [run_config()], or `NULL`.
#' @param partitioner Accepted; variables have one part, as on one machine in TensorFlow.
#' @param loss_reduction How the losses of a batch become one number: `"sum"` (as in TensorFlow
#'   1.x), `"mean"`, `"sum_over_batch_size"`, `"sum_over_nonzero_weights"`.
#' @param sparse_combiner How the weights of the several values that an example has for a
#'   categorical column are combined: `"sum"`, `"mean"` or `"sqrtn"`.
#' @return An estimator for [train()], [evaluate()] and [predict()][predict.tf_estimator], of class
#'   `tf_estimator_regressor_linear_regressor`.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, such as an
#'   unknown optimizer.
#' @seealso The class `tf.estimator.LinearRegressor` of TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model <- linear_regressor(feature_columns(column_numeric("drat"), column_numeric("cyl")))
#' model %>% train(input_fn(mpg ~ drat + cyl, mtcars, batch_size = 8, num_epochs = 10))
#' model %>% evaluate(input_fn(mpg ~ drat + cyl, mtcars))
linear_regressor <- function(feature_columns, model_dir = NULL, label_dimension = 1L,
                             weight_column = NULL, optimizer = "Ftrl", config = NULL,
                             partitioner = NULL, loss_reduction = "sum",
                             sparse_combiner = "sum") {
  args <- mget(c(
    "feature_columns", "model_dir", "label_dimension", "weight_column", "optimizer", "config",
    "partitioner", "loss_reduction", "sparse_combiner"
  ), envir = environment())
  columns <- as_column_list(feature_columns)
  if (length(columns) == 0) stop_runhooks("{.arg feature_columns} must have at least one column.")
  check_string(model_dir, null = TRUE)
  check_positive_whole(label_dimension)
  check_weight_column(weight_column)
  check_optimizer(optimizer)
  config <- as_run_config(config, model_dir)
  spec <- list(
    feature_columns = columns, label_dimension = label_dimension, weight_column = weight_column,
    optimizer = optimizer, loss_reduction = loss_reduction, sparse_combiner = sparse_combiner
  )
  check_string(loss_reduction)
  check_arg(
    sparse_combiner %in% c("sum", "mean", "sqrtn"), sparse_combiner,
    "\"sum\", \"mean\" or \"sqrtn\"", "sparse_combiner", environment()
  )
  model <- new_canned_estimator(
    "linear_regressor", "LinearRegressor", "regressor", "tf_estimator_regressor_linear_regressor",
    spec, args, config
  )
  cpp_estimator_check(core_spec(model))
  model
}

check_weight_column <- function(weight_column, call = parent.frame()) {
  good <- is.null(weight_column) || inherits(weight_column, "NumericColumn") ||
    (is.character(weight_column) && length(weight_column) == 1)
  check_arg(good, weight_column, "the name of a feature or a numeric column", "weight_column", call)
}
