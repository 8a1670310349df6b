// Adds accumulators of values over steps, whose state is saved with checkpoints.
#pragma once

#include <string>

#include "graph/graph.h"

namespace runhooks {

// Adds a ResourceConditionalAccumulator of this shape. Its state is saved with checkpoints, so a
// resumed run continues with it.
Output add_accumulator(Graph& graph, const Shape& shape, const std::string& shared_name);

}  // namespace runhooks
