// Functions of tf.nn that need several operations: cross entropies, normalization, activations by
// name.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Applies an activation by its name in tf.nn ("relu", "leaky_relu", "swish", ...); throws for
// unknown names.
Output activation(Graph& graph, const std::string& name, Output x);
std::vector<std::string> activation_names();

Output softmax(Graph& graph, Output logits, int64_t axis = -1);
Output log_softmax(Graph& graph, Output logits, int64_t axis = -1);

// Elementwise max(x, 0) - x * z + log(1 + exp(-|x|)).
Output sigmoid_cross_entropy_with_logits(Graph& graph, Output labels, Output logits);
// One number per row; classes are the last dimension. Gradients flow into the labels only if
// `differentiates_labels`.
Output softmax_cross_entropy_with_logits(Graph& graph,
                                         Output labels,
                                         Output logits,
                                         bool differentiates_labels = false);
Output sparse_softmax_cross_entropy_with_logits(Graph& graph, Output labels, Output logits);
Output weighted_cross_entropy_with_logits(Graph& graph,
                                          Output targets,
                                          Output logits,
                                          Output pos_weight);
// exp(log_input) - log_input * targets; `full` adds Stirling's approximation of the constant term.
Output log_poisson_loss(Graph& graph, Output targets, Output log_input, bool full = false);

Output l2_normalize(Graph& graph, Output x, const std::vector<int64_t>& axes, double epsilon);

struct Moments {
  Output mean, variance;
};
Moments moments(Graph& graph, Output x, const std::vector<int64_t>& axes, bool keep_dims = false);
// `offset` and `scale` are optional.
Output batch_normalization(Graph& graph,
                           Output x,
                           Output mean,
                           Output variance,
                           Output offset,
                           Output scale,
                           double epsilon);

// Axes as an int32 constant; all axes of x if empty.
Output axes_of(Graph& graph, Output x, const std::vector<int64_t>& axes = {});
Output sum_along(Graph& graph, Output x, const std::vector<int64_t>& axes, bool keep_dims = false);

}  // namespace runhooks
