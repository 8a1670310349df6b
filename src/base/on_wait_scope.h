// OnWaitScope: a callback that runs while a thread waits for helper threads.
#pragma once

#include "base/scoped_value.h"

namespace runhooks {

// Inside this scope, parallel_for() on this thread calls callback(context) repeatedly while it
// waits for helper threads. The callback must not throw.
class OnWaitScope {
 public:
  OnWaitScope(void (*callback)(void* context), void* context)
      : callback_(callback), context_(context), scope_(current_, this) {}
  static void run_callback() {
    if (current_) current_->callback_(current_->context_);
  }

 private:
  static inline thread_local const OnWaitScope* current_ = nullptr;
  void (*callback_)(void* context);
  void* context_;
  ScopedValue<const OnWaitScope*> scope_;
};

}  // namespace runhooks
