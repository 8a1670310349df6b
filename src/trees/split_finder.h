// find_split() finds the best split of a node by one column.
#pragma once

#include <cstdint>

#include "trees/binned_matrix.h"
#include "trees/layer_grower.h"
#include "trees/split_costs.h"

namespace runhooks {

// Integer sums of a node by bin and logit. A sum of derivatives is the integer times the unit.
struct BinSums {
  const int64_t* gradients;
  const int64_t* hessians;
  int32_t logits;
  double gradient_unit, hessian_unit;
};

// Gains that differ by at most this number count as equal, as in TensorFlow.
constexpr double kEqualGains = 1e-15;

// Replaces `best` if a split by this column has a larger gain. The first of equal splits wins.
void find_split(int32_t column_index,
                const BinnedColumn& column,
                const BinSums& sums,
                const SplitCosts& costs,
                LayerSplit* best);

}  // namespace runhooks
