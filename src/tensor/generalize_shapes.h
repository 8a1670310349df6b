// generalize_shapes(): the most specific shape that covers two shapes.
#pragma once

#include "tensor/shape.h"

namespace runhooks {

// Dimensions that differ become unknown; different ranks give an unknown rank.
inline Shape generalize_shapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown();
  Shape common = a;
  for (int d = 0; d < a.rank(); ++d) {
    if (a.dim(d) != b.dim(d)) common.set_dim(d, Shape::kUnknownDim);
  }
  return common;
}

}  // namespace runhooks
