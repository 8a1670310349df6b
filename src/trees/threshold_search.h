// best_threshold() finds the best split of a node from a histogram, with TensorFlow's rounding.
#pragma once

#include <cstdint>

#include "trees/gains.h"

namespace runhooks {

struct SplitRules {
  Regularization regularization;
  float tree_complexity = 0, min_node_weight = 0;
  bool weighs_sides = false;  // see SplitCosts (trees/split_costs.h)
};

struct ThresholdSplit {
  int32_t threshold = 0;
  float gain = 0, left = 0, right = 0;
  bool left_is_empty = false, right_is_empty = false;
};

// `stats` alternates the gradient and hessian sums of the buckets. Returns false if the node's
// weight is below min_node_weight. A side may be empty. The first of equal thresholds wins.
bool best_threshold(const float* stats,
                    int64_t buckets,
                    const SplitRules& rules,
                    ThresholdSplit* best);

}  // namespace runhooks
