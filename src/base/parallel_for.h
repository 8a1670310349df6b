// parallel_for() and parallel_for_range(): parallel loops for lambdas.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/cancellation.h"
#include "base/thread_pool.h"
#include "base/threads.h"

namespace runhooks {

// Calls run(i) for each i below n, in any order. `run` must not throw.
template <typename Run>
void parallel_for(int64_t n, const Run& run) {
  parallel_for(
      static_cast<size_t>(n), kernel_threads(),
      [](void* context, size_t i) { (*static_cast<const Run*>(context))(static_cast<int64_t>(i)); },
      const_cast<Run*>(&run));
}

// Minimum number of elements per thread in elementwise loops.
constexpr int64_t kMinElementsPerThread = 1 << 13;
inline bool is_worth_parallelizing(int64_t elements) { return elements >= 2 * kMinElementsPerThread; }

// Calls run(first, count) for chunks of [0, n). `run` must not throw, and its result must not
// depend on chunk boundaries. Checks for cancellation between groups of chunks.
template <typename Run>
void parallel_for_range(int64_t n, const Run& run) {
  if (!is_worth_parallelizing(n) || (kernel_threads() < 2 && !CancellableScope::is_active()))
    return run(0, n);
  constexpr int64_t kTargetChunks = 64, kMaxChunk = 1 << 20, kOperationsPerElement = 16;
  const int64_t chunk =
      std::clamp((n / kTargetChunks + 64) / 64 * 64, kMinElementsPerThread, kMaxChunk);
  const int64_t num_chunks = (n + chunk - 1) / chunk;
  for_each_cancellable_chunk(num_chunks, chunk * kOperationsPerElement,
                             [&](int64_t first, int64_t last) {
                               parallel_for(last - first, [&](int64_t i) {
                                 const int64_t begin = (first + i) * chunk;
                                 run(begin, std::min(chunk, n - begin));
                               });
                             });
}

}  // namespace runhooks
