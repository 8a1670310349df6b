// What lives here: Executor::Alike and Together, steps of one kind that are computed by one call.
// Who may use it: the executor.
// What it must not know: what they compute, R.
#pragma once

#include <memory>
#include <vector>

#include "session/executor.h"

namespace runhooks {

// Steps that follow each other in a run on one thread, of one level and with kernels of one class:
// none needs what another one computes, and no two of their outputs share a buffer.
struct Executor::BatchCandidates {
  Step* const* first;
  size_t count;
  uint64_t epoch = 0;  // the table's when groups were formed: kernels may be prepared anew since
  std::vector<KernelBatch> groups;
};

// Some of them that go together as they are prepared now.
struct Executor::KernelBatch {
  size_t count;
  std::unique_ptr<KernelGroup> group;
};

}  // namespace runhooks
