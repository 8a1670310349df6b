# Models that know nothing of the features.

#' A model to compare others with
#'
#' Predicts the same for every example, whatever its features: the mean of the labels, or how
#' frequent each class is, as far as the training has come.
#'
#' @inheritParams linear_regressor
#' @param optimizer As for [linear_regressor()]. A name takes the learning rate 0.3.
#' @param formula,data A formula and its data frame, which may also stand first and second; its left
#'   side is the response, of the right side nothing is used.
#' @return An estimator, as for [linear_regressor()], of class
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
#' model %>% train(input_fn(mpg ~ wt, mtcars, batch_size = 8, num_epochs = 50))
#' model %>% evaluate(input_fn(mpg ~ wt, mtcars))
baseline_regressor <- function(model_dir = NULL, label_dimension = 1L, weight_column = NULL,
                               optimizer = "Ftrl", config = NULL, loss_reduction = "sum",
                               formula = NULL, data = NULL,
                               normalize = TRUE, na.action = stats::na.fail,
                               learning_rate = NULL, ...) {
  canned_estimator("baseline_regressor", "regressor")
}

#' @rdname baseline_regressor
#' @export
baseline_classifier <- function(model_dir = NULL, n_classes = 2L, weight_column = NULL,
                                label_vocabulary = NULL, optimizer = "Ftrl", config = NULL,
                                loss_reduction = "sum", formula = NULL, data = NULL,
                                normalize = TRUE, na.action = stats::na.fail,
                               learning_rate = NULL, ...) {
  canned_estimator("baseline_classifier", "classifier")
}

#' @rdname baseline_regressor
#' @export
baseline_estimator <- function(head, model_dir = NULL, optimizer = "Ftrl", config = NULL,
                               formula = NULL, data = NULL,
                               normalize = TRUE, na.action = stats::na.fail,
                               learning_rate = NULL, ...) {
  canned_estimator("baseline_estimator", "estimator")
}
