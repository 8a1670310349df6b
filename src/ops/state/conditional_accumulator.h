// TensorFlow's conditional accumulators, which add up or average the values of a step.
#pragma once

#include <string>

#include "graph/graph.h"

namespace runhooks {

// Adds a ResourceConditionalAccumulator for values of this shape. Checkpoints contain its state, so
// a resumed run continues with the values so far.
Output add_accumulator(Graph& graph, const Shape& shape, const std::string& shared_name);

}  // namespace runhooks
