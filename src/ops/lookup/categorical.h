// The encoding of categorical ids: special values for missing and unknown ids.
#pragma once

#include <cstdint>
#include <limits>

namespace runhooks {

// A dense int64 tensor [batch, k] replaces TensorFlow's sparse tensor of ids. kAbsentId marks a
// missing value ("" or -1). Any other negative number is a value outside of all buckets, such as
// kUnknownId. Look-ups skip all negative ids; crossed columns skip only missing values.
constexpr int64_t kAbsentId = std::numeric_limits<int64_t>::min();
constexpr int64_t kUnknownId = -1;

}  // namespace runhooks
