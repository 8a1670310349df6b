// leaf_worth(): the optimal value of a leaf and the gain from it.
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

// Minimizes g * w + (h + l2) / 2 * w^2 + l1 * |w|; returns w and twice the gain.
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

// The same for several logits; `h` has one value per logit, or is a matrix.
float leaf_worth(const double* g,
                 const double* h,
                 size_t logits,
                 bool h_is_matrix,
                 const Regularization& by,
                 float* values);

// Differences within rounding do not count, so that the first of equal splits wins.
inline bool is_larger_gain(float gain, float than) { return gain - than > 1e-15f; }

}  // namespace runhooks
