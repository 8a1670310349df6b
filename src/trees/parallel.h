// parallel_for_throwing() for work that may throw, and parallel_for_chunks() for costly elements.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/parallel_for.h"

namespace runhooks {

// Calls run(i) for each i below n in any order. Stops after an error and rethrows the first one.
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

// Calls run(first, count) for pieces of 0..n; an element takes about `work` steps. `run` must not
// throw. Polls for interrupts.
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
