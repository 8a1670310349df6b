// What lives here: WithoutSignals, for the time in which a thread is made.
// Who may use it: whoever makes threads.
// What it must not know: what the threads do.
#pragma once

#ifndef _WIN32
#include <signal.h>
#endif

namespace runhooks {

// Nobody's signal handlers run in a thread that is made while one lives.
class WithoutSignals {
 public:
#ifndef _WIN32
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
#endif
};

}  // namespace runhooks
