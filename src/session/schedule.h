// What lives here: the schedule of a run on several threads: which operations may run side by side.
// Who may use it: session.
// What it must not know: kernels at work, buffers, R.
#pragma once

#include <vector>

#include "graph/operation.h"

namespace runhooks {

// The level of each of these operations, which stand in the order of a run on one thread: all that
// an operation needs is on lower levels, so those of one level may run side by side. What is seen
// from outside (files, user code, which variable was changed when an error ended the run) is the
// same as in the plain order.
std::vector<int> schedule_levels(const std::vector<Operation*>& order);

// Whether another thread than the session's may compute it.
bool may_run_on_helper(const Operation& op);

}  // namespace runhooks
