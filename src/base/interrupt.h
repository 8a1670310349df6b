// Checks for user interrupts (Ctrl-C) and for cancellation of worker threads.
#pragma once

#include <atomic>

namespace runhooks {

// Throws a ForeignUnwind if the user interrupted, or kCancelled if this thread was cancelled. Cheap
// enough to call between chunks of work.
void check_interrupt();
// Does nothing if this thread already checked within the last 10 ms.
void check_interrupt_throttled();
// Throws only kCancelled, for work that Ctrl-C must not interrupt but that may end when its thread
// is shut down.
void check_cancel_flag();
// True on the thread that polls for interrupts, and on every thread if no check is set.
bool can_poll_interrupts();
// Sets the interrupt check, which only the calling thread polls; null removes it.
void set_interrupt_check(void (*check)());

// Makes the checks on this thread throw kCancelled once `*flag` is true.
void set_cancel_flag(const std::atomic<bool>* flag);

// Call it in each iteration of a loop with very short iterations; it checks only every 16th time.
// All loops of a thread share the counter, so that many short loops check as often as one long
// loop.
class InterruptPoll {
 public:
  void operator()() {
    if (++steps_ % 16 == 0) check_interrupt_throttled();
  }

 private:
  static inline thread_local unsigned steps_ = 0;
};

}  // namespace runhooks
