# Constructors of boosted trees models.

#' @name boosted_trees_regressor
#' @rdname boosted_trees_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # boosted_trees_regressor(y ~ ., data)
#' # boosted_trees_classifier(y ~ ., data)
NULL

#' Create a boosted trees model
#'
#' Creates an estimator that predicts numbers (`boosted_trees_regressor()`), classes
#' (`boosted_trees_classifier()`) or the output of a head (`boosted_trees_estimator()`) by a sum of
#' decision trees, from a formula and a data frame:
#'
#' ```
#' model <- boosted_trees_regressor(mpg ~ wt + hp, data = mtcars)
#' train(model)
#' predict(model, mtcars[1:3, ])
#' ```
#'
#' Each tree corrects the errors of the previous trees. Instead of a formula, you can give feature
#' columns; then one layer of a tree grows for every `n_batches_per_layer` batches.
#'
#' Splits compare buckets of a column. [column_bucketized()] defines its buckets, and each category
#' of a [column_indicator()] is a bucket. For other dense columns, such as [column_numeric()], the
#' buckets are quantiles. To compute them, training reads `n_batches_per_layer` batches before the
#' first tree; the global step does not count these steps. Columns with trained weights, such as
#' [column_embedding()], cannot be split.
#'
#' @eval estimator_params("boosted_trees")
#' @param ... Not used; a further argument is an error that suggests the right one.
#' @return An estimator, as for [linear_regressor()]. Its class is
#'   `tf_estimator_regressor_boosted_trees_regressor` or the corresponding class of the other
#'   functions.
#' @inheritSection linear_regressor Formulas
#' @inheritSection linear_regressor Predictions
#' @section Features of a formula: Numbers, logicals, strings and factors are used directly. A split
#'   can select one level, also of an ordered factor. Dates (`Date`), times (`POSIXct`, `POSIXlt`)
#'   and time differences become numbers of days, seconds and days; splits show them as dates.
#'   Splits compare numbers in single precision; if a feature has numbers beyond 2^24, its smallest
#'   number is subtracted first.
#'   `offset()` is an error, because the model has no linear part.
#' @section Missing values: With a formula and `na.action = na.pass`, rows with `NA` stay in the
#'   data. A number with missing values in the training data has two features: one replaces missing
#'   values by the smallest number, the other by the largest. Each split can thus send missing
#'   values to the better side. TensorFlow understands these splits, and exported models treat NaN
#'   in the same way. In strings, `NA` is the level `"(missing)"`.
#'
#'   In predictions, `NA` of a number without missing values in training is treated as the smallest
#'   number. In strings and factors, a new level is treated as missing if the training data had
#'   missing values, and otherwise as none of the levels. New levels give a warning.
#'
#'   In models from feature columns, `missing_features` lists the numbers that may be `NaN`; other
#'   `NaN` values are an error. The response and the weights must not be missing; `na.action =
#'   na.omit` removes such rows.
#' @section Regularization: As in TensorFlow, the loss is a mean over the rows. `l2_regularization`,
#'   `l1_regularization` and `min_node_weight` therefore have a different scale than in other
#'   packages: their 1 is `1 / nrow(data)` here. Models from feature columns have TensorFlow's
#'   defaults, which do not regularize. Models from a formula use `1 / nrow(data)` for
#'   `l2_regularization` and `min_node_weight`, which corresponds to the common defaults `lambda =
#'   1` and `min_child_weight = 1`. Their `quantile_sketch_epsilon` is 0.004, which gives about 250
#'   buckets for a number. `l2_regularization = 0, min_node_weight = 0` switches regularization off.
#'
#'   In a classifier from a formula, all layers of a tree fit the derivatives that the loss has
#'   before the tree, as in the package xgboost. In other models, as in TensorFlow, each layer fits
#'   the derivatives after the previous layer. A tree of several layers then learns faster than
#'   `learning_rate` suggests. For three or more classes, a classifier from a formula uses only the
#'   diagonal of the matrix of second derivatives, times two. Training in batches follows
#'   TensorFlow.
#'
#'   If no leaf of a tree has enough weight for a split, a model from a formula finishes this tree
#'   and starts the next one. A model from feature columns waits for other batches.
#'   With `sample_size` and `mtry`, each tree learns from a random part of the rows and predictors.
#'   A row is drawn with the probability `sample_size`; a factor is one predictor. The draws depend
#'   on `tf_random_seed` of [run_config()] and on the number of the tree, so that a training that
#'   resumes gives the same trees.
#' @section Training: Training ends when `n_trees` trees are complete. With `pruning_mode = "pre"`,
#'   if no layer can grow, it ends after twice the number of layers of these trees. `steps` or a
#'   hook can end it earlier. A later [train()] call continues in the middle of a tree. If all trees
#'   are complete, training does nothing and signals a message.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid, a column cannot be split, or
#'     `tree_complexity` is set without pruning.
#'   * `runhooks_error_data_loss`: a checkpoint contains damaged trees. The message names the tree
#'     and the node.
#' @seealso The classes `tf.estimator.BoostedTreesRegressor`, `BoostedTreesClassifier` and
#'   `BoostedTreesEstimator` of TensorFlow 1.15, which read the checkpoints and exported models.
#' @family estimators
#' @export
#' @examples
#' # a step is a layer of a tree
#' species <- boosted_trees_classifier(Species ~ ., iris, n_trees = 5, max_depth = 2)
#' train(species)
#' predict(species, iris[c(1, 51, 101), ])
#'
#' # feature columns
#' columns <- feature_columns(
#'   column_bucketized(column_numeric("wt"), c(2, 2.5, 3, 3.5)), column_numeric("hp")
#' )
#' model <- boosted_trees_regressor(columns, n_batches_per_layer = 1, n_trees = 20, max_depth = 3)
#' train(model, input_fn(mpg ~ wt + hp, mtcars, batch_size = 32, num_epochs = NULL))
#' evaluate(model, input_fn(mpg ~ wt + hp, mtcars))
#'
#' counts <- boosted_trees_estimator(
#'   columns, n_batches_per_layer = 1, head = poisson_regression_head(), n_trees = 5
#' )
#' train(counts, input_fn(carb ~ wt + hp, mtcars, batch_size = 32, num_epochs = NULL))
boosted_trees_regressor <- builtin_estimator("boosted_trees_regressor")

#' @rdname boosted_trees_regressor
#' @export
boosted_trees_classifier <- builtin_estimator("boosted_trees_classifier")

#' @rdname boosted_trees_regressor
#' @export
boosted_trees_estimator <- builtin_estimator("boosted_trees_estimator")
