// DeferErrorsScope, the time in which errors of the embedding language come as values; such errors.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace runhooks {

// What was a condition of the embedding language. Its classes, the outermost first, are kept where
// the condition itself cannot go: in the state of an iterator.
class ForeignError : public Error {
 public:
  ForeignError(Error error, std::vector<std::string> classes)
      : Error(std::move(error)), classes_(std::move(classes)) {}
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  std::vector<std::string> classes_;
};

// A jump of the embedding language leads to a frame of the call that is running: it cannot wait in
// a queue. While one of these lives, on this thread, an error of the embedding language's functions
// is an Error that carries the condition. Interrupts, and jumps that are no errors, stay jumps.
class DeferErrorsScope {
 public:
  DeferErrorsScope() : before_(held()) { held() = true; }
  ~DeferErrorsScope() { held() = before_; }
  DeferErrorsScope(const DeferErrorsScope&) = delete;
  DeferErrorsScope& operator=(const DeferErrorsScope&) = delete;
  static bool is_on() { return held(); }

 private:
  friend class PropagateErrorsScope;
  static bool& held() {
    static thread_local bool is_held = false;
    return is_held;
  }
  bool before_;
};

// The same the other way round: what is called from here has a caller of its own for its errors.
class PropagateErrorsScope {
 public:
  PropagateErrorsScope() : before_(DeferErrorsScope::held()) { DeferErrorsScope::held() = false; }
  ~PropagateErrorsScope() { DeferErrorsScope::held() = before_; }
  PropagateErrorsScope(const PropagateErrorsScope&) = delete;
  PropagateErrorsScope& operator=(const PropagateErrorsScope&) = delete;

 private:
  bool before_;
};

}  // namespace runhooks
