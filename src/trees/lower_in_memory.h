// Lowering of the ops of trees in memory to TensorFlow's ops.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Derivatives of the mean logistic loss by the logits, as in TensorFlow's trees without weights.
struct LogisticDerivatives {
  Output gradients, hessians;
};
// `rows` is the number of rows of all processes.
LogisticDerivatives logistic_derivatives(Graph& g,
                                         const Output& labels,
                                         const Output& logits,
                                         const Output& rows);
Output number_of(Graph& g, const Output& labels);

// TensorFlow has no data in memory: each step routes all rows from the root again.
void lower_in_memory_handle(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_fill(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_logits(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_labels(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_logistic(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_grow_layer(Graph& g, const Operation& op, const std::vector<Output>& inputs);

}  // namespace runhooks
