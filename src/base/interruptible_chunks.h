// For_each_interruptible_chunk(), loops over rows that a user may leave between two pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/interrupt.h"

namespace runhooks {

// run(first, last) for pieces of 0..n rows of `bytes` each; a batch may be meant to hold
// everything, however much that is.
template <typename Run>
void for_each_interruptible_chunk(int64_t n, size_t bytes, const Run& run) {
  constexpr size_t kBytesOfPiece = 1 << 23;
  const auto piece = static_cast<int64_t>(std::max<size_t>(1, kBytesOfPiece / (bytes + 1)));
  for (int64_t first = 0; first < n; first += piece) {
    if (first > 0) check_interrupt();
    run(first, std::min(n, first + piece));
  }
}

}  // namespace runhooks
