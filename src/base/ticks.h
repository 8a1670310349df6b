// A counter that runs with the time and is cheap to read, for what is timed in each step.
#pragma once

#include <cstdint>

namespace runhooks {

// Counts evenly on all processors, from no particular moment.
int64_t now_ticks();
// The time that so many of them take. How long one is shows while the process runs: the longer it
// has run, the more exactly.
double seconds_of_ticks(int64_t ticks);

}  // namespace runhooks
