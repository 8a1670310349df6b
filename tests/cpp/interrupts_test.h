// Helpers that count the interrupt checks of an operation and interrupt it at one of them.
#pragma once

#include <functional>

#include "base/interrupt.h"
#include "base/status.h"

namespace runhooks_test {

struct InterruptCounter {
  static inline int checks = 0, last = 0;
  static void check() {
    if (++checks == last) throw runhooks::ForeignUnwind(/*is_interrupt=*/true);
  }
};

// Returns the number of interrupt checks in `run`, and interrupts it at check number `stop` (0:
// never). Sets `stopped` to whether the interrupt ended `run`.
inline int count_interrupt_checks(const std::function<void()>& run,
                                  int stop = 0,
                                  bool* stopped = nullptr) {
  InterruptCounter::checks = 0;
  InterruptCounter::last = stop;
  runhooks::set_interrupt_check(InterruptCounter::check);
  bool is_stopped = false;
  try {
    run();
  } catch (const runhooks::ForeignUnwind&) {
    is_stopped = true;
  }
  runhooks::set_interrupt_check(nullptr);
  if (stopped) *stopped = is_stopped;
  return InterruptCounter::checks;
}

// Returns TRUE if the user can interrupt `run` before it ends.
inline bool can_be_stopped(const std::function<void()>& run) {
  bool stopped = false;
  count_interrupt_checks(run, 1, &stopped);
  return stopped;
}

}  // namespace runhooks_test
