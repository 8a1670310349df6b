# Constructors of deep neural networks.

#' @name dnn_regressor
#' @rdname dnn_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # dnn_regressor(y ~ ., data, hidden_units = c(16, 8))
#' # dnn_classifier(y ~ ., data, hidden_units = c(16, 8))
NULL

#' Create a deep neural network
#'
#' Creates an estimator with fully connected layers. It predicts numbers (`dnn_regressor()`),
#' classes (`dnn_classifier()`) or the output of a head (`dnn_estimator()`) from a formula and a
#' data frame:
#'
#' ```
#' model <- dnn_regressor(mpg ~ wt + hp, data = mtcars, hidden_units = c(16, 8))
#' train(model)
#' predict(model, mtcars[1:3, ])
#' ```
#'
#' Instead of a formula, you can give dense feature columns, such as [column_numeric()].
#'
#' @eval estimator_params("dnn")
#' @param ... Not used; a further argument is an error that suggests the right one.
#' @return An estimator, as for [linear_regressor()]. Its class is
#'   `tf_estimator_regressor_dnn_regressor`, `tf_estimator_classifier_dnn_classifier` or
#'   `tf_estimator_estimator_dnn_estimator`.
#' @inheritSection linear_regressor Formulas
#' @inheritSection linear_regressor Training with a formula
#' @inheritSection linear_regressor Missing values
#' @inheritSection linear_regressor Predictions
#' @inheritSection linear_regressor Errors
#' @seealso The classes `tf.estimator.DNNRegressor`, `DNNClassifier` and `DNNEstimator` of
#'   TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model <- dnn_regressor(mpg ~ wt + hp + factor(cyl), mtcars, hidden_units = c(16, 8))
#' train(model, steps = 200)
#' predict(model, mtcars[1:3, ])
#'
#' # quantiles instead of a mean
#' spread <- dnn_estimator(
#'   quantile_head(c(0.1, 0.5, 0.9)), mpg ~ wt, data = mtcars, hidden_units = 8
#' )
#' train(spread, steps = 200)
#' predict(spread, mtcars[1:3, ])
#'
#' # feature columns
#' model <- dnn_classifier(
#'   hidden_units = c(10, 10), n_classes = 3,
#'   feature_columns = feature_columns(column_numeric("Petal.Length", "Petal.Width"))
#' )
#' input <- input_fn(
#'   iris, features = c(Petal.Length, Petal.Width), response = Species, num_epochs = 20
#' )
#' model |> train(input)
#' model |> evaluate(input)
dnn_regressor <- builtin_estimator("dnn_regressor")

#' @rdname dnn_regressor
#' @export
dnn_classifier <- builtin_estimator("dnn_classifier")

#' @rdname dnn_regressor
#' @export
dnn_estimator <- builtin_estimator("dnn_estimator")
