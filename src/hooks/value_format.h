// Formats numbers and tensors for log lines and messages.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace runhooks {

// Formats a tensor like NumPy's str() with suppress = TRUE: "0.33333334", "[ 1.   2.5 -3. ]" or
// "b'abc'". If it has more than 1000 elements, shows only the first and last three of each axis.
std::string format_value(const Tensor& value);

// Formats a number with five significant digits.
std::string short_number(double x);

}  // namespace runhooks
