// OnWaitScope, what a thread does now and then while helpers have not done their part of its work.
#pragma once

namespace runhooks {

// While it lives, parallel_for() on this thread calls call(context), which must not throw, as long as
// it waits for others.
class OnWaitScope {
 public:
  OnWaitScope(void (*call)(void* context), void* context) : call_(call), context_(context) {
    before_ = current_;
    current_ = this;
  }
  ~OnWaitScope() { current_ = before_; }
  OnWaitScope(const OnWaitScope&) = delete;
  OnWaitScope& operator=(const OnWaitScope&) = delete;
  static void call() {
    if (current_) current_->call_(current_->context_);
  }

 private:
  static inline thread_local const OnWaitScope* current_ = nullptr;
  void (*call_)(void* context);
  void* context_;
  const OnWaitScope* before_;
};

}  // namespace runhooks
