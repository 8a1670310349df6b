// find_split() finds the best split of a node by one column.
#pragma once

#include <cstdint>

#include "trees/binned_matrix.h"
#include "trees/layer_grower.h"
#include "trees/split_costs.h"

namespace runhooks {

// Integer histograms of a node by bin and logit. Multiplied by its unit, a sum becomes a
// derivative.
struct BinSums {
  const int64_t* gradients;
  const int64_t* hessians;
  int32_t logits;
  double gradient_unit, hessian_unit;
};

// As in TensorFlow, gains whose difference is not larger are equal.
constexpr double kEqualGains = 1e-15;

// Replaces `best` if a split by this column has a larger gain. The first of equal splits wins.
void find_split(int32_t column_index,
                const BinnedColumn& column,
                const BinSums& sums,
                const SplitCosts& costs,
                LayerSplit* best);

}  // namespace runhooks
