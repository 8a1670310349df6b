// Encoding of categorical ids: a dense int64 tensor with special values for missing and unknown
// ids.
#pragma once

#include <cstdint>
#include <limits>

namespace runhooks {

// Ids [batch, k] correspond to TensorFlow's sparse tensor. kAbsentId marks a missing value ("" or
// -1); any other negative number is a value outside all buckets. Look-ups skip both, crosses skip
// only missing values.
constexpr int64_t kAbsentId = std::numeric_limits<int64_t>::min();
constexpr int64_t kUnknownId = -1;

}  // namespace runhooks
