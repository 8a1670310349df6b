// Checks for user interrupts (Ctrl-C) and for cancellation of worker threads.
#pragma once

#include <atomic>

namespace runhooks {

// Throws a ForeignUnwind if the user interrupted, or kCancelled if this thread was cancelled. Cheap
// enough to call between chunks of work.
void check_interrupt();
// Does nothing if this thread already checked within the last 10 ms.
void check_interrupt_throttled();
// Checks only the cancellation flag: this work must not be cut short by Ctrl-C, but may be when its
// thread is being shut down.
void check_cancel_flag();
// True on the thread that polls for interrupts, and on every thread if no check is set.
bool can_poll_interrupts();
// Sets the interrupt check, which only the calling thread polls; null removes it.
void set_interrupt_check(void (*check)());

// Makes check_interrupt() on this worker thread throw kCancelled once `flag` is true.
void set_cancel_flag(const std::atomic<bool>* flag);

// Amortizes the check over loops with very short iterations. The counter is shared by all loops of
// a thread, so that many short loops poll as often as one long loop.
class InterruptPoll {
 public:
  void operator()() {
    if (++steps_ % 16 == 0) check_interrupt_throttled();
  }

 private:
  static inline thread_local unsigned steps_ = 0;
};

}  // namespace runhooks
