// Coordinator: the flag that asks a training loop to stop.
#pragma once

#include <exception>

namespace runhooks {

class Coordinator {
 public:
  bool should_stop() const { return should_stop_; }
  // The loop rethrows the first exception that it receives.
  void request_stop(std::exception_ptr why = nullptr) {
    should_stop_ = true;
    if (why && !why_) why_ = why;
  }
  void clear_stop() {
    should_stop_ = false;
    why_ = nullptr;
  }
  // NULL if no exception was given.
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
