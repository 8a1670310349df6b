// Parallel loops: parallel_for_throwing() for work that may throw, and parallel_for_chunks() with a
// chunk size and interrupt polling.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "base/parallel_for.h"

namespace runhooks {

// Calls run(i) for each i below n in any order. Skips the remaining calls after an exception, which
// it rethrows.
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

// Calls run(first, count) for chunks of [0, n). `work` is the approximate number of operations per
// element. `run` must not throw. Polls for interrupts.
template <typename Run>
void parallel_for_chunks(int64_t n, int64_t chunk_size, int64_t work, const Run& run) {
  for_each_cancellable_chunk((n + chunk_size - 1) / chunk_size, chunk_size * work,
                             [&](int64_t begin, int64_t end) {
                               parallel_for(end - begin, [&](int64_t i) {
                                 const int64_t first = (begin + i) * chunk_size;
                                 run(first, std::min(chunk_size, n - first));
                               });
                             });
}

}  // namespace runhooks
