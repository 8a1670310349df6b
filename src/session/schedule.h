// Assigns operations to levels for multi-threaded runs.
#pragma once

#include <vector>

#include "graph/operation.h"

namespace runhooks {

// Returns the level of each operation; `order` is the serial order of execution. An operation
// depends only on lower levels, so operations of one level may run concurrently. Writes to files
// and calls of user code keep the serial order. If an operation before the first update of a
// variable fails, no variable is updated.
std::vector<int> schedule_levels(const std::vector<Operation*>& order);

// True if a helper thread may run the operation.
bool may_run_on_helper(const Operation& op);

}  // namespace runhooks
