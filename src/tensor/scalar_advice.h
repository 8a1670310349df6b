// A hint for errors: a scalar was passed where a vector is expected.
#pragma once

#include <string>
#include <vector>

#include "tensor/shape.h"

namespace runhooks {

// Returns the hint, or nothing for other mismatches. R users can run into this error, because an R
// vector of length 1 becomes a scalar, and a longer vector becomes a vector.
inline std::vector<std::string> advice_for_scalar(const Shape& actual, const Shape& expected) {
  const bool is_scalar = actual.has_rank() && actual.rank() == 0;
  if (!is_scalar || !expected.has_rank() || expected.rank() != 1) return {};
  return {"A vector of length 1 is a scalar; `array(x)` or `I(x)` keeps its dimension."};
}

}  // namespace runhooks
