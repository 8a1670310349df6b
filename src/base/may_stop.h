// What lives here: MayStopWithin, by which long operations know whether they may be left half way.
// Who may use it: who runs operations says so; operations that take long ask.
// What it must not know: what is computed, who asks.
#pragma once

#include "base/interrupt.h"

namespace runhooks {

// While it lives, and `may` is TRUE, what this thread computes leaves no trace and may be left half
// way: long operations then ask between their pieces, by check_interrupt_within(), which does
// nothing elsewhere.
class MayStopWithin {
 public:
  explicit MayStopWithin(bool may) : before_(may_) { may_ = may; }
  ~MayStopWithin() { may_ = before_; }
  MayStopWithin(const MayStopWithin&) = delete;
  MayStopWithin& operator=(const MayStopWithin&) = delete;
  static bool may() { return may_; }

 private:
  static inline thread_local bool may_ = false;
  bool before_;
};
inline void check_interrupt_within() {
  if (MayStopWithin::may()) check_interrupt();
}

}  // namespace runhooks
