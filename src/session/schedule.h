// Assigns operations to levels for multi-threaded runs.
#pragma once

#include <vector>

#include "graph/operation.h"

namespace runhooks {

// Returns the level of each operation; `order` is the serial order of execution. Operations depend
// only on lower levels, so those of one level may run concurrently. Visible effects keep the
// serial order: files, user code, and the variables updated before an error.
std::vector<int> schedule_levels(const std::vector<Operation*>& order);

// True if a helper thread may run it.
bool may_run_on_helper(const Operation& op);

}  // namespace runhooks
