// The processes that an operation computes with.
#pragma once

#include "cluster/communicator.h"
#include "graph/graph.h"

namespace runhooks {

// The attribute of such an operation: of how many processes it was made.
inline constexpr char kGroupSize[] = "group_size";

// All of a run. An error where `op` was made for another number of them, or is not computed within
// a step of all.
Communicator& group_of(const Operation& op);

}  // namespace runhooks
