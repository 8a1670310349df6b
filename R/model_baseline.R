# Constructors of baseline models, which ignore the features.

#' @name baseline_regressor
#' @rdname baseline_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # baseline_regressor(y ~ ., data)
#' # baseline_classifier(y ~ ., data)
NULL

#' Create a baseline model
#'
#' Creates an estimator that ignores the features. It predicts the mean of the labels or the
#' frequency of each class, which helps to judge other models.
#'
#' @eval estimator_params("baseline")
#' @param ... Not used; a further argument is an error that suggests the right one.
#' @return An estimator, as for [linear_regressor()]. Its class is
#'   `tf_estimator_regressor_baseline_regressor`, `tf_estimator_classifier_baseline_classifier` or
#'   `tf_estimator_estimator_baseline_estimator`.
#' @inheritSection linear_regressor Predictions
#' @inheritSection linear_regressor Errors
#' @seealso The classes `tf.estimator.BaselineRegressor`, `BaselineClassifier` and
#'   `BaselineEstimator` of TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model <- baseline_regressor(optimizer = tf$train$AdamOptimizer(0.5))
#' model |> train(input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 50))
#' model |> evaluate(input_fn(mpg ~ wt, mtcars))
#'
#' # predicts the frequency of each class
#' input <- input_fn(Species ~ Petal.Width, iris, num_epochs = 20)
#' classes <- baseline_classifier(n_classes = 3)
#' classes |> train(input)
#' classes |> evaluate(input)
#'
#' counts <- baseline_estimator(head = poisson_regression_head())
#' counts |> train(input_fn(carb ~ wt, mtcars, num_epochs = 20))
baseline_regressor <- builtin_estimator("baseline_regressor")

#' @rdname baseline_regressor
#' @export
baseline_classifier <- builtin_estimator("baseline_classifier")

#' @rdname baseline_regressor
#' @export
baseline_estimator <- builtin_estimator("baseline_estimator")
