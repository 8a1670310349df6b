// Advice for a single value where a tensor with dimensions is expected.
#pragma once

#include <string>
#include <vector>

#include "tensor/shape.h"

namespace runhooks {

// An R vector of length 1 is a scalar; longer vectors have a dimension.
inline std::vector<std::string> advice_for_scalar(const Shape& given, const Shape& expected) {
  const bool is_scalar = given.has_rank() && given.rank() == 0;
  if (!is_scalar || !expected.has_rank() || expected.rank() != 1) return {};
  return {"A vector of length 1 is a scalar; `array(x)` or `I(x)` keeps its dimension."};
}

}  // namespace runhooks
