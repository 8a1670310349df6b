// Coordinator: the flag that asks a training loop to stop.
#pragma once

#include <exception>

namespace runhooks {

class Coordinator {
 public:
  bool should_stop() const { return should_stop_; }
  // Asks the loop to stop. The loop later rethrows the first exception that was passed here.
  void request_stop(std::exception_ptr exception = nullptr) {
    should_stop_ = true;
    if (exception && !exception_) exception_ = exception;
  }
  void clear_stop() {
    should_stop_ = false;
    exception_ = nullptr;
  }
  // NULL if request_stop() received no exception.
  std::exception_ptr requested_exception() const { return exception_; }
  void raise_requested_exception() {
    if (!exception_) return;
    const std::exception_ptr exception = exception_;
    exception_ = nullptr;
    std::rethrow_exception(exception);
  }

 private:
  bool should_stop_ = false;
  std::exception_ptr exception_;
};

}  // namespace runhooks
