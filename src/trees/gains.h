// What a leaf is worth: its best value for sums of gradients and hessians, and by how much that lowers the loss.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace runhooks {

struct Regularization {
  float l1 = 0, l2 = 0;
};

struct LeafWorth {
  float value = 0, gain = 0;
};

// The w that minimizes g * w + (h + l2) / 2 * w^2 + l1 * |w|, and twice what that gains; nothing
// where the curvature is nothing.
inline LeafWorth leaf_worth(float g, float h, const Regularization& by) {
  constexpr float kNoCurvature = 1e-15f;
  if (by.l1 > 0) {
    if (std::fabs(g) <= by.l1) return {};
    g += g > 0 ? -by.l1 : by.l1;
  }
  if (h + by.l2 <= kNoCurvature) return {};
  const float value = -g / (h + by.l2);
  return {value, -g * value};
}

// The same of several logits: `h` has a value for each, or a row of values.
float leaf_worth(const double* g,
                 const double* h,
                 size_t logits,
                 bool h_is_matrix,
                 const Regularization& by,
                 float* values);

// Equal gains, but for rounding of nothing, do not beat each other: the first one stays.
inline bool is_larger_gain(float gain, float than) { return gain - than > 1e-15f; }

}  // namespace runhooks
