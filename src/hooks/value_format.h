// What lives here: the text of a tensor's value in log lines: what NumPy's str() gives with suppress = TRUE.
// Who may use it: hooks, estimators, the bindings.
// What it must not know: who logs what.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace runhooks {

// "0.33333334", "[ 1.   2.5 -3. ]", "b'abc'", ...; more than 1000 elements are shown by the first
// and last three of each axis.
std::string format_value(const Tensor& value);

// Five digits, for those who only want to know how large it is.
std::string short_number(double x);

}  // namespace runhooks
