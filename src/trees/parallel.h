// What lives here: each_on_threads(), share_each() for work that may throw.
// Who may use it: the files of trees/.
// What it must not know: what the work is.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/shared_pieces.h"

namespace runhooks {

// run(i) for each i below n, in any order; the first error that came is thrown when all have ended,
// and what has not begun by then is left out.
template <typename Run>
void each_on_threads(int64_t n, const Run& run) {
  std::exception_ptr error;
  std::mutex mutex;
  std::atomic<bool> failed{false};
  share_each(n, [&](int64_t i) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      run(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace runhooks
