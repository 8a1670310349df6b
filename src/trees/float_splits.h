// float_splits(): the best splits of a layer with sums that are bit-identical to TensorFlow's.
#pragma once

#include <vector>

#include "trees/layer_grower.h"
#include "trees/threshold_search.h"

namespace runhooks {

// True if the data are small enough for these sums: they are slower than integer sums, but order
// nearly equal gains as TensorFlow does. Columns with missing values must be kMissingEitherSide.
bool can_sum_floats(const LayerGrower& rows);

// Returns the best splits of leaves [begin, end). In distributed training, processes add their sums
// before rounding them to float.
std::vector<LayerSplit> float_splits(const LayerGrower& rows,
                                     int32_t begin,
                                     int32_t end,
                                     const float* gradients,
                                     const float* hessians,
                                     const SplitRules& rules);

}  // namespace runhooks
