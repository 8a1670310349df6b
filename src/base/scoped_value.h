// ScopedValue: sets a variable for the lifetime of a scope.
#pragma once

#include <utility>

namespace runhooks {

// The destructor restores the previous value of the variable.
template <typename T>
class ScopedValue {
 public:
  ScopedValue(T& variable, T value)
      : variable_(variable), previous_(std::exchange(variable, std::move(value))) {}
  ~ScopedValue() { variable_ = std::move(previous_); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T& variable_;
  T previous_;
};

}  // namespace runhooks
