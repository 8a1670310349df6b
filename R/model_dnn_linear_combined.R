# Wide and deep models.

#' @name dnn_linear_combined_regressor
#' @rdname dnn_linear_combined_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # dnn_linear_combined_regressor(y ~ ., data, dnn_hidden_units = c(16, 8))
#' # dnn_linear_combined_classifier(y ~ ., data, dnn_hidden_units = c(16, 8))
NULL

#' A linear model and a deep one together
#'
#' The logits of both are added and trained together, each part by an optimizer of its own. Either
#' part may be left out.
#'
#' @eval estimator_params("dnn_linear_combined")
#' @param ... Nothing: what is no argument is refused, with what to write.
#' @return An estimator, as for [linear_regressor()], of class
#'   `tf_estimator_dnn_linear_combined_regressor`,
#'   `tf_estimator_classifier_dnn_linear_combined_classifier` or
#'   `tf_estimator_estimator_dnn_linear_combined_estimator`.
#' @section Formulas: Either part takes a formula, as in [linear_regressor()]; one has the response.
#'   Where a formula stands first it is for both parts, the deep one without its interactions.
#' @inheritSection linear_regressor Training of formulas
#' @inheritSection linear_regressor Missing values
#' @inheritSection linear_regressor Predictions
#' @inheritSection linear_regressor Errors
#' @seealso The classes `tf.estimator.DNNLinearCombinedRegressor`, `DNNLinearCombinedClassifier` and
#'   `DNNLinearCombinedEstimator` of TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' gears <- column_categorical_with_identity("gear", num_buckets = 6)
#' model <- dnn_linear_combined_regressor(
#'   linear_feature_columns = gears, dnn_feature_columns = column_numeric("wt", "hp"),
#'   dnn_hidden_units = c(8, 4)
#' )
#' cars <- transform(mtcars, gear = as.integer(gear))
#' model %>% train(input_fn(mpg ~ gear + wt + hp, cars, batch_size = 8, num_epochs = 5))
#'
#' # a class, or what a head describes
#' classes <- dnn_linear_combined_classifier(
#'   linear_feature_columns = gears, dnn_feature_columns = column_numeric("wt", "hp"),
#'   dnn_hidden_units = 4
#' )
#' classes %>% train(input_fn(vs ~ gear + wt + hp, cars, num_epochs = 5))
#'
#' counts <- dnn_linear_combined_estimator(
#'   head = poisson_regression_head(), linear_feature_columns = gears,
#'   dnn_feature_columns = column_numeric("wt", "hp"), dnn_hidden_units = 4
#' )
#' counts %>% train(input_fn(carb ~ gear + wt + hp, cars, num_epochs = 5))
dnn_linear_combined_regressor <- builtin_estimator(
  "dnn_linear_combined_regressor", class = "tf_estimator_dnn_linear_combined_regressor"
)

#' @rdname dnn_linear_combined_regressor
#' @export
dnn_linear_combined_classifier <- builtin_estimator("dnn_linear_combined_classifier")

#' @rdname dnn_linear_combined_regressor
#' @export
dnn_linear_combined_estimator <- builtin_estimator("dnn_linear_combined_estimator")
