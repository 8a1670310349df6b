# Constructors of wide and deep models.

#' @name dnn_linear_combined_regressor
#' @rdname dnn_linear_combined_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # dnn_linear_combined_regressor(y ~ ., data, dnn_hidden_units = c(16, 8))
#' # dnn_linear_combined_classifier(y ~ ., data, dnn_hidden_units = c(16, 8))
NULL

#' Create a wide and deep model
#'
#' Creates an estimator that adds the logits of a linear model and of a deep neural network. Both
#' parts are trained together, each with its own optimizer:
#'
#' ```
#' model <- dnn_linear_combined_regressor(mpg ~ wt + hp, data = mtcars, dnn_hidden_units = c(16, 8))
#' train(model)
#' predict(model, mtcars[1:3, ])
#' ```
#'
#' Instead of a formula, you can give feature columns for each part, and omit either part.
#'
#' @eval estimator_params("dnn_linear_combined")
#' @param ... Not used; a further argument is an error that suggests the right one.
#' @return An estimator, as for [linear_regressor()]. Its class is
#'   `tf_estimator_dnn_linear_combined_regressor`,
#'   `tf_estimator_classifier_dnn_linear_combined_classifier` or
#'   `tf_estimator_estimator_dnn_linear_combined_estimator`.
#' @section Formulas: Each part accepts a formula, as in [linear_regressor()]; one of them has the
#'   response. A formula as the first argument applies to both parts; the deep part omits its
#'   interactions.
#' @inheritSection linear_regressor Training with a formula
#' @inheritSection linear_regressor Missing values
#' @inheritSection linear_regressor Predictions
#' @inheritSection linear_regressor Errors
#' @seealso The classes `tf.estimator.DNNLinearCombinedRegressor`, `DNNLinearCombinedClassifier` and
#'   `DNNLinearCombinedEstimator` of TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model <- dnn_linear_combined_regressor(mpg ~ wt + hp, data = mtcars, dnn_hidden_units = c(16, 8))
#' train(model, steps = 200)
#' predict(model, mtcars[1:3, ])
#'
#' # feature columns
#' gears <- column_categorical_with_identity("gear", num_buckets = 6)
#' model <- dnn_linear_combined_regressor(
#'   linear_feature_columns = gears, dnn_feature_columns = column_numeric("wt", "hp"),
#'   dnn_hidden_units = c(8, 4)
#' )
#' cars <- transform(mtcars, gear = as.integer(gear))
#' model |> train(input_fn(mpg ~ gear + wt + hp, cars, batch_size = 8, num_epochs = 5))
#' model |> evaluate(input_fn(mpg ~ gear + wt + hp, cars))
#'
#' # classes, or the output of a head
#' classes <- dnn_linear_combined_classifier(
#'   linear_feature_columns = gears, dnn_feature_columns = column_numeric("wt", "hp"),
#'   dnn_hidden_units = 4
#' )
#' classes |> train(input_fn(vs ~ gear + wt + hp, cars, num_epochs = 5))
#'
#' counts <- dnn_linear_combined_estimator(
#'   head = poisson_regression_head(), linear_feature_columns = gears,
#'   dnn_feature_columns = column_numeric("wt", "hp"), dnn_hidden_units = 4
#' )
#' counts |> train(input_fn(carb ~ gear + wt + hp, cars, num_epochs = 5))
dnn_linear_combined_regressor <- builtin_estimator(
  "dnn_linear_combined_regressor", class = "tf_estimator_dnn_linear_combined_regressor"
)

#' @rdname dnn_linear_combined_regressor
#' @export
dnn_linear_combined_classifier <- builtin_estimator("dnn_linear_combined_classifier")

#' @rdname dnn_linear_combined_regressor
#' @export
dnn_linear_combined_estimator <- builtin_estimator("dnn_linear_combined_estimator")
