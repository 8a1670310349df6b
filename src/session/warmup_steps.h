// What lives here: what a model says whose first steps do not move the global step: it looks at the data first.
// Who may use it: estimators say it, hooks that watch the global step ask.
// What it must not know: any particular model or hook, R.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace runhooks {

// Of a thing that no file shows.
constexpr const char* kUncountedSteps = "steps_that_do_not_count";

inline void mark_has_warmup_steps(Graph& graph) {
  graph.add_to_collection(kUncountedSteps, std::make_shared<bool>(true));
}
inline bool steps_may_not_count(const Graph& graph) {
  return !graph.collection(kUncountedSteps).empty();
}

}  // namespace runhooks
