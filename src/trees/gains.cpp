#include "trees/gains.h"

#include <algorithm>

namespace runhooks {

namespace {

// An elimination pivot below this fraction of the original diagonal element is rounding error.
constexpr double kMinRelativePivot = 1e-5;

// Solves the linear equations a x = b by elimination. Linearly dependent variables, such as the
// last class of a softmax, become 0.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const size_t n = b.size();
  std::vector<double> diagonal(n);
  for (size_t k = 0; k < n; ++k) diagonal[k] = a[k * n + k];
  std::vector<bool> is_dependent(n, false);
  for (size_t k = 0; k < n; ++k) {
    const double pivot = a[k * n + k];
    if (!(pivot > 1e-15) || pivot < kMinRelativePivot * diagonal[k]) {
      is_dependent[k] = true;
      continue;
    }
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / pivot;
      for (size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  std::vector<double> x(n, 0);
  for (size_t k = n; k-- > 0;) {
    if (is_dependent[k]) continue;
    double residual = b[k];
    for (size_t j = k + 1; j < n; ++j) residual -= a[k * n + j] * x[j];
    x[k] = residual / a[k * n + k];
  }
  return x;
}

}  // namespace

float optimal_leaf(const double* g,
                   const double* h,
                   size_t logits,
                   bool h_is_matrix,
                   const Regularization& regularization,
                   float* values) {
  if (logits == 1) {
    const OptimalLeaf leaf =
        optimal_leaf(static_cast<float>(g[0]), static_cast<float>(h[0]), regularization);
    values[0] = leaf.value;
    return leaf.gain;
  }
  float gain = 0;
  if (!h_is_matrix) {
    for (size_t k = 0; k < logits; ++k) {
      const OptimalLeaf leaf =
          optimal_leaf(static_cast<float>(g[k]), static_cast<float>(h[k]), regularization);
      values[k] = leaf.value;
      gain += leaf.gain;
    }
    return gain;
  }
  std::vector<double> a(h, h + logits * logits), b(logits);
  for (size_t k = 0; k < logits; ++k) {
    a[k * logits + k] += regularization.l2;
    b[k] = -g[k];
  }
  const std::vector<double> x = solve(a, b);
  double total = 0;
  for (size_t k = 0; k < logits; ++k) {
    values[k] = static_cast<float>(x[k]);
    total -= g[k] * x[k];
  }
  return static_cast<float>(total);
}

}  // namespace runhooks
