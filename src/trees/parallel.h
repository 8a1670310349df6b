// Parallel_for_throwing(), parallel_for() for work that may throw; parallel_for_chunks() for elements that take long.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/parallel_for.h"

namespace runhooks {

// run(i) for each i below n, in any order; the first error that came is thrown when all have ended,
// and what has not begun by then is left out.
template <typename Run>
void parallel_for_throwing(int64_t n, const Run& run) {
  std::exception_ptr error;
  std::mutex mutex;
  std::atomic<bool> failed{false};
  parallel_for(n, [&](int64_t i) {
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

// run(first, count) for pieces of 0..n, each worth a thread where an element takes `work` steps. It
// must not throw. In rounds, between which the user may stop a long one.
template <typename Run>
void parallel_for_chunks(int64_t n, int64_t piece, int64_t work, const Run& run) {
  for_each_cancellable_chunk((n + piece - 1) / piece, piece * work, [&](int64_t begin, int64_t end) {
    parallel_for(end - begin, [&](int64_t i) {
      const int64_t first = (begin + i) * piece;
      run(first, std::min(piece, n - first));
    });
  });
}

}  // namespace runhooks
