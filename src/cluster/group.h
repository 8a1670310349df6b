// The process group of a collective op.
#pragma once

#include "cluster/communicator.h"
#include "graph/graph.h"

namespace runhooks {

// Attribute of collective ops: the number of processes for which the graph was built.
inline constexpr char kGroupSize[] = "group_size";

// Returns the communicator for `op`. Throws if the number of processes differs from the attribute
// kGroupSize, or if the op runs outside a step that all processes run together.
Communicator& group_of(const Operation& op);

}  // namespace runhooks
