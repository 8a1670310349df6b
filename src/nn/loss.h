// Losses of examples and their reduction to one number (tf.losses).
#pragma once

#include <string>

#include "graph/graph.h"

namespace runhooks {

enum class Reduction { kNone, kSum, kMean, kSumOverBatchSize, kSumByNonzeroWeights };
// Accepts "sum", "mean", "sum_over_batch_size", "sum_by_nonzero_weights" or TensorFlow's spellings
// ("weighted_sum", ...).
Reduction reduction_from_name(const std::string& name);

// Multiplies losses by weights and reduces them. Adds the result to the graph collection
// `collection`, unless this name is empty. `weights` is broadcast to the losses; an invalid Output
// means 1.
Output compute_weighted_loss(Graph& graph,
                             Output losses,
                             Output weights,
                             Reduction reduction,
                             const std::string& scope = "weighted_loss",
                             const std::string& collection = collection_keys::kLosses);

// How a loss is weighted and reduced, and where it is recorded. An invalid Output as `weights`
// means 1.
struct LossOptions {
  Output weights;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  std::string scope;  // default: the name of the loss
  std::string collection = collection_keys::kLosses;
};

// Computes (predictions - labels)^2 in float32. Losses that only scripts use are in losses.cpp.
Output mean_squared_error(Graph& graph,
                          Output labels,
                          Output predictions,
                          Output weights,
                          Reduction reduction,
                          const std::string& scope = "mean_squared_error",
                          const std::string& collection = collection_keys::kLosses);
// The labels are class indices, which begin at 0.
Output sparse_softmax_cross_entropy(Graph& graph,
                                    Output labels,
                                    Output logits,
                                    const LossOptions& options = {});

}  // namespace runhooks
