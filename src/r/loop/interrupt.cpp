// Polls for Ctrl-C and R's time limits during a loop and while hooks wait.
#include "base/interrupt.h"

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/ticks.h"
#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"

namespace runhooks {
namespace r {

namespace {

using Clock = std::chrono::steady_clock;

// R_CheckUserInterrupt() checks time limits only in every sixth call, so it is called six times.
constexpr int kChecksPerLimit = 6;

// Whether to check the time limits, at most every 50 ms.
bool are_limits_due() {
  static Clock::time_point last;
  const Clock::time_point now = Clock::now();
  const bool is_due = now - last > std::chrono::milliseconds(50);
  last = now;
  return is_due;
}

// Whether to poll: after R code has run, and otherwise about once per millisecond. Limits the rate,
// because R_CheckUserInterrupt() is expensive compared with a small step.
bool is_poll_due() {
  constexpr int64_t kMinTicks = 500 * 1000;
  static int64_t last = 0;
  static uint64_t calls = 0;
  const int64_t now = now_ticks();
  if (now - last >= 0 && now - last < kMinTicks && calls == calls_of_r()) return false;
  last = now;
  calls = calls_of_r() + 1;  // + 1, because the check itself is a call
  return true;
}

void check_user_interrupt() {
  if (!is_poll_due()) return;
  static auto* token = new UnwindToken;
  int checks = are_limits_due() ? kChecksPerLimit : 1;
  call_r(
      [](void* n) -> SEXP {
        for (int i = *static_cast<int*>(n); i > 0; --i) R_CheckUserInterrupt();
        return R_NilValue;
      },
      &checks, *token);
}

void interruptible_sleep(double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  constexpr std::chrono::duration<double> kPollInterval(0.05);
  while (Clock::now() < until) {
    check_user_interrupt();
    const std::chrono::duration<double> remaining = until - Clock::now();
    std::this_thread::sleep_for(std::min(remaining, kPollInterval));
  }
}

}  // namespace

void setup_sleep() { set_sleep(interruptible_sleep); }
void setup_interrupts() { set_interrupt_check(check_user_interrupt); }

}  // namespace r
}  // namespace runhooks
