// Executor::BatchCandidates and KernelBatch: similar steps that one kernel call computes.
#pragma once

#include <memory>
#include <vector>

#include "session/executor.h"

namespace runhooks {

// Consecutive steps of one level with the same kernel class. They are independent, and their
// outputs do not share buffers.
struct Executor::BatchCandidates {
  Step* const* first;
  size_t count;
  uint64_t epoch = 0;  // of the table when the groups were formed; another epoch invalidates them
  std::vector<KernelBatch> groups;
};

// Candidates that can run as one batch in their current layout.
struct Executor::KernelBatch {
  size_t count;
  std::unique_ptr<KernelGroup> group;
};

}  // namespace runhooks
