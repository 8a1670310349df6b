// Marks graphs whose first training steps scan the data and leave the global step unchanged.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

constexpr const char* kWarmupStepsKey = "steps_that_do_not_count";

// The mark is an entry of a collection of the graph.
inline void mark_has_warmup_steps(Graph& graph) {
  graph.add_to_collection(kWarmupStepsKey, std::make_shared<bool>(true));
}
inline bool has_warmup_steps(const Graph& graph) {
  return !graph.collection(kWarmupStepsKey).empty();
}

}  // namespace runhooks
