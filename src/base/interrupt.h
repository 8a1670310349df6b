// The question whether the user has asked to stop.
#pragma once

#include <atomic>

namespace runhooks {

// Throws a ForeignUnwind where the user has asked to stop. To be called between pieces of work; it
// costs some 20 ns, and where nobody has been asked for a while 100.
void check_interrupt();
// The same where some time has passed since this thread did it last.
void check_interrupt_throttled();
// What no user may stop half way, a thread that is to leave may.
void check_cancel_flag();
// TRUE on the thread that asks, and everywhere where nobody does.
bool can_poll_interrupts();
// Who is asked, on this thread only; NULL: nobody.
void set_interrupt_check(void (*check)());

// A thread of ours, which no user can interrupt, is to leave when `flag` is TRUE: check_interrupt()
// then throws kCancelled there.
void set_cancel_flag(const std::atomic<bool>* flag);

// Asks now and then, for loops of steps that are shorter than the question. A loop that is entered
// again and again for a few steps asks as often as a long one: all of a thread count together.
class InterruptPoll {
 public:
  void operator()() {
    if (++steps_ % 16 == 0) check_interrupt_throttled();
  }

 private:
  static inline thread_local unsigned steps_ = 0;
};

}  // namespace runhooks
