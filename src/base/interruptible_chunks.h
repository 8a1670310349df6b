// for_each_interruptible_chunk(): a loop over rows that polls for interrupts between chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/interrupt.h"

namespace runhooks {

// Calls run(first, last) for chunks of [0, n). Needed because a batch can contain the whole data.
template <typename Run>
void for_each_interruptible_chunk(int64_t n, size_t bytes_per_row, const Run& run) {
  constexpr size_t kChunkBytes = 1 << 23;
  const auto chunk = static_cast<int64_t>(std::max<size_t>(1, kChunkBytes / (bytes_per_row + 1)));
  for (int64_t first = 0; first < n; first += chunk) {
    if (first > 0) check_interrupt();
    run(first, std::min(n, first + chunk));
  }
}

}  // namespace runhooks
