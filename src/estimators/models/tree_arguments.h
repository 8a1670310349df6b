// GrowthArguments: the arguments of tree estimators that control growth.
#pragma once

#include <string>

#include "estimators/models/trees_in_memory.h"
#include "graph/args.h"

namespace runhooks {

// Returns the precision of the quantiles from which bucket boundaries are computed.
inline double epsilon_of(const Args& args) { return args.number("quantile_sketch_epsilon", 0.01); }

struct GrowthArguments {
  int64_t batches_per_layer, n_trees, max_depth;
  double rate, l1, l2, complexity, min_node_weight, epsilon;
  double sample_size;  // the fraction of the rows that each tree learns from
  int64_t mtry;        // the number of columns that each tree uses; 0: all
  int64_t seed = 0;    // for the sampling of rows and columns
  bool centers_bias;
  bool is_logistic = false;  // binary classification without weights
  bool from_formula;         // also finishes trees that no split improves, unlike TensorFlow
  Pruning pruning = Pruning::kNone;

  explicit GrowthArguments(const Args& args)
      : batches_per_layer(args.integer("n_batches_per_layer", 1)),
        n_trees(args.integer("n_trees", 100)),
        max_depth(args.integer("max_depth", 6)),
        rate(args.number("learning_rate", 0.1)),
        l1(args.number("l1_regularization", 0)),
        l2(args.number("l2_regularization", 0)),
        complexity(args.number("tree_complexity", 0)),
        min_node_weight(args.number("min_node_weight", 0)),
        epsilon(epsilon_of(args)),
        sample_size(args.number("sample_size", 1)),
        mtry(args.integer("mtry", 0)),
        centers_bias(args.flag("center_bias", false)),
        from_formula(args.flag("of_formula", false)) {
    const std::string mode = args.text("pruning_mode", "none");
    if (mode == "pre") pruning = Pruning::kPre;
    if (mode == "post") pruning = Pruning::kPost;
    if (complexity > 0 && pruning == Pruning::kNone) {
      throw Error(Code::kInvalidArgument,
                  "`tree_complexity` has no effect without pruning, and `pruning_mode` is "
                  "\"none\".",
                  {"Set `pruning_mode` to \"pre\" or \"post\"."});
    }
  }
  InMemoryTreeBuilder::Rules rules() const {
    return {l1,          l2,   complexity, min_node_weight, rate, max_depth, pruning, from_formula,
            sample_size, mtry, seed};
  }
  bool samples_rows_or_columns() const { return sample_size < 1 || mtry > 0; }
  int64_t max_splits() const { return (int64_t{1} << max_depth) - 1; }
};

}  // namespace runhooks
