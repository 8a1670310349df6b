// Counts the interrupt checks of an operation, and interrupts it at a given one.
#pragma once

#include <functional>

#include "base/interrupt.h"
#include "base/status.h"

namespace runhooks_test {

struct Asked {
  static inline int questions = 0, last = 0;
  static void ask() {
    if (++questions == last) throw runhooks::ForeignUnwind(/*is_interrupt=*/true);
  }
};

// The number of interrupt checks in `run`, which is interrupted at check `stop`. Sets `stopped` if
// it ended that way.
inline int questions_of(const std::function<void()>& run, int stop = 0, bool* stopped = nullptr) {
  Asked::questions = 0;
  Asked::last = stop;
  runhooks::set_interrupt_check(Asked::ask);
  bool is_stopped = false;
  try {
    run();
  } catch (const runhooks::ForeignUnwind&) {
    is_stopped = true;
  }
  runhooks::set_interrupt_check(nullptr);
  if (stopped) *stopped = is_stopped;
  return Asked::questions;
}

// TRUE if the user can interrupt `run` before it ends.
inline bool can_be_stopped(const std::function<void()>& run) {
  bool stopped = false;
  questions_of(run, 1, &stopped);
  return stopped;
}

}  // namespace runhooks_test
