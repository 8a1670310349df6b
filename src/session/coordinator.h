// What lives here: Coordinator, the flag by which anybody in a session can ask the loop to stop.
// Who may use it: hooks, monitored, estimators, the bindings.
// What it must not know: the loop, R.
#pragma once

#include <exception>

namespace runhooks {

class Coordinator {
 public:
  bool should_stop() const { return should_stop_; }
  // With an exception the loop ends by it, once it looks: the first one given counts.
  void request_stop(std::exception_ptr why = nullptr) {
    should_stop_ = true;
    if (why && !why_) why_ = why;
  }
  void clear_stop() {
    should_stop_ = false;
    why_ = nullptr;
  }
  // NULL where there is none.
  std::exception_ptr requested_exception() const { return why_; }
  void raise_requested_exception() {
    if (!why_) return;
    const std::exception_ptr why = why_;
    why_ = nullptr;
    std::rethrow_exception(why);
  }

 private:
  bool should_stop_ = false;
  std::exception_ptr why_;
};

}  // namespace runhooks
