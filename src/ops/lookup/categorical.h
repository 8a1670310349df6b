// What lives here: how ids of categorical columns are stored: a dense int64 tensor with marks for "nothing here".
// Who may use it: ops of categorical ids, look-ups and crosses; columns.
// What it must not know: feature columns, variables, R.
#pragma once

#include <cstdint>
#include <limits>

namespace runhooks {

// A row of ids [batch, k] stands for TensorFlow's sparse tensor: kAbsentId where the feature has no
// value ("" or -1), any other negative number where it has one that is in no bucket. Look-ups skip
// both; a cross skips only what is absent.
constexpr int64_t kAbsentId = std::numeric_limits<int64_t>::min();
constexpr int64_t kUnknownId = -1;

}  // namespace runhooks
