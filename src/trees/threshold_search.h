// Best_threshold(), the best split of a node by a feature's histogram, float by float as TensorFlow finds it.
#pragma once

#include <cstdint>

#include "trees/gains.h"

namespace runhooks {

struct SplitRules {
  Regularization by;
  float tree_complexity = 0, min_node_weight = 0;
};

struct ThresholdSplit {
  int32_t threshold = 0;
  float gain = 0, left = 0, right = 0;
};

// `stats` are the sums of gradients and hessians of each bucket, beside each other. False where the
// node is too light to be split. One side may be empty: of equal gains the first threshold stays.
bool best_threshold(const float* stats,
                    int64_t buckets,
                    const SplitRules& rules,
                    ThresholdSplit* best);

}  // namespace runhooks
