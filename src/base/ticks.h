// A cheap monotonic counter for timing every step.
#pragma once

#include <cstdint>

namespace runhooks {

// Runs at the same rate on all processors; the origin is arbitrary.
int64_t now_ticks();
// Converts ticks to seconds. The tick length is estimated since the start of the process, so the
// precision improves over time.
double ticks_to_seconds(int64_t ticks);

}  // namespace runhooks
