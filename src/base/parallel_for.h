// Parallel_for() and parallel_for_range(), parallel_for() for lambdas, with as many threads as a kernel may use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/cancellation.h"
#include "base/thread_pool.h"
#include "base/threads.h"

namespace runhooks {

// run(i) for each i below n, in any order. It must not throw.
template <typename Run>
void parallel_for(int64_t n, const Run& run) {
  parallel_for(
      static_cast<size_t>(n), kernel_threads(),
      [](void* context, size_t i) { (*static_cast<const Run*>(context))(static_cast<int64_t>(i)); },
      const_cast<Run*>(&run));
}

// How many elements of a loop over numbers are worth handing to another thread.
constexpr int64_t kSharedElements = 1 << 13;
inline bool is_worth_sharing(int64_t elements) { return elements >= 2 * kSharedElements; }

// run(first, count) for pieces of 0..n. It must not throw, and what it does for one element must
// not depend on where a piece begins. In rounds, between which the user may stop a long one.
template <typename Run>
void parallel_for_range(int64_t n, const Run& run) {
  if (!is_worth_sharing(n) || (kernel_threads() < 2 && !CancellableScope::may())) return run(0, n);
  constexpr int64_t kUsualPieces = 64, kLargest = 1 << 20, kWorkOfElement = 16;
  const int64_t piece = std::clamp((n / kUsualPieces + 64) / 64 * 64, kSharedElements, kLargest);
  const int64_t pieces = (n + piece - 1) / piece;
  for_each_cancellable_chunk(pieces, piece * kWorkOfElement, [&](int64_t first, int64_t last) {
    parallel_for(last - first, [&](int64_t i) {
      const int64_t at = (first + i) * piece;
      run(at, std::min(piece, n - at));
    });
  });
}

}  // namespace runhooks
