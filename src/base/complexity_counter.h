// A count of what passes over a graph look at, which tests hold to grow with the graph and no faster.
#pragma once

#include <cstdint>

namespace runhooks {

// By this thread so far. What a step does does not count: it is timed.
inline uint64_t& pass_work_count() {
  static thread_local uint64_t count = 0;
  return count;
}

}  // namespace runhooks
