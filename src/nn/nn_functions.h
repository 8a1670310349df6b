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

Output softmax(Graph& graph, Output logits, int64_t axis = -1);
Output log_softmax(Graph& graph, Output logits, int64_t axis = -1);

// Computes max(x, 0) - x * z + log(1 + exp(-|x|)) elementwise, where x are logits and z labels.
Output sigmoid_cross_entropy_with_logits(Graph& graph, Output labels, Output logits);
// Computes the cross entropy of each row; classes are the last dimension. Without
// `differentiates_labels`, the labels get no gradient.
Output softmax_cross_entropy_with_logits(Graph& graph,
                                         Output labels,
                                         Output logits,
                                         bool differentiates_labels = false);
Output sparse_softmax_cross_entropy_with_logits(Graph& graph, Output labels, Output logits);
Output weighted_cross_entropy_with_logits(Graph& graph,
                                          Output targets,
                                          Output logits,
                                          Output pos_weight);
// Computes exp(log_input) - log_input * targets. `full` adds Stirling's approximation of
// log(targets!).
Output log_poisson_loss(Graph& graph, Output targets, Output log_input, bool full = false);

Output l2_normalize(Graph& graph, Output x, const std::vector<int64_t>& axes, double epsilon);

struct Moments {
  Output mean, variance;
};
Moments moments(Graph& graph, Output x, const std::vector<int64_t>& axes, bool keep_dims = false);
// Normalizes x by mean and variance, multiplies by `scale` and adds `offset`; both are optional.
Output batch_normalization(Graph& graph,
                           Output x,
                           Output mean,
                           Output variance,
                           Output offset,
                           Output scale,
                           double epsilon);

// Throws if the shapes are known to differ. Unknown dimensions fit any size.
void check_compatible_shapes(Output labels, Output predictions);
// Returns the axes as an int32 tensor; all axes of x if `axes` is empty.
Output axes_of(Graph& graph, Output x, const std::vector<int64_t>& axes = {});
Output sum_along(Graph& graph, Output x, const std::vector<int64_t>& axes, bool keep_dims = false);

}  // namespace runhooks
