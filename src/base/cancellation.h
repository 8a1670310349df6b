// CancellableScope: marks work that Ctrl-C may stop midway.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/interrupt.h"
#include "base/scoped_value.h"

namespace runhooks {

// Inside this scope, if `can_cancel` is TRUE, the work of this thread has no side effects and may
// be abandoned. Long operations call check_cancelled() between chunks of work. Outside the scope,
// check_cancelled() does nothing.
class CancellableScope {
 public:
  explicit CancellableScope(bool can_cancel) : scope_(is_active_, can_cancel) {}
  static bool is_active() { return is_active_; }

 private:
  static inline thread_local bool is_active_ = false;
  ScopedValue<bool> scope_;
};
inline void check_cancelled() {
  if (CancellableScope::is_active()) check_interrupt();
}
// Checks at most every 10 ms, for loops with many short chunks.
inline void check_cancelled_throttled() {
  if (CancellableScope::is_active()) check_interrupt_throttled();
}

// Calls run(first, last) for chunks of [0, n). Inside a CancellableScope, it checks between chunks
// whether the work was cancelled; outside the scope it uses a single chunk.
template <typename Run>
void for_each_cancellable_chunk(int64_t n, int64_t operations_per_index, const Run& run) {
  constexpr int64_t kWorkPerChunk = 1 << 24;
  const int64_t max_indices =
      std::max<int64_t>(1, kWorkPerChunk / std::max<int64_t>(1, operations_per_index));
  const int64_t chunk = CancellableScope::is_active() ? max_indices : n;
  for (int64_t first = 0; first < n; first += chunk) {
    if (first > 0) check_cancelled();
    run(first, std::min(n, first + chunk));
  }
}

}  // namespace runhooks
