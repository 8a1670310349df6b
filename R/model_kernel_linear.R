# Constructors of kernel machines: linear models on random Fourier features.

#' @name kernel_linear_regressor
#' @rdname kernel_linear_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # kernel_linear_regressor(y ~ ., data)
#' # kernel_linear_classifier(y ~ ., data)
NULL

#' Create a kernel machine
#'
#' Creates an estimator that fits a linear model on random Fourier features of dense columns. The
#' result approximates a kernel machine with a Gaussian kernel. It fits smooth functions and
#' nonlinear class boundaries without hidden layers. The features are drawn when the first training
#' starts, and they are saved with the model.
#'
#' @eval estimator_params("kernel_linear")
#' @param ... Not used; a further argument is an error that suggests the right one.
#' @return An estimator, as for [linear_regressor()]. Its class is
#'   `tf_estimator_regressor_kernel_linear_regressor` or the corresponding class of the other
#'   functions.
#' @inheritSection linear_regressor Formulas
#' @inheritSection linear_regressor Training with a formula
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
#' predict(model, iris[c(1, 51, 101), ])
#'
#' cars <- kernel_linear_regressor(mpg ~ wt + hp, mtcars)
#' train(cars, steps = 100)
#' predict(cars, mtcars[1:3, ])
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
