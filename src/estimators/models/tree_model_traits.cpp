#include "estimators/models/tree_model_traits.h"

#include <string>

#include "estimators/models/tree_arguments.h"
#include "estimators/models/tree_features.h"
#include "estimators/models/tree_model.h"

namespace runhooks {

ModelTraits trees_traits() {
  ModelTraits traits;
  traits.family = "trees";
  traits.description = "boosted trees";
  traits.name = "BoostedTrees";
  traits.parts = {ModelPart{"", true, true, PartOptimizer::none()}};
  traits.needs_all_rows = true;
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
    const GrowthArguments growth(args);
    return growth.n_trees * growth.max_depth * growth.batches_per_layer;
  };
  traits.arguments = {
      "head",
      "dense_feature_columns",
      "n_batches_per_layer = 1L: count. The number of batches after which a layer of a tree grows. "
      "Use the number of batches in the data.",
      "model_dir",
      "labels",
      "n_trees = 100L: count. The number of trees. [train()] stops after the last one.",
      "max_depth = 6L: whole number in [1, 20]. The maximum number of layers of a tree.",
      "learning_rate = 0.1: plain number in (0, Inf). The factor by which leaf values are shrunk.",
      "l1_regularization = 0: plain number in [0, Inf). The penalty on absolute leaf values.",
      "l2_regularization = 0: plain number in [0, Inf). The penalty on half the squared leaf "
      "values. Default with a formula: `1 / rows` of the data (see the section Regularization).",
      "tree_complexity = 0: plain number in [0, Inf). The penalty per leaf; needs `pruning_mode`.",
      "min_node_weight = 0: plain number in [0, Inf). The minimum sum of hessians of a node that "
      "can be split, and with a formula of both sides of the split. Default with a formula: "
      "`1 / rows` of the data.",
      "config",
      "center_bias = FALSE: flag; kept. Fit a bias before the first tree, so that predictions "
      "start at the mean of the labels?",
      "pruning_mode = 'none': one of 'none', 'pre', 'post'. How to treat splits that gain less "
      "than `tree_complexity`: keep them (`\"none\"`), reject them while the tree grows "
      "(`\"pre\"`), or remove them from the finished tree (`\"post\"`).",
      "sample_size = 1: plain number in (0, 1]. The share of the rows that each tree learns from, "
      "drawn for each tree. Needs a formula, as `mtry`.",
      "mtry = NULL: count or NULL. The number of predictors that each tree can use, drawn for each "
      "tree; `NULL` for all.",
      "quantile_sketch_epsilon = 0.01: plain number in (0, 0.5); kept. The precision of the "
      "quantiles that numbers are bucketized by: there are `1 / epsilon` buckets. Default with a "
      "formula: 0.004.",
      "missing_features = NULL: features; kept. The names of numeric columns with missing values "
      "(`NaN`); see the section Missing values. Formulas determine them from the data.",
      "na.action = stats::na.pass: any; apart. With a formula, how to handle missing values: "
      "`na.pass` (the side of each split with the larger gain; see the section Missing values), "
      "or, as in [linear_regressor()], `na.fail`, `na.omit`, `na.exclude`, `\"mean\"`, "
      "`\"median\"` or constants such as `list(age = 30)`.",
      "formula",
      "explains = FALSE: flag",
      "first_trees = 0L: whole number in [0, Inf)",
      "of_formula = FALSE: flag"};
  return traits;
}

}  // namespace runhooks
