// The ops of trees in memory in TensorFlow's, as files have them.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Of the mean logistic loss of two classes by their logits, as TensorFlow's trees have it where there are no
// weights and no gradient is asked for.
struct LogisticDerivatives {
  Output gradients, hessians;
};
// `rows` is how many there are, of all processes.
LogisticDerivatives logistic_derivatives(Graph& g,
                                         const Output& labels,
                                         const Output& logits,
                                         const Output& rows);
Output number_of(Graph& g, const Output& labels);

// The rows come anew in each step of TensorFlow's, which finds their leaves from the roots on and sums
// them in histograms of all features.
void lower_in_memory_handle(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_fill(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_logits(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_labels(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_in_memory_logistic(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_grow_layer(Graph& g, const Operation& op, const std::vector<Output>& inputs);

}  // namespace runhooks
