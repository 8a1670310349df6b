// stop_at_trees_hook() makes a hook that stops training at the requested number of trees.
#pragma once

#include "graph/graph.h"
#include "session/run_hook.h"

namespace runhooks {

struct TreeTargets {
  int64_t n_trees, max_depth, batches_per_layer;
  bool stop_when_no_split = false;  // also stop after two failed layers in a row
};

// Stops after `n_trees` finished trees, or after twice the layers that they need, including
// attempts that found no split. Reports training that ends without a layer or without a gain.
HookPtr stop_at_trees_hook(const Output& ensemble, const TreeTargets& targets);

}  // namespace runhooks
