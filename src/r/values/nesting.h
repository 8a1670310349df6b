// NestedList limits the depth of R lists in recursive functions.
#pragma once

#include "base/status.h"

namespace runhooks {
namespace r {

// A recursive function creates an object for each list; the constructor throws if lists are nested
// too deeply. R/base_nesting.R has the same limit for R code.
class NestedList {
 public:
  static constexpr int kMaxDepth = 32;
  NestedList() {
    if (depth() == kMaxDepth) {
      invalid_argument("A list cannot be nested more than ", kMaxDepth, " deep here.");
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
