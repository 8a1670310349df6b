// What lives here: losses of examples and their reductions to one number (tf.losses).
// Who may use it: heads, the bindings.
// What it must not know: models, R.
#pragma once

#include <string>

#include "graph/graph.h"

namespace runhooks {

enum class Reduction { kNone, kSum, kMean, kSumOverBatchSize, kSumByNonzeroWeights };
// "sum", "mean", "sum_over_batch_size", "sum_by_nonzero_weights" and TensorFlow's spellings
// ("weighted_sum", ...).
Reduction reduction_from_name(const std::string& name);

// The losses times their weights, reduced; the result joins `collection`, if one is named.
// `weights` is broadcast to the losses; an invalid Output is a weight of 1.
Output compute_weighted_loss(Graph& graph,
                             Output losses,
                             Output weights,
                             Reduction reduction,
                             const std::string& scope = "weighted_loss",
                             const std::string& collection = collection_keys::kLosses);

// (predictions - labels)^2, both as float32.
Output mean_squared_error(Graph& graph,
                          Output labels,
                          Output predictions,
                          Output weights,
                          Reduction reduction,
                          const std::string& scope = "mean_squared_error",
                          const std::string& collection = collection_keys::kLosses);

}  // namespace runhooks
