// DeferErrorsScope: turns R errors into C++ values that another call can raise later.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace runhooks {

// An Error that was an R condition. Keeps the condition's classes, most specific first, because the
// state of an iterator cannot store the condition.
class ForeignError : public Error {
 public:
  ForeignError(Error error, std::vector<std::string> classes)
      : Error(std::move(error)), classes_(std::move(classes)) {}
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  std::vector<std::string> classes_;
};

// An R longjmp targets a frame of the current call, so it cannot be queued. Inside this scope,
// errors raised by R code on this thread become C++ `Error`s that carry the R condition. Interrupts
// and other jumps are unaffected.
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

// Restores direct errors inside a DeferErrorsScope, for callees whose caller handles R errors.
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
