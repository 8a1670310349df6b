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

// What the losses below have in common: how the losses of examples or elements become one number,
// and where that goes. An invalid weight is 1.
struct LossOptions {
  Output weights;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  std::string scope;  // by default the name of the loss
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
// 1 - the inner product along `axis` of what has been normalized to length 1.
Output cosine_distance(
    Graph& graph, Output labels, Output predictions, int64_t axis, const LossOptions& options = {});
// Of differences between pairs of elements of one example; it has a reduction of its own.
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
// Labels are class numbers from 0.
Output sparse_softmax_cross_entropy(Graph& graph,
                                    Output labels,
                                    Output logits,
                                    const LossOptions& options = {});
// The sum of the regularization losses; 0 where there are none.
Output regularization_loss(Graph& graph,
                           const std::string& scope = "",
                           const std::string& name = "total_regularization_loss");
// All losses, with the regularization losses where these are wanted.
Output total_loss(Graph& graph,
                  bool add_regularization_losses = true,
                  const std::string& name = "total_loss",
                  const std::string& scope = "");

}  // namespace runhooks
