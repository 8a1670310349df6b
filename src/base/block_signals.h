// BlockSignalsScope, for creating threads, and IgnoreSigpipeScope, for writing to pipes.
#pragma once

#ifndef _WIN32
#include <signal.h>

#include <cerrno>
#endif

namespace runhooks {

// Threads created inside this scope block all signals, so that signal handlers of R and other
// libraries never run on them.
class [[maybe_unused]] BlockSignalsScope {
 public:
#ifndef _WIN32
  BlockSignalsScope() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~BlockSignalsScope() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

 private:
  sigset_t previous_;
#endif
};

#ifndef _WIN32
// Inside this scope, writing to a pipe without readers fails with EPIPE instead of raising SIGPIPE.
class IgnoreSigpipeScope {
 public:
  IgnoreSigpipeScope() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &previous_);
  }
  ~IgnoreSigpipeScope() {
    const int saved_errno = errno;
    sigset_t pending;
    sigpending(&pending);
    int signal_number = 0;
    if (!was_pending_ && sigismember(&pending, SIGPIPE) == 1) sigwait(&sigpipe_, &signal_number);
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
    errno = saved_errno;
  }

 private:
  sigset_t sigpipe_, previous_;
  bool was_pending_;
};
#endif

}  // namespace runhooks
