// DeferErrorsScope: turns R errors into C++ values that another call can raise later.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace runhooks {

// An Error raised by an R condition. Keeps the condition's classes, most specific first, because
// the saved state of an iterator cannot contain the condition itself.
class ForeignError : public Error {
 public:
  ForeignError(Error error, std::vector<std::string> classes)
      : Error(std::move(error)), classes_(std::move(classes)) {}
  const std::vector<std::string>& classes() const { return classes_; }

 private:
  std::vector<std::string> classes_;
};

// Inside this scope, errors raised by R code on this thread become C++ `Error`s that carry the R
// condition. An R longjmp targets a frame of the current call, so it could not be raised later.
// Interrupts and other jumps are unaffected.
class DeferErrorsScope {
 public:
  DeferErrorsScope() : previous_(deferring()) { deferring() = true; }
  ~DeferErrorsScope() { deferring() = previous_; }
  DeferErrorsScope(const DeferErrorsScope&) = delete;
  DeferErrorsScope& operator=(const DeferErrorsScope&) = delete;
  static bool is_on() { return deferring(); }

 private:
  friend class PropagateErrorsScope;
  static bool& deferring() {
    static thread_local bool is_deferring = false;
    return is_deferring;
  }
  bool previous_;
};

// Suspends an enclosing DeferErrorsScope, for code that handles R errors itself.
class PropagateErrorsScope {
 public:
  PropagateErrorsScope() : previous_(DeferErrorsScope::deferring()) {
    DeferErrorsScope::deferring() = false;
  }
  ~PropagateErrorsScope() { DeferErrorsScope::deferring() = previous_; }
  PropagateErrorsScope(const PropagateErrorsScope&) = delete;
  PropagateErrorsScope& operator=(const PropagateErrorsScope&) = delete;

 private:
  bool previous_;
};

}  // namespace runhooks
