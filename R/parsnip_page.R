# The help page of the parsnip engine.

#' Use runhooks with tidymodels
#'
#' runhooks provides the engine `"runhooks"` for models of the package parsnip, so that its
#' estimators can be used in workflows, tuned and compared with other engines. The engine is
#' available if both packages are loaded, in any order; `library(runhooks)` does not load parsnip.
#'
#' @section Models and arguments:
#'   * `linear_reg()`: [linear_regressor()], with `penalty` and `mixture`. The mode is regression or
#'     quantile regression.
#'   * `logistic_reg()`, `multinom_reg()`: [linear_classifier()], with `penalty` and `mixture`.
#'   * `poisson_reg()`: [linear_estimator()] with a [poisson_regression_head()], with `penalty` and
#'     `mixture`.
#'   * `mlp()`: [dnn_regressor()] and [dnn_classifier()], with `hidden_units`, `penalty`, `dropout`,
#'     `epochs`, `activation` and `learn_rate`. The mode is regression, classification or quantile
#'     regression.
#'   * [wide_deep()]: [dnn_linear_combined_regressor()] and [dnn_linear_combined_classifier()], with
#'     the arguments of `mlp()` except `penalty`. The mode is regression or classification.
#'   * `boost_tree()`: [boosted_trees_regressor()] and [boosted_trees_classifier()], with `trees`,
#'     `tree_depth`, `min_n`, `learn_rate`, `loss_reduction`, `mtry`, `sample_size` and `stop_iter`.
#'     The mode is regression or classification.
#'
#' Factors stay factors: the engine creates no indicator variables. Formulas have interactions and
#' `offset()`, as in [linear_regressor()]. Training drops rows with missing values, and predictions
#' of such rows are `NA`; `boost_tree()` uses rows with missing predictors. An argument without a
#' value has the default of the estimator.
#'
#'   * `penalty` and `mixture`: the objective is the mean loss of the rows plus `penalty * ((1 -
#'     mixture) / 2 * sum(w^2) + mixture * sum(abs(w)))`, as in the package glmnet. The weights `w`
#'     refer to standardized numeric predictors; the bias has no penalty. Each level of a factor has
#'     a weight. `mixture` is 1 by default. For a numeric outcome of `linear_reg()`, `penalty` is
#'     divided by the standard deviation of the outcome, because glmnet standardizes the outcome.
#'     Penalized linear models use all rows in each step and train until they reach the minimum, so
#'     `optimizer`, `batch_size` and `epochs` are not available.
#'   * `penalty` of `mlp()`: the same penalty with `mixture = 0`; the loss is that of the
#'     standardized outcome. It needs `optimizer = "LBFGS"`.
#'   * `hidden_units`: the number of units of each hidden layer, such as `c(32, 16)`. 16 by default.
#'   * `activation`: the name of a function in `tf$nn`, or `"linear"`.
#'   * `min_n`: the minimum number of rows on each side of a split. In classification, each row
#'     counts with its hessian, which is at most 1/4, as in the package xgboost.
#'   * `loss_reduction`: the minimum decrease of the sum of the losses, as in xgboost, where a
#'     squared error counts half. Splits of a finished tree that decrease the loss by less are
#'     removed.
#'   * `stop_iter`: training stops if the mean loss of the held-out rows has not decreased for this
#'     number of trees. The model then returns to the best number of trees. See `validation`.
#'   * `mtry` and `sample_size`: the number of predictors and the proportion of the rows that are
#'     sampled for each tree. A factor counts as one predictor.
#' @section Engine arguments: Set them by `parsnip::set_engine("runhooks", ...)`.
#'   * `batch_size`: the number of rows in each step. Not for `boost_tree()`.
#'   * `optimizer`: the name of an optimizer or an [optimizer][optimizers]. Not for `boost_tree()`.
#'   * `linear_optimizer` and `dnn_optimizer` of `wide_deep()`: as `optimizer`.
#'   * `epochs` and `learn_rate` of the linear models.
#'   * `offset`: the name of a column that is added to the linear function without a weight, such as
#'     a logarithm of exposures, for `linear_reg()`, `logistic_reg()`, `poisson_reg()` and
#'     `wide_deep()`. The column is not used as a predictor. New data must contain it, too. In a
#'     formula, `offset()` has the same effect; workflows and recipes do not accept it.
#'   * `validation`: the proportion of the rows to hold out at random, for `mlp()` and
#'     `boost_tree()`. The default is 0.1 with `stop_iter` and 0 without.
#'   * `stop_iter` of `mlp()`: the same as for `boost_tree()`, but in epochs.
#'   * `class_weights`: as in [linear_classifier()].
#'   * `hooks`: a hook or a list of hooks for the training, see [session_run_hook()].
#'   * `seed`: the seed of all random numbers, see [run_config()]. By default, seeds are drawn from
#'     R's generator, so `set.seed()` makes a fit reproducible.
#'   * `model_dir`: a directory with a folder for each fit. The name of the folder is a hash of the
#'     arguments and the data. A fit whose folder is complete is not trained again. A fit that was
#'     interrupted continues from its newest checkpoint.
#' @section Predictions: The types are `"numeric"`, `"class"`, `"prob"` and `"raw"`, the tibble of
#'   [predict()][predict.tf_estimator]. `linear_reg()` also has `"conf_int"` and `"pred_int"`,
#'   `logistic_reg()` and `poisson_reg()` have `"conf_int"`. The mode quantile regression has
#'   `"quantile"`, with a [quantile_head()]. Intervals need the training data, which
#'   `butcher::butcher()` removes. `parsnip::multi_predict()` of `boost_tree()` predicts
#'   by several values of `trees`. `tune::tune_grid()` uses it, so that a grid over `trees` needs one
#'   fit for each combination of the other arguments.
#' @section Case weights: All models accept frequency weights and importance weights.
#' @section Sparse data: `parsnip::fit_xy()` and workflows accept sparse matrices and sparse
#'   tibbles. Training converts them to dense columns.
#' @section Saving: `saveRDS()` saves a fit or a workflow with its weights, also after
#'   `butcher::butcher()`.
#' @section Errors:
#'   * `runhooks_error_invalid_argument`: an argument is invalid or not available for the model.
#'     Nothing has been trained.
#'   * The errors of [train()] and [predict()][predict.tf_estimator].
#' @name runhooks-parsnip
#' @aliases tidymodels parsnip
#' @family estimators
#' @examplesIf requireNamespace("parsnip", quietly = TRUE)
#' spec <- parsnip::set_engine(parsnip::linear_reg(penalty = 0.1), "runhooks")
#' fitted <- generics::fit(spec, mpg ~ wt + hp, mtcars)
#' predict(fitted, mtcars[1:3, ])
#'
#' # the predictions of 10 and of 50 trees
#' spec <- parsnip::boost_tree("classification", trees = 50)
#' trees <- generics::fit(parsnip::set_engine(spec, "runhooks"), Species ~ ., iris)
#' parsnip::multi_predict(trees, iris[1:2, ], trees = c(10, 50))$.pred[[1]]
#'
#' # a hook of the training
#' count <- 0
#' counter <- session_run_hook(after_run = function(context, values) count <<- count + 1)
#' network <- parsnip::mlp("regression", hidden_units = c(8, 4), epochs = 10)
#' network <- parsnip::set_engine(network, "runhooks", hooks = counter, seed = 1)
#' fitted <- generics::fit(network, mpg ~ wt + hp, mtcars)
#' count
NULL
