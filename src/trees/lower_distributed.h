// Lowering of the distributed tree ops to TensorFlow's ops.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Returns the sum of `x` over `group_size` processes; for one process, `x` itself.
Output lowered_all_reduce(Graph& g, const Output& x, int64_t group_size);

void lower_distributed_stats(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_distributed_quantiles(Graph& g, const Operation& op, const std::vector<Output>& inputs);

}  // namespace runhooks
