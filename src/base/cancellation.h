// CancellableScope, by which long operations know whether they may be left half way.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/interrupt.h"

namespace runhooks {

// While it lives, and `may` is TRUE, what this thread computes leaves no trace and may be left half
// way: long operations then ask between their pieces, by check_cancelled(), which does
// nothing elsewhere.
class CancellableScope {
 public:
  explicit CancellableScope(bool may) : before_(may_) { may_ = may; }
  ~CancellableScope() { may_ = before_; }
  CancellableScope(const CancellableScope&) = delete;
  CancellableScope& operator=(const CancellableScope&) = delete;
  static bool may() { return may_; }

 private:
  static inline thread_local bool may_ = false;
  bool before_;
};
inline void check_cancelled() {
  if (CancellableScope::may()) check_interrupt();
}
// By the clock, where pieces are many and their lengths differ.
inline void check_cancelled_throttled() {
  if (CancellableScope::may()) check_interrupt_throttled();
}

// run(first, last) for 0..n, of which each takes about `work` operations: in rounds between which
// the user may stop what takes long, else in one.
template <typename Run>
void for_each_cancellable_chunk(int64_t n, int64_t work, const Run& run) {
  constexpr int64_t kWorkOfRound = 1 << 24;
  const int64_t most = std::max<int64_t>(1, kWorkOfRound / std::max<int64_t>(1, work));
  const int64_t round = CancellableScope::may() ? most : n;
  for (int64_t first = 0; first < n; first += round) {
    if (first > 0) check_cancelled();
    run(first, std::min(n, first + round));
  }
}

}  // namespace runhooks
