# Wide and deep models.

#' A linear model and a deep one together
#'
#' The logits of both are added and trained together, each part by an optimizer of its own. Either
#' part may be left out.
#'
#' @inheritParams linear_regressor
#' @inheritParams dnn_regressor
#' @param linear_feature_columns,dnn_feature_columns The columns of each part; `NULL` leaves the
#'   part out.
#' @param linear_optimizer,dnn_optimizer As for [linear_regressor()]. A name takes the learning
#'   rate 0.001 for the deep part, and for the linear part the smaller of 0.005 and 1 / sqrt(number
#'   of columns).
#' @param dnn_hidden_units,dnn_activation_fn,dnn_dropout As `hidden_units`, `activation_fn` and
#'   `dropout` of [dnn_regressor()].
#' @return An estimator, as for [linear_regressor()], of class
#'   `tf_estimator_dnn_linear_combined_regressor`,
#'   `tf_estimator_classifier_dnn_linear_combined_classifier` or
#'   `tf_estimator_estimator_dnn_linear_combined_estimator`.
#' @section Formulas: Either part takes a formula, as in [linear_regressor()]; one has the response.
#'   Where a formula stands first it is for both parts, the deep one without its interactions.
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
dnn_linear_combined_regressor <- function(model_dir = NULL, linear_feature_columns = NULL,
                                          linear_optimizer = "Ftrl", dnn_feature_columns = NULL,
                                          dnn_optimizer = "Adagrad", dnn_hidden_units = NULL,
                                          dnn_activation_fn = "relu", dnn_dropout = NULL,
                                          label_dimension = 1L, weight_column = NULL,
                                          input_layer_partitioner = NULL, config = NULL,
                                          loss_reduction = "sum", batch_norm = FALSE,
                                          sparse_combiner = "sum", warm_start_from = NULL,
                                          formula = NULL, data = NULL,
                                          normalize = TRUE, na.action = stats::na.fail,
                                          learning_rate = NULL, ...) {
  canned_estimator("dnn_linear_combined_regressor", "regressor")
}

#' @rdname dnn_linear_combined_regressor
#' @export
dnn_linear_combined_classifier <- function(model_dir = NULL, linear_feature_columns = NULL,
                                           linear_optimizer = "Ftrl", dnn_feature_columns = NULL,
                                           dnn_optimizer = "Adagrad", dnn_hidden_units = NULL,
                                           dnn_activation_fn = "relu", dnn_dropout = NULL,
                                           n_classes = 2L, weight_column = NULL,
                                           label_vocabulary = NULL, input_layer_partitioner = NULL,
                                           config = NULL, loss_reduction = "sum",
                                           batch_norm = FALSE, sparse_combiner = "sum",
                                           warm_start_from = NULL, formula = NULL, data = NULL,
                                           normalize = TRUE, na.action = stats::na.fail,
                                           learning_rate = NULL, ...) {
  canned_estimator("dnn_linear_combined_classifier", "classifier")
}

#' @rdname dnn_linear_combined_regressor
#' @export
dnn_linear_combined_estimator <- function(head, model_dir = NULL, linear_feature_columns = NULL,
                                          linear_optimizer = "Ftrl", dnn_feature_columns = NULL,
                                          dnn_optimizer = "Adagrad", dnn_hidden_units = NULL,
                                          dnn_activation_fn = "relu", dnn_dropout = NULL,
                                          input_layer_partitioner = NULL, config = NULL,
                                          batch_norm = FALSE, sparse_combiner = "sum",
                                          warm_start_from = NULL, formula = NULL, data = NULL,
                                          normalize = TRUE, na.action = stats::na.fail,
                                          learning_rate = NULL, ...) {
  canned_estimator("dnn_linear_combined_estimator", "estimator")
}
