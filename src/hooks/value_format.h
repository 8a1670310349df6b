// Formats tensor values for log lines, as NumPy's str() does with suppress = TRUE.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace runhooks {

// "0.33333334", "[ 1.   2.5 -3. ]", "b'abc'", ... Above 1000 elements, shows only the first and
// last three of each axis.
std::string format_value(const Tensor& value);

std::string short_number(double x);

}  // namespace runhooks
