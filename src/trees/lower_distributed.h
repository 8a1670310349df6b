// What several processes say together of their rows, in TensorFlow's ops, as files have them.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The sum over so many processes; `x` itself of one.
Output lowered_sum_of_all(Graph& g, const Output& x, int64_t group_size);

void lower_stats_of_all(Graph& g, const Operation& op, const std::vector<Output>& inputs);
void lower_quantiles_of_all(Graph& g, const Operation& op, const std::vector<Output>& inputs);

}  // namespace runhooks
