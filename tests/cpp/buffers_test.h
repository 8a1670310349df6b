// Helpers for the tests of a session's buffers.
#pragma once

#include <cstring>

#include "session/session.h"

namespace runhooks_test {

inline runhooks::SessionOptions reusing(bool reuse) {
  runhooks::SessionOptions options;
  options.buffers.reuse = reuse;
  options.buffers.min_bytes = 1;
  return options;
}

inline runhooks::Output placeholder(runhooks::Graph& g, const runhooks::Shape& shape) {
  return g.op("Placeholder").attr("dtype", runhooks::DType::kFloat32).attr("shape", shape);
}

inline bool same_bits(const runhooks::Tensor& a, const runhooks::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), a.num_bytes()) == 0;
}

}  // namespace runhooks_test
