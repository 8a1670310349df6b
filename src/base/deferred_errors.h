// DeferErrorsScope: turns R errors into C++ values that another call can raise later.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/scoped_value.h"
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
  DeferErrorsScope() : scope_(deferring(), true) {}
  static bool is_on() { return deferring(); }

 private:
  friend class PropagateErrorsScope;
  static bool& deferring() {
    static thread_local bool is_deferring = false;
    return is_deferring;
  }
  ScopedValue<bool> scope_;
};

// Suspends an enclosing DeferErrorsScope, for code that handles R errors itself.
class PropagateErrorsScope {
 public:
  PropagateErrorsScope() : scope_(DeferErrorsScope::deferring(), false) {}

 private:
  ScopedValue<bool> scope_;
};

}  // namespace runhooks
