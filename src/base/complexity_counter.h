// Counts the operations visited by graph passes. Tests assert that the count is linear in the size
// of the graph.
#pragma once

#include <cstdint>

namespace runhooks {

// Returns the counter of operations that graph passes have visited on this thread.
inline uint64_t& pass_work_count() {
  static thread_local uint64_t count = 0;
  return count;
}

}  // namespace runhooks
