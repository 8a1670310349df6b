// Lowering of the distributed tree ops to TensorFlow's ops.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The sum over `group_size` processes; `x` itself for one process.
Output lowered_sum_of_all(Graph& g, const Output& x, int64_t group_size);

void lower_stats_of_all(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_quantiles_of_all(Graph& g, const Operation& op, const std::vector<Output>& inputs);

}  // namespace runhooks
