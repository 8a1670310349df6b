# Linear models.

#' A linear model
#'
#' Numbers (`linear_regressor()`), classes (`linear_classifier()`) or what a head says
#' (`linear_estimator()`) by a weighted sum of the feature columns and a bias; the weights start at
#' 0.
#'
#' @param feature_columns A column or a list of columns, dense or categorical: [column_numeric()],
#'   [categorical_columns], [column_crossed()] and others. Or a formula, with `data`: see there.
#' @param model_dir The folder of checkpoints and event files; one that has a checkpoint is
#'   continued. `NULL`: the folder of the active tfruns run, else that of `config`, else a new one
#'   in `tempdir()`.
#' @param label_dimension How many numbers the label of an example is.
#' @param weight_column The name of a feature that weights the examples, or a [column_numeric()] of
#'   it, or `NULL`.
#' @param n_classes How many classes there are. Labels are the numbers from 0 to `n_classes - 1`.
#' @param label_vocabulary The words of the classes, where labels are strings.
#' @param optimizer The name of an optimizer, an optimizer, or a function that returns one; see
#'   [optimizers]. A name takes the learning rate 0.2, or `learning_rate`; `NULL` is Ftrl with the
#'   smaller of 0.2 and 1 / sqrt(number of columns).
#' @param config A [run_config()], or `NULL`.
#' @param partitioner A function of a shape (whole numbers) and the name of a type that returns
#'   numbers of parts along each axis, such as `tf$fixed_size_partitioner(2)` makes: how variables
#'   are cut into `part_0`, `part_1`, ... Checkpoints join the parts. `NULL`: one part, as on one
#'   machine in TensorFlow.
#' @param loss_reduction How the losses of a batch become one number: `"sum"` (as in TensorFlow
#'   1.x), `"mean"`, `"sum_over_batch_size"`, `"sum_over_nonzero_weights"`.
#' @param sparse_combiner How the weights of the several values that an example has for a
#'   categorical column are combined: `"sum"`, `"mean"` or `"sqrtn"`.
#' @param warm_start_from A folder or checkpoint whose variables a first training starts from, or
#'   [warm_start_settings()], or `NULL`.
#' @param head A head: see [heads].
#' @param formula,data A formula `response ~ a + b` and its data frame, in the place of columns. They
#'   may also stand first and second, as in [lm()]. See the section Formulas.
#' @param normalize With a formula: standardize its numbers, and a regressor's response, by mean and
#'   standard deviation of `data`?
#' @param na.action With a formula, what becomes of rows of which it reads NA: `na.fail` (an error),
#'   `na.omit` or `na.exclude` (left out in training and evaluation), or what takes the place of NA:
#'   `"mean"` or `"median"` of the column in `data`, or constants such as `list(age = 30)`.
#' @param learning_rate The learning rate of an optimizer that is named, or that is chosen.
#' @param ... Nothing: what is no argument is refused, with what to write.
#' @return An estimator for [train()], [evaluate()] and [predict()][predict.tf_estimator], of class
#'   `tf_estimator_regressor_linear_regressor`, `tf_estimator_classifier_linear_classifier` or
#'   `tf_estimator_estimator_linear_estimator`.
#' @section Formulas: `linear_regressor(mpg ~ wt + gear, data = mtcars)` makes the columns: numbers
#'   and logicals are numeric columns, factors and strings have the vocabulary of their levels (as
#'   indicators in deep models). `a:b` of words is a word for each combination in `data`, of numbers
#'   is their product, of both is a weight for each word. `.`, `a * b`, `- a` and calls such as
#'   `log(x)` or `poly(x, 2)` are as in [lm()]; an intercept is always there, offsets are refused.
#'   Classifiers take their classes, and how many there are, from the response; `weight_column`
#'   names the column of [lm()]'s weights. [train()], [evaluate()] and
#'   [predict()][predict.tf_estimator] then take data frames too, and `train(model)` those that the
#'   model was made of: of `data` the columns that the formula reads are kept, as in [lm()].
#'
#'   Numbers are standardized inside of the graph, so predictions, losses and metrics are in the
#'   units of the data, and exported models take them as they are. What was standardized is
#'   remembered, also in the model's folder. Where no optimizer is named a linear model takes Ftrl
#'   (rate 0.2; 0.1 beside a deep part) and a deep one Adam (rate 0.001). Where [train()] is not
#'   told how long, it makes 5000 steps of at most 512 rows, deep models 2000 of at most 64, or
#'   reads the data once if that is more: enough to be as good as [lm()] or [glm()], see
#'   `vignette("getting-started")`.
#' @section Missing values: NA in words has no weight, and is no reason to leave a row out but with
#'   `na.omit`. [predict()][predict.tf_estimator] gives one row for each row, NA where it cannot.
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
linear_regressor <- function(feature_columns, model_dir = NULL, label_dimension = 1L,
                             weight_column = NULL, optimizer = "Ftrl", config = NULL,
                             partitioner = NULL, loss_reduction = "sum", sparse_combiner = "sum",
                             warm_start_from = NULL, formula = NULL, data = NULL,
                             normalize = TRUE, na.action = stats::na.fail,
                             learning_rate = NULL, ...) {
  canned_estimator("linear_regressor", "regressor")
}

#' @rdname linear_regressor
#' @export
linear_classifier <- function(feature_columns, model_dir = NULL, n_classes = 2L,
                              weight_column = NULL, label_vocabulary = NULL, optimizer = "Ftrl",
                              config = NULL, partitioner = NULL, loss_reduction = "sum",
                              sparse_combiner = "sum", warm_start_from = NULL,
                              formula = NULL, data = NULL,
                              normalize = TRUE, na.action = stats::na.fail,
                              learning_rate = NULL, ...) {
  canned_estimator("linear_classifier", "classifier")
}

#' @rdname linear_regressor
#' @export
linear_estimator <- function(head, feature_columns, model_dir = NULL, optimizer = "Ftrl",
                             config = NULL, partitioner = NULL, sparse_combiner = "sum",
                             warm_start_from = NULL, formula = NULL, data = NULL,
                             normalize = TRUE, na.action = stats::na.fail,
                             learning_rate = NULL, ...) {
  canned_estimator("linear_estimator", "estimator")
}
