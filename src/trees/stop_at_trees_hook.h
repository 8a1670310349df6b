// What lives here: the hook that ends a training when the trees are as many as were asked for.
// Who may use it: estimators of trees.
// What it must not know: how trees grow, R.
#pragma once

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

// Ends when `n_trees` are finished, or when so many layers have been tried without success that
// more will not help: twice those that they need. Where that is so already, no step is made.
HookPtr stop_at_trees(const Output& ensemble, int64_t n_trees, int64_t max_depth);

}  // namespace runhooks
