// optimal_leaf(): the value of a leaf that minimizes the loss, and the gain from it.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace runhooks {

struct Regularization {
  float l1 = 0, l2 = 0;
};

struct OptimalLeaf {
  float value = 0, gain = 0;
};

// Minimizes g * w + (h + l2) / 2 * w^2 + l1 * |w|. Returns w and twice the gain, the reduction of
// this loss compared with w = 0.
inline OptimalLeaf optimal_leaf(float g, float h, const Regularization& regularization) {
  constexpr float kNoCurvature = 1e-15f;
  const float l1 = regularization.l1, curvature = h + regularization.l2;
  if (l1 > 0) {
    if (std::fabs(g) <= l1) return {};
    g += g > 0 ? -l1 : l1;
  }
  if (curvature <= kNoCurvature) return {};
  const float value = -g / curvature;
  return {value, -g * value};
}

// Sets the leaf values for several logits in `values` and returns twice the gain. `h` has one value
// per logit, or is a matrix.
float optimal_leaf(const double* g,
                   const double* h,
                   size_t logits,
                   bool h_is_matrix,
                   const Regularization& regularization,
                   float* values);

// Whether `gain` is larger by more than rounding, so that the first of equal splits wins.
inline bool is_larger_gain(float gain, float other) { return gain - other > 1e-15f; }

}  // namespace runhooks
