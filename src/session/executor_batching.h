// Executor::BatchCandidates and KernelBatch: similar steps that one kernel call computes.
#pragma once

#include <memory>
#include <vector>

#include "session/executor.h"

namespace runhooks {

// Consecutive steps of one level with the same kernel class. They are independent, and none of
// their outputs share a buffer.
struct Executor::BatchCandidates {
  Step* const* first;
  size_t count;
  uint64_t epoch = 0;  // table epoch when groups were formed; a later preparation invalidates them
  std::vector<KernelBatch> groups;
};

// Candidates that can run as one batch in their current layout.
struct Executor::KernelBatch {
  size_t count;
  std::unique_ptr<KernelGroup> group;
};

}  // namespace runhooks
