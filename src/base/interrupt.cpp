#include "base/interrupt.h"

#include <chrono>

#include "base/log.h"
#include "base/status.h"

namespace runhooks {

namespace {
using Clock = std::chrono::steady_clock;

void (*interrupt_check)() = nullptr;
thread_local bool is_polling_thread = false;
thread_local const std::atomic<bool>* cancel_flag = nullptr;
thread_local Clock::time_point last_check_time;
}  // namespace

void check_cancel_flag() {
  if (cancel_flag && cancel_flag->load()) fail(Code::kCancelled, "The thread was cancelled.");
}

void check_interrupt() {
  check_cancel_flag();
  flush_deferred_log();
  if (is_polling_thread && interrupt_check) interrupt_check();
}

// Measures time instead of counting calls, so that slow iterations do not delay an interrupt.
void check_interrupt_throttled() {
  const Clock::time_point now = Clock::now();
  if (now - last_check_time < std::chrono::milliseconds(10)) return;
  last_check_time = now;
  check_interrupt();
}

void set_cancel_flag(const std::atomic<bool>* flag) { cancel_flag = flag; }

bool can_poll_interrupts() { return is_polling_thread || !interrupt_check; }

void set_interrupt_check(void (*check)()) {
  interrupt_check = check;
  is_polling_thread = check != nullptr;
  last_check_time = {};
}

}  // namespace runhooks
