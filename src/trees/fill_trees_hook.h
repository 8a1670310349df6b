// The hook that puts the rows of data into bins, once a session.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

// Runs `fill` beside the step until the data that `data` refers to are there.
HookPtr fill_trees(const Output& data, const std::vector<Operation*>& fill);

}  // namespace runhooks
