// CancellableScope: marks work that Ctrl-C may stop midway.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/interrupt.h"

namespace runhooks {

// Inside this scope, if `may` is TRUE, the work of this thread has no side effects and may be
// abandoned. Long operations call check_cancelled() between chunks; outside the scope it does
// nothing.
class CancellableScope {
 public:
  explicit CancellableScope(bool may) : before_(is_active_) { is_active_ = may; }
  ~CancellableScope() { is_active_ = before_; }
  CancellableScope(const CancellableScope&) = delete;
  CancellableScope& operator=(const CancellableScope&) = delete;
  static bool is_active() { return is_active_; }

 private:
  static inline thread_local bool is_active_ = false;
  bool before_;
};
inline void check_cancelled() {
  if (CancellableScope::is_active()) check_interrupt();
}
// Rate-limited variant, for many chunks of varying length.
inline void check_cancelled_throttled() {
  if (CancellableScope::is_active()) check_interrupt_throttled();
}

// Calls run(first, last) for chunks of 0..n, where each index takes about `work` operations. Inside
// a CancellableScope it polls between chunks; outside it uses a single chunk.
template <typename Run>
void for_each_cancellable_chunk(int64_t n, int64_t work, const Run& run) {
  constexpr int64_t kWorkPerChunk = 1 << 24;
  const int64_t most = std::max<int64_t>(1, kWorkPerChunk / std::max<int64_t>(1, work));
  const int64_t round = CancellableScope::is_active() ? most : n;
  for (int64_t first = 0; first < n; first += round) {
    if (first > 0) check_cancelled();
    run(first, std::min(n, first + round));
  }
}

}  // namespace runhooks
