// Ctrl-C and time limits between two steps, and while a hook waits.
#include <chrono>
#include <thread>

#include "runhooks_r.h"
#include "base/clock.h"

namespace runhooks {
namespace r {

void check_user_interrupt() {
  static auto* token = new UnwindToken;
  call_r(
      [](void*) -> SEXP {
        R_CheckUserInterrupt();
        return R_NilValue;
      },
      nullptr, *token);
}

namespace {

void interruptible_sleep(double seconds) {
  using Clock = std::chrono::steady_clock;
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

}  // namespace r
}  // namespace runhooks
