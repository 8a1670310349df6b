# Linear models.

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
#' (`linear_classifier()`) or the output of a head (`linear_estimator()`). The prediction is a
#' weighted sum of the feature columns and a bias. Weights start at 0.
#'
#' @eval estimator_params("linear")
#' @param ... Not used; a further argument is an error that suggests the right one.
#' @return An estimator for [train()], [evaluate()] and [predict()][predict.tf_estimator]. Its class
#'   is `tf_estimator_regressor_linear_regressor`, `tf_estimator_classifier_linear_classifier` or
#'   `tf_estimator_estimator_linear_estimator`.
#' @section Formulas: `linear_regressor(mpg ~ wt + gear, data = mtcars)` creates the feature
#'   columns. Numbers and logicals become numeric columns. Factors and strings become vocabulary
#'   columns of their levels (in deep models as indicators). `a * b`, `- a` and calls such as
#'   `log(x)` or `poly(x, 2)` work as in [lm()], and `.` is all columns except the response and the
#'   weights. `a:b` of two factors is a category for each combination in `data`; of two numbers it
#'   is their product; of a factor and a number it is a slope for each level.
#'
#'   `0 +` or `- 1` removes the intercept of a linear model. Its bias then stays 0, or represents
#'   the first level of a factor. In other models this is an error unless there is a factor.
#'   `offset()` is added to the linear predictor. It is an error in models without a linear part and
#'   with more than two classes.
#'
#'   Classifiers take the classes from the response. `weight_column` names the column of the weights
#'   of [lm()]. [train()], [evaluate()] and [predict()][predict.tf_estimator] also accept data
#'   frames, and `train(model)` uses the data of the model. As in [lm()], the model keeps the
#'   columns of `data` that the formula uses.
#'
#'   `data` can also be a source that is read in chunks: a [dataset][datasets] of records, an arrow
#'   or nanoarrow object, or a dbplyr table. [train()], [evaluate()] and
#'   [predict()][predict.tf_estimator] accept these, too. A dataset may contain rows, batches, or
#'   batches with a separate label. If the columns of the formula have at most a million values
#'   ([runhooks_options]), they are read into memory and everything works as with a data frame. For
#'   larger data, one pass determines levels, scales and means; `na.action = "mean"` needs a second
#'   pass. Memory then holds a few thousand rows at a time. Terms are computed row by row, so
#'   `poly(x, 2)` and `scale(x)` are an error. Training uses batches from a shuffle buffer of 10,000
#'   rows. Methods that need all rows, such as [coef()][model_methods], are an error.
#'
#'   The graph standardizes numbers. Predictions, losses and metrics are in the units of the data,
#'   and exported models take numbers in these units. The model directory records the
#'   standardization.
#' @section Training with a formula: Without an `optimizer`, a linear model uses
#'   `tf$train$LBFGSOptimizer()`. Each step uses all rows, and [train()] stops at the minimum of the
#'   loss, or after 200 steps. [coef()][model_methods] then returns the coefficients of [lm()] or
#'   [glm()], also for strongly correlated terms such as `x + I(x^2)`. [vcov()][model_inference]
#'   returns their covariance. The model decorrelates numeric terms internally.
#'   [coef()][model_methods] reverses this; [variable_value()] does not.
#'
#'   With a `batch_size`, the optimizer is Adagrad (learning rate 0.2, or `learning_rate`). In a
#'   combined model, the linear part uses Ftrl (learning rate 0.1) and the deep part uses Adam
#'   (learning rate 0.001). If [train()] has no `steps` and no `num_epochs`, training with these
#'   optimizers, or with an optimizer given by name, takes 5000 steps of at most 512 rows. Deep
#'   models take 2000 steps of at most 64 rows. If one pass over the data needs more steps, training
#'   makes one pass. See `vignette("getting-started")`.
#' @section Missing values: `na.action` applies to all variables of the formula. In a data frame,
#'   `""` is a level like any other, and so is `NA` in a factor that has it as a level, as in
#'   [lm()]. In a dataset, `""` is the missing string. [predict()][predict.tf_estimator] returns one row for each row, with `NA`
#'   where it cannot predict.
#' @section Predictions: Regressors have the key `predictions`. Classifiers have `logits`,
#'   `logistic` (two classes only), `probabilities`, `class_ids` and `classes`, which are strings.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, for example an unknown optimizer.
#'   * `runhooks_error_invalid_argument`, in [train()] and [evaluate()]: a label is not one of the
#'     classes, a label of a regressor is a string, or a weight is negative. The message names
#'     column, value and row, and nothing has been run or written. If an input function returns
#'     tensors, they are checked during training, and the row is that of the batch.
#' @seealso The classes `tf.estimator.LinearRegressor`, `LinearClassifier` and `LinearEstimator` of
#'   TensorFlow 1.x.
#' @family estimators
#' @export
#' @examples
#' model <- linear_regressor(feature_columns(column_numeric("drat"), column_numeric("cyl")))
#' model %>% train(input_fn(mpg ~ drat + cyl, mtcars, batch_size = 8, num_epochs = 10))
#' model %>% evaluate(input_fn(mpg ~ drat + cyl, mtcars))
#'
#' # from a formula
#' model <- linear_regressor(mpg ~ drat + cyl, data = mtcars)
#' model %>% train()
#' model %>% predict(newdata = mtcars[1:3, c("drat", "cyl")])
#'
#' model <- linear_regressor(Ozone ~ Wind + Temp, airquality, na.action = na.omit)
#' model %>% train()
#'
#' # classes, and counts
#' model <- linear_classifier(Species ~ Petal.Length + Petal.Width, iris)
#' model %>% train()
#' model %>% predict(newdata = iris[c(1, 51, 101), ])
#'
#' counts <- linear_estimator(
#'   head = poisson_regression_head(), feature_columns = column_numeric("wt")
#' )
#' counts %>% train(input_fn(carb ~ wt, mtcars, num_epochs = 10))
linear_regressor <- builtin_estimator("linear_regressor")

#' @rdname linear_regressor
#' @export
linear_classifier <- builtin_estimator("linear_classifier")

#' @rdname linear_regressor
#' @export
linear_estimator <- builtin_estimator("linear_estimator")
