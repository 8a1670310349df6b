// OnWaitScope: a callback that runs while a thread waits for helper threads.
#pragma once

namespace runhooks {

// Inside this scope, parallel_for() on this thread calls call(context) repeatedly while it waits
// for helpers. The callback must not throw.
class OnWaitScope {
 public:
  OnWaitScope(void (*call)(void* context), void* context) : call_(call), context_(context) {
    previous_ = current_;
    current_ = this;
  }
  ~OnWaitScope() { current_ = previous_; }
  OnWaitScope(const OnWaitScope&) = delete;
  OnWaitScope& operator=(const OnWaitScope&) = delete;
  static void call() {
    if (current_) current_->call_(current_->context_);
  }

 private:
  static inline thread_local const OnWaitScope* current_ = nullptr;
  void (*call_)(void* context);
  void* context_;
  const OnWaitScope* previous_;
};

}  // namespace runhooks
