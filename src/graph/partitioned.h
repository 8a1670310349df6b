// Values of partitioned variables.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/variable.h"

namespace runhooks {

// Concatenates the parts of a variable into a tensor with the variable's full name. For an
// unpartitioned variable, returns its value.
Output full_value(Graph& graph, const std::vector<VariablePtr>& parts);

// Returns the value of each part if the variable is partitioned along its rows, else one tensor
// with the whole value. Lookups in separate parts have sparse gradients (IndexedSlices).
std::vector<Output> row_parts(Graph& graph, const std::vector<VariablePtr>& parts);

}  // namespace runhooks
