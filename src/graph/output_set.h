// OutputSet, a hash set of symbolic tensors.
#pragma once

#include <functional>
#include <unordered_set>

#include "graph/operation.h"

namespace runhooks {

struct OutputHash {
  size_t operator()(const Output& output) const {
    return std::hash<const void*>()(output.op) + static_cast<size_t>(output.index);
  }
};
using OutputSet = std::unordered_set<Output, OutputHash>;

}  // namespace runhooks
