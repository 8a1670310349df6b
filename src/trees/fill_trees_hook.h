// fill_trees_hook() makes a hook that bins the training data once per session.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

// Runs the ops `fill` with each step until the training data in the resource `data` are binned.
HookPtr fill_trees_hook(const Output& data, const std::vector<Operation*>& fill);

}  // namespace runhooks
