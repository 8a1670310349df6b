// BlockSignalsScope, for creating threads, and IgnoreSigpipeScope, for writing to pipes.
#pragma once

#ifndef _WIN32
#include <signal.h>

#include <cerrno>
#endif

namespace runhooks {

// Threads created inside this scope block all signals, so other libraries' handlers do not run
// there.
class [[maybe_unused]] BlockSignalsScope {
 public:
#ifndef _WIN32
  BlockSignalsScope() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignalsScope() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
#endif
};

#ifndef _WIN32
// Writing to a pipe without readers returns EPIPE instead of raising SIGPIPE.
class IgnoreSigpipeScope {
 public:
  IgnoreSigpipeScope() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~IgnoreSigpipeScope() {
    const int reason = errno;
    sigset_t pending;
    sigpending(&pending);
    int taken = 0;
    if (!was_pending_ && sigismember(&pending, SIGPIPE) == 1) sigwait(&pipe_, &taken);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = reason;
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};
#endif

}  // namespace runhooks
