#include "base/ticks.h"

#include <chrono>
#include <limits>

#include "base/platform.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <x86intrin.h>
#define RUNHOOKS_HAS_TSC 1
#endif

namespace runhooks {

namespace {

int64_t clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

#ifdef RUNHOOKS_HAS_TSC
// Whether the counter has a constant rate that does not depend on core and frequency.
bool counts_evenly() {
  constexpr unsigned kPower = 0x80000007, kInvariant = 1u << 8;
  unsigned a, b, c, d;
  return __get_cpuid(kPower, &a, &b, &c, &d) && (d & kInvariant);
}
const bool has_counter = counts_evenly() && feature_enabled(SystemFeature::kCycleCounter);
int64_t count() { return static_cast<int64_t>(__rdtsc()); }
#elif defined(__aarch64__) && defined(__GNUC__)
#define RUNHOOKS_HAS_TSC 1
// The architecture guarantees one system-wide counter with a constant rate.
const bool has_counter = feature_enabled(SystemFeature::kCycleCounter);
int64_t count() {
  uint64_t now;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return static_cast<int64_t>(now);
}
#endif

// A pair of clock and counter values, from the try with the shortest delay between them.
struct Moment {
  int64_t ns = 0, tick = 0;
  static Moment now() {
    Moment best;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < 4; ++i) {
      const int64_t before = now_ticks(), ns = clock_ns(), taken = now_ticks() - before;
      if (taken >= least) continue;
      least = taken;
      best = {ns, before + taken / 2};
    }
    return best;
  }
};

const Moment first_moment = Moment::now();  // at load time

}  // namespace

int64_t now_ticks() {
#ifdef RUNHOOKS_HAS_TSC
  if (has_counter) return count();
#endif
  return clock_ns();
}

double seconds_of_ticks(int64_t ticks) {
  const Moment moment = Moment::now();
  const auto passed = static_cast<double>(moment.tick - first_moment.tick);
  const auto passed_ns = static_cast<double>(moment.ns - first_moment.ns);
  return passed > 0 ? static_cast<double>(ticks) * (passed_ns / passed) / 1e9 : 0;
}

}  // namespace runhooks
