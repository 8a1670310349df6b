# Linear models of random Fourier features.

#' @name kernel_linear_regressor
#' @rdname kernel_linear_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # kernel_linear_regressor(y ~ ., data)
#' # kernel_linear_classifier(y ~ ., data)
NULL

#' A kernel machine
#'
#' A linear model of random Fourier features of dense columns, which is near to a machine with a
#' Gaussian kernel: smooth functions, and classes that no line divides, without hidden layers to
#' choose. The features are fixed at random when the first training begins, and saved with the model.
#'
#' @eval estimator_params("kernel_linear")
#' @param ... Nothing: what is no argument is refused, with what to write.
#' @return An estimator, as for [linear_regressor()], of class
#'   `tf_estimator_regressor_kernel_linear_regressor` and its like.
#' @inheritSection linear_regressor Formulas
#' @inheritSection linear_regressor Training of formulas
#' @inheritSection linear_regressor Missing values
#' @inheritSection linear_regressor Predictions
#' @inheritSection linear_regressor Errors
#' @seealso `tf.contrib.kernel_methods` of TensorFlow 1.x; Rahimi and Recht (2007), Random features
#'   for large-scale kernel machines.
#' @family estimators
#' @export
#' @examples
#' model <- kernel_linear_classifier(Species ~ Petal.Length + Petal.Width, iris)
#' train(model, steps = 100)
#'
#' cars <- kernel_linear_regressor(mpg ~ wt + hp, mtcars)
#' train(cars, steps = 100)
#'
#' counts <- kernel_linear_estimator(
#'   head = poisson_regression_head(), feature_columns = column_numeric("wt")
#' )
#' train(counts, input_fn(carb ~ wt, mtcars, num_epochs = 10))
kernel_linear_regressor <- builtin_estimator("kernel_linear_regressor")

#' @rdname kernel_linear_regressor
#' @export
kernel_linear_classifier <- builtin_estimator("kernel_linear_classifier")

#' @rdname kernel_linear_regressor
#' @export
kernel_linear_estimator <- builtin_estimator("kernel_linear_estimator")
