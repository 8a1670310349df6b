# Deep models.

#' A deep neural network
#'
#' Numbers (`dnn_regressor()`), classes (`dnn_classifier()`) or what a head says (`dnn_estimator()`)
#' by fully connected layers on top of dense feature columns.
#'
#' @inheritParams linear_regressor
#' @param hidden_units How many units each hidden layer has, from the input on; `integer(0)`: there
#'   is none, and the model is linear.
#' @param feature_columns A column or a list of columns that are dense: [column_numeric()],
#'   [column_bucketized()], [column_embedding()], [column_indicator()].
#' @param optimizer As for [linear_regressor()]. A name takes the learning rate 0.05, or
#'   `learning_rate`.
#' @param activation_fn What hidden layers apply to their sums: the name of a function in `tf$nn`,
#'   or a function of a tensor; `NULL`: the sums as they are.
#' @param dropout The probability of dropping a unit, in training only; `NULL`: none is dropped.
#' @param input_layer_partitioner A function of a shape (whole numbers) and the name of a type that
#'   returns numbers of parts along each axis, such as `tf$fixed_size_partitioner(2)` makes: how the
#'   variables of the input layer (of a combined model those of the linear part, too) are cut into
#'   `part_0`, `part_1`, ... Checkpoints join the parts. `NULL`: one part, as on one machine in
#'   TensorFlow.
#' @param batch_norm Normalize each hidden layer over the batch?
#' @return An estimator, as for [linear_regressor()], of class
#'   `tf_estimator_regressor_dnn_regressor`, `tf_estimator_classifier_dnn_classifier` or
#'   `tf_estimator_estimator_dnn_estimator`.
#' @inheritSection linear_regressor Formulas
#' @inheritSection linear_regressor Missing values
#' @inheritSection linear_regressor Predictions
#' @inheritSection linear_regressor Errors
#' @seealso The classes `tf.estimator.DNNRegressor`, `DNNClassifier` and `DNNEstimator` of
#'   TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model <- dnn_classifier(
#'   hidden_units = c(10, 10), n_classes = 3,
#'   feature_columns = feature_columns(column_numeric("Petal.Length", "Petal.Width"))
#' )
#' input <- input_fn(
#'   iris, features = c(Petal.Length, Petal.Width), response = Species, num_epochs = 20
#' )
#' model %>% train(input)
#' model %>% evaluate(input)
dnn_regressor <- function(hidden_units, feature_columns, model_dir = NULL, label_dimension = 1L,
                          weight_column = NULL, optimizer = "Adagrad", activation_fn = "relu",
                          dropout = NULL, input_layer_partitioner = NULL, config = NULL,
                          loss_reduction = "sum", batch_norm = FALSE, warm_start_from = NULL,
                          formula = NULL, data = NULL,
                          normalize = TRUE, na.action = stats::na.fail, learning_rate = NULL, ...) {
  canned_estimator("dnn_regressor", "regressor")
}

#' @rdname dnn_regressor
#' @export
dnn_classifier <- function(hidden_units, feature_columns, model_dir = NULL, n_classes = 2L,
                           weight_column = NULL, label_vocabulary = NULL, optimizer = "Adagrad",
                           activation_fn = "relu", dropout = NULL, input_layer_partitioner = NULL,
                           config = NULL, loss_reduction = "sum", batch_norm = FALSE,
                           warm_start_from = NULL, formula = NULL, data = NULL,
                           normalize = TRUE, na.action = stats::na.fail,
                           learning_rate = NULL, ...) {
  canned_estimator("dnn_classifier", "classifier")
}

#' @rdname dnn_regressor
#' @export
dnn_estimator <- function(head, hidden_units, feature_columns, model_dir = NULL,
                          optimizer = "Adagrad", activation_fn = "relu", dropout = NULL,
                          input_layer_partitioner = NULL, config = NULL, batch_norm = FALSE,
                          warm_start_from = NULL, formula = NULL, data = NULL,
                          normalize = TRUE, na.action = stats::na.fail, learning_rate = NULL, ...) {
  canned_estimator("dnn_estimator", "estimator")
}
