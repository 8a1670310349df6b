// What lives here: WhileWaiting, what a thread does now and then while helpers have not done their part of its work.
// Who may use it: whoever shares work that takes long and may be left (base/shared_work.h).
// What it must not know: what the work is.
#pragma once

namespace runhooks {

// While it lives, share_work() on this thread calls call(context), which must not throw, as long as
// it waits for others.
class WhileWaiting {
 public:
  WhileWaiting(void (*call)(void* context), void* context) : call_(call), context_(context) {
    before_ = current_;
    current_ = this;
  }
  ~WhileWaiting() { current_ = before_; }
  WhileWaiting(const WhileWaiting&) = delete;
  WhileWaiting& operator=(const WhileWaiting&) = delete;
  static void call() {
    if (current_) current_->call_(current_->context_);
  }

 private:
  static inline thread_local const WhileWaiting* current_ = nullptr;
  void (*call_)(void* context);
  void* context_;
  const WhileWaiting* before_;
};

}  // namespace runhooks
