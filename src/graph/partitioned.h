// The value of a variable that may have been cut into parts.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/variable.h"

namespace runhooks {

// The parts of a partitioned variable as one tensor, which has the variable's full name; the value
// of a variable that is whole.
Output whole_value(Graph& graph, const std::vector<VariablePtr>& parts);

// What rows are looked up in: the value of each part where the variable was cut between rows, so
// that a gradient of rows stays one; else the whole value.
std::vector<Output> row_parts(Graph& graph, const std::vector<VariablePtr>& parts);

}  // namespace runhooks
