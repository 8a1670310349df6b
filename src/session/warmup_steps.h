// Marks models whose first steps scan the data and leave the global step unchanged.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

constexpr const char* kUncountedSteps = "steps_that_do_not_count";

inline void mark_has_warmup_steps(Graph& graph) {
  graph.add_to_collection(kUncountedSteps, std::make_shared<bool>(true));
}
inline bool steps_may_not_count(const Graph& graph) {
  return !graph.collection(kUncountedSteps).empty();
}

}  // namespace runhooks
