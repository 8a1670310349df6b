# Constructors of linear models.

#' @name linear_regressor
#' @rdname linear_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # linear_regressor(y ~ ., data)
#' # linear_classifier(y ~ ., data)
NULL

#' Create a linear model
#'
#' Creates an estimator that predicts numbers (`linear_regressor()`), classes
#' (`linear_classifier()`) or the output of a head (`linear_estimator()`) from a formula and a data
#' frame:
#'
#' ```
#' model <- linear_regressor(mpg ~ wt + factor(cyl), data = mtcars)
#' train(model)
#' coef(model)
#' predict(model, mtcars[1:3, ])
#' ```
#'
#' Instead of a formula, you can give feature columns, such as [column_numeric()]. The prediction is
#' a weighted sum of the columns and a bias. Weights start at 0.
#'
#' @eval estimator_params("linear")
#' @param ... Not used; a further argument is an error that suggests the right one.
#' @return An estimator for [train()], [evaluate()] and [predict()][predict.tf_estimator]. Its class
#'   is `tf_estimator_regressor_linear_regressor`, `tf_estimator_classifier_linear_classifier` or
#'   `tf_estimator_estimator_linear_estimator`.
#' @section Formulas: Formulas work as in [lm()], with factors, interactions, `0 +`, `offset()` and
#'   calls such as `log(x)` or `poly(x, 2)`. `.` is all columns except the response and the
#'   weights. In models without a linear part, `offset()` is an error, and so is `0 +` without a
#'   factor. Numbers are standardized inside the model; predictions, losses and exported models use
#'   the units of the data. Classes are those of the response, and `weight_column` names a column
#'   of weights.
#'
#'   `data` can also be read in chunks: a [dataset][datasets] of records, an arrow or nanoarrow
#'   object, or a dbplyr table. Up to a million values ([runhooks_options]) are read into memory.
#'   For larger data, one pass determines levels and scales, and training uses batches from a
#'   shuffle buffer of 10,000 rows. Then terms that need all rows, such as `poly(x, 2)`, and
#'   methods that need all rows, such as [coef()][model_methods], are an error.
#' @section Training with a formula: Without an `optimizer`, each step of a linear model uses all
#'   rows (`tf$train$LBFGSOptimizer()`), and [train()] stops at the minimum of the loss, or after
#'   200 steps. [coef()][model_methods] and [vcov()][model_inference] are then those of [lm()] or
#'   [glm()].
#'
#'   With a `batch_size`, the optimizer is Adagrad (learning rate 0.2). Deep models use Adam
#'   (0.001), and the linear part of a combined model uses Ftrl (0.1). Without `steps` and
#'   `num_epochs`, training takes 5000 steps of at most 512 rows, or 2000 steps of at most 64 rows
#'   in deep models, and at least one pass. See `vignette("getting-started")`.
#' @section Missing values: `na.action` applies to all variables of the formula. `""` and the level
#'   `NA` of a factor are levels, as in [lm()]; in a dataset, `""` is the missing string. Rows that
#'   [predict()][predict.tf_estimator] cannot predict are `NA`.
#' @section Predictions: Regressors have the key `predictions`. Classifiers have `logits`,
#'   `logistic` (two classes only), `probabilities`, `class_ids` and `classes`, which are strings.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, for example an unknown optimizer;
#'     or, in [train()] and [evaluate()], a label is not one of the classes or not a number, or a
#'     weight is negative. The message names column, value and row.
#' @seealso The classes `tf.estimator.LinearRegressor`, `LinearClassifier` and `LinearEstimator` of
#'   TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model <- linear_regressor(mpg ~ wt + factor(cyl), data = mtcars)
#' train(model)
#' coef(model)
#' predict(model, mtcars[1:3, ])
#'
#' # classes, and counts
#' model <- linear_classifier(Species ~ Petal.Length + Petal.Width, iris)
#' train(model)
#' predict(model, iris[c(1, 51, 101), ])
#'
#' counts <- linear_estimator(poisson_regression_head(), carb ~ wt, data = mtcars)
#' train(counts)
#'
#' # feature columns
#' model <- linear_regressor(list(column_numeric("drat"), column_numeric("cyl")))
#' model |> train(input_fn(mpg ~ drat + cyl, mtcars, batch_size = 8, num_epochs = 10))
#' model |> evaluate(input_fn(mpg ~ drat + cyl, mtcars))
linear_regressor <- builtin_estimator("linear_regressor")

#' @rdname linear_regressor
#' @export
linear_classifier <- builtin_estimator("linear_classifier")

#' @rdname linear_regressor
#' @export
linear_estimator <- builtin_estimator("linear_estimator")
