# Linear models.

#' @name linear_regressor
#' @rdname linear_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # linear_regressor(y ~ ., data)
#' # linear_classifier(y ~ ., data)
NULL

#' A linear model
#'
#' Numbers (`linear_regressor()`), classes (`linear_classifier()`) or what a head says
#' (`linear_estimator()`) by a weighted sum of the feature columns and a bias; the weights start at
#' 0.
#'
#' @eval estimator_params("linear")
#' @param ... Nothing: what is no argument is refused, with what to write.
#' @return An estimator for [train()], [evaluate()] and [predict()][predict.tf_estimator], of class
#'   `tf_estimator_regressor_linear_regressor`, `tf_estimator_classifier_linear_classifier` or
#'   `tf_estimator_estimator_linear_estimator`.
#' @section Formulas: `linear_regressor(mpg ~ wt + gear, data = mtcars)` makes the columns: numbers
#'   and logicals are numeric columns, factors and strings have the vocabulary of their levels (as
#'   indicators in deep models). `a:b` of words is a word for each combination in `data`, of numbers
#'   is their product, of both is a weight for each word. `.`, `a * b`, `- a` and calls such as
#'   `log(x)` or `poly(x, 2)` are as in [lm()]. `0 +` or `- 1` leave out the intercept of a linear
#'   model: its bias stays 0, or takes the place of the first level of a factor (other models refuse
#'   it where there is no factor). `offset()` is
#'   added to the linear function (models without a linear part, and more than two classes, refuse it).
#'   Classifiers take their classes, and how many there are, from the response; `weight_column`
#'   names the column of [lm()]'s weights. [train()], [evaluate()] and
#'   [predict()][predict.tf_estimator] then take data frames too, and `train(model)` those that the
#'   model was made of: of `data` the columns that the formula reads are kept, as in [lm()].
#'
#'   Data that are read in chunks will do as a data frame does, here and in [train()], [evaluate()] and
#'   [predict()][predict.tf_estimator]: a [dataset][datasets] of records (of rows, of batches, or of
#'   batches with a label apart), an object of arrow or nanoarrow, a table of dbplyr. Where the columns
#'   that the formula reads have a million values at most ([runhooks_options]) they are read into
#'   memory, and all is as with a data frame. Of more, one pass learns levels, scales and means (a
#'   second one, for `na.action = "mean"`), and memory holds some thousand rows at a time: terms are
#'   computed row by row, so that `poly(x, 2)` or `scale(x)` are refused; training is on batches,
#'   shuffled among 10,000 rows; methods that need all rows at once, such as [coef()][model_methods],
#'   say so.
#'
#'   Numbers are standardized inside of the graph, so predictions, losses and metrics are in the
#'   units of the data, and exported models take them as they are. What was standardized is
#'   remembered, also in the model's folder.
#' @section Training of formulas: Where no optimizer is named a linear model takes
#'   `tf$train$LBFGSOptimizer()`. Each step sees all rows, and [train()] ends where the loss is least,
#'   after 200 steps at the latest: [coef()][model_methods] are those of [lm()] and [glm()], also of
#'   terms of which one nearly says the other, such as `x + I(x^2)` (numbers enter the model
#'   decorrelated, which [coef()][model_methods] takes back; [variable_value()] does not), and
#'   [vcov()][model_inference] says how sure they are. With a `batch_size` the steps are Adagrad's
#'   (rate 0.2, or `learning_rate`). Beside a deep part a linear one takes Ftrl (rate 0.1), and a deep
#'   one Adam (rate 0.001); where [train()] is not told how long, these and optimizers that are named
#'   make 5000 steps of at most 512 rows, deep models 2000 of at most 64, or read the data once if that
#'   is more, see `vignette("getting-started")`.
#' @section Missing values: `na.action` is for all that the formula reads, words too, of which `""` is
#'   missing as NA is. [predict()][predict.tf_estimator] gives one row for each row, NA where it
#'   cannot.
#' @section Predictions: Of regressors `predictions`. Of classifiers `logits`, `logistic` (of two
#'   classes), `probabilities`, `class_ids` and `classes`, which are strings.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, such as an
#'   unknown optimizer; in [train()] and [evaluate()] for labels that are no classes, for
#'   words as labels of a regressor and for negative weights: with column, value and row of the
#'   data, before anything is run or written. (Where an input function makes tensors itself they are
#'   checked as they come, and the row is that of the batch.)
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
#' counts <- linear_estimator(head = poisson_regression_head(), feature_columns = column_numeric("wt"))
#' counts %>% train(input_fn(carb ~ wt, mtcars, num_epochs = 10))
linear_regressor <- builtin_estimator("linear_regressor")

#' @rdname linear_regressor
#' @export
linear_classifier <- builtin_estimator("linear_classifier")

#' @rdname linear_regressor
#' @export
linear_estimator <- builtin_estimator("linear_estimator")
