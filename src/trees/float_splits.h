// Float_splits(), the best splits of a layer whose sums are TensorFlow's to the bit.
#pragma once

#include <vector>

#include "trees/layer_grower.h"
#include "trees/threshold_search.h"

namespace runhooks {

// Histograms are of floats that are sums of doubles in the order of rows: gains that are equal but
// for rounding fall as they do in TensorFlow. It takes longer than whole numbers do, and knows
// nothing of missing values but in columns of sides.
bool can_sum_floats(const LayerGrower& rows);

// Of each leaf [begin, end), with gradients and hessians by row. The sums of several processes are
// added as doubles, before they become floats.
std::vector<LayerSplit> float_splits(const LayerGrower& rows,
                                     int32_t begin,
                                     int32_t end,
                                     const float* gradients,
                                     const float* hessians,
                                     const SplitRules& rules);

}  // namespace runhooks
