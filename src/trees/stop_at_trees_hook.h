// The hook that ends a training when the trees are as many as were asked for.
#pragma once

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

struct TreesWanted {
  int64_t n_trees, max_depth, batches_per_layer;
  bool stop_when_no_split = false;  // and so a root that cannot be split never will be
};

// Ends when `n_trees` are finished, or when so many layers have been tried without success that
// more will not help: twice those that they need, among them those for which there was nothing to try. Where that is so already, no step is made.
// Where a training ends without a layer, or with trees that have gained nothing, it says so.
HookPtr stop_at_trees(const Output& ensemble, const TreesWanted& wanted);

}  // namespace runhooks
