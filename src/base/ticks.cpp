#include "base/ticks.h"

#include <limits>

#include "base/clock.h"
#include "base/platform.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <x86intrin.h>
#define RUNHOOKS_HAS_TSC 1
#endif

namespace runhooks {

namespace {

#ifdef RUNHOOKS_HAS_TSC
// Whether the CPU's time stamp counter has one constant rate on all cores, at all CPU frequencies.
bool has_invariant_tsc() {
  constexpr unsigned kPower = 0x80000007, kInvariant = 1u << 8;
  unsigned a, b, c, d;
  return __get_cpuid(kPower, &a, &b, &c, &d) && (d & kInvariant);
}
const bool has_counter = has_invariant_tsc() && feature_enabled(SystemFeature::kCycleCounter);
int64_t read_counter() { return static_cast<int64_t>(__rdtsc()); }
#elif defined(__aarch64__) && defined(__GNUC__)
#define RUNHOOKS_HAS_TSC 1
// The arm64 architecture guarantees one counter for all cores, with a constant rate. So, unlike on
// x86, no check is needed.
const bool has_counter = feature_enabled(SystemFeature::kCycleCounter);
int64_t read_counter() {
  uint64_t now;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return static_cast<int64_t>(now);
}
#endif

// Values of the clock and the counter at almost the same time.
struct ClockReading {
  int64_t ns = 0, ticks = 0;
  static ClockReading now() {
    // Tries four times and returns the reading that took the shortest time.
    ClockReading closest;
    int64_t shortest_delay = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < 4; ++i) {
      const int64_t before = now_ticks(), ns = steady_ns(), delay = now_ticks() - before;
      if (delay >= shortest_delay) continue;
      shortest_delay = delay;
      closest = {ns, before + delay / 2};
    }
    return closest;
  }
};

const ClockReading reading_at_load = ClockReading::now();

}  // namespace

int64_t now_ticks() {
#ifdef RUNHOOKS_HAS_TSC
  if (has_counter) return read_counter();
#endif
  return steady_ns();
}

double ticks_to_seconds(int64_t ticks) {
  const ClockReading reading = ClockReading::now();
  const auto passed = static_cast<double>(reading.ticks - reading_at_load.ticks);
  const auto passed_ns = static_cast<double>(reading.ns - reading_at_load.ns);
  return passed > 0 ? static_cast<double>(ticks) * (passed_ns / passed) / 1e9 : 0;
}

}  // namespace runhooks
