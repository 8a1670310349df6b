# Boosted trees.

#' @name boosted_trees_regressor
#' @rdname boosted_trees_regressor
#' @usage
#' # from a formula and a data frame; or from feature columns, as below
#' # boosted_trees_regressor(y ~ ., data)
#' # boosted_trees_classifier(y ~ ., data)
NULL

#' Boosted trees
#'
#' Numbers (`boosted_trees_regressor()`), classes (`boosted_trees_classifier()`) or what a head says
#' (`boosted_trees_estimator()`) by a sum of decision trees, each of which mends what those before
#' it have left. A layer of a tree grows whenever `n_batches_per_layer` batches have been seen.
#'
#' Each column is asked by buckets. [column_bucketized()] has them; [column_indicator()] asks for
#' each word; the buckets of other dense columns, such as [column_numeric()], are quantiles, for
#' which training reads `n_batches_per_layer` batches before the first tree: steps that do not
#' count. A column with weights of its own, such as [column_embedding()], cannot be split.
#'
#' @eval estimator_params("boosted_trees")
#' @param ... Nothing: what is no argument is refused, with what to write.
#' @return An estimator, as for [linear_regressor()], of class
#'   `tf_estimator_regressor_boosted_trees_regressor` and its like.
#' @inheritSection linear_regressor Formulas
#' @inheritSection linear_regressor Predictions
#' @section Features of a formula: Numbers, logicals, words and factors as they are; a level is a question
#'   of its own, of an ordered factor, too. Days (`Date`), times (`POSIXct`, `POSIXlt`) and differences of
#'   times are numbers of days, of seconds and of days; questions show them as dates. `offset()` is for
#'   models with a linear part, and is refused.
#' @section Missing values: With a formula, and `na.action = na.pass`, rows with NA stay. Numbers that
#'   miss some in the training data have two features: what is missing is the least number in one and the
#'   largest in the other, so that it goes to the side of each split where it gains more; both are
#'   questions that TensorFlow knows, and an exported model answers NaN alike. Of words NA, and `""`, is
#'   a level, `"(missing)"`. In a prediction NA of a number that has missed none in training goes where
#'   the least number goes; NA of a word that has not, and a level that training has not seen, are none
#'   of the levels (with a warning for a new level); where some were missing, a new level is taken for
#'   missing, too. A model of columns says by `missing_features` which numbers may be `NaN`; others are
#'   refused. The response and weights must be there always: `na.action = na.omit` leaves such rows out.
#' @section Regularization: The loss is a mean over the rows, as in TensorFlow, so that
#'   `l2_regularization`, `l1_regularization` and `min_node_weight` are parts of it: what other
#'   packages call 1 is `1 / nrow(data)` here. A model of columns has TensorFlow's defaults, which
#'   regularize nothing. A model of a formula, which TensorFlow does not have, counts as much as one row
#'   against each leaf: `l2_regularization` and `min_node_weight` are `1 / rows` of its data, as
#'   `lambda = 1` and `min_child_weight = 1` are the defaults of others, and `quantile_sketch_epsilon`
#'   is 0.004, for some 250 buckets of a number. A tree of which no leaf has the weight to be split is
#'   finished before `max_depth`, and the next one begins; one of columns waits for other batches.
#'   `l2_regularization = 0, min_node_weight = 0` leaves the leaves alone.
#' @section Training: Ends when `n_trees` are finished, or after twice the layers that these have,
#'   where `pruning_mode = "pre"` lets none of them grow; `steps` or a hook may end it before. A
#'   later [train()] goes on in the middle of a tree, with what it has seen of a layer. A folder
#'   that has all its trees is not trained any more, with a message.
#' @section Errors: `runhooks_error_invalid_argument` for arguments that do not hold, for columns
#'   that cannot be split, and for `tree_complexity` without pruning. `runhooks_error_data_loss` for a
#'   checkpoint whose trees are damaged, with the tree and the node.
#' @seealso The classes `tf.estimator.BoostedTreesRegressor`, `BoostedTreesClassifier` and
#'   `BoostedTreesEstimator` of TensorFlow 1.15, with which checkpoints and exported models are
#'   exchanged.
#' @family estimators
#' @export
#' @examples
#' columns <- feature_columns(
#'   column_bucketized(column_numeric("wt"), c(2, 2.5, 3, 3.5)), column_numeric("hp")
#' )
#' model <- boosted_trees_regressor(columns, n_batches_per_layer = 1, n_trees = 20, max_depth = 3)
#' train(model, input_fn(mpg ~ wt + hp, mtcars, batch_size = 32, num_epochs = NULL))
#' evaluate(model, input_fn(mpg ~ wt + hp, mtcars))
#'
#' # from a formula: a step is a layer of a tree
#' species <- boosted_trees_classifier(Species ~ ., iris, n_trees = 5, max_depth = 2)
#' train(species)
#' predict(species, newdata = iris[c(1, 51, 101), ])
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
