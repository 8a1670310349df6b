#include "estimators/tree_model_traits.h"

#include <string>

#include "estimators/tree_arguments.h"
#include "estimators/tree_features.h"
#include "estimators/tree_model.h"

namespace runhooks {

ModelTraits trees_traits() {
  ModelTraits traits;
  traits.family = "trees";
  traits.words = "boosted trees";
  traits.name = "BoostedTrees";
  traits.parts = {ModelPart{"", true, true, PartOptimizer::none()}};
  traits.wants_all_rows = true;
  traits.formula_defaults = {{"l2_regularization", 1, true},
                             {"min_node_weight", 1, true},
                             {"quantile_sketch_epsilon", 0.004}};
  traits.trees = [](const Args& args, const std::string& checkpoint) {
    const auto columns = sorted_columns(make_columns(args.list("feature_columns")));
    return read_trees(tree_features(columns, epsilon_of(args), missing_features(args)),
                      str_cat(kTrees, ":0_serialized"),
                      str_cat(kTrees, "/QuantileAccumulator:0_bucket_boundaries_"), checkpoint);
  };
  traits.planned_steps = [](const Args& args) {
    const GrowthArguments by(args);
    return by.n_trees * by.max_depth * by.batches_per_layer;
  };
  traits.arguments = {
      "head",
      "dense_feature_columns",
      "n_batches_per_layer = 1L: count. After how many batches a layer of a tree grows: as many as "
      "are in the data.",
      "model_dir",
      "labels",
      "n_trees = 100L: count. How many trees there are to be; [train()] ends with the last.",
      "max_depth = 6L: whole number in [1, 20]. How many layers a tree has.",
      "learning_rate = 0.1: plain number in (0, Inf). What part of its best value a leaf gets.",
      "l1_regularization = 0: plain number in [0, Inf). What the absolute value of a leaf costs.",
      "l2_regularization = 0: plain number in [0, Inf). What half the square of a leaf costs; with a "
      "formula, where it is not given, `1 / rows` of the data (see the section Regularization).",
      "tree_complexity = 0: plain number in [0, Inf). What a leaf costs; with `pruning_mode`.",
      "min_node_weight = 0: plain number in [0, Inf). The least sum of hessians of a node that is "
      "split; with a formula, where it is not given, `1 / rows` of the data.",
      "config",
      "center_bias = FALSE: flag; kept. Begin with a bias for which the predictions have the mean "
      "of the labels, before the first tree grows?",
      "pruning_mode = 'none': one of 'none', 'pre', 'post'. Whether splits that gain less than "
      "`tree_complexity` are made (`\"none\"`), not made (`\"pre\"`), or taken back when the tree is "
      "finished (`\"post\"`).",
      "quantile_sketch_epsilon = 0.01: plain number in (0, 0.5); kept. How exact the quantiles are "
      "by which numbers are put into buckets: there are `1 / epsilon` of them. 0.004 with a formula, where "
      "it is not given.",
      "missing_features = NULL: features; kept. The names of columns of numbers of which some are "
      "missing (`NaN`); see the section Missing values. A formula finds them in its data.",
      "na.action = stats::na.pass: any; apart. With a formula, what becomes of NA: `na.pass` (the side "
      "of a split where it gains more, see the section Missing values), or, as in "
      "[linear_regressor()], `na.fail`, `na.omit`, `na.exclude`, `\"mean\"`, `\"median\"` or constants "
      "such as `list(age = 30)`.",
      "formula", "explains = FALSE: flag", "of_formula = FALSE: flag"};
  return traits;
}

}  // namespace runhooks
