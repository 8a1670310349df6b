// Sets the number of threads that kernels use during a test.
#pragma once

#include "base/threads.h"

namespace runhooks_test {

class Threads {
 public:
  explicit Threads(int threads) : before_(runhooks::kernel_threads()) {
    runhooks::set_kernel_threads(threads);
  }
  ~Threads() { runhooks::set_kernel_threads(before_); }

 private:
  int before_;
};

}  // namespace runhooks_test
