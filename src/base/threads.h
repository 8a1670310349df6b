// The number of threads that this thread may use for a computation.
#pragma once

#include "base/scoped_value.h"

namespace runhooks {

// Returns the number of threads that a kernel may use. It is 1 inside a SingleThreaded scope, and
// in a forked child, because threads do not survive fork().
int kernel_threads() noexcept;
void set_kernel_threads(int threads) noexcept;
// Returns the number passed to set_kernel_threads(), even inside a SingleThreaded scope; 1 in a
// forked child.
int configured_threads() noexcept;
bool in_forked_child() noexcept;

// Inside this scope, kernel_threads() of this thread is 1.
class SingleThreaded {
 public:
  SingleThreaded() noexcept;

 private:
  ScopedValue<bool> scope_;
};

}  // namespace runhooks
