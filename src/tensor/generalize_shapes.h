// Generalize_shapes(), what is known of a tensor that has one of two shapes.
#pragma once

#include "tensor/shape.h"

namespace runhooks {

// Where shapes differ the result's is unknown.
inline Shape generalize_shapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown();
  Shape common = a;
  for (int d = 0; d < a.rank(); ++d) {
    if (a.dim(d) != b.dim(d)) common.set_dim(d, Shape::kUnknownDim);
  }
  return common;
}

}  // namespace runhooks
