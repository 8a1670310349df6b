// Find_split(), the best split of a node by one column.
#pragma once

#include <cstdint>

#include "trees/binned_matrix.h"
#include "trees/layer_grower.h"
#include "trees/split_costs.h"

namespace runhooks {

// The sums of a node by bin and logit, as whole numbers; times these units they are what they mean.
struct BinSums {
  const int64_t* gradients;
  const int64_t* hessians;
  int32_t logits;
  double gradient_unit, hessian_unit;
};

// As TensorFlow: gains that are no farther apart do not beat each other.
constexpr double kEqualGains = 1e-15;

// Puts the best split by column `number` in the place of `best` where it gains more. Of equals the
// first one stays.
void find_split(int32_t number,
                const BinnedColumn& column,
                const BinSums& sums,
                const SplitCosts& costs,
                LayerSplit* best);

}  // namespace runhooks
