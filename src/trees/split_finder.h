// What lives here: find_split(), the best split of a node by one column.
// Who may use it: the layer grower.
// What it must not know: rows, threads.
#pragma once

#include <cstdint>

#include "trees/binned_matrix.h"
#include "trees/layer_grower.h"
#include "trees/split_rules.h"

namespace runhooks {

// The sums of a node by bin and logit, as whole numbers; times these units they are what they mean.
struct BinSums {
  const int64_t* gradients;
  const int64_t* hessians;
  int32_t logits;
  double gradient_unit, hessian_unit;
};

// Puts the column's best split in the place of `best` where it is better: a larger gain, or the
// same of a feature with a lower number.
void find_split(const BinnedColumn& column,
                const BinSums& sums,
                const SplitRules& rules,
                LayerSplit* best);
bool is_better(double gain, int32_t feature, const LayerSplit& than);

}  // namespace runhooks
