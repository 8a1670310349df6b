// Losses of examples and their reductions to a scalar (tf.losses).
#pragma once

#include <string>

#include "graph/graph.h"

namespace runhooks {

enum class Reduction { kNone, kSum, kMean, kSumOverBatchSize, kSumByNonzeroWeights };
// "sum", "mean", "sum_over_batch_size", "sum_by_nonzero_weights" or TensorFlow's spellings
// ("weighted_sum", ...).
Reduction reduction_from_name(const std::string& name);

// Multiplies losses by weights and reduces them; adds the result to `collection` unless empty.
// `weights` is broadcast to the losses; an invalid Output means 1.
Output compute_weighted_loss(Graph& graph,
                             Output losses,
                             Output weights,
                             Reduction reduction,
                             const std::string& scope = "weighted_loss",
                             const std::string& collection = collection_keys::kLosses);

// How a loss is weighted and reduced, and where it is recorded. An invalid weight means 1.
struct LossOptions {
  Output weights;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  std::string scope;  // default: the name of the loss
  std::string collection = collection_keys::kLosses;
};

// (predictions - labels)^2, both as float32.
Output mean_squared_error(Graph& graph,
                          Output labels,
                          Output predictions,
                          Output weights,
                          Reduction reduction,
                          const std::string& scope = "mean_squared_error",
                          const std::string& collection = collection_keys::kLosses);
Output absolute_difference(Graph& graph,
                           Output labels,
                           Output predictions,
                           const LossOptions& options = {});
Output huber_loss(Graph& graph,
                  Output labels,
                  Output predictions,
                  double delta = 1,
                  const LossOptions& options = {});
Output log_loss(Graph& graph,
                Output labels,
                Output predictions,
                double epsilon = 1e-7,
                const LossOptions& options = {});
// Labels are 0 or 1.
Output hinge_loss(Graph& graph, Output labels, Output logits, const LossOptions& options = {});
// 1 - the inner product along `axis` of inputs that are already normalized.
Output cosine_distance(
    Graph& graph, Output labels, Output predictions, int64_t axis, const LossOptions& options = {});
// Compares pairs of elements within each example; has its own reduction.
Output mean_pairwise_squared_error(Graph& graph,
                                   Output labels,
                                   Output predictions,
                                   const LossOptions& options = {});
Output sigmoid_cross_entropy(Graph& graph,
                             Output multi_class_labels,
                             Output logits,
                             double label_smoothing = 0,
                             const LossOptions& options = {});
Output softmax_cross_entropy(Graph& graph,
                             Output onehot_labels,
                             Output logits,
                             double label_smoothing = 0,
                             const LossOptions& options = {});
// Labels are class indices from 0.
Output sparse_softmax_cross_entropy(Graph& graph,
                                    Output labels,
                                    Output logits,
                                    const LossOptions& options = {});
// The sum of the regularization losses; 0 without any.
Output regularization_loss(Graph& graph,
                           const std::string& scope = "",
                           const std::string& name = "total_regularization_loss");
// The sum of all losses, optionally with the regularization losses.
Output total_loss(Graph& graph,
                  bool add_regularization_losses = true,
                  const std::string& name = "total_loss",
                  const std::string& scope = "");

}  // namespace runhooks
