// How deep lists of R may be nested where we go down into them.
#pragma once

#include "base/status.h"

namespace runhooks {
namespace r {

// One lives for each list that we are in; R/base_nesting.R has the same for R's functions.
class NestedList {
 public:
  static constexpr int kDeepest = 32;
  NestedList() {
    if (depth() == kDeepest) {
      invalid_argument("A list cannot be nested more than ", kDeepest, " deep here.");
    }
    ++depth();
  }
  ~NestedList() { --depth(); }
  NestedList(const NestedList&) = delete;
  NestedList& operator=(const NestedList&) = delete;

 private:
  static int& depth() {
    static thread_local int depth = 0;
    return depth;
  }
};

}  // namespace r
}  // namespace runhooks
