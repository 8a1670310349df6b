// Questions_of(), a user who stops what runs at a certain question, or never.
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

// How often `run` asks whether to stop. It is stopped at question `stop`; TRUE in `stopped` where it
// was.
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

// Whether the user can stop this while it is under way.
inline bool can_be_stopped(const std::function<void()>& run) {
  bool stopped = false;
  questions_of(run, 1, &stopped);
  return stopped;
}

}  // namespace runhooks_test
