// What lives here: the means of what several steps have given, as a part of where a run stands.
// Who may use it: whoever builds graphs whose steps add up.
// What it must not know: what is added, R.
#pragma once

#include <string>

#include "graph/graph.h"

namespace runhooks {

// An accumulator of this shape (ResourceConditionalAccumulator), whose value is saved with
// checkpoints, so that a run that goes on has what it had.
Output add_accumulator(Graph& graph, const Shape& shape, const std::string& shared_name);

}  // namespace runhooks
