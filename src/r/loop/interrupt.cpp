// Ctrl-C and time limits between two steps, and while a hook waits.
#include "base/interrupt.h"

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "r/loop/loop.h"
#include "r/values/border.h"

namespace runhooks {
namespace r {

namespace {

using Clock = std::chrono::steady_clock;

// R looks at its time limits in every sixth check only.
constexpr int kChecksOfALimit = 6;

// Whether so much time has passed since the last check that a limit is not to be missed.
bool is_time_for_limits() {
  static Clock::time_point last;
  const Clock::time_point now = Clock::now();
  const bool is_long = now - last > std::chrono::milliseconds(50);
  last = now;
  return is_long;
}

// Leaves by R's jump where the user has asked to stop, or where a time limit of R's is reached.
void check_user_interrupt() {
  static auto* token = new UnwindToken;
  int checks = is_time_for_limits() ? kChecksOfALimit : 1;
  call_r(
      [](void* n) -> SEXP {
        for (int i = *static_cast<int*>(n); i > 0; --i) R_CheckUserInterrupt();
        return R_NilValue;
      },
      &checks, *token);
}

void interruptible_sleep(double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  constexpr std::chrono::duration<double> kNap(0.05);
  while (Clock::now() < until) {
    check_user_interrupt();
    const std::chrono::duration<double> left = until - Clock::now();
    std::this_thread::sleep_for(std::min(left, kNap));
  }
}

}  // namespace

void setup_sleep() { set_sleep(interruptible_sleep); }
void setup_interrupts() { set_interrupt_check(check_user_interrupt); }

}  // namespace r
}  // namespace runhooks
