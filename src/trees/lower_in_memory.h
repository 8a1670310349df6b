// Lowering of the ops of trees in memory to TensorFlow's ops.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Derivatives of the mean logistic loss with respect to the logits, as in TensorFlow's trees
// without example weights.
struct LogisticDerivatives {
  Output gradients, hessians;
};
// `rows` is the number of rows of all processes.
LogisticDerivatives logistic_derivatives(Graph& g,
                                         const Output& labels,
                                         const Output& logits,
                                         const Output& rows);
// Returns the number of labels as a float.
Output float_count_of_labels(Graph& g, const Output& labels);

// TensorFlow has no binned data in memory, so each step of the lowered graph routes all rows from
// the root.
void lower_in_memory_handle(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_to_no_op(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_logits(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_logistic(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_grow_layer(Graph& g, const Operation& op, const std::vector<Output>& inputs);

}  // namespace runhooks
